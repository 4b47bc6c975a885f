import path from 'node:path';
import { answerHook, type HookQuestion } from '../../agent/answer-hook.ts';
import type { RunResult } from '../../agent/runtime-event.ts';
import { openSession } from '../../agent/session/open-session.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { ModelSwitch, Session } from '../../agent/session/session.ts';
import { createToolContext } from '../../agent/tools/tool-context.ts';
import { TOOLS } from '../../agent/tools/index.ts';
import { HooklineError } from '../../base/errors.ts';
import { waitOrAbort } from '../../base/abort.ts';
import type { CallMcp } from '../../dialects/claude-config/ports.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { LateOutcome } from '../../hooks/observers.ts';
import { createMcpServers, type McpServers, type McpReport } from '../mcp/mcp-servers.ts';
import { benchFacts } from './bench-facts.ts';
import { createModels, type Models } from './choose-model.ts';
import type { SessionWish } from './keep-session.ts';
import { permissionsFor, sessionOptions } from './session-options.ts';
import type { SessionsRequest } from './session-request.ts';
import { createWorktrees, type Worktrees } from '../worktrees.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import { promptUntil } from './prompt-until.ts';
import { createPromptQueues, type PromptQueues } from './prompt-queues.ts';
import { createFileWatch, type FileWatch } from './watch-files.ts';

export interface StartRequest extends SessionWish {
  /** Null goes on with what a resumed session left. */
  readonly prompt?: string | null;
  /** Only opens the session, also a stored one. */
  readonly idle?: boolean;
  /** Aborts the run, or the opening of the session. */
  readonly signal?: AbortSignal;
}

export interface Started {
  readonly sessionId: string;
  readonly transcriptPath: string | null;
  /** How the prompt ended; null when there was none. */
  readonly result: RunResult | null;
}

/** Another model for a session, as somebody named it. */
export interface NamedModel extends Pick<ModelSwitch, 'source' | 'signal'> {
  /** Of the session's provider, or `provider/model`. */
  readonly name: string;
}

/** The agent sessions of one host. */
export interface Sessions {
  start(request: StartRequest): Promise<Started>;
  send(sessionId: string, prompt: string): Promise<RunResult>;
  /** A further prompt, once the run under way has ended. */
  queue(sessionId: string, prompt: string): Promise<RunResult>;
  steer(sessionId: string, text: string): boolean;
  abort(sessionId: string, reason: string): void;
  /** Throws SESSION_UNKNOWN when it is not open. */
  find(sessionId: string): Session;
  switchModel(sessionId: string, wanted: NamedModel): Promise<string | null>;
  end(sessionId: string, reason: string): Promise<void>;
  /** Null when it has none. */
  plugins(sessionId: string): SessionPlugins | null;
  /** Puts a hook's question to the model. */
  answer(question: HookQuestion, signal: AbortSignal): Promise<string>;
  readonly callMcp: CallMcp;
  /** Starts the MCP servers that may start, and tells of all. */
  mcpReport(): Promise<McpReport>;
  /** Fires an event in the session that was opened last; null when none is open. */
  fire(event: FiredEvent<'ConfigChange'>): Promise<Verdict> | null;
  receiveLate(late: LateOutcome): void;
  close(reason: string): Promise<void>;
}

export function createSessions(given: Omit<SessionsRequest, 'mcp'>): Sessions {
  const sessions = new Map<string, Session>();
  const plugins = new Map<string, SessionPlugins>();
  const queues = createPromptQueues(sessions);
  const { opened, options, notice } = given;
  const mcp = createMcpServers({ opened, given: options.mcpConfig ?? [], notice });
  const request = { ...given, mcp };
  const models = createModels({
    wish: options.model,
    settings: opened.config.settings,
    env: opened.surroundings.env,
  });
  const worktrees = createWorktrees();
  let isClosed = false;
  const find = (id: string): Session => sessions.get(id) ?? unknown(id);
  const watch = createFileWatch(opened, {
    onChange: (change) => sessions.forEach((session) => session.reportFile(change)),
    onProblem: request.notice,
  });
  const house = { models, watch, worktrees, sessions, plugins, queues };
  return {
    start: (wanted) => startSession(request, wanted, { ...house, isClosed: () => isClosed }),
    send: async (id, prompt) => queues.drain(id, await find(id).prompt(prompt)),
    queue: async (id, prompt) => queues.drain(id, await find(id).queue(prompt)),
    steer: (id, text) => find(id).steer(text),
    abort: (id, reason) => find(id).abort(reason),
    find,
    async switchModel(id, { name, ...how }) {
      const session = find(id);
      const own = plugins.get(id);
      const [provider = '', ...rest] = name.split('/');
      // A plugin that is made for its own provider only is not there before that is asked for.
      if (rest.length > 0 && !session.isRunning) await own?.bring(provider, rest.join('/'));
      const model = await modelsOf(models, own).other(name);
      return session.switchModel({ model, requested: name, ...how });
    },
    async end(id, reason) {
      await find(id).close(reason);
      sessions.delete(id);
      plugins.delete(id);
    },
    plugins: (id) => plugins.get(id) ?? null,
    answer: (question, signal) =>
      answerHook(answerMeans(request, { models, question }), question, signal),
    callMcp: (call, signal) => mcp.call(call, signal),
    mcpReport: () => mcp.report(),
    fire: (event) => [...sessions.values()].at(-1)?.reportConfig(event) ?? null,
    receiveLate: (late) => sessions.get(late.event.sessionId)?.receiveLate(late),
    async close(reason) {
      isClosed = true;
      await Promise.all([...sessions.values()].map((session) => session.close(reason)));
      await Promise.all([watch.close(), mcp.close()]);
      sessions.clear();
    },
  };
}

