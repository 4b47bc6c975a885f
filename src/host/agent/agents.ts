import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { systemClock } from '../../base/clock.ts';
import { HooklineError, invariant } from '../../base/errors.ts';
import type { HookPorts } from '../../dialects/ports.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { type LateOutcome, tell } from '../../hooks/observers.ts';
import type { HookSearch } from '../hook-search.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { createPluginSource } from '../plugins/plugin-source.ts';
import type { AgentOptions } from './agent-options.ts';
import type { NamedModel, Sessions, StartRequest } from './sessions.ts';

type Options = HookSearch & AgentOptions & { readonly onLate?: (late: LateOutcome) => void };

/**
 * The agent's half of a host. Its code is loaded with the first session, because most who open a host
 * only want to know about hooks.
 */
export function createAgents(options: Options, notice: (text: string) => void) {
  const listeners = new Set<(event: RuntimeEvent) => void>();
  let joined: { readonly opened: OpenedHooks; readonly engine: () => HookEngine } | null = null;
  let loading: Promise<Sessions> | null = null;
  let loaded: Sessions | null = null;
  let isClosed = false;
  const pluginSource = createPluginSource();

  const sessions = async (): Promise<Sessions> => {
    loading ??= load();
    loaded = await loading;
    return loaded;
  };
  async function load(): Promise<Sessions> {
    invariant(joined !== null, 'hooks are opened before any session is');
    const { createSessions } = await import('./sessions.ts');
    const made = createSessions({
      opened: joined.opened,
      engine: joined.engine(),
      options,
      clock: options.clock ?? systemClock,
      emit: (event) => listeners.forEach((listener) => tell(listener, event)),
      notice,
      pluginSource,
    });
    if (isClosed) await made.close('other');
    return made;
  }

  return {
    /** The hooks of plugins, which come with sessions. */
    pluginSource,
    /** Hooks may ask the agent's model, where there is one. */
    search: withPorts(options, sessions),
    observing: {
      ...options,
      onLate: (late: LateOutcome) => {
        loaded?.receiveLate(late);
        options.onLate?.(late);
      },
    },
    /** Fires an event in the session that was opened last; null when there is none. */
    fire: (event: FiredEvent<'ConfigChange'>) => loaded?.fire(event) ?? null,
    join(opened: OpenedHooks, engine: () => HookEngine) {
      joined = { opened, engine };
    },
    host: agentHost({ sessions, opened: (id) => loaded ?? notOpen(id), listeners }),
    async close() {
      isClosed = true;
      await (await loading?.catch(() => null))?.close('other');
    },
  };
}

interface Reaching {
  /** Loads them. */
  readonly sessions: () => Promise<Sessions>;
  /** Those that are loaded; throws when none is. */
  readonly opened: (id: string) => Sessions;
  readonly listeners: Set<(event: RuntimeEvent) => void>;
}

/** What a host offers of its sessions. */
function agentHost({ sessions, opened, listeners }: Reaching) {
  return {
    start: async (request: StartRequest) => (await sessions()).start(request),
    send: async (id: string, prompt: string) => (await sessions()).send(id, prompt),
    queue: async (id: string, prompt: string) => (await sessions()).queue(id, prompt),
    steer: (id: string, text: string) => opened(id).steer(id, text),
    abort: async (id: string, reason = 'the run was aborted') => opened(id).abort(id, reason),
    session: (id: string) => opened(id).find(id),
    switchModel: async (id: string, name: string, how: Partial<Omit<NamedModel, 'name'>> = {}) =>
      opened(id).switchModel(id, { name, source: 'sdk', ...how }),
    mcpServers: async () => (await sessions()).mcpReport(),
    end: async (id: string, reason = 'other') => opened(id).end(id, reason),
    plugins: (id: string) => opened(id).plugins(id),
    subscribe(listener: (event: RuntimeEvent) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function withPorts(options: Options, sessions: () => Promise<Sessions>): HookSearch {
  const isAttended = options.isAttended ?? options.person !== undefined;
  const askModel: HookPorts['askModel'] = async (question, signal) =>
    (await sessions()).answer(question, signal);
  return {
    ...options,
    isAttended,
    ports: {
      ...(options.model === undefined ? {} : { askModel }),
      callMcp: async (call, signal) => (await sessions()).callMcp(call, signal),
      ...options.ports,
    },
  };
}

function notOpen(id: string): never {
  throw new HooklineError('SESSION_UNKNOWN', {
    message: `no session ${JSON.stringify(id)} is open here`,
    hint: 'Start it, or resume it by its id.',
  });
}
