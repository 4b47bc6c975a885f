import type { ModelRequest } from '../../agent/models/model.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { RunningCall, Tool } from '../../agent/tools/tool.ts';
import { loadPluginHandlers } from '../../dialects/index.ts';
import type { Handler, HandlerSource } from '../../hooks/handler.ts';
import { type CommandReply, runCommand } from '../../plugins/command.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { PluginSetupContext } from '../../plugins/contract/plugin.ts';
import { type AutomationFor, openRegistry, type PluginRegistry } from '../../plugins/registry.ts';
import type {
  AgentRuntimeEvent,
  AgentToolDefinition,
} from '../../plugins/contract/runtime-hooks.ts';
import { type AgentRuntimeStateSnapshot, isUnread } from '../../plugins/contract/snapshot.ts';
import type { AgentTool, AgentToolContext } from '../../plugins/contract/tool.ts';
import type { Message } from '../../sessions/messages.ts';
import { createAgentMirror } from './news/agent-mirror.ts';
import { buildMessages } from './contributions/builders.ts';
import { createInputChecks } from './contributions/check-input.ts';
import { nameProblem } from './contributions/free-names.ts';
import { toAgentTool } from './contributions/plugin-tools.ts';
import { createRules, type Rules } from './contributions/rules.ts';
import { createSnapshots, type Snapshots } from './news/snapshots.ts';
import type { ServingModel } from './news/told-messages.ts';
import { createTelling, type Telling } from './news/tell-plugins.ts';

