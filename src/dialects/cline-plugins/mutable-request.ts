import { dropUndefined } from '../../base/defined.ts';
import { HooklineError } from '../../base/errors.ts';
import { getOwnValue, isRecord } from '../../base/json.ts';
import type { Decision } from '../../hooks/decision.ts';
import type {
  AgentBeforeModelResult,
  AgentModelRequest,
} from '../../plugins/contract/runtime-hooks.ts';
import type { Message } from '../../sessions/messages.ts';
import { fromAgentMessages, toAgentMessages } from '../../plugins/messages/agent-messages.ts';

/** One model request, which the plugins of a session change one after the other. */
export interface MutableRequest {
  /** Creates a copy for one plugin, which may change it in place. */
  copyForPlugin(): AgentModelRequest;
  /**
   * Applies a plugin's changes to its copy and its result. Throws PLUGIN_INVALID and changes nothing
   * when they are not a valid request.
   */
  applyResult(copy: AgentModelRequest, result: AgentBeforeModelResult): void;
  /** Lists what differs from the original request, as parts of a decision. */
  listChanges(): Pick<Decision, 'messages' | 'tools' | 'options'>;
}

/** The request as the agent fires it with ModelRequest. */
interface FiredRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
  }[];
}

export function createMutableRequest(
  fired: unknown,
  options: Record<string, unknown>,
): MutableRequest {
  const { system, messages, tools } = readFired(fired);
  const before: AgentModelRequest = {
    systemPrompt: system,
    messages: toAgentMessages(messages),
    tools: tools.map(({ name, description, schema }) => ({
      name,
      description,
      inputSchema: { ...schema },
    })),
    options: { ...options, metadata: toRecord(options['metadata']) },
  };
  let now = before;
  const first = serializeParts(before);
  let texts = first;
  const isOther = (key: 'messages' | 'tools'): boolean => texts[key] !== first[key];
  return {
    copyForPlugin: () => copyRequest(now),
    applyResult(copy, result) {
      // Copied again, because the plugin may still hold a reference to its copy.
      const next = copyRequest(checkRequest(withResult(copy, result)));
      // Throws for values that JSON cannot express, before the next plugin gets them.
      texts = serializeParts(next);
      now = next;
    },
    listChanges: () => ({
      ...(isOther('messages') ? { messages: fromAgentMessages(now.messages) } : {}),
      ...(isOther('tools') ? { tools: now.tools.map(toFiredTool) } : {}),
      ...readOptionChanges(now, before),
    }),
  };
}

/** Messages and tools are plain data; anything else in them would not reach the model. */
function copyRequest(request: AgentModelRequest): AgentModelRequest {
  const { messages, tools, options } = request;
  const metadata = toRecord(options?.['metadata']);
  return {
    ...request,
    messages: structuredClone(messages),
    tools: structuredClone(tools),
    options: { ...options, metadata: { ...metadata } },
  };
}

const NOTHING: FiredRequest = { system: '', messages: [], tools: [] };

function readFired(fired: unknown): FiredRequest {
  return isFired(fired) ? fired : NOTHING;
}

/** A shallow check is enough: only the agent fires this event, and it validates the result itself. */
function isFired(fired: unknown): fired is FiredRequest {
  return isRecord(fired) && Array.isArray(fired['messages']) && Array.isArray(fired['tools']);
}

function serializeParts({ messages, tools }: AgentModelRequest) {
  return { messages: JSON.stringify(messages), tools: JSON.stringify(tools) };
}

function toFiredTool(tool: AgentModelRequest['tools'][number]): FiredRequest['tools'][number] {
  return { name: tool.name, description: tool.description, schema: tool.inputSchema };
}

function withResult(
  request: AgentModelRequest,
  { systemPrompt, messages, tools, options }: AgentBeforeModelResult,
): AgentModelRequest {
  const both = { ...toRecord(request.options?.['metadata']), ...toRecord(options?.['metadata']) };
  return Object.assign(
    { ...request },
    dropUndefined({ systemPrompt, messages, tools }),
    isRecord(options) ? { options: { ...request.options, ...options, metadata: both } } : {},
  );
}

/**
 * Checked after each plugin, so that the error names the right plugin and the next one gets a valid
 * request.
 */
function checkRequest(request: AgentModelRequest): AgentModelRequest {
  const { systemPrompt, messages, tools, options }: Readonly<Record<string, unknown>> = {
    ...request,
  };
  const wrong = [
    ...(systemPrompt === undefined || typeof systemPrompt === 'string' ? [] : ['systemPrompt']),
    ...(isFineList(messages, isMessage) ? [] : ['messages']),
    ...(isFineList(tools, isTool) ? [] : ['tools']),
    ...(options === undefined || isRecord(options) ? [] : ['options']),
  ];
  if (wrong.length === 0) return request;
  throw new HooklineError('PLUGIN_INVALID', {
    message: `beforeModel returned invalid "${wrong.join('", "')}", so the request is not changed`,
  });
}

function isFineList(list: unknown, isFine: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isFine);
}

function isMessage(item: unknown): boolean {
  if (!isRecord(item) || typeof item['role'] !== 'string') return false;
  return isFineList(item['content'], (part) => isRecord(part) && typeof part['type'] === 'string');
}

function isTool(item: unknown): boolean {
  return isRecord(item) && typeof item['name'] === 'string' && isRecord(item['inputSchema']);
}

function toRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Cline's names of model options, with the engine's names. */
const OPTIONS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  maxTokens: 'maxOutputTokens',
  maxOutputTokens: 'maxOutputTokens',
  reasoningEffort: 'effort',
  effort: 'effort',
  thinking: 'thinking',
};

function readOptionChanges(
  { options = {}, systemPrompt }: AgentModelRequest,
  before: AgentModelRequest,
): Pick<Decision, 'options'> {
  const changes = Object.entries(options).flatMap(([name, value]) => {
    const option = getOwnValue(OPTIONS, name);
    return option === undefined || value === undefined ? [] : [[option, value] as const];
  });
  const hasPrompt = systemPrompt !== undefined && systemPrompt !== before.systemPrompt;
  const isSame = JSON.stringify(options) === JSON.stringify(before.options);
  const changed = {
    ...Object.fromEntries(changes),
    ...(hasPrompt ? { system: systemPrompt } : {}),
    ...(isSame ? {} : { ownOptions: options }),
  };
  return Object.keys(changed).length === 0 ? {} : { options: changed };
}
