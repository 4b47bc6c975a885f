import { readFileSync } from 'node:fs';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError } from '../base/errors.ts';
import { explainFileError } from '../base/files.ts';
import { isNestedTooDeep, isRecord, MAX_NESTING, parseJson, getTypeName } from '../base/json.ts';
import { describeMisspelledTool } from '../dialects/known-tools.ts';
import { DEFAULT_DIALECT } from '../dialects/index.ts';
import type { FiredEvent } from '../hooks/facts.ts';
import { type FireDescription, resolveEvent } from '../testing/resolve-event.ts';
import { type Printer, toPrintable } from './output/print.ts';

/** The flags that describe an event to fire or to explain. */
export interface EventFlags {
  /** Its name; absent with a payload. */
  readonly event?: string;
  /** False leaves out the hooks of plugins. */
  readonly load?: boolean;
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

const STDIN = '-';

/** Reads the event that the flags describe; missing fields get example values. */
export function readEvent(flags: EventFlags): FiredEvent {
  return resolveEvent(readDescription(flags));
}

/** Warns about a misspelled tool, because its hooks would silently not match. */
export function warnMisspelledTool(print: Printer, { tool }: EventFlags): void {
  const note = tool === undefined ? null : describeMisspelledTool(tool);
  if (note !== null) print.note(`note: ${toPrintable(note)}`);
}

/** Reads the event description of the flags, and the files that they name. */
export function readDescription(flags: EventFlags): FireDescription {
  if (flags.payload !== undefined) {
    return { payload: readJsonFile(flags.payload, 'the payload'), as: flags.as ?? DEFAULT_DIALECT };
  }
  const { event, tool, result, prompt, source } = flags;
  if (event === undefined) {
    throw createUsageError('missing event', 'Pass one, such as PreToolUse, or --payload FILE.');
  }
  return {
    event,
    ...dropUndefined({ tool, result, prompt, source }),
    ...(flags.input === undefined ? {} : { input: parseInput(flags.input) }),
    ...(flags.success === undefined ? {} : { success: parseSuccess(flags.success) }),
    ...(flags.facts === undefined ? {} : { facts: readFacts(flags.facts) }),
  };
}

function parseInput(text: string): unknown {
  const parsed = parseJson(text);
  if (parsed.ok) return checkDepth(parsed.value, '--input');
  throw createUsageError(
    `--input must be JSON, found ${JSON.stringify(text.slice(0, 80))}: ${parsed.error}`,
    `Quote it for the shell: --input '{"path":"a.js"}'.`,
  );
}

function parseSuccess(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw createUsageError(`--success must be true or false, found ${JSON.stringify(text)}`);
}

function readFacts(file: string): Readonly<Record<string, unknown>> {
  const value = readJsonFile(file, 'the text');
  if (isRecord(value)) return value;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${describeSource(file, 'the text')} must contain a JSON object, found ${getTypeName(value)}`,
    hint: 'For example {"prompt": "hello", "cwd": "/tmp"}.',
  });
}

/** `what` describes the content in errors, because stdin has no file name. */
function readJsonFile(file: string, what: string): unknown {
  const source = describeSource(file, what);
  const text = readText(file, source);
  const parsed = parseJson(text);
  if (parsed.ok) return checkDepth(parsed.value, source);
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${source} is not valid JSON: ${parsed.error}`,
    hint: 'It must contain one JSON object.',
  });
}

function checkDepth(value: unknown, source: string): unknown {
  if (!isNestedTooDeep(value)) return value;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${source} is nested deeper than ${MAX_NESTING} levels`,
    hint: 'Reduce the nesting.',
  });
}

function describeSource(file: string, what: string): string {
  return file === STDIN ? `${what} on stdin` : file;
}

function readText(file: string, source: string): string {
  try {
    return readFileSync(file === STDIN ? 0 : file, 'utf8');
  } catch (error) {
    throw createUsageError(
      `${source} cannot be read: ${explainFileError(error)}`,
      'Pass an existing file, or - for stdin.',
    );
  }
}

function createUsageError(message: string, hint?: string): HooklineError {
  return new HooklineError('USAGE_INVALID', hint === undefined ? { message } : { message, hint });
}
