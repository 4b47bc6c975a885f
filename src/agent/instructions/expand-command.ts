import { existsSync } from 'node:fs';
import { findClosestName } from '../../base/spelling.ts';
import type { SlashCommand } from './commands.ts';
import type { InstructionSource } from './instruction-paths.ts';

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

export interface UnknownCommand {
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
