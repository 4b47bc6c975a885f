import { dropUndefined } from '../../base/defined.ts';
import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import type { ProgramResult } from '../../process/run.ts';
import { type Codec, formatLastErrorLine } from '../command-handler.ts';
import { FILE_HOOKS, type FileHookName, listFileHookNames, type Profile } from './events.ts';
import { markSuspicious } from '../missing-program.ts';
import { readAnswer, type FileHookAnswer } from './output.ts';
import { encodePayload } from './payload.ts';
import { truncateText } from '../../base/json.ts';
import type { Decision, Failure } from '../../hooks/decision.ts';
import { EVENTS } from '../../hooks/events.ts';
import { detectVocabulary } from '../../tool-vocabularies/tool-views.ts';
import { getToolCall } from '../../hooks/facts.ts';
import type { HookOutput } from '../dialect.ts';
import { CLINE_SETTINGS } from './options.ts';

/** How the author of a hook makes it answer, after a failure of this kind. */
export function adviseOnFailure(name: FileHookName, { kind }: Failure): string | null {
  if (kind === 'timeout') return 'Let it answer sooner, or set "hooks.timeoutMs".';
  if (kind !== 'exit' && kind !== 'output') return null;
  const canRefuse = FILE_HOOKS[name].events.some((event) => EVENTS[event].refusal !== null);
  const answer = canRefuse
    ? '{"cancel": true, "errorMessage": "why"} to refuse, {} to agree'
    : '{}, or {"contextModification": "text for the model"}';
  return `Exit with 0 and print one JSON object: ${answer}.`;
}

export function createFileHookCodec(
  name: FileHookName,
  profile: Profile,
  options: DecideOptions,
): Codec {
  return {
    encode: (input) => encodePayload(input, name, profile),
    decode: (input, result) =>
      markSuspicious(decodeResult(input, result, options), {
        exitCode: result.exitCode,
        stdout: joinOutput(result.stdout),
        stderr: joinOutput(result.stderr),
      }),
  };
}

/** JSON counts whatever the exit code; without JSON, any exit code but 0 is a failure. */
function decodeResult(input: HandlerInput, result: ProgramResult, options: DecideOptions): Answer {
  const text = findAnswerText(result);
  if (text === null) return { failure: { kind: 'output', message: describeTooLong(result) } };
  const { answer, fault, refusal, notes, ...read } = readAnswer(text);
  const doubt = dropUndefined({ suspicion: read.suspicion, warnings: read.warnings });
  if (answer !== null) {
    const decided = decide(answer, input, options);
    return {
      ...doubt,
      decision: decided.decision,
      notes: [...notes, ...decided.notes, ...describeExit(result)],
    };
  }
  if (fault !== null) return { ...doubt, ...createFaultAnswer(fault, refusal, notes) };
  if (result.ending === 'signal') {
    return { ...doubt, failure: createKilled(result), notes };
  }
  if (result.exitCode === 0) return { ...doubt, notes };
  const message = `exited with code ${result.exitCode} and gave no answer${findFailureLine(result)}`;
  return { ...doubt, failure: { kind: 'exit', message }, notes };
}

function createKilled({ signal }: ProgramResult): Failure {
  return { kind: 'killed', message: `was killed by ${signal}` };
}

/** A hook whose output refuses in one reading refuses, because the author may have meant that one. */
function createFaultAnswer(
  fault: string,
  refusal: string | undefined,
  notes: readonly string[],
): Answer {
  if (refusal === undefined) return { failure: { kind: 'output', message: fault }, notes };
  const message = `${fault}; refused, because one reading of it says ${refusal}`;
  return { failure: { kind: 'output', message }, onFailure: 'closed', notes };
}

/**
 * In truncated output only the end can contain the answer, and only an object that starts its own
 * line: one in the middle of a huge document is not an answer.
 */
