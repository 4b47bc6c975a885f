import { getToolCall, type HookEvent } from '../../hooks/facts.ts';
import { systemClock } from '../../base/clock.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { Handler, Answer, HandlerInput } from '../../hooks/handler.ts';
import type { Grant } from '../discovery.ts';
import { explainUnboundDirectory } from './binding.ts';
import type { CommandEntry, Entry } from './entry.ts';
import { planCommand } from './handlers/command-line.ts';
import { createClaudeCommandHandler, type CommandIo } from './handlers/command.ts';
import { getProjectDirectory, selectSettingsVariables } from './handlers/environment.ts';
import { createHttpRun } from './handlers/http.ts';
import type { HttpRules } from './handlers/http-rules.ts';
import { createMcpToolRun } from './handlers/mcp-tool.ts';
import { createModelRun } from './handlers/model.ts';
import { computeIdentity, formatLabel } from './identity.ts';
import { explainFailure, getFailurePolicy } from './output/failures.ts';
import { decideModelAnswer } from './output/model-answer.ts';
import type { HookPorts } from '../ports.ts';
import type { ClaudeSession } from './session.ts';
import path from 'node:path';
import { tmpdir } from 'node:os';
import type { ProgramResult } from '../../process/run.ts';
import { listStartNotes } from './handlers/start-notes.ts';
import { encodePayload } from './input/payload.ts';
import {
  createTranscripts,
  type WriteTranscript,
  buildTranscriptPath,
} from './input/transcript.ts';
import type { ClaudeEvent } from './events.ts';
import { decodeOutput, type OutputRequest } from './output/decide.ts';
import { decodeLate, parseAsyncLine } from './output/late.ts';
import { createSpill } from './output/spill.ts';

interface HandlerServices {
  readonly session: ClaudeSession;
  readonly ports: HookPorts;
  readonly httpRules: HttpRules;
  readonly ranOnce: RanOnce;
}

/** For each `once` hook that has run, the event that it ran for; survives another discovery. */
export type RanOnce = Map<string, string>;

interface HandlerOptions {
  readonly target: Omit<Handler, 'run'>;
  readonly grant: Grant;
  /** Its index among the hooks of its event, from 0. */
  readonly index: number;
}

/** Creates handlers for entries of every type. */
export interface EntryHandlers {
  createHandler(entry: Entry, wish: HandlerOptions): Handler;
  /** Returns why every run of the entry will fail, or null. */
  findProblem(entry: Entry): string | null;
}

export function createEntryHandlers(services: HandlerServices): EntryHandlers {
  const io = createIo(services.session);
  return {
    createHandler: (entry, wish) =>
      restrictToOnce(
        entry,
        createHandler(withGrant(entry, wish.grant), { ...wish, ...services, io }),
        services.ranOnce,
      ),
    findProblem(entry) {
      const planned = entry.type === 'command' ? planCommand(entry, services.session) : null;
      return planned !== null && 'problem' in planned ? planned.problem : null;
    },
  };
}

/** The user's configuration overrides the entry's own values. */
function withGrant<Kind extends Entry>(entry: Kind, { timeoutMs, onFailure }: Grant): Kind {
  return { ...entry, timeoutMs, onFailure: onFailure === 'closed' ? 'block' : 'continue' };
}

interface HandlerParts extends HandlerOptions, HandlerServices {
  readonly io: ClaudeIo;
}

function createHandler(entry: Entry, parts: HandlerParts): Handler {
  const { grant, session, index, io } = parts;
  const target = {
    ...parts.target,
    sameAs: computeIdentity(entry, getProjectDirectory(entry.source, session)),
    onFailure: getFailurePolicy(entry.event, entry.onFailure),
  };
  const handler =
    entry.type === 'command'
      ? restrictToBoundDirectory(
          entry,
          session,
          createClaudeCommandHandler(entry, {
            target,
            grant,
            session,
            index,
            io: io.commandIo(entry),
          }),
        )
      : { ...target, run: createReportingRun(entry, parts) };
  // Nothing waits for a background hook, so its failure cannot refuse anything.
  if (handler.background === true) return { ...handler, onFailure: 'open' };
  return withExplainedFailures(handler, entry);
}

