import { mkdirSync } from 'node:fs';
import { DIALECTS } from '../../dialects/index.ts';
import { rejectMissingGuards } from '../missing-guards.ts';
import path from 'node:path';
import { answerHook } from '../../agent/answer-hook.ts';
import type { ModelQuestion } from '../../hooks/model-question.ts';
import type { RunResult } from '../../agent/runtime-event.ts';
import { PromptQueue, readPluginPrompt } from '../../agent/session/prompt-queue.ts';
import { createSession, type Session } from '../../agent/session/session.ts';
import { createToolContext } from '../../agent/tools/tool-context.ts';
import { TOOLS } from '../../agent/tools/index.ts';
import { HooklineError, tryOrNull } from '../../base/errors.ts';
import { waitOrAbort } from '../../base/abort.ts';
import type { HookPorts } from '../../dialects/ports.ts';
import type { McpReport, McpServers } from '../mcp/mcp-servers.ts';
import { resolveSession, type SessionSelection } from './open-stored-session.ts';
import {
  buildToolContextOptions,
  openSessionPermissions,
  buildSessionOptions,
} from './session-options.ts';
import { openSandbox } from '../sandbox/open-sandbox.ts';
import { SessionCallbacks } from './session-callbacks.ts';
import { openSessionPlugins } from './open-session-plugins.ts';
import {
  createSessionServices,
  type SessionHost,
  type SessionServices,
} from './session-services.ts';

export interface StartRequest extends SessionSelection {
  /** Null continues what a resumed session left undone. */
  readonly prompt?: string | null;
  /** Only opens the session, also a stored one; prompts of its hooks wait until `session.runPending()`. */
  readonly idle?: boolean;
  /** Aborts the run, or the opening of the session. */
  readonly signal?: AbortSignal;
  /** The queue of prompts; a new one by default. */
  readonly pendingPrompts?: PromptQueue;
}

export interface Started {
  readonly sessionId: string;
  readonly transcriptPath: string | null;
  /** How the prompt ended; null when there was none. */
  readonly result: RunResult | null;
}

/** What a host loads with its first session: it opens sessions, and serves hooks that need more than a process. */
export interface Sessions extends Required<HookPorts> {
  start(request: StartRequest): Promise<Started>;
  /** Starts the MCP servers that may start, and reports the state of each. */
  mcpReport(): Promise<McpReport>;
  /** Closes every session, and what they share. */
  close(reason: string): Promise<void>;
}

export function createSessions(host: SessionHost): Sessions {
  const services = createSessionServices(host);
  const { mcp, watch, sessions } = services;
  return {
    start: (request) => startSession(services, request),
    askModel: (question, signal) => answerHookQuestion(services, question, signal),
    callMcp: (call, signal) => mcp.call(call, signal),
    mcpReport: () => mcp.report(),
    async close(reason) {
      await Promise.all([...sessions.values()].map(({ session }) => session.close(reason)));
      await Promise.all([watch.close(), mcp.close()]);
      sessions.clear();
    },
  };
}

async function startSession(
  services: SessionServices,
  { prompt = null, idle = false, ...request }: StartRequest,
): Promise<Started> {
  const { mcp, options, disposed } = services;
  const { signal } = request;
  if (disposed.aborted) throw createClosedError();
  if (options.isStrict === true) rejectMissingGuards(services.opened);
  createHomeDirectories(services.opened);
  // Servers connect while hooks of SessionStart run.
  await mcp.start();
  const session = await openSession(services, { ...request, prompt });
  // Without a user, the first request must know every tool.
  if (options.waitsForServers ?? options.person === undefined) await waitUntilSettled(mcp, signal);
  const hasWork = !idle && (prompt !== null || request.resume !== undefined);
  if (!idle && !hasWork) session.runPending();
  return {
    sessionId: session.id,
    transcriptPath: session.transcriptPath,
    result: hasWork ? await session.send(prompt, signal) : null,
  };
}

/** A hook may write where its agent would have created a directory; a home that is read-only stays as it is. */
function createHomeDirectories(opened: SessionServices['opened']): void {
  if (opened.stateDirectory === null) return;
  for (const { homeDirectories } of DIALECTS) {
    for (const directory of homeDirectories?.(opened) ?? []) {
      tryOrNull(() => mkdirSync(directory, { recursive: true }));
    }
  }
}

/** Opens a session with its plugins and its engine. The host may be disposed at any moment meanwhile. */
async function openSession(
  services: SessionServices,
  { prompt = null, signal, pendingPrompts = new PromptQueue(), ...selection }: StartRequest,
): Promise<Session> {
  const { opened, clock, sessions, disposed } = services;
  const identity = resolveSession(opened, clock, selection);
  const { id } = identity;
  const emitEvent = (name: string, payload: unknown): void => {
    const sent = readPluginPrompt(name, payload);
    if (sent === null) return;
    const { session } = sessions.get(id) ?? {};
    if (session === undefined) pendingPrompts.add({ prompt: sent.prompt });
    else session.deliver(sent);
  };
  // Plugins come first, because one of them may serve the model.
  const plugins = await openSessionPlugins(services, id, emitEvent, signal);
  const engine = services.openEngine(plugins);
  const callbacks = new SessionCallbacks(services, id);
  const sessionOptions = await buildSessionOptions(services, {
    selection,
    identity,
    prompt,
    plugins,
    engine,
    callbacks,
    pendingPrompts,
  });
  if (disposed.aborted) {
    sessionOptions.stored?.close();
    await sessionOptions.release?.();
    throw createClosedError();
  }
  const session = await createSession(sessionOptions);
  // Registered before its hooks run: they may call it, and answer late.
  sessions.set(id, {
    session,
    plugins: () => (plugins.isLoaded ? plugins : null),
    callbacks,
  });
  try {
    await session.start(signal);
  } catch (error) {
    await session.close('other');
    sessions.delete(id);
    throw disposed.aborted ? createClosedError() : error;
  }
  if (!disposed.aborted) return session;
  await session.close('other');
  throw createClosedError();
}

/** Settles early when the signal aborts. */
async function waitUntilSettled(mcp: McpServers, signal: AbortSignal | undefined): Promise<void> {
  const settled = mcp.waitUntilSettled();
  if (signal === undefined) return settled;
  await waitOrAbort(settled, signal).catch(() => undefined);
}

function createClosedError(): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: 'the host was closed, and with it every session',
    hint: 'Open another host and resume the session by its id.',
  });
}

/** Asks the model a hook's question. */
async function answerHookQuestion(
  services: SessionServices,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<string> {
  const { opened, options, models } = services;
  // No hook runs for the calls of a hook's question, so that a mode that allows more does not apply.
  const careful = { ...options, permissionMode: 'default' } as const;
  const permissions = openSessionPermissions({ opened, options: careful, notice: () => undefined });
  if (question.transcriptPath !== null) {
    permissions.addDirectory(path.dirname(question.transcriptPath));
  }
  const { sessionId } = opened.moment();
  const sandbox = await openSandbox({
    opened,
    permissions,
    mode: options.sandbox,
    notice: () => undefined,
  });
  const facts = { ...buildToolContextOptions(opened, sessionId, null, permissions), sandbox };
  const answerOptions = {
    openModel: (name: string | null) => models.openNamed(name),
    tools: TOOLS,
    openToolContext: () => createToolContext({ ...facts, cwd: opened.startDirectory, ports: {} }),
    permissions,
  };
  try {
    return await answerHook(answerOptions, question, signal);
  } finally {
    sandbox.close();
  }
}
