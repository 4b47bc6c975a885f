import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import type { ProgramResult } from '../../process/run.ts';
import type { Codec } from '../command-handler.ts';
import type { HookOutput } from '../dialect.ts';
import { createFileHookCodec } from './codec.ts';
import { FILE_HOOK_NAMES, FILE_HOOKS, type FileHookName } from './events.ts';

const DEFAULTS = { profile: 'classic', cancel: 'deny', maxContextChars: 50_000 } as const;

/** Encodes the payload of a hook file for VS Code; null when the event has no hook file. */
export function encode(input: HandlerInput): string | null {
  return findCodec(input)?.encode(input) ?? null;
}

/** Decodes a hook file's output; an empty answer when the event has no hook file. */
export function decode(input: HandlerInput, output: HookOutput): Answer {
  return findCodec(input)?.decode(input, toResult(output)) ?? {};
}

/** Finds the file hook that an event is encoded for; the first of several. */
export function findName({ event }: Pick<HandlerInput, 'event'>): FileHookName | undefined {
  return FILE_HOOK_NAMES.find((name) => {
    const { events, misfit } = FILE_HOOKS[name];
    return events.some((each) => each === event.name) && misfit(event) === null;
  });
}

function findCodec(input: HandlerInput): Codec | null {
  const name = findName(input);
  return name === undefined ? null : createFileHookCodec({ ...DEFAULTS, name });
}

function toResult({ stdout, stderr, exitCode }: HookOutput): ProgramResult {
  const whole = (text: string) => ({
    text,
    totalBytes: Buffer.byteLength(text),
    truncated: false,
    tail: '',
  });
  return {
    ending: 'exit',
    exitCode,
    signal: null,
    stdout: whole(stdout),
    stderr: whole(stderr),
    durationMs: 0,
    spawnError: null,
    late: null,
  };
}