function findAnswerText({ stdout }: ProgramResult): string | null {
  if (!stdout.truncated) return stdout.text;
  const lines = stdout.tail.split('\n').slice(1);
  const start = lines.findLastIndex((line) => /^(?:\{|HOOK_CONTROL\t)/u.test(line));
  return start === -1 ? null : lines.slice(start).join('\n');
}

function describeTooLong({ stdout }: ProgramResult): string {
  return `stdout has ${stdout.totalBytes} bytes, too many to keep, and its last line is not an answer`;
}

function describeExit({ exitCode, signal }: ProgramResult): string[] {
  if (exitCode === 0) return [];
  const how = exitCode === null ? `killed by ${signal}` : `exit code ${exitCode}`;
  return [`its JSON counts although it ended with ${how}`];
}

/** Prefers stderr, but many hooks write their error to stdout. */
function findFailureLine({ stderr, stdout }: ProgramResult): string {
  return formatLastErrorLine(joinOutput(stderr)) || formatLastErrorLine(joinOutput(stdout));
}

function joinOutput({ text, tail }: ProgramResult['stderr']): string {
  return `${text}\n${tail}`;
}

export interface DecideOptions {
  /** The meaning of `cancel` at a tool call: deny the call, or end the run as Cline 4 does. */
  readonly cancel: 'deny' | 'stop';
  readonly maxContextChars: number;
}

/** Converts a file hook's answer to a decision; which fields count depends on the event. */
export function decide(
  answer: FileHookAnswer,
  input: HandlerInput,
  options: DecideOptions,
): { readonly decision: Decision; readonly notes: readonly string[] } {
  const limit = options.maxContextChars;
  const context = limitText('context', readContext(answer), limit);
  const refusal = limitRefusal(readRefusal(answer, input, options), limit);
  return {
    decision: {
      ...refusal.decision,
      ...dropUndefined({ context: context.text }),
      ...readRewrite(answer, input),
    },
    notes: [...refusal.notes, ...context.notes],
  };
}

/** An error message without `cancel` becomes context, unless there is other context. */
function readContext({ cancel, context, errorMessage }: FileHookAnswer): string | undefined {
  return cancel === true ? context : (context ?? errorMessage);
}

function limitText(name: string, text: string | undefined, limit: number) {
  if (text === undefined || text.length <= limit) return { text, notes: [] };
  const note = `${name} cut at ${limit} characters; it had ${text.length}`;
  return { text: `${truncateText(text, limit)}\n\n[... ${note} ...]`, notes: [note] };
}

/** Limits the texts of a refusal; the reason of a stop is the reason of its refusal. */
function limitRefusal({ stop, ...refusal }: Decision, limit: number) {
  const reason = limitText('reason', refusal.reason ?? stop?.reason, limit);
  const notice = limitText('notice', refusal.notice, limit);
  const { text } = reason;
  return {
    decision: {
      ...refusal,
      ...(refusal.reason === undefined || text === undefined ? {} : { reason: text }),
      ...(stop === undefined || text === undefined ? {} : { stop: { ...stop, reason: text } }),
      ...dropUndefined({ notice: notice.text }),
    },
    notes: [...reason.notes, ...notice.notes],
  };
}

function readRefusal(
  answer: FileHookAnswer,
  input: HandlerInput,
  options: DecideOptions,
): Decision {
  if (answer.cancel !== true) return answer.review === true ? createReview(answer) : {};
  const reason = answer.errorMessage ?? answer.context ?? 'cancelled without a message';
  if (options.cancel === 'stop' && input.tool !== null) {
    return { effect: 'deny', reason, stop: { reason, pending: 'skip' } };
  }
  return { effect: 'deny', reason };
}

function createReview({ errorMessage }: FileHookAnswer): Decision {
  return { effect: 'ask', reason: errorMessage ?? 'a hook asks for a review of this call' };
}

function readRewrite({ overrideInput }: FileHookAnswer, { event }: HandlerInput): Decision {
  if (overrideInput === undefined) return {};
  const call = getToolCall(event);
  const vocabulary = call === null ? null : detectVocabulary(call, overrideInput);
  if (vocabulary === null) return { input: overrideInput };
  return { input: overrideInput, inputFace: vocabulary };
}

const DEFAULTS: DecideOptions = {
  cancel: CLINE_SETTINGS['cline.cancel'].defaultValue,
  maxContextChars: CLINE_SETTINGS['cline.maxContextChars'].defaultValue,
};

/** Encodes the payload of a hook file for VS Code; null when the event has no hook file. */
export function encode(input: HandlerInput): string | null {
  return findCodec(input)?.encode(input) ?? null;
}

/** Decodes a hook file's output; an empty answer when the event has no hook file. */
export function decode(input: HandlerInput, output: HookOutput): Answer {
  return findCodec(input)?.decode(input, createProgramResult(output)) ?? {};
}

/** Finds the file hook that an event is encoded for; the first of several. */
export function findHookOfEvent({ event }: Pick<HandlerInput, 'event'>): FileHookName | undefined {
  return listFileHookNames(event)[0];
}

function findCodec(input: HandlerInput): Codec | null {
  const name = findHookOfEvent(input);
  return name === undefined ? null : createFileHookCodec(name, 'classic', DEFAULTS);
}

function createProgramResult({ stdout, stderr, exitCode }: HookOutput): ProgramResult {
  const toOutput = (text: string) => ({
    text,
    totalBytes: Buffer.byteLength(text),
    truncated: false,
    tail: '',
  });
  return {
    ending: 'exit',
    exitCode,
    signal: null,
    stdout: toOutput(stdout),
    stderr: toOutput(stderr),
    durationMs: 0,
    isTreeEnded: false,
    spawnError: null,
    late: null,
  };
}
