import path from 'node:path';
import { dropUndefined } from '../../base/defined.ts';
import { isDirectory } from '../../base/files.ts';
import { getListField, parseFrontMatter, getTextField, type FrontMatter } from './front-matter.ts';
import {
  listDirectories,
  type InstructionDirectory,
  type InstructionPaths,
  type InstructionSource,
  SourceFiles,
} from './source-files.ts';
import { existsSync } from 'node:fs';
import { findClosestName } from '../../base/did-you-mean.ts';

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
  const files = new SourceFiles(paths);
  const found = findCommandFiles(files, paths);
  const read = await Promise.all(
    found.map(({ directory, file, name }) => readCommand(files, directory, file, name)),
  );
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

export function findCommandFiles(files: SourceFiles, paths: InstructionPaths) {
  return listDirectories('commands', paths).flatMap((directory) =>
    listCommandFiles(files, directory),
  );
}

function formatHiddenNote({ name, file }: SlashCommand, other: SlashCommand): string {
  return `${file} is ignored: /${name} is already defined in ${other.file}`;
}

function listCommandFiles(files: SourceFiles, directory: InstructionDirectory) {
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

async function readCommand(
  files: SourceFiles,
  directory: InstructionDirectory,
  file: string,
  name: string,
) {
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

export interface ExpandedCommand {
  readonly kind: 'expanded';
  readonly command: string;
  readonly args: string;
  readonly source: InstructionSource;
  /** The text for the model in place of the typed prompt. */
  readonly text: string;
  readonly model: string | null;
  readonly allowedTools: readonly string[];
  /** Requests the text from an MCP server; absent when `text` is complete. */
  readonly fetch?: NonNullable<SlashCommand['fetch']>;
  /** Notes for the user. */
  readonly notes: readonly string[];
}

const TYPED = /^\/([A-Za-z][\w:.-]*)(?:\s+([\s\S]*))?$/;

/** Null when the prompt is not a command and goes to the model unchanged: a path also starts with a slash. */
export function expandCommand(
  prompt: string,
  commands: readonly SlashCommand[],
): ExpandedCommand | { kind: 'unknown'; command: string; closest: string | null } | null {
  const [, typed, rest = ''] = TYPED.exec(prompt.trim()) ?? [];
  if (typed === undefined) return null;
  const command = findCommand(typed, commands);
  if (command !== null) return fillCommand(command, rest.trim());
  if (existsSync(`/${typed}`)) return null;
  const names = commands.map(({ name }) => name);
  const close = names.find((name) => name.endsWith(`:${typed}`)) ?? findClosestName(typed, names);
  return { kind: 'unknown', command: typed, closest: close };
}

/** Matches the full name, or the name without its directories when that is unambiguous. */
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
    ...dropUndefined({ fetch: command.fetch }),
    notes: listShellNotes(command),
  };
}

const PLACEHOLDER = /\$(?:ARGUMENTS\b|([1-9]\d?)(?!\d))/g;

// Replaced in one pass, so that an argument that looks like a placeholder stays text.
function fillArguments(text: string, args: string): string {
  const words = splitArguments(args);
  const filled = text.replaceAll(PLACEHOLDER, (_whole, number: string | undefined) =>
    number === undefined ? args : (words[Number(number) - 1] ?? ''),
  );
  const hasNoPlaceholder = args !== '' && text.search(PLACEHOLDER) === -1;
  return hasNoPlaceholder ? `${filled}\n\nARGUMENTS: ${args}` : filled;
}

/** Quotes group several words. */
export function splitArguments(args: string): string[] {
  const words = args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...words].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}

const INLINE_SHELL = /!`([^`\n]+)`/g;

// Inline shell is not run: text of a repository would start programs before any rule, hook or user could
// refuse.
function listShellNotes({ name, text }: SlashCommand): string[] {
  return [...text.matchAll(INLINE_SHELL)].map(
    ([, line = '']) =>
      `/${name} contains inline shell \`${line}\`, which is not run; the model can run it with a tool, ` +
      'subject to hooks and permissions',
  );
}
