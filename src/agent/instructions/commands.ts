import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { getListField, parseFrontMatter, getTextField, type FrontMatter } from './front-matter.ts';
import {
  listDirectories,
  type InstructionDirectory,
  type InstructionPaths,
  type InstructionSource,
} from './instruction-paths.ts';
import { createSourceFiles, type SourceFiles } from './source-files.ts';

/** A stored prompt that the user runs as `/name`. */
export interface SlashCommand {
  /** As it is typed, without the slash: `review`, `frontend:component`, `plugin:name`. */
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string | null;
  /** Permission rules that the author asks for; they are granted or refused elsewhere. */
  readonly allowedTools: readonly string[];
  readonly model: string | null;
  readonly source: InstructionSource;
  readonly file: string;
  /** With its placeholders. */
  readonly text: string;
  /** Set for an MCP prompt, whose server creates the text; rejects with the reason when it fails. */
  readonly fetch?: (args: string, signal: AbortSignal) => Promise<string>;
}

const MAX_DEPTH = 5;

/**
 * Loads all slash commands of the project, the user and the plugins; the first of a name wins. Never
 * throws.
 */
export async function loadCommands(
  paths: InstructionPaths,
): Promise<{ readonly commands: readonly SlashCommand[]; readonly notes: readonly string[] }> {
  const files = createSourceFiles(paths);
  const found = listDirectories('commands', paths).flatMap((directory) =>
    listCommandFiles(files, directory),
  );
  const read = await Promise.all(found.map((each) => readCommand(files, each)));
  const commands = new Map<string, SlashCommand>();
  const notes = [...files.notes];
  for (const { command, note } of read) {
    if (note !== null) notes.push(note);
    if (command === null) continue;
    const other = commands.get(command.name);
    if (other === undefined) commands.set(command.name, command);
    else if (other.file !== command.file) notes.push(formatHiddenNote(command, other));
  }
  return { commands: [...commands.values()], notes };
}

function formatHiddenNote({ name, file }: SlashCommand, other: SlashCommand): string {
  return `${file} is ignored: /${name} is already defined in ${other.file}`;
}

interface CommandFile {
  readonly directory: InstructionDirectory;
  readonly file: string;
  readonly name: string;
}

function listCommandFiles(files: SourceFiles, directory: InstructionDirectory): CommandFile[] {
  return listMarkdownFiles(files, directory, []).map((parts) => ({
    directory,
    file: path.join(directory.path, ...parts),
    name: [...(directory.prefix === null ? [] : [directory.prefix]), ...parts]
      .join(':')
      .replace(/\.md$/, ''),
  }));
}

/** Relative paths of all markdown files below a directory, as lists of segments. */
function listMarkdownFiles(
  files: SourceFiles,
  directory: InstructionDirectory,
  segments: readonly string[],
): readonly (readonly string[])[] {
  const names = files.listNames(directory, path.join(directory.path, ...segments));
  return names.flatMap((name) => {
    const childSegments = [...segments, name];
    if (name.endsWith('.md')) return [childSegments];
    const canDescend =
      childSegments.length < MAX_DEPTH && isDirectory(path.join(directory.path, ...childSegments));
    return canDescend ? listMarkdownFiles(files, directory, childSegments) : [];
  });
}

async function readCommand(files: SourceFiles, { directory, file, name }: CommandFile) {
  const { text, note } = files.read(directory, file);
  if (text === null) return { command: null, note };
  const front = await parseFrontMatter(text);
  const problem = front.problem === null ? null : `${file}: ${front.problem}`;
  return {
    command: toCommand(front, { name, file, source: directory.source }),
    note: note ?? problem,
  };
}

function toCommand(
  front: FrontMatter,
  identity: Pick<SlashCommand, 'name' | 'file' | 'source'>,
): SlashCommand {
  return {
    ...identity,
    description: getTextField(front, 'description') ?? getFirstLine(front.body),
    argumentHint: getArgumentHint(front),
    allowedTools: getListField(front, 'allowed-tools') ?? [],
    model: getTextField(front, 'model'),
    text: front.body.trim(),
  };
}

// YAML parses `argument-hint: [path]` as a list.
function getArgumentHint(front: FrontMatter): string | null {
  const hint = front.fields['argument-hint'];
  if (!Array.isArray(hint)) return getTextField(front, 'argument-hint');
  return `[${hint.map(String).join(', ')}]`;
}

function getFirstLine(text: string): string {
  const line = text.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').trim();
}
