import type { AgentPlugin } from '../src/plugins/contract/plugin.ts';
import type { Task } from './measure.ts';
import { PEER, type PeerCall } from './peer.ts';
import { createTempWorkspace } from './temp-workspace.ts';

/** The part of the peer that runs plugins. */
interface PeerModule {
  readonly ClineCore: { create(options: object): Promise<PeerCore> };
  readonly Agent: { readonly prototype: PeerRuntime };
}

interface PeerCore {
  start(request: object): Promise<unknown>;
  dispose(): Promise<void>;
}

/** What runs the loop inside a session of the peer. */
interface PeerRuntime {
  prepareToolExecution(call: unknown): Promise<unknown>;
}

export interface PeerPlugins {
  readonly dispatch: Task;
  close(): Promise<void>;
}

/**
 * The peer’s dispatch as its own session makes it: a session with the same plugins makes the same
 * call once, and what it calls to ask them is called again. It does what ours does, no more: makes
 * the context, asks each hook and merges what they say; the tool itself comes after it. Whole turns
 * with and without plugins would differ by a hundredth of what either takes.
 */
export async function openPeerPlugins(
  plugins: readonly AgentPlugin[],
  call: PeerCall,
): Promise<PeerPlugins> {
  const place = createTempWorkspace();
  // The peer reads its home directory from the environment.
  process.env['HOME'] = place.home;
  const { ClineCore, Agent }: PeerModule = await import(PEER);
  const core = await ClineCore.create({ backendMode: 'local', fetch: createFetch(call) });
  const watch = watchCalls(Agent.prototype);
  try {
    await core.start({
      prompt: 'read it',
      interactive: false,
      config: { ...CONFIG, cwd: place.workspace, extensions: plugins },
    });
  } finally {
    watch.end();
  }
  const { runtime, asked } = watch.seen();
  return {
    dispatch: () => runtime.prepareToolExecution(asked),
    async close() {
      await core.dispose();
      place.remove();
    },
  };
}

const CONFIG = {
  providerId: 'openai-compatible',
  modelId: 'bench',
  apiKey: 'none',
  baseUrl: 'http://127.0.0.1:9/v1',
  systemPrompt: 'none',
  enableTools: true,
  enableSpawnAgent: false,
  enableAgentTeams: false,
};

interface SeenCall {
  readonly runtime: PeerRuntime;
  readonly asked: unknown;
}

function watchCalls(prototype: PeerRuntime): { seen(): SeenCall; end(): void } {
  const { prepareToolExecution: original } = prototype;
  let seen: SeenCall | null = null;
  prototype.prepareToolExecution = function watched(this: PeerRuntime, asked) {
    seen ??= { runtime: this, asked };
    return original.call(this, asked);
  };
  return {
    seen() {
      if (seen === null) throw new Error('the peer asked no plugin about the call');
      return seen;
    },
    end() {
      prototype.prepareToolExecution = original;
    },
  };
}

/** A service whose model makes the call once, and then is done. */
function createFetch({ callId: id, name, input }: PeerCall): () => Promise<Response> {
  const called = {
    index: 0,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  };
  const answers = [
    [{ tool_calls: [called] }, 'tool_calls'] as const,
    [{ content: 'done' }, 'stop'] as const,
  ].values();
  return async () => {
    const [delta, finished] = answers.next().value ?? [{ content: 'done' }, 'stop'];
    const chunks = [
      { index: 0, delta: { role: 'assistant', ...delta } },
      { index: 0, delta: {}, finish_reason: finished },
    ];
    const lines = chunks.map(
      (choice) => `data: ${JSON.stringify({ id: '1', choices: [choice] })}\n\n`,
    );
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(`${lines.join('')}data: [DONE]\n\n`, { headers });
  };
}
