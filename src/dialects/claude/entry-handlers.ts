import { systemClock } from '../../base/clock.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { getToolCall, type HookEvent } from '../../hooks/facts.ts';
import type { Handler, HandlerInput } from '../../hooks/handler.ts';
import type { Grant } from '../discovery.ts';
import type { HookPorts } from '../ports.ts';
import { ClaudeCodec } from './codec.ts';
import type { Entry, Limited, Source } from './entry.ts';
import { planCommand } from './handlers/command-line.ts';
import { createClaudeCommandHandler } from './handlers/command.ts';
import { getProjectDirectory, selectSettingsVariables } from './handlers/environment.ts';
import type { HttpRules } from './handlers/http-rules.ts';
import { createHttpRun } from './handlers/http.ts';
import { createMcpToolRun } from './handlers/mcp-tool.ts';
import { createModelRun } from './handlers/model.ts';
import { computeIdentity, formatLabel } from './identity.ts';
import { explainFailure, getFailurePolicy } from './output/failures.ts';
import { decideModelAnswer } from './output/model-answer.ts';
import type { ClaudeSession } from './session.ts';

/** For each `once` hook that has run, the event that it ran for; survives another discovery. */
export type RanOnce = Map<string, string>;

/** Creates handlers for entries of every type. */
export class EntryHandlers {
  readonly #session: ClaudeSession;
  readonly #codec: ClaudeCodec;
  readonly #ports: HookPorts;
  readonly #httpRules: (source: Source) => HttpRules;
  readonly #ranOnce: RanOnce;

  constructor(
    session: ClaudeSession,
    ports: HookPorts,
    httpRules: (source: Source) => HttpRules,
    ranOnce: RanOnce,
  ) {
    this.#session = session;
    this.#codec = new ClaudeCodec(session);
    this.#ports = ports;
    this.#httpRules = httpRules;
    this.#ranOnce = ranOnce;
  }

  /** `index` is the entry's place among the hooks of its event, from 0. */
  createHandler(entry: Entry, target: Omit<Handler, 'run'>, grant: Grant, index: number): Handler {
    const granted = withGrant(entry, grant);
    const completeTarget = {
      ...target,
      sameAs: computeIdentity(granted, getProjectDirectory(entry.source, this.#session)),
      onFailure: getFailurePolicy(entry.event, granted.onFailure),
    };
    const handler =
      granted.type === 'command'
        ? createClaudeCommandHandler(granted, completeTarget, grant, index, this.#codec)
        : { ...completeTarget, run: this.#createReportingRun(granted, grant) };
    // Nothing waits for a background hook, so its failure cannot refuse anything.
    const explained =
      handler.background === true
        ? { ...handler, onFailure: 'open' as const }
        : withExplainedFailures(handler, granted);
    const strictness = computeStrictness(entry, explained, grant);
    return restrictToOnce(entry, { ...explained, strictness }, this.#ranOnce);
  }

  /** Returns why every run of the entry will fail, or null. */
  findProblem(entry: Entry): string | null {
    const planned = entry.type === 'command' ? planCommand(entry, this.#session) : null;
    return planned !== null && 'problem' in planned ? planned.problem : null;
  }

  /** Creates the run of an entry that starts no program, and reports its exchange. */
  #createReportingRun(entry: AskedEntry, grant: Grant): Handler['run'] {
    const run = this.#createRun(entry, grant);
    return async (input, signal, report) => {
      const startedAt = systemClock.elapsed();
      const answer = await run(input, signal);
      report?.({
        asked: `${entry.type} ${formatLabel(entry)}`,
        cwd: null,
        payload: Buffer.from(this.#codec.encode(entry.event, input)),
        ending: answer?.failure === undefined ? 'answered' : answer.failure.kind,
        stdout: answer?.program?.stdout ?? '',
        stderr: answer?.failure?.message ?? '',
        durationMs: systemClock.elapsed() - startedAt,
      });
      return answer;
    };
  }

  #createRun(entry: AskedEntry, { environment }: Grant): Handler['run'] {
    const codec = this.#codec;
    const encode = (input: HandlerInput): string => codec.encode(entry.event, input);
    const decode = codec.decodeText.bind(codec, entry);
    switch (entry.type) {
      case 'http':
        return createHttpRun(entry, {
          encode,
          decode,
          rules: this.#httpRules(entry.source),
          env: {
            ...environment,
            ...selectSettingsVariables(entry, this.#session, environment),
          },
          allowPrivate: false,
        });
      case 'mcp_tool':
        return createMcpToolRun(entry, {
          callMcp: this.#ports.callMcp,
          decode,
          payload: (input) => parsePayload(encode(input)),
        });
      case 'prompt':
      case 'agent':
        return createModelRun(entry, {
          askModel: this.#ports.askModel,
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
}

/** A copy in a workspace must not replace the user's guard by one that nobody waits for, or that has no time. */
function computeStrictness(
  { source }: Entry,
  { background, onFailure }: Handler,
  { timeoutMs }: Grant,
): readonly number[] {
  return [
    background === true ? 0 : 1,
    onFailure === 'closed' ? 1 : 0,
    timeoutMs,
    source.place === 'workspace' ? 0 : 1,
  ];
}

type AskedEntry = Limited<Exclude<Entry, { type: 'command' }>>;

/** The user's configuration overrides the entry's own values. */
function withGrant(entry: Entry, { timeoutMs, onFailure }: Grant): Limited<Entry> {
  return { ...entry, timeoutMs, onFailure: onFailure === 'closed' ? 'block' : 'continue' };
}

/** A `once` hook matches no event after the one that it ran for. */
function restrictToOnce({ once }: Entry, handler: Handler, ranOnce: RanOnce): Handler {
  if (!once) return handler;
  const getKey = ({ sessionId }: HookEvent): string =>
    JSON.stringify([sessionId, handler.id, handler.sameAs]);
  return {
    ...handler,
    fits(event, names, tool) {
      const ranFor = ranOnce.get(getKey(event)) ?? formatMomentKey(event);
      if (ranFor !== formatMomentKey(event)) return 'it runs only once and has already run';
      return handler.fits?.(event, names, tool) ?? null;
    },
    run(input, signal, report) {
      ranOnce.set(getKey(input.event), formatMomentKey(input.event));
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

function parsePayload(text: string): object {
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}
