import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Session } from '../../agent/session/session.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { createPrivateDirectory } from '../../base/files.ts';
import { isReadingCall } from '../../callback/callback-address.ts';
import {
  type AnswerHookCall,
  CallbackServer,
  type HookCall,
} from '../../callback/callback-server.ts';
import { type CallEntry, createCallEntry } from '../../trace/entry.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Clock } from '../../base/clock.ts';
import type { OpenedHooks } from '../open-hooks.ts';

// The kernel takes no longer path for a socket.
const MAX_SOCKET_PATH_BYTES = 103;

/** What a host does for the hooks that call. */
export interface CallbackHost {
  readonly opened: Pick<
    OpenedHooks,
    'stateDirectory' | 'surroundings' | 'startDirectory' | 'workspaceRoots'
  >;
  readonly clock: Clock;
  readonly sessions: ReadonlyMap<string, { readonly session: Session }>;
  readonly emit: (event: RuntimeEvent) => void;
  /** Writes what is no dispatch into the trace. */
  readonly record: (entry: () => CallEntry) => void;
  readonly notice: (text: string) => void;
}

/** Lets the hooks of one session call it. Listens from the first hook on that may call. */
export class SessionCallbacks {
  readonly #host: CallbackHost;
  readonly #sessionId: string;
  #server: CallbackServer | 'closed' | null = null;
  /** Made for the socket where the state directory's path is too long for one. */
  #ownDirectory: string | null = null;

  constructor(host: CallbackHost, sessionId: string) {
    this.#host = host;
    this.#sessionId = sessionId;
  }

  /** The value of a hook's variable; null when the session does not listen. */
  formatAddress(hook: string): string | null {
    this.#server ??= this.#open();
    return this.#server === 'closed' ? null : this.#server.formatAddress(hook);
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = 'closed';
    if (server !== null && server !== 'closed') await server.close();
    if (this.#ownDirectory !== null) rmSync(this.#ownDirectory, { recursive: true, force: true });
  }

  #open(): CallbackServer | 'closed' {
    try {
      return new CallbackServer(this.#chooseSocketPath(), this.#answer);
    } catch (error) {
      this.#host.notice(`hooks cannot call back into the session: ${getErrorMessage(error)}`);
      return 'closed';
    }
  }

  #chooseSocketPath(): string {
    const { stateDirectory, surroundings } = this.#host.opened;
    if (surroundings.platform === 'win32') return `\\\\.\\pipe\\hookline-${this.#sessionId}`;
    if (stateDirectory !== null) {
      const socket = path.join(stateDirectory, 'run', `${this.#sessionId}.sock`);
      if (Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES) {
        createPrivateDirectory(path.dirname(socket));
        return socket;
      }
    }
    this.#ownDirectory = mkdtempSync(path.join(tmpdir(), 'hookline-'));
    return path.join(this.#ownDirectory, 'session.sock');
  }

  readonly #answer: AnswerHookCall = (call) => {
    const session = this.#host.sessions.get(this.#sessionId)?.session;
    if (session === undefined) return { error: 'the session has ended' };
    const answer = carryOut(session, call);
    const isReading = isReadingCall(call.call);
    this.#record(call, isReading ? null : answer);
    if (!isReading) this.#announce(call);
    return answer;
  };

  #record(call: HookCall, answer: unknown): void {
    const { opened, clock, record } = this.#host;
    const [root = null] = opened.workspaceRoots;
    const place = { sessionId: this.#sessionId, cwd: opened.startDirectory, root };
    const at = clock.now();
    record(() => createCallEntry(call, answer, { at, ...place }));
  }

  #announce(call: HookCall): void {
    const { emit } = this.#host;
    const text = formatCall(call);
    const agent = { sessionId: this.#sessionId, agentId: this.#sessionId, parentAgentId: null };
    emit({ ...agent, type: 'notice', level: 'info', text });
  }
}

const VERBS = {
  send: 'sent a prompt',
  steer: 'steered the agent',
  abort: 'aborted the run',
} as const;

function formatCall({ hook, call, text }: HookCall): string {
  const what = call === 'send' || call === 'steer' || call === 'abort' ? VERBS[call] : call;
  return `${hook} ${what}${text === null || text === '' ? '' : `: ${text}`}`;
}

/** None of these waits: the run may be waiting for the hook that calls. */
function carryOut(
  session: Session,
  { hook, call, text }: HookCall,
): Readonly<Record<string, unknown>> {
  switch (call) {
    case 'send':
      return { queued: session.deliver({ prompt: text ?? '', delivery: 'queue' }) };
    case 'steer':
      return { steered: session.steer(text ?? '') };
    case 'abort': {
      const aborted = session.isRunning;
      session.abort(text === null || text === '' ? `aborted by the hook ${hook}` : text);
      return { aborted };
    }
    case 'state':
      return { sessionId: session.id, isRunning: session.isRunning, ...session.state() };
    case 'messages':
      return { messages: session.messages() };
  }
}
