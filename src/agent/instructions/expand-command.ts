import { existsSync } from 'node:fs';
import { findClosestName } from '../../base/did-you-mean.ts';
import type { SlashCommand } from './commands.ts';
import type { InstructionSource } from './instruction-paths.ts';

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

export interface UnknownCommand {
  readonly kind: 'unknown';
  readonly command: string;
  /** The most similar command name. */
  readonly closest: string | null;
}

const TYPED = /^\/([A-Za-z][\w:.-]*)(?:\s+([\s\S]*))?$/;

/** Null when the prompt is not a command and goes to the model unchanged: a path also starts with a slash. */
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
    ...(command.fetch === undefined ? {} : { fetch: command.fetch }),
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
