import path from 'node:path';
import { tmpdir } from 'node:os';
import type { HookEvent } from '../../hooks/facts.ts';
import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import type { ProgramResult } from '../../process/run.ts';
import type { CommandIo } from './handlers/command.ts';
import { startNotes } from './handlers/start-notes.ts';
import type { Entry } from './entry.ts';
import { labelOf } from './identity.ts';
import { encodePayload } from './input/payload.ts';
import { createTranscripts, type KeepTranscript } from './input/transcript.ts';
import { transcriptPath } from './input/transcript-path.ts';
import type { ClaudeEvent } from './names.ts';
import { decodeOutput, type OutputRequest } from './output/decide.ts';
import { decodeLate, isAsyncLine } from './output/late.ts';
import type { ClaudeSession } from './session.ts';
import { createSpill } from './spill-file.ts';

/** Writes payloads and reads answers, for all hooks of one session. */
export interface ClaudeIo {
  /** The same function for all hooks of an event, so that they share one payload. */
  encoderFor(event: ClaudeEvent): (input: HandlerInput) => string;
  commandIo(entry: Entry): CommandIo;
  /** Reads text that did not come from a program, such as the body of an HTTP answer. */
  decodeText(entry: Entry, input: HandlerInput, text: string): Answer;
}

export function createIo(session: ClaudeSession): ClaudeIo {
  const notes = new WeakMap<HandlerInput, string>();
  const encoders = new Map<ClaudeEvent, (input: HandlerInput) => string>();

  const keepTranscript = transcriptsOf(session);

  function encode(event: ClaudeEvent, input: HandlerInput, extras = {}): string {
    const { path: file, note } = keepTranscript(input.event);
    if (note !== null) notes.set(input, note);
    const { home } = session;
    return encodePayload({ input, event, transcriptPath: file, home, extras });
  }

  function encoderFor(event: ClaudeEvent): (input: HandlerInput) => string {
    const encoder = encoders.get(event) ?? ((input: HandlerInput) => encode(event, input));
    encoders.set(event, encoder);
    return encoder;
  }

  const withNote = (input: HandlerInput, answer: Answer): Answer => {
    const note = notes.get(input);
    return note === undefined ? answer : { ...answer, notes: [...(answer.notes ?? []), note] };
  };

  return {
    encoderFor,
    commandIo: (entry) => ({
      encode: encoderFor(entry.event),
      encodeWith: (input, envFile) => encode(entry.event, input, { CLAUDE_ENV_FILE: envFile }),
      decode: (input, result) => {
        const request = withReason(entry, requestOf(entry, { input, result, session }));
        const answer = withNote(input, decodeOutput(request));
        return withStartNotes(answer, { entry, request, session });
      },
      decodeLate: (input, result) => {
        const isRewake = entry.type === 'command' && entry.asyncRewake;
        return decodeLate({ ...requestOf(entry, { input, result, session }), isRewake });
      },
      handOver: (firstLine) => isAsyncLine(firstLine) ?? false,
    }),
    decodeText: (entry, input, text) =>
      withNote(
        input,
        decodeOutput({
          ...hookOf(entry),
          ...ENDED_WELL,
          input,
          stdout: text,
          spill: createSpill(session, input.event),
        }),
      ),
  };
}

const ENDED_WELL = { exitCode: 0, signal: null, stderr: '', isTruncated: false } as const;

function hookOf(entry: Entry): Pick<OutputRequest, 'event' | 'label' | 'onFailure'> {
  return { event: entry.event, label: labelOf(entry), onFailure: entry.onFailure };
}

interface Ended {
  readonly input: HandlerInput;
  readonly result: ProgramResult;
  readonly session: ClaudeSession;
}

function requestOf(entry: Entry, { input, result, session }: Ended): OutputRequest {
  const { exitCode, signal, stdout, stderr } = result;
  return {
    ...hookOf(entry),
    input,
    exitCode,
    signal,
    stdout: stdout.text,
    stderr: stderr.truncated ? `${stderr.text}\n${stderr.tail}` : stderr.text,
    isTruncated: stdout.truncated,
    spill: createSpill(session, input.event),
  };
}

/** A hook that may wake the session says why on stderr or, if that is empty, on stdout. */
function withReason(entry: Entry, request: OutputRequest): OutputRequest {
  const { exitCode, stdout, stderr } = request;
  const mayWake = entry.type === 'command' && entry.asyncRewake && exitCode === 2;
  if (!mayWake || stderr.trim() !== '' || stdout.trimStart().startsWith('{')) return request;
  return { ...request, stdout: '', stderr: stdout };
}

interface Decoded {
  readonly entry: Entry;
  readonly request: OutputRequest;
  readonly session: ClaudeSession;
}

function withStartNotes(answer: Answer, { entry, request, session }: Decoded): Answer {
  if (entry.type !== 'command') return answer;
  const { exitCode, stderr, input } = request;
  const notes = startNotes(entry, { exitCode, stderr, cwd: input.event.cwd }, session);
  return notes.length === 0 ? answer : { ...answer, notes: [...(answer.notes ?? []), ...notes] };
}

/** Hooks expect a transcript that they can read, also from a host that keeps none. */
function transcriptsOf({ stateDirectory }: ClaudeSession): KeepTranscript {
  const keep =
    stateDirectory === null
      ? noTranscript
      : createTranscripts(path.join(stateDirectory, 'transcripts'));
  return (event) =>
    event.transcriptPath === null ? keep(event) : { path: event.transcriptPath, note: null };
}

function noTranscript(event: HookEvent): ReturnType<KeepTranscript> {
  const note = 'there is no home directory, so there is no transcript that hooks could read';
  return { path: transcriptPath(path.join(tmpdir(), 'hookline'), event), note };
}