export interface PluginsRequest {
  readonly sessionId: string;
  /** In order: objects, and whatever was loaded from elsewhere. */
  readonly plugins: readonly unknown[];
  /** What people call each of them; null for objects of the program itself. */
  readonly labels?: readonly (string | null)[];
  /** Tools of the program itself, which stand above those of plugins. */
  readonly extraTools: readonly AgentTool[];
  readonly context: PluginSetupContext;
  /** Instead of the context's own automation, for each plugin that has the capability. */
  readonly automationFor?: AutomationFor;
  readonly isStrict: boolean;
  /** A hook that fails refuses what it was asked about. */
  readonly failsClosed: boolean;
  readonly hookTimeoutMs: number;
  readonly setupTimeoutMs: number;
  readonly disposeTimeoutMs: number;
  /** Gives up the opening. */
  readonly signal?: AbortSignal;
  readonly messages: () => readonly Message[];
  /** Which model answers the session's own agent; null before it is open. */
  readonly model: () => ServingModel | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The tools that the model is told of, as it is told. */
  readonly offered: () => readonly AgentToolDefinition[];
  readonly onIssue: OnIssue;
  /** Everything that plugins hear, for others who want to hear it so. */
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

/** The plugins of one session, as a host needs them. */
export interface OpenedPlugins {
  readonly registry: PluginRegistry;
  readonly source: HandlerSource;
  readonly snapshots: Snapshots;
  readonly tools: readonly Tool[];
  /** What rules say, as they were read when the run began. */
  rules(): string;
  shapeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest>;
  hear(event: RuntimeEvent): void;
  /** Throws only when the signal aborts. */
  command(prompt: string, signal: AbortSignal): Promise<CommandReply | null>;
  dispose(): Promise<void>;
}

/** Sets up the plugins of one session and joins what they contribute. */
export async function openPlugins(request: PluginsRequest): Promise<OpenedPlugins> {
  const registry = await openRegistry(request);
  try {
    return await joinPlugins(request, registry);
  } catch (error) {
    await registry.dispose();
    throw error;
  }
}

async function joinPlugins(
  request: PluginsRequest,
  registry: PluginRegistry,
): Promise<OpenedPlugins> {
  const { onIssue, sessionId, onNews, hookTimeoutMs: timeoutMs } = request;
  const { active } = registry;
  const parts = { plugins: active, timeoutMs, onIssue };
  const mirror = createAgentMirror();
  const snapshots = createSnapshots({ ...request, mirror });
  const telling = createTelling({
    plugins: active,
    mirror,
    snapshots,
    timeoutMs,
    ...(onNews === undefined ? {} : { onNews }),
  });
  const made = toolsOf(request, registry);
  const ownerOf = (tool: string): string => pluginOf(tool, active) ?? 'config.extraTools';
  const check = await createInputChecks(made, (tool, what) => {
    const plugin = ownerOf(tool);
    onIssue({ plugin, phase: 'tool', level: 'warning', message: `the tool ${tool}: ${what}` });
  });
  const rules = createRules({
    ...parts,
    toolNames: () => request.offered().map(({ name }) => name),
  });
  const handlers = await createHandlers(request, { registry, snapshots, made, rules, telling });
  return {
    registry,
    source: { handlers: () => handlers },
    snapshots,
    tools: made.map((tool) =>
      toAgentTool(tool, {
        plugin: ownerOf(tool.name),
        check,
        context: (call) => callContext(call, sessionId, snapshots),
        noteUpdate: (callId, update) => telling.noteUpdate(callId, update),
      }),
    ),
    rules: () => rules.text(),
    shapeRequest: async (asked, signal) => ({
      ...asked,
      messages: await buildMessages(asked.messages, parts, signal),
    }),
    hear: (event) => telling.hear(event),
    command: (prompt, signal) => runCommand(prompt, parts, signal),
    dispose: () => registry.dispose(),
  };
}

/** The program's own before those of plugins; of plugins the last one of a name. */
function toolsOf(
  { extraTools, onIssue }: PluginsRequest,
  { active }: PluginRegistry,
): readonly AgentTool[] {
  const chosen = new Map<string, AgentTool>();
  const given = active.flatMap(({ name: plugin, contributions }) =>
    contributions.tools.map((tool) => ({ plugin, tool })),
  );
  for (const { plugin, tool } of given) {
    const problem = nameProblem(tool) ?? repeatOf(tool, chosen);
    if (problem !== null) onIssue({ plugin, phase: 'tool', level: 'warning', message: problem });
    if (nameProblem(tool) === null) chosen.set(tool.name, tool);
  }
  for (const tool of extraTools) {
    const message = nameProblem(tool);
    if (message === null) chosen.set(tool.name, tool);
    else onIssue({ plugin: 'config.extraTools', phase: 'tool', level: 'error', message });
  }
  return [...chosen.values()];
}

/** The last one that registered it; null when it is the program's own. */
function pluginOf(tool: string, active: PluginRegistry['active']): string | null {
  const isItsOwn = ({ contributions }: PluginRegistry['active'][number]): boolean =>
    contributions.tools.some(({ name }) => name === tool);
  return active.findLast(isItsOwn)?.name ?? null;
}

function repeatOf({ name }: AgentTool, chosen: ReadonlyMap<string, AgentTool>): string | null {
  return chosen.has(name)
    ? `the tool ${name} was registered before; this one takes its place`
    : null;
}

interface HandlerMeans {
  readonly registry: PluginRegistry;
  readonly snapshots: Snapshots;
  readonly made: readonly AgentTool[];
  readonly rules: Rules;
  readonly telling: Telling;
}

async function createHandlers(
  { context, offered, failsClosed, hookTimeoutMs }: PluginsRequest,
  { registry, snapshots, made, rules, telling }: HandlerMeans,
): Promise<readonly Handler[]> {
  const pluginHandlers = await loadPluginHandlers();
  const hooks = pluginHandlers(registry.active, {
    ports: {
      snapshot: (event) => snapshots.at(event),
      noteOfAnswer: (event, answer) => snapshots.told.noteOfAnswer(event, answer),
      requester: (event) => requesterOf(context, snapshots.at(event)),
      isUnread,
      runResult({ agent, status, ending = status, lastText = '', reason = null }) {
        telling.endTurn(agent.id);
        return snapshots.resultOf({ status, ending, text: lastText, reason });
      },
      findTool: (name) =>
        made.find((tool) => tool.name === name) ??
        offered().find((tool) => tool.name === name) ??
        null,
    },
    failsClosed,
    timeoutMs: hookTimeoutMs,
  });
  return [...rules.handlers, ...hooks];
}

function requesterOf(
  { client, user }: PluginSetupContext,
  { runId }: AgentRuntimeStateSnapshot,
): Readonly<Record<string, string>> {
  return {
    ...(user?.distinctId === undefined ? {} : { distinctId: user.distinctId }),
    ...(client === undefined ? {} : { clientName: client.name }),
    ...(client?.version === undefined ? {} : { clientVersion: client.version }),
    ...(runId === undefined ? {} : { runId }),
  };
}

function callContext(
  { callId }: RunningCall,
  sessionId: string,
  snapshots: Snapshots,
): AgentToolContext {
  const snapshot = snapshots.ofCall(callId);
  const { agentId, runId, iteration } = snapshot;
  return {
    sessionId,
    agentId,
    conversationId: sessionId,
    ...(runId === undefined ? {} : { runId }),
    iteration,
    toolCallId: callId,
    // Cline's own plugin for sub-agents looks for it there.
    metadata: { sessionId, modelSupportsImages: true },
    snapshot,
  };
}
