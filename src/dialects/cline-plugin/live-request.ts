import { HooklineError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import type { Decision } from '../../hooks/decision.ts';
import type {
  AgentBeforeModelResult,
  AgentModelRequest,
} from '../../plugins/contract/runtime-hooks.ts';
import type { Message } from '../../sessions/messages.ts';
import { fromAgentMessages, toAgentMessages } from './messages.ts';

/** One request to the model, which the plugins of a session change one after the other. */
export interface LiveRequest {
  /** What plugins are handed, and may change in place. */
  readonly request: AgentModelRequest;
  apply(result: AgentBeforeModelResult): void;
  /** What is other than it was when it was made, in the engine's words. */
  changes(): Pick<Decision, 'messages' | 'tools' | 'options'>;
}

/** As the agent fires it with ModelRequest. */
interface FiredRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly FiredTool[];
}

interface FiredTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export function createLiveRequest(fired: unknown, metadata: Record<string, unknown>): LiveRequest {
  const { system, messages, tools } = readFired(fired);
  const request: AgentModelRequest = {
    systemPrompt: system,
    messages: toAgentMessages(messages),
    tools: tools.map(({ name, description, schema }) => ({
      name,
      description,
      inputSchema: { ...schema },
    })),
    options: { metadata },
  };
  const before = { messages: textOf(request.messages), tools: textOf(request.tools) };
  return {
    request,
    apply: (result) => applyResult(request, result),
    changes() {
      const isSaidAnew = textOf(request.messages) !== before.messages;
      const isEquippedAnew = textOf(request.tools) !== before.tools;
      return {
        ...(isSaidAnew ? { messages: fromAgentMessages(request.messages) } : {}),
        ...(isEquippedAnew ? { tools: request.tools.map(toFiredTool) } : {}),
        ...optionChanges(request, system),
      };
    },
  };
}

const NOTHING: FiredRequest = { system: '', messages: [], tools: [] };

function readFired(fired: unknown): FiredRequest {
  return isFired(fired) ? fired : NOTHING;
}

/** The agent is the only one who fires it, and its own check looks at what comes back. */
function isFired(fired: unknown): fired is FiredRequest {
  return isRecord(fired) && Array.isArray(fired['messages']) && Array.isArray(fired['tools']);
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

function toFiredTool(tool: AgentModelRequest['tools'][number]): FiredTool {
  return { name: tool.name, description: tool.description, schema: tool.inputSchema };
}

function applyResult(request: AgentModelRequest, result: AgentBeforeModelResult): void {
  const { messages, tools, options } = result;
  if (messages !== undefined) request.messages = [...checked('messages', messages, isMessage)];
  if (tools !== undefined) request.tools = [...checked('tools', tools, isTool)];
  if (!isRecord(options)) return;
  const both = { ...recordOf(request.options?.['metadata']), ...recordOf(options['metadata']) };
  request.options = { ...request.options, ...options, metadata: both };
}

/** Looked at before it counts, so that the next plugin gets what the one before it left. */
function checked<Item>(
  what: string,
  given: readonly Item[],
  isFine: (item: unknown) => boolean,
): readonly Item[] {
  const list: unknown = given;
  if (Array.isArray(list) && list.every(isFine)) return given;
  throw new HooklineError('PLUGIN_INVALID', {
    message: `beforeModel gave "${what}" that are none, so they stay as they were`,
  });
}

function isMessage(item: unknown): boolean {
  return isRecord(item) && typeof item['role'] === 'string' && Array.isArray(item['content']);
}

function isTool(item: unknown): boolean {
  return isRecord(item) && typeof item['name'] === 'string' && isRecord(item['inputSchema']);
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Cline's names of what a request may be told beyond the conversation. */
const OPTIONS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  maxTokens: 'maxOutputTokens',
  maxOutputTokens: 'maxOutputTokens',
  reasoningEffort: 'effort',
  effort: 'effort',
  thinking: 'thinking',
};

function optionChanges(
  { options, systemPrompt }: AgentModelRequest,
  system: string,
): Pick<Decision, 'options'> {
  const known = Object.entries(options ?? {}).flatMap(([name, value]) => {
    const own = OPTIONS[name];
    return own === undefined || value === undefined ? [] : [[own, value] as const];
  });
  const isTold = systemPrompt !== undefined && systemPrompt !== system;
  const changed = { ...Object.fromEntries(known), ...(isTold ? { system: systemPrompt } : {}) };
  return Object.keys(changed).length === 0 ? {} : { options: changed };
}
