import { TOOLS } from '../../src/agent/tools/index.ts';
import { listToolSpecs } from '../../src/agent/tools/toolsets.ts';
import { createHookEngine } from '../../src/hooks/engine.ts';
import type { FiredEvent, Moment } from '../../src/hooks/facts.ts';
import { createAgentState } from '../../src/agent/session-context.ts';
import { createSessionParts } from '../../src/host/plugins/load-generation.ts';
import { setUpPlugins } from '../../src/host/plugins/set-up-plugins.ts';
import type { AgentPlugin } from '../../src/plugins/contract/plugin.ts';
import type {
  AgentBeforeToolContext,
  AgentToolDefinition,
} from '../../src/plugins/contract/runtime-hooks.ts';
import type { Message } from '../../src/sessions/messages.ts';
import type { Task } from '../measure.ts';
import { openPeerPlugins } from '../peer-plugins.ts';
import { createTempWorkspace, openHost, type TempWorkspace } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** It could as well answer later. */
type Look = (context: AgentBeforeToolContext) => undefined | Promise<undefined>;

let seen = 0;

function count(isSeen: boolean): undefined {
  if (isSeen) seen += 1;
}

/** Ten plugins are ten functions that were written by ten people; each looks and lets the call pass. */
const HOOKS: readonly Look[] = [
  ({ toolCall }) => count(toolCall.toolName === 'run_commands'),
  ({ tool }) => count(tool.name === 'editor'),
  ({ input }) => count(typeof input === 'object' && input !== null && 'commands' in input),
  ({ toolCall, input }) => count(toolCall.toolName === 'apply_patch' && input !== null),
  (context) => count(context.toolCall.toolCallId === ''),
  ({ toolCall: { toolName } }) => count(toolName.startsWith('mcp')),
  ({ tool, input }) => count(tool.name === 'fetch_web_content' && input !== null),
  (context) => count(context.input === null),
  () => count(true),
  ({ toolCall }) => count(toolCall.toolName.length === 0),
];

/** One tool call shown to the beforeTool hooks of ten plugins. */
export const pluginDispatchRows: readonly Row[] = [
  {
    name: `beforeTool of ${HOOKS.length} plugins`,
    bound: { of: 'ratio', atMost: 5, because: 'a bare loop that awaits the same hooks' },
    open: openDispatch,
  },
];

/** The same beside the peer, from the same call to what the same hooks make of it. */
export const pluginPeerRows: readonly Row[] = [
  {
    name: `beforeTool of ${HOOKS.length} plugins, beside the peer`,
    bound: { of: 'peer', atMost: 0.5, because: 'a session of the peer with the same plugins' },
    open: openBesidePeer,
  },
];

async function openDispatch({ quick }: RowOptions): Promise<Contest> {
  const { dispatch, close } = await openOurs();
  return { samples: quick ? 100 : 500, batch: 500, us: dispatch, bare: runBareLoop, close };
}

async function openBesidePeer({ quick }: RowOptions): Promise<Contest> {
  const { dispatch, close } = await openOurs();
  const peer = await openPeerPlugins(createPlugins(HOOKS), CALL);
  return {
    samples: quick ? 100 : 500,
    batch: 100,
    us: dispatch,
    bare: runBareLoop,
    peer: peer.dispatch,
    async close() {
      await close();
      await peer.close();
    },
  };
}

const CALL = { callId: 'call_1', name: 'read_files', input: { files: [{ path: 'one.js' }] } };
const MODEL = { provider: 'scripted', id: 'scripted' };
const SESSION = 'session';

/**
 * What somebody who needs nothing of an engine would write. Each hook gets a context of its own, as
 * any host must give it: what one plugin changes in it is not what the next one is told.
 */
async function runBareLoop(): Promise<void> {
  const { callId: toolCallId, name: toolName, input } = CALL;
  const { provider: providerId, id: modelId } = MODEL;
  for (const hook of HOOKS) {
    const metadata = { toolSource: { providerId, modelId, executionMode: 'sequential' } };
    await hook({
      snapshot: {
        agentId: SESSION,
        parentAgentId: null,
        conversationId: SESSION,
        status: 'running',
        iteration: 1,
        messages: NO_MESSAGES,
        pendingToolCalls: [],
        usage: { ...NO_USAGE },
      },
      tool: READ_FILES,
      toolCall: { type: 'tool-call', toolCallId, toolName, input, metadata },
      input,
    });
  }
}

// Never copied, as a host would have to.
const NO_MESSAGES: AgentBeforeToolContext['snapshot']['messages'] = [];

const NO_USAGE = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const READ_FILES: AgentToolDefinition = { name: CALL.name, description: '', inputSchema: {} };

interface Ours {
  readonly dispatch: Task;
  close(): Promise<void>;
}

/** The engine over the plugins of a session, fired at as the agent does. */
async function openOurs(): Promise<Ours> {
  const place = createTempWorkspace();
  const host = await openHost(place);
  const context = { session: { sessionId: SESSION }, emitEvent: () => undefined, ...NOTHING_ELSE };
  const registry = await setUpPlugins({
    objects: createPlugins(HOOKS),
    options: { isStrict: true },
    context,
    onIssue: refuse,
  });
  const facts = { id: SESSION, parentId: null, type: null };
  const agents = new Map([[SESSION, createAgentState(facts, { messages: CONVERSATION })]]);
  const session = {
    sessionId: SESSION,
    options: { hookTimeoutMs: TIMEOUT_MS },
    agents: () => agents,
    model: () => null,
    now: () => 0,
    offered: listOfferedTools,
    onIssue: refuse,
  };
  const { handlers } = await createSessionParts(registry, session, context);
  const source = { handlers: () => handlers };
  const engine = createHookEngine({ sources: [source], moment: () => host.moment() });
  const { signal } = new AbortController();
  const event: FiredEvent = { name: 'PreToolUse', tool: CALL };
  return {
    dispatch: () => engine.dispatch(event, { signal, moment: createMoment(place) }),
    async close() {
      await engine.close();
      await registry.dispose();
      await host.dispose();
      place.remove();
    },
  };
}

function createPlugins(hooks: readonly Look[]): readonly AgentPlugin[] {
  return hooks.map((beforeTool, index) => ({
    name: `looking-${index}`,
    manifest: { capabilities: ['hooks'] },
    hooks: { beforeTool },
  }));
}

const TIMEOUT_MS = 60_000;
const NOTHING_ELSE = {
  client: undefined,
  user: undefined,
  workspaceInfo: undefined,
  automation: undefined,
  logger: undefined,
  telemetry: undefined,
};

/** A call is made when somebody has asked for something and the model has answered with it. */
const CONVERSATION: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'read it' }] },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: CALL.callId, name: CALL.name, input: CALL.input }],
  },
];

/** As a session tells its plugins of the tools that it has. */
function listOfferedTools(): readonly AgentToolDefinition[] {
  return listToolSpecs('cline-sdk', TOOLS).map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema },
  }));
}

function refuse({ message }: { readonly message: string }): never {
  throw new Error(message);
}

/** What an agent knows of the moment in which it fires. */
function createMoment({ workspace }: TempWorkspace): Partial<Moment> {
  return {
    taskId: '1',
    ulid: '01J00000000000000000000000',
    sessionId: SESSION,
    startDirectory: workspace,
    workspaceRoots: [workspace],
    transcriptPath: null,
    permissionMode: 'default',
    skills: [],
    agent: { id: SESSION, parentId: null, type: null },
    cwd: workspace,
    model: MODEL,
    promptId: null,
    iteration: 1,
  };
}
