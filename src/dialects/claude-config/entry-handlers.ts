import { callOf, type HookEvent } from '../../hooks/facts.ts';
import { systemClock } from '../../base/clock.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { Handler } from '../../hooks/handler.ts';
import { tell } from '../../hooks/observers.ts';
import type { Grant } from '../discovery.ts';
import { whyUnboundIn } from './binding.ts';
import type { CommandEntry, Entry } from './entry.ts';
import { planCommand } from './handlers/command-line.ts';
import { claudeCommandHandler } from './handlers/command.ts';
import { projectDirectory, settingsVariables } from './handlers/environment.ts';
import { httpRun } from './handlers/http.ts';
import type { HttpRules } from './handlers/http-rules.ts';
import { mcpToolRun } from './handlers/mcp-tool.ts';
import { modelRun } from './handlers/model.ts';
import { identityOf, labelOf } from './identity.ts';
import { type ClaudeIo, createIo } from './io.ts';
import { failureOf, failurePolicyOf } from './output/failures.ts';
import { decideModelAnswer } from './output/model-answer.ts';
import type { HookPorts } from '../ports.ts';
import type { ClaudeSession } from './session.ts';

export interface HandlerMeans {
  readonly session: ClaudeSession;
  readonly ports: HookPorts;
  readonly httpRules: HttpRules;
  readonly ranOnce: RanOnce;
}

/** The event that each hook ran for that runs once; kept when hooks are looked for again. */
export type RanOnce = Map<string, string>;

export interface HandlerWish {
  readonly target: Omit<Handler, 'run'>;
  readonly grant: Grant;
  /** Which of its event's hooks it is, from 0. */
  readonly index: number;
}

/** Makes the handler of an entry, whatever type it has. */
export interface EntryHandlers {
  handlerOf(entry: Entry, wish: HandlerWish): Handler;
  /** Why every run of it will fail, or null. */
  problemOf(entry: Entry): string | null;
}

export function createEntryHandlers(means: HandlerMeans): EntryHandlers {
  const io = createIo(means.session);
  return {
    handlerOf: (entry, wish) =>
      onlyOnce(
        entry,
        handlerOf(granted(entry, wish.grant), { ...wish, ...means, io }),
        means.ranOnce,
      ),
    problemOf(entry) {
      const planned = entry.type === 'command' ? planCommand(entry, means.session) : null;
      return planned !== null && 'problem' in planned ? planned.problem : null;
    },
  };
}

/** The person's configuration stands above what the entry says. */
function granted<Kind extends Entry>(entry: Kind, { timeoutMs, onFailure }: Grant): Kind {
  return { ...entry, timeoutMs, onFailure: onFailure === 'closed' ? 'block' : 'continue' };
}

interface Making extends HandlerWish, HandlerMeans {
  readonly io: ClaudeIo;
}

function handlerOf(entry: Entry, making: Making): Handler {
  const { grant, session, index, io } = making;
  const target = {
    ...making.target,
    sameAs: identityOf(entry, projectDirectory(entry.source, session)),
    onFailure: failurePolicyOf(entry.event, entry.onFailure),
  };
  const handler =
    entry.type === 'command'
      ? onlyWhereBound(
          entry,
          session,
          claudeCommandHandler(entry, { target, grant, session, index, io: io.commandIo(entry) }),
        )
      : { ...target, run: createReportingRun(entry, making) };
  // Nothing waits for an answer that comes from the background, so its failure can refuse nothing.
  if (handler.background === true) return { ...handler, onFailure: 'open' };
  return sayingWhyItBlocks(handler, entry);
}

/** Trust is in the files that a command names, so the same words must not start others. */
function onlyWhereBound(entry: CommandEntry, session: ClaudeSession, handler: Handler): Handler {
  if (entry.source.root === null) return handler;
  return {
    ...handler,
    run(input, signal, report) {
      const message = whyUnboundIn(input.event.cwd, entry, session);
      return message === null
        ? handler.run(input, signal, report)
        : { failure: { kind: 'spawn', message } };
    },
  };
}

/** A skill's hook that runs once fits nothing after the event that it ran for. */
function onlyOnce({ once }: Entry, handler: Handler, ranOnce: RanOnce): Handler {
  if (!once) return handler;
  const keyIn = ({ sessionId }: HookEvent): string =>
    JSON.stringify([sessionId, handler.id, handler.sameAs]);
  return {
    ...handler,
    fits(event, names, tool) {
      const ranFor = ranOnce.get(keyIn(event)) ?? momentOf(event);
      if (ranFor !== momentOf(event)) return 'it runs once, and has run';
      return handler.fits?.(event, names, tool) ?? null;
    },
    run(input, signal, report) {
      ranOnce.set(keyIn(input.event), momentOf(input.event));
      return handler.run(input, signal, report);
    },
  };
}

/** The same for all parts of a call, and when it is looked at again after a rewrite. */
function momentOf(event: HookEvent): string {
  return `${event.at} ${callOf(event)?.callId ?? ''}`;
}

/** A failure that refuses the action is told in the words that the format's users know. */
function sayingWhyItBlocks(handler: Handler, entry: Entry): Handler {
  if (handler.onFailure === 'open') return handler;
  const hook = { event: entry.event, label: labelOf(entry), onFailure: entry.onFailure };
  return {
    ...handler,
    async run(input, signal, report) {
      const answer = await handler.run(input, signal, report);
      const { failure, program } = answer ?? {};
      if (failure === undefined || failure.message.includes(BLOCKING)) return answer;
      const details = program?.stderr.trim() === '' ? undefined : program?.stderr;
      return { ...answer, failure: failureOf(hook, failure, details ?? failure.message) };
    },
  };
}

const BLOCKING = 'blocking because onFailure is';

type AskedEntry = Exclude<Entry, { type: 'command' }>;

/** The run of an entry that starts no program. */
function createReportingRun(entry: AskedEntry, making: Making): Handler['run'] {
  const run = runOf(entry, making);
  return async (input, signal, report) => {
    const startedAt = systemClock.elapsed();
    const answer = await run(input, signal);
    report?.({
      asked: `${entry.type} ${labelOf(entry)}`,
      cwd: null,
      payload: Buffer.from(making.io.encoderFor(entry.event)(input)),
      ending: answer?.failure === undefined ? 'answered' : answer.failure.kind,
      stdout: answer?.program?.stdout ?? '',
      stderr: answer?.failure?.message ?? '',
      durationMs: systemClock.elapsed() - startedAt,
    });
    return answer;
  };
}

function runOf(
  entry: AskedEntry,
  { io, ports, httpRules, session, grant }: Making,
): Handler['run'] {
  const encode = io.encoderFor(entry.event);
  const decode = io.decodeText.bind(null, entry);
  switch (entry.type) {
    case 'http':
      return httpRun(entry, {
        encode,
        decode,
        rules: httpRules,
        env: { ...grant.environment, ...settingsVariables(entry, session, grant.environment) },
        allowPrivate: false,
      });
    case 'mcp_tool':
      return mcpToolRun(entry, {
        callMcp: ports.callMcp,
        decode,
        payload: (input) => payloadObject(encode(input)),
      });
    case 'prompt':
    case 'agent':
      return modelRun(entry, {
        askModel: ports.askModel,
        payloadText: (input) => encode(input).trimEnd(),
        decide: (_input, text) =>
          decideModelAnswer({
            event: entry.event,
            text,
            continueOnBlock: entry.continueOnBlock,
            kind: entry.type,
            label: labelOf(entry),
          }),
      });
  }
}

function payloadObject(text: string): object {
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}
