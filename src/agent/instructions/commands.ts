import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { getListField, parseFrontMatter, getTextField, type FrontMatter } from './front-matter.ts';
import {
  listDirectories,
  type InstructionDirectory,
  type InstructionPaths,
  type InstructionSource,
  createSourceFiles,
  type SourceFiles,
} from './source-files.ts';
import { existsSync } from 'node:fs';
import { findClosestName } from '../../base/did-you-mean.ts';

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

interface LoadedCommands {
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

export interface ExpandedCommand {
  readonly kind: 'expanded';
  /** The name as the command's author gave it. */
  readonly command: string;
  readonly args: string;
  readonly source: InstructionSource;
  /** What the model is given in place of what was typed. */
  readonly text: string;
  readonly model: string | null;
  readonly allowedTools: readonly string[];
  /** Asks an MCP server for the text; absent when `text` is it. */
  readonly fetch?: NonNullable<SlashCommand['fetch']>;
  /** What a person should know. */
  readonly notes: readonly string[];
}

interface UnknownCommand {
  readonly kind: 'unknown';
  readonly command: string;
  /** The command that was probably meant. */
  readonly closest: string | null;
}

const TYPED = /^\/([A-Za-z][\w:.-]*)(?:\s+([\s\S]*))?$/;

/** Null when the prompt is no command and goes to the model as it is: a path begins with a slash, too. */
export function expandCommand(
  prompt: string,
  commands: readonly SlashCommand[],
): ExpandedCommand | UnknownCommand | null {
  const [, typed, rest = ''] = TYPED.exec(prompt.trim()) ?? [];
  if (typed === undefined) return null;
  const command = findCommand(typed, commands);
  if (command !== null) return fillCommand(command, rest.trim());
  if (existsSync(`/${typed}`)) return null;
  const names = commands.map(({ name }) => name);
  const close = names.find((name) => name.endsWith(`:${typed}`)) ?? findClosestName(typed, names);
  return { kind: 'unknown', command: typed, closest: close };
}

/** By its whole name; without the directories before it when only one command is meant by that. */
function findCommand(typed: string, commands: readonly SlashCommand[]): SlashCommand | null {
  const exact = commands.find(({ name }) => name === typed);
  if (exact !== undefined) return exact;
  const [only, ...more] = commands.filter(({ name }) => name.endsWith(`:${typed}`));
  return only === undefined || more.length > 0 ? null : only;
}

function fillCommand(command: SlashCommand, args: string): ExpandedCommand {
  const { name, source, model, allowedTools } = command;
  return {
    kind: 'expanded',
    command: name,
    args,
    source,
    text: fillArguments(command.text, args),
    model,
    allowedTools,
    ...(command.fetch === undefined ? {} : { fetch: command.fetch }),
    notes: listShellNotes(command),
  };
}

const PLACEHOLDER = /\$(?:ARGUMENTS\b|([1-9]\d?)(?!\d))/g;

// In one pass: an argument that looks like a placeholder is text.
function fillArguments(text: string, args: string): string {
  const words = splitArguments(args);
  const filled = text.replaceAll(PLACEHOLDER, (_whole, number: string | undefined) =>
    number === undefined ? args : (words[Number(number) - 1] ?? ''),
  );
  const isToldNowhere = args !== '' && text.search(PLACEHOLDER) === -1;
  return isToldNowhere ? `${filled}\n\nARGUMENTS: ${args}` : filled;
}

/** Quotes keep several words together. */
export function splitArguments(args: string): string[] {
  const words = args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...words].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}

const INLINE_SHELL = /!`([^`\n]+)`/g;

// Text of a repository would run programs before any rule, hook or person could judge them.
function listShellNotes({ name, text }: SlashCommand): string[] {
  return [...text.matchAll(INLINE_SHELL)].map(
    ([, line = '']) =>
      `/${name} wants to run \`${line}\` by itself; this is not done, and stays text for the model, ` +
      'which can run it with a tool that hooks and permissions see',
  );
}
