import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoizePerObject } from '../../base/memoize.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import type { ProgramResult } from '../../process/run.ts';
import type { HookOutput } from '../dialect.ts';
import type { Entry } from './entry.ts';
import { type ClaudeEvent, listClaudeNames } from './events.ts';
import { listStartNotes } from './handlers/start-notes.ts';
import { formatLabel } from './identity.ts';
import { encodePayload } from './input/payload.ts';
import {
  buildTranscriptPath,
  createTranscripts,
  type WriteTranscript,
} from './input/transcript.ts';
import { markSuspicious } from '../missing-program.ts';
import { decodeOutput, type OutputRequest } from './output/decide.ts';
import { decodeLate } from './output/late-answer.ts';
import { createSpill } from './output/spill.ts';
import type { ClaudeSession } from './session.ts';

/** Encodes payloads and decodes answers for all hooks of one session. */
export class ClaudeCodec {
  readonly session: ClaudeSession;
  readonly #writeTranscript: WriteTranscript;
  /** Why the transcript of an event cannot be read, which each of its answers notes. */
  readonly #notes = new WeakMap<HandlerInput, string>();
  readonly #payloads = new Map<ClaudeEvent, (input: HandlerInput) => Buffer>();

  constructor(session: ClaudeSession, writeTranscript = openTranscripts(session)) {
    this.session = session;
    this.#writeTranscript = writeTranscript;
  }

  encode(event: ClaudeEvent, input: HandlerInput, extras = {}): string {
    const { path: transcriptPath, note } = this.#writeTranscript(input.event);
    if (note !== null) this.#notes.set(input, note);
    return encodePayload({ input, event, transcriptPath, home: this.session.home, extras });
  }

  /** Encodes once for all hooks of an event, so that they share the bytes. */
  encodeShared(event: ClaudeEvent, input: HandlerInput): Buffer {
    const encode =
      this.#payloads.get(event) ??
      memoizePerObject((each: HandlerInput) => Buffer.from(this.encode(event, each)));
    this.#payloads.set(event, encode);
    return encode(input);
  }

  /** Decodes the result of a program that exited without being killed. */
  decode(entry: Entry, input: HandlerInput, result: ProgramResult): Answer {
    const request = withReason(entry, this.#createOutputRequest(entry, input, result));
    const decoded = this.decodeOutput(request);
    if (entry.type !== 'command') return decoded;
    const answer = markSuspicious(decoded, request);
    const { exitCode, stderr } = request;
    const { cwd } = input.event;
    const notes = listStartNotes(entry, exitCode, stderr, cwd, this.session);
    return notes.length === 0 ? answer : { ...answer, notes: [...(answer.notes ?? []), ...notes] };
  }

  /** Decodes the result of a program in the background. */
  decodeLate(entry: Entry, input: HandlerInput, result: ProgramResult): Answer {
    const rewake =
      entry.type === 'command' && entry.asyncRewake
        ? { message: entry.rewakeMessage, summary: entry.rewakeSummary }
        : null;
    return decodeLate({ ...this.#createOutputRequest(entry, input, result), rewake });
  }

  /** Decodes text that did not come from a program, such as an HTTP body. */
  decodeText(entry: Entry, input: HandlerInput, text: string): Answer {
    const output = { exitCode: 0, signal: null, stdout: text, stderr: '', isTruncated: false };
    const spill = createSpill(this.session, input.event);
    return this.decodeOutput({ ...describeHook(entry), ...output, input, spill });
  }

  /** Decodes the output of any hook, and notes what was wrong with its payload. */
  decodeOutput(request: OutputRequest): Answer {
    const answer = decodeOutput(request);
    const note = this.#notes.get(request.input);
    return note === undefined ? answer : { ...answer, notes: [...(answer.notes ?? []), note] };
  }

  #createOutputRequest(entry: Entry, input: HandlerInput, result: ProgramResult): OutputRequest {
    const { exitCode, signal, stdout, stderr } = result;
    return {
      ...describeHook(entry),
      input,
      exitCode,
      signal,
      stdout: stdout.text,
      stderr: stderr.truncated ? `${stderr.text}\n${stderr.tail}` : stderr.text,
      isTruncated: stdout.truncated,
      spill: createSpill(this.session, input.event),
    };
  }
}

const NO_SESSION: ClaudeSession = {
  startDirectory: '/',
  home: null,
  stateDirectory: null,
  isAttended: false,
  awaitsRewake: true,
  env: {},
  settingsEnv: {},
  machine: { platform: 'linux', findProgram: () => null },
  untrusted: [],
};

/** The codec of hooks that no session runs: it writes neither transcripts nor long outputs. */
const SESSIONLESS_CODEC = new ClaudeCodec(NO_SESSION, () => ({ path: '', note: null }));

/** Encodes the payload of a command hook; null when Claude Code has no such event. */
export function encode(input: HandlerInput): string | null {
  const [event] = listClaudeNames(input.event);
  return event === undefined ? null : SESSIONLESS_CODEC.encode(event, input);
}

/** Decodes a command hook's output; an empty answer when Claude Code has no such event. */
export function decode(input: HandlerInput, output: HookOutput): Answer {
  const [event] = listClaudeNames(input.event);
  if (event === undefined) return {};
  const answer = SESSIONLESS_CODEC.decodeOutput({
    ...output,
    event,
    label: 'hook',
    onFailure: 'continue',
    input,
    signal: null,
    isTruncated: false,
    spill: createSpill(NO_SESSION, input.event),
  });
  return markSuspicious(answer, output);
}

function describeHook(
  entry: Entry,
): Pick<OutputRequest, 'event' | 'label' | 'onFailure' | 'isCline'> {
  const { event, onFailure, source } = entry;
  return { event, label: formatLabel(entry), onFailure, isCline: source.isCline };
}

/** The reason of an asyncRewake hook is its stderr or, when that is empty, its stdout. */
function withReason(entry: Entry, request: OutputRequest): OutputRequest {
  const { exitCode, stdout, stderr } = request;
  const mayWake = entry.type === 'command' && entry.asyncRewake && exitCode === 2;
  if (!mayWake || stderr.trim() !== '' || stdout.trimStart().startsWith('{')) return request;
  return { ...request, stdout: '', stderr: stdout };
}

/** Writes transcripts for hosts that keep none, because hooks expect a readable file. */
function openTranscripts({ stateDirectory }: ClaudeSession): WriteTranscript {
  const write =
    stateDirectory === null
      ? refuseTranscript
      : createTranscripts(path.join(stateDirectory, 'transcripts'));
  return (event) =>
    event.transcriptPath === null ? write(event) : { path: event.transcriptPath, note: null };
}

function refuseTranscript(event: HookEvent): ReturnType<WriteTranscript> {
  const note = 'there is no home directory, so there is no transcript that hooks could read';
  return { path: buildTranscriptPath(path.join(tmpdir(), 'hookline'), event), note };
}