/** Fails a run in a directory where the command names other files than those that are trusted. */
function restrictToBoundDirectory(
  entry: CommandEntry,
  session: ClaudeSession,
  handler: Handler,
): Handler {
  if (entry.source.root === null) return handler;
  return {
    ...handler,
    run(input, signal, report) {
      const message = explainUnboundDirectory(input.event.cwd, entry, session);
      return message === null
        ? handler.run(input, signal, report)
        : { failure: { kind: 'spawn', message } };
    },
  };
}

/** A `once` hook matches no event after the one that it ran for. */
function restrictToOnce({ once }: Entry, handler: Handler, ranOnce: RanOnce): Handler {
  if (!once) return handler;
  const keyIn = ({ sessionId }: HookEvent): string =>
    JSON.stringify([sessionId, handler.id, handler.sameAs]);
  return {
    ...handler,
    fits(event, names, tool) {
      const ranFor = ranOnce.get(keyIn(event)) ?? formatMomentKey(event);
      if (ranFor !== formatMomentKey(event)) return 'it runs once, and has run';
      return handler.fits?.(event, names, tool) ?? null;
    },
    run(input, signal, report) {
      ranOnce.set(keyIn(input.event), formatMomentKey(input.event));
      return handler.run(input, signal, report);
    },
  };
}

/** Returns the same key for all parts of a call, and for its second pass after a rewrite. */
function formatMomentKey(event: HookEvent): string {
  return `${event.at} ${getToolCall(event)?.callId ?? ''}`;
}

/** Words a failure that refuses the action as Claude Code does. */
function withExplainedFailures(handler: Handler, entry: Entry): Handler {
  if (handler.onFailure === 'open') return handler;
  const hook = { event: entry.event, label: formatLabel(entry), onFailure: entry.onFailure };
  return {
    ...handler,
    async run(input, signal, report) {
      const answer = await handler.run(input, signal, report);
      const { failure, program } = answer ?? {};
      if (failure === undefined || failure.message.includes(BLOCKING)) return answer;
      const details = program?.stderr.trim() === '' ? undefined : program?.stderr;
      return { ...answer, failure: explainFailure(hook, failure, details ?? failure.message) };
    },
  };
}

const BLOCKING = 'blocking because onFailure is';

type AskedEntry = Exclude<Entry, { type: 'command' }>;

/** Creates the run of an entry that starts no program, and reports its exchange. */
function createReportingRun(entry: AskedEntry, parts: HandlerParts): Handler['run'] {
  const run = createRun(entry, parts);
  return async (input, signal, report) => {
    const startedAt = systemClock.elapsed();
    const answer = await run(input, signal);
    report?.({
      asked: `${entry.type} ${formatLabel(entry)}`,
      cwd: null,
      payload: Buffer.from(parts.io.getEncoder(entry.event)(input)),
      ending: answer?.failure === undefined ? 'answered' : answer.failure.kind,
      stdout: answer?.program?.stdout ?? '',
      stderr: answer?.failure?.message ?? '',
      durationMs: systemClock.elapsed() - startedAt,
    });
    return answer;
  };
}

function createRun(
  entry: AskedEntry,
  { io, ports, httpRules, session, grant }: HandlerParts,
): Handler['run'] {
  const encode = io.getEncoder(entry.event);
  const decode = io.decodeText.bind(null, entry);
  switch (entry.type) {
    case 'http':
      return createHttpRun(entry, {
        encode,
        decode,
        rules: httpRules,
        env: {
          ...grant.environment,
          ...selectSettingsVariables(entry, session, grant.environment),
        },
        allowPrivate: false,
      });
    case 'mcp_tool':
      return createMcpToolRun(entry, {
        callMcp: ports.callMcp,
        decode,
        payload: (input) => parsePayload(encode(input)),
      });
    case 'prompt':
    case 'agent':
      return createModelRun(entry, {
        askModel: ports.askModel,
        payloadText: (input) => encode(input).trimEnd(),
        decide: (_input, text) =>
          decideModelAnswer({
            event: entry.event,
            text,
            continueOnBlock: entry.continueOnBlock,
            kind: entry.type,
            label: formatLabel(entry),
          }),
      });
  }
}

