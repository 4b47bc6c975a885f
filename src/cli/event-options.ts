import { readFileSync } from 'node:fs';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { isNestedTooDeep, isRecord, MAX_NESTING, parseJson, getTypeName } from '../base/json.ts';
import { misspeltToolNote } from '../dialects/claude-config/match/tool-names.ts';
import type { EventName, FiredEvent } from '../hooks/facts.ts';
import type { Host } from '../host/create-host.ts';
import { type FireDescription, resolveEvent } from '../testing/resolve-event.ts';
import { formatCount, type Printer, toPrintable } from './output/print.ts';

/** The flags that describe an event to fire or to explain. */
export interface EventFlags {
  readonly tool?: string;
  readonly input?: string;
  readonly result?: string;
  readonly success?: string;
  readonly prompt?: string;
  readonly source?: string;
  readonly facts?: string;
  readonly payload?: string;
  readonly as?: string;
}

/** The event that the command line describes; what it does not say is filled with an example. */
export function readEvent(name: string | undefined, flags: EventFlags): FiredEvent {
  return resolveEvent(readDescription(name, flags));
}

/** Hooks that were written for the tool that is meant are not asked, which looks as if they agreed. */
export function warnMisspelledTool(print: Printer, { tool }: EventFlags): void {
  const note = tool === undefined ? null : misspeltToolNote(tool);
  if (note !== null) print.note(`note: ${toPrintable(note)}`);
}

const PLUGIN_EVENTS: readonly EventName[] = [
  'RunStart',
  'ModelRequest',
  'ModelResponse',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'RunEnd',
];

/** Plugins are loaded with a session; without one, nobody may take their silence for an answer. */
export function warnPluginsNotFired(print: Printer, host: Host, event: EventName): void {
  const plugins = host.hooks().filter(({ hook, state }) => hook.plugin && state === 'ready').length;
  if (plugins === 0 || !PLUGIN_EVENTS.includes(event)) return;
  const whose = `hooks of ${formatCount(plugins, 'plugin')}`;
  print.note(`note: ${whose} are not asked here, only in a session such as \`hookline run\``);
}

/** What the command line says of an event, with the files that it names read. */
export function readDescription(name: string | undefined, flags: EventFlags): FireDescription {
  if (flags.payload !== undefined) {
    return { payload: readJsonFile(flags.payload), as: flags.as ?? 'cline' };
  }
  if (name === undefined) {
    throw createUsageError(
      'an event is missing',
      'Name one, such as PreToolUse, or give --payload FILE.',
    );
  }
  const { tool, result, prompt, source } = flags;
  return {
    event: name,
    ...(tool === undefined ? {} : { tool }),
    ...(flags.input === undefined ? {} : { input: parseInput(flags.input) }),
    ...(result === undefined ? {} : { result }),
    ...(flags.success === undefined ? {} : { success: parseSuccess(flags.success) }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(source === undefined ? {} : { source }),
    ...(flags.facts === undefined ? {} : { facts: readFacts(flags.facts) }),
  };
}

function parseInput(text: string): unknown {
  const parsed = parseJson(text);
  if (parsed.ok) return checkDepth(parsed.value, '--input');
  throw createUsageError(
    `--input should be JSON, found ${JSON.stringify(text.slice(0, 80))}: ${parsed.error}`,
    `Quote it for the shell: --input '{"path":"a.js"}'.`,
  );
}

function parseSuccess(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw createUsageError(`--success should be true or false, found ${JSON.stringify(text)}`);
}

function readFacts(file: string): Readonly<Record<string, unknown>> {
  const value = readJsonFile(file);
  if (isRecord(value)) return value;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${file} should hold a JSON object of facts, found ${getTypeName(value)}`,
    hint: 'For example {"prompt": "hello", "cwd": "/tmp"}.',
  });
}

function readJsonFile(file: string): unknown {
  const parsed = parseJson(readText(file));
  if (parsed.ok) return checkDepth(parsed.value, file);
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${file} should be JSON: ${parsed.error}`,
    hint: 'It should hold one JSON object.',
  });
}

function checkDepth(value: unknown, source: string): unknown {
  if (!isNestedTooDeep(value)) return value;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${source} is nested deeper than ${MAX_NESTING} levels`,
    hint: 'No tool takes such an input; make it flatter.',
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw createUsageError(`${file} cannot be read: ${getErrorMessage(error)}`);
  }
}

function createUsageError(message: string, hint?: string): HooklineError {
  return new HooklineError('USAGE_INVALID', hint === undefined ? { message } : { message, hint });
}
