import { TOOLS } from '../../src/agent/tools/index.ts';
import { specsFor } from '../../src/agent/tools/toolsets.ts';
import { createHookEngine } from '../../src/hooks/engine.ts';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import { openPlugins } from '../../src/host/plugins/open-plugins.ts';
import type { AgentPlugin } from '../../src/plugins/contract/plugin.ts';
import type {
  AgentBeforeToolContext,
  AgentToolDefinition,
} from '../../src/plugins/contract/runtime-hooks.ts';
import type { Message } from '../../src/sessions/messages.ts';
import type { Task } from '../measure.ts';
import { openPeerPlugins } from '../peer-plugins.ts';
import { createPlace, openHost } from '../places.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

const COUNT = 10;

/** One tool call shown to the hooks of ten plugins, each of which looks at it and lets it pass. */
export const pluginDispatchRows: readonly Row[] = [
  {
    name: `beforeTool of ${COUNT} plugins`,
    bound: { of: 'ratio', atMost: 2, because: 'a bare loop that awaits the same hooks' },
    open: openDispatch,
  },
];

/** The same beside the peer, from the same call to what the same hooks make of it. */
export const pluginPeerRows: readonly Row[] = [
  {
    name: `beforeTool of ${COUNT} plugins, beside the peer`,
    bound: { of: 'peer', atMost: 0.5, because: 'what the peer’s session takes for the same hooks' },
    open: openBesidePeer,
  },
];

const CALL = { callId: 'call_1', name: 'read_files', input: { files: [{ path: 'one.js' }] } };

/** A call is never made before somebody asked for something and the model answered with it. */
const CONVERSATION: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'read it' }] },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: CALL.callId, name: CALL.name, input: CALL.input }],
  },
];

async function openDispatch({ quick }: RowOptions): Promise<Contest> {
  const plugins = createPlugins();
  const { dispatch, close } = await openOurs(plugins);
  return {
    samples: quick ? 100 : 500,
    batch: 500,
    us: dispatch,
    bare: bareLoop(plugins),
    close,
  };
}

async function openBesidePeer({ quick }: RowOptions): Promise<Contest> {
  const plugins = createPlugins();
  const { dispatch, close } = await openOurs(plugins);
  const peer = await openPeerPlugins(plugins, CALL);
  return {
    samples: quick ? 100 : 500,
    batch: 100,
    us: dispatch,
    bare: bareLoop(plugins),
    peer: peer.dispatch,
    async close() {
      await close();
      await peer.close();
    },
  };
}

type LookingPlugin = AgentPlugin & {
  readonly hooks: { readonly beforeTool: (context: AgentBeforeToolContext) => undefined };
};

function createPlugins(): readonly LookingPlugin[] {
  return Array.from({ length: COUNT }, (_, index) => {
    let looked = 0;
    return {
      name: `looking-${index}`,
      manifest: { capabilities: ['hooks'] },
      hooks: {
        beforeTool({ toolCall }) {
          if (toolCall.toolName === CALL.name) looked += 1;
          return undefined;
        },
      },
    };
  });
}

interface Ours {
  readonly dispatch: Task;
  close(): Promise<void>;
}

async function openOurs(plugins: readonly AgentPlugin[]): Promise<Ours> {
  const place = createPlace();
  const host = await openHost(place);
  const { sessionId } = host.moment();
  const opened = await openPlugins({
    sessionId,
    plugins,
    extraTools: [],
    context: { session: { sessionId }, emitEvent: () => undefined, ...NOTHING_ELSE },
    isStrict: true,
    failsClosed: false,
    hookTimeoutMs: 60_000,
    setupTimeoutMs: 60_000,
    disposeTimeoutMs: 60_000,
    messages: () => CONVERSATION,
    offered,
    onIssue: refuse,
  });
  const engine = createHookEngine({ sources: [opened.source], moment: () => host.moment() });
  // As the agent fires it: it says all that it knows of the moment itself.
  const event: FiredEvent = { ...host.moment(), iteration: 1, name: 'PreToolUse', tool: CALL };
  return {
    dispatch: () => engine.dispatch(event),
    async close() {
      await engine.close();
      await opened.dispose();
      await host.dispose();
      place.remove();
    },
  };
}

const NOTHING_ELSE = {
  client: undefined,
  user: undefined,
  workspaceInfo: undefined,
  automation: undefined,
  logger: undefined,
  telemetry: undefined,
};

/** As a session tells its plugins of the tools that it has. */
function offered(): readonly AgentToolDefinition[] {
  return specsFor('cline-sdk', TOOLS).map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema },
  }));
}

function refuse({ message }: { readonly message: string }): never {
  throw new Error(message);
}

/** What somebody who needs nothing of an engine would write. */
function bareLoop(plugins: readonly LookingPlugin[]): Task {
  const hooks = plugins.map(({ hooks: { beforeTool } }) => beforeTool);
  const { callId: toolCallId, name: toolName, input } = CALL;
  const tool = { name: toolName, description: '', inputSchema: {} };
  const toolCall = { type: 'tool-call', toolCallId, toolName, input } as const;
  const snapshot = SNAPSHOT;
  return async () => {
    for (const hook of hooks) await hook({ snapshot, tool, toolCall, input });
  };
}

const SNAPSHOT: AgentBeforeToolContext['snapshot'] = {
  agentId: 'agent',
  status: 'running',
  iteration: 1,
  messages: [],
  pendingToolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
};