function parsePayload(text: string): object {
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}

/** Encodes payloads and decodes answers for all hooks of one session. */
interface ClaudeIo {
  /** Returns the same function for all hooks of an event, so that they share one payload. */
  getEncoder(event: ClaudeEvent): (input: HandlerInput) => string;
  commandIo(entry: Entry): CommandIo;
  /** Decodes text that did not come from a program, such as an HTTP body. */
  decodeText(entry: Entry, input: HandlerInput, text: string): Answer;
}

function createIo(session: ClaudeSession): ClaudeIo {
  const notes = new WeakMap<HandlerInput, string>();
  const encoders = new Map<ClaudeEvent, (input: HandlerInput) => string>();

  const keepTranscript = openTranscripts(session);

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
    getEncoder: encoderFor,
    commandIo: (entry) => ({
      encode: encoderFor(entry.event),
      encodeWith: (input, envFile) => encode(entry.event, input, { CLAUDE_ENV_FILE: envFile }),
      decode: (input, result) => {
        const request = withReason(entry, createOutputRequest(entry, { input, result, session }));
        const answer = withNote(input, decodeOutput(request));
        return withStartNotes(answer, { entry, request, session });
      },
      decodeLate: (input, result) => {
        const isRewake = entry.type === 'command' && entry.asyncRewake;
        return decodeLate({ ...createOutputRequest(entry, { input, result, session }), isRewake });
      },
      handOver: (firstLine) => parseAsyncLine(firstLine) ?? false,
    }),
    decodeText: (entry, input, text) =>
      withNote(
        input,
        decodeOutput({
          ...describeHook(entry),
          ...ENDED_WELL,
          input,
          stdout: text,
          spill: createSpill(session, input.event),
        }),
      ),
  };
}

const ENDED_WELL = { exitCode: 0, signal: null, stderr: '', isTruncated: false } as const;

function describeHook(entry: Entry): Pick<OutputRequest, 'event' | 'label' | 'onFailure'> {
  return { event: entry.event, label: formatLabel(entry), onFailure: entry.onFailure };
}

interface EndedProgram {
  readonly input: HandlerInput;
  readonly result: ProgramResult;
  readonly session: ClaudeSession;
}

function createOutputRequest(
  entry: Entry,
  { input, result, session }: EndedProgram,
): OutputRequest {
  const { exitCode, signal, stdout, stderr } = result;
  return {
    ...describeHook(entry),
    input,
    exitCode,
    signal,
    stdout: stdout.text,
    stderr: stderr.truncated ? `${stderr.text}\n${stderr.tail}` : stderr.text,
    isTruncated: stdout.truncated,
    spill: createSpill(session, input.event),
  };
}

/** The reason of an asyncRewake hook is its stderr or, when that is empty, its stdout. */
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
  const notes = listStartNotes(entry, { exitCode, stderr, cwd: input.event.cwd }, session);
  return notes.length === 0 ? answer : { ...answer, notes: [...(answer.notes ?? []), ...notes] };
}

/** Writes transcripts for hosts that keep none, because hooks expect a readable file. */
function openTranscripts({ stateDirectory }: ClaudeSession): WriteTranscript {
  const keep =
    stateDirectory === null
      ? refuseTranscript
      : createTranscripts(path.join(stateDirectory, 'transcripts'));
  return (event) =>
    event.transcriptPath === null ? keep(event) : { path: event.transcriptPath, note: null };
}

function refuseTranscript(event: HookEvent): ReturnType<WriteTranscript> {
  const note = 'there is no home directory, so there is no transcript that hooks could read';
  return { path: buildTranscriptPath(path.join(tmpdir(), 'hookline'), event), note };
}