/** A session's plugins may serve models, too. */
function modelsOf(models: Models, plugins: SessionPlugins | undefined): Models {
  return plugins === undefined ? models : models.forSession(plugins.providers);
}

interface House {
  readonly models: Models;
  readonly watch: FileWatch;
  readonly worktrees: Worktrees;
  readonly sessions: Map<string, Session>;
  readonly plugins: Map<string, SessionPlugins>;
  readonly queues: PromptQueues;
  readonly isClosed: () => boolean;
}

async function startSession(
  request: SessionsRequest,
  { prompt = null, idle = false, signal, ...wish }: StartRequest,
  house: House,
): Promise<Started> {
  const { mcp, options } = request;
  if (house.isClosed()) throw hostClosed();
  // They connect while hooks hear of the session.
  await mcp.start();
  const making = {
    ...house,
    wish,
    prompt,
    signal,
    emitEvent: (id: string, name: string, payload: unknown) => house.queues.take(id, name, payload),
    onPlugins: (id: string, plugins: SessionPlugins) => void house.plugins.set(id, plugins),
  };
  const session = await openIn(house, await sessionOptions(request, making), signal);
  // Without anybody there, the first request must know every tool.
  if (options.waitsForServers ?? options.person === undefined) await untilSettled(mcp, signal);
  const hasWork = !idle && (prompt !== null || wish.resume !== undefined);
  return {
    sessionId: session.id,
    transcriptPath: session.transcriptPath,
    result: hasWork
      ? await house.queues.drain(session.id, await promptUntil(session, prompt, signal), signal)
      : null,
  };
}

/** The host may be closed at any moment, and with it what is being opened. */
async function openIn(
  { sessions, isClosed }: House,
  made: SessionOptions,
  signal: AbortSignal | undefined,
): Promise<Session> {
  if (isClosed()) {
    made.stored?.close();
    await made.release?.();
    throw hostClosed();
  }
  const session = await openSession(made, {
    ...(signal === undefined ? {} : { signal }),
    // Its hooks may speak to it, and answer late, while it is being opened.
    onMade: (each) => sessions.set(each.id, each),
  }).catch((error: unknown) => {
    sessions.delete(made.id);
    throw isClosed() ? hostClosed() : error;
  });
  if (!isClosed()) return session;
  await session.close('other');
  throw hostClosed();
}

/** Servers take their time, which an abort does not wait for. */
async function untilSettled(mcp: McpServers, signal: AbortSignal | undefined): Promise<void> {
  const settled = mcp.waitUntilSettled();
  if (signal === undefined) return settled;
  await waitOrAbort(settled, signal).catch(() => undefined);
}

function unknown(id: string): never {
  throw new HooklineError('SESSION_UNKNOWN', {
    message: `no session ${JSON.stringify(id)} is open here`,
    hint: 'Start it, or resume it by its id.',
  });
}

function hostClosed(): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: 'the host was closed, and with it every session',
    hint: 'Open another host and resume the session by its id.',
  });
}

interface Answering {
  readonly models: Models;
  readonly question: HookQuestion;
}

function answerMeans(request: SessionsRequest, { models, question }: Answering) {
  const { opened, options } = request;
  // No hook sees what a hook's own question leads to, so a mode that allows more does not count here.
  const careful = { ...options, permissionMode: 'default' } as const;
  const permissions = permissionsFor({ ...request, options: careful, notice: () => undefined });
  if (question.transcriptPath !== null) {
    permissions.addDirectory(path.dirname(question.transcriptPath));
  }
  const facts = benchFacts(opened, {
    sessionId: opened.moment().sessionId,
    stored: null,
    permissions,
  });
  return {
    modelFor: (name: string | null) => models.named(name),
    tools: TOOLS,
    bench: () => createToolContext({ ...facts, cwd: opened.startDirectory, ports: {} }),
    permissions,
  };
}
