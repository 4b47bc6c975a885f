import path from 'node:path';
import type { SlashCommand } from './commands.ts';
import { parseFrontMatter, getTextField } from './front-matter.ts';
import {
  listDirectories,
  type InstructionDirectory,
  type InstructionPaths,
  type InstructionSource,
  toProjectDirectory,
  listProjectDirectories,
  SourceFiles,
} from './source-files.ts';

/** Written guidance for one kind of work, which the model reads on demand. */
export interface Skill {
  /** The directory name, which hooks refer to; prefixed with `plugin:` for a plugin's skill. */
  readonly name: string;
  /** The name in the front matter, when it differs. */
  readonly alias: string | null;
  readonly description: string;
  readonly text: string;
  readonly directory: string;
  readonly source: InstructionSource;
  /** Whether the model may use it without being asked to. */
  readonly isOffered: boolean;
}

/**
 * Loads all skills of the project, the user and the plugins; the first of a name wins, and a hidden skill
 * of a Cline plugin is reported. Never throws.
 */
export async function loadSkills(
  paths: InstructionPaths,
): Promise<{ readonly skills: readonly Skill[]; readonly notes: readonly string[] }> {
  const files = new SourceFiles(paths);
  const read = await Promise.all(
    findSkillFiles(files, paths).map(({ directory, folder }) =>
      readSkill(files, directory, folder),
    ),
  );
  const skills = new Map<string, Skill>();
  const hidden: string[] = [];
  for (const { skill, place } of read) {
    if (skill === null) continue;
    const other = skills.get(skill.name);
    if (other === undefined) skills.set(skill.name, skill);
    else if (place.within !== undefined) hidden.push(formatHiddenNote(skill, other));
  }
  return {
    skills: [...skills.values()],
    notes: [
      ...files.notes,
      ...read.flatMap(({ note }) => (note === null ? [] : [note])),
      ...hidden,
    ],
  };
}

export function findSkillFiles(files: SourceFiles, paths: InstructionPaths) {
  return listSkillDirectories(paths).flatMap((directory) =>
    files.listNames(directory, directory.path).map((folder) => ({
      directory,
      folder,
      file: path.join(directory.path, folder, 'SKILL.md'),
    })),
  );
}

function formatHiddenNote({ name, directory }: Skill, other: Skill): string {
  return `${directory} is ignored: skill ${name} is already defined in ${other.directory}`;
}

/** Matches the name, the front-matter name, or the name without its plugin prefix. */
export function findSkill(name: string, skills: readonly Skill[]): Skill | null {
  const bareName = name.replace(/^\//, '');
  return (
    skills.find((skill) => skill.name === bareName) ??
    skills.find((skill) => skill.alias === bareName) ??
    skills.find((skill) => skill.name.endsWith(`:${bareName}`)) ??
    null
  );
}

/** A skill can be run as `/name`. */
export function toSkillCommand(skill: Skill): SlashCommand {
  return {
    name: skill.name,
    description: skill.description,
    argumentHint: null,
    allowedTools: [],
    model: null,
    source: skill.source,
    file: path.join(skill.directory, 'SKILL.md'),
    text: `Base directory for this skill: ${skill.directory}\n\n${skill.text}`,
  };
}

function listSkillDirectories(paths: InstructionPaths): InstructionDirectory[] {
  const cline = listProjectDirectories(paths).map((each) =>
    toProjectDirectory(path.join(each, '.cline', 'skills')),
  );
  return [...listDirectories('skills', paths), ...cline, ...listPluginSkillDirectories(paths)];
}

/** Plugin directories come last, so that the user's and the workspace's own skills win. */
function listPluginSkillDirectories({
  skillDirectories = [],
}: InstructionPaths): InstructionDirectory[] {
  return skillDirectories.map((directory) => ({
    path: directory,
    source: 'plugin',
    prefix: null,
    within: path.dirname(directory),
  }));
}

async function readSkill(files: SourceFiles, place: InstructionDirectory, folder: string) {
  const directory = path.join(place.path, folder);
  const file = path.join(directory, 'SKILL.md');
  const { text, note } = files.read(place, file);
  if (text === null) return { place, skill: null, note };
  const front = await parseFrontMatter(text);
  if (place.within !== undefined && getTextField(front, 'disabled') === 'true') {
    return { place, skill: null, note };
  }
  const alias = getTextField(front, 'name');
  const skill: Skill = {
    name: place.prefix === null ? folder : `${place.prefix}:${folder}`,
    alias: alias === folder ? null : alias,
    description: getTextField(front, 'description') ?? '',
    text: front.body.trim(),
    directory,
    source: place.source,
    isOffered: getTextField(front, 'disable-model-invocation') !== 'true',
  };
  const problem = front.problem === null ? null : `${file}: ${front.problem}`;
  return { place, skill, note: note ?? problem };
}
