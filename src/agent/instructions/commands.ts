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

/** A prompt that someone wrote down under a name, for `/name`. */
export interface SlashCommand {
  /** As it is typed, without the slash: `review`, `frontend:component`, `plugin:name`. */
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string | null;
  /** Rules of tools that its author wants allowed; whether they are is not decided here. */
  readonly allowedTools: readonly string[];
  readonly model: string | null;
  readonly source: InstructionSource;
  readonly file: string;
  /** With its placeholders. */
  readonly text: string;
  /** Of a prompt of an MCP server, which makes the text itself; rejects with why it does not. */
  readonly fetch?: (args: string, signal: AbortSignal) => Promise<string>;
}

export interface LoadedCommands {
  readonly commands: readonly SlashCommand[];
  readonly notes: readonly string[];
}

const MAX_DEPTH = 5;

/** All slash commands of the project, the person and the plugins; the first of a name wins. Never throws. */
export async function loadCommands(places: InstructionPaths): Promise<LoadedCommands> {
  const files = createSourceFiles(places);
  const found = listDirectories('commands', places).flatMap((place) =>
    listCommandFiles(files, place),
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
  return `${file} is not used: /${name} is ${other.file}`;
}

interface CommandFile {
  readonly place: InstructionDirectory;
  readonly file: string;
  readonly name: string;
}

function listCommandFiles(files: SourceFiles, place: InstructionDirectory): CommandFile[] {
  return listMarkdownFiles(files, place, []).map((parts) => ({
    place,
    file: path.join(place.directory, ...parts),
    name: [...(place.prefix === null ? [] : [place.prefix]), ...parts]
      .join(':')
      .replace(/\.md$/, ''),
  }));
}

/** The ways to all markdown files below a directory. */
function listMarkdownFiles(
  files: SourceFiles,
  place: InstructionDirectory,
  way: readonly string[],
): readonly (readonly string[])[] {
  const names = files.listNames(place, path.join(place.directory, ...way));
  return names.flatMap((name) => {
    const below = [...way, name];
    if (name.endsWith('.md')) return [below];
    const leadsOn = below.length < MAX_DEPTH && isDirectory(path.join(place.directory, ...below));
    return leadsOn ? listMarkdownFiles(files, place, below) : [];
  });
}

interface CommandReading {
  readonly command: SlashCommand | null;
  readonly note: string | null;
}

async function readCommand(
  files: SourceFiles,
  { place, file, name }: CommandFile,
): Promise<CommandReading> {
  const { text, note } = files.read(place, file);
  if (text === null) return { command: null, note };
  const front = await parseFrontMatter(text);
  const problem = front.problem === null ? null : `${file}: ${front.problem}`;
  return { command: toCommand(front, { name, file, source: place.source }), note: note ?? problem };
}

function toCommand(
  front: FrontMatter,
  facts: Pick<SlashCommand, 'name' | 'file' | 'source'>,
): SlashCommand {
  return {
    ...facts,
    description: getTextField(front, 'description') ?? getFirstLine(front.body),
    argumentHint: getArgumentHint(front),
    allowedTools: getListField(front, 'allowed-tools') ?? [],
    model: getTextField(front, 'model'),
    text: front.body.trim(),
  };
}

// `argument-hint: [path]` is a list for YAML.
function getArgumentHint(front: FrontMatter): string | null {
  const hint = front.fields['argument-hint'];
  if (!Array.isArray(hint)) return getTextField(front, 'argument-hint');
  return `[${hint.map(String).join(', ')}]`;
}

function getFirstLine(text: string): string {
  const line = text.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').trim();
}
