import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import type { ProgramResult } from '../../process/run.ts';
import type { Codec } from '../command-handler.ts';
import { lastWords } from '../last-error-line.ts';
import { decide, type DecideOptions } from './decide.ts';
import type { FileHookName, Profile } from './names.ts';
import { readAnswer } from './output.ts';
import { encodePayload } from './payload.ts';

export interface CodecOptions extends DecideOptions {
  readonly name: FileHookName;
  readonly profile: Profile;
}

export function createFileHookCodec(options: CodecOptions): Codec {
  const { name, profile } = options;
  return {
    encode: (input) => encodePayload({ input, name, profile }),
    decode: (input, result) => decodeResult(input, result, options),
  };
}

/** JSON counts however the hook ended; without it, only exit code 0 means that it agrees. */
function decodeResult(input: HandlerInput, result: ProgramResult, options: CodecOptions): Answer {
  const text = answerText(result);
  if (text === null) return { failure: { kind: 'output', message: tooLong(result) } };
  const { answer, fault, notes } = readAnswer(text);
  if (answer !== null) {
    const decided = decide(answer, input, options);
    return {
      decision: decided.decision,
      notes: [...notes, ...decided.notes, ...exitNote(result)],
    };
  }
  if (fault !== null) return { failure: { kind: 'output', message: fault }, notes };
  if (result.ending === 'signal') {
    return { failure: { kind: 'killed', message: `was killed by ${result.signal}` }, notes };
  }
  if (result.exitCode === 0) return { notes };
  const message = `exited with code ${result.exitCode} and gave no answer${whyItFailed(result)}`;
  return { failure: { kind: 'exit', message }, notes };
}

/**
 * Of output too long to keep only the end can hold the answer, and there only what starts on a line
 * of its own: in the middle of a huge document an object is not an answer.
 */
function answerText({ stdout }: ProgramResult): string | null {
  if (!stdout.truncated) return stdout.text;
  const lines = stdout.tail.split('\n').slice(1);
  const start = lines.findLastIndex((line) => /^(?:\{|HOOK_CONTROL\t)/u.test(line));
  return start === -1 ? null : lines.slice(start).join('\n');
}

function tooLong({ stdout }: ProgramResult): string {
  return `stdout has ${stdout.totalBytes} bytes, more than is kept, and no answer stands on a line of its own at its end`;
}

function exitNote({ exitCode, signal }: ProgramResult): string[] {
  if (exitCode === 0) return [];
  const how = exitCode === null ? `killed by ${signal}` : `exit code ${exitCode}`;
  return [`its JSON counts although it ended with ${how}`];
}

/** Mostly on stderr, but many hooks write to stdout why they fail. */
function whyItFailed({ stderr, stdout }: ProgramResult): string {
  return lastWords(allOf(stderr)) || lastWords(allOf(stdout));
}

function allOf({ text, tail }: ProgramResult['stderr']): string {
  return `${text}\n${tail}`;
}
