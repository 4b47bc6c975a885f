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
} from './instruction-paths.ts';
import { createSourceFiles, type SourceFiles } from './source-files.ts';

/** What someone wrote down about how to do one kind of work, read by the model when it is needed. */
export interface Skill {
  /** The name of its directory, by which its hooks know it; with `plugin:` before a plugin's. */
  readonly name: string;
  /** The name in its front matter, where that is another one. */
  readonly alias: string | null;
  readonly description: string;
  readonly text: string;
  readonly directory: string;
  readonly source: InstructionSource;
  /** Whether the model may use it without being told to. */
  readonly isOffered: boolean;
}

export interface LoadedSkills {
  readonly skills: readonly Skill[];
  readonly notes: readonly string[];
}

/**
 * All skills of the project, the person and the plugins; the first of a name wins, and a Cline plugin
 * that loses is told of. Never throws.
 */
export async function loadSkills(places: InstructionPaths): Promise<LoadedSkills> {
  const files = createSourceFiles(places);
  const found = listSkillDirectories(places).flatMap((place) =>
    files.listNames(place, place.directory).map((folder) => ({ place, folder })),
  );
  const read = await Promise.all(found.map((each) => readSkill(files, each)));
  const skills = new Map<string, Skill>();
  const hidden: string[] = [];
  for (const { skill, place } of read) {
    if (skill === null) continue;
    const known = skills.get(skill.name);
    if (known === undefined) skills.set(skill.name, skill);
    else if (place.within !== undefined) hidden.push(formatHiddenNote(skill, known));
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

function formatHiddenNote({ name, directory }: Skill, other: Skill): string {
  return `${directory} is not used: the skill ${name} is ${other.directory}`;
}

/** By its name, by the name in its front matter, or by its name without the plugin's. */
export function findSkill(name: string, skills: readonly Skill[]): Skill | null {
  const wanted = name.replace(/^\//, '');
  return (
    skills.find((skill) => skill.name === wanted) ??
    skills.find((skill) => skill.alias === wanted) ??
    skills.find((skill) => skill.name.endsWith(`:${wanted}`)) ??
    null
  );
}

/** A skill can be called for like a command, `/name`. */
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

function listSkillDirectories(places: InstructionPaths): InstructionDirectory[] {
  const cline = listProjectDirectories(places).map((each) =>
    toProjectDirectory(path.join(each, '.cline', 'skills')),
  );
  return [...listDirectories('skills', places), ...cline, ...listPluginSkillDirectories(places)];
}

/** Last, because what the person and the workspace wrote themselves wins. */
function listPluginSkillDirectories({
  skillDirectories = [],
}: InstructionPaths): InstructionDirectory[] {
  return skillDirectories.map((directory) => ({
    directory,
    source: 'plugin',
    prefix: null,
    within: path.dirname(directory),
  }));
}

interface SkillReading {
  readonly place: InstructionDirectory;
  readonly skill: Skill | null;
  readonly note: string | null;
}

interface SkillFolder {
  readonly place: InstructionDirectory;
  readonly folder: string;
}

async function readSkill(
  files: SourceFiles,
  { place, folder }: SkillFolder,
): Promise<SkillReading> {
  const directory = path.join(place.directory, folder);
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
