import { HooklineError } from '../../base/errors.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import type { Decision } from '../../hooks/decision.ts';
import type { Answer } from '../../hooks/handler.ts';
import type { AgentMessage } from '../../plugins/contract/message.ts';
import type { AgentModelRequest } from '../../plugins/contract/runtime-hooks.ts';
import type { LiveRequest } from './mutable-request.ts';
import { fromAgentMessages } from '../../plugins/messages/agent-messages.ts';
import { toPlainText, toPlainData } from '../../plugins/serialize/plain-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a hook returned, as fields; a note when it is nothing that anybody could mean. */
function readFields(result: unknown): {
  readonly fields: Fields;
  readonly notes: readonly string[];
} {
  if (result === undefined || result === null) return { fields: {}, notes: [] };
  if (isRecord(result)) return { fields: result, notes: [] };
  const notes = [
    `expected an object or nothing, found ${getTypeName(result)}; it counts as nothing`,
  ];
  return { fields: {}, notes };
}

function toAnswer(result: unknown, decide: (fields: Fields) => Decision): Answer | undefined {
  if (result === undefined || result === null) return undefined;
  const { fields, notes } = readFields(result);
  return { decision: decide(fields), notes };
}

/** The pending action does not happen. */
function readStop(fields: Fields, pending: 'skip' | 'run' = 'skip'): Decision {
  if (fields['stop'] !== true) return {};
  return { stop: { reason: readReason(fields, 'a plugin stopped the run'), pending } };
}

function readReason({ reason }: Fields, otherwise: string): string {
  return typeof reason === 'string' && reason !== '' ? reason : otherwise;
}

function readContext({ appendContext: context }: Fields): Decision {
  return typeof context === 'string' && context !== '' ? { context } : {};
}

export function readRunStart(result: unknown): Answer | undefined {
  return toAnswer(result, (fields) => ({ ...readStop(fields), ...readContext(fields) }));
}

/** Also of a hook that returned nothing: it may have changed the request in place. */
export function readModelRequest(
  result: unknown,
  handed: AgentModelRequest,
  live: LiveRequest,
): Answer | undefined {
  const { fields, notes } = readFields(result);
  live.applyResult(handed, fields);
  const decision = { ...readStop(fields), ...live.listChanges() };
  if (notes.length === 0 && Object.keys(decision).length === 0) return undefined;
  return { decision, notes };
}

/** Also of a hook that returned nothing: it may have changed the answer in place. */
export function readModelResponse(
  result: unknown,
  handed: AgentMessage,
  before: string,
): Answer | undefined {
  const { fields, notes } = readFields(result);
  const { message = handed } = fields;
  const answer = isAnswer(message) ? readOtherAnswer(message, before) : {};
  const decision = { ...readStop(fields), ...answer };
  const all = isAnswer(message) ? notes : [...notes, describeNoAnswer(message)];
  if (all.length === 0 && Object.keys(decision).length === 0) return undefined;
  return { decision, notes: all };
}

function readOtherAnswer(message: AgentMessage, before: string): Decision {
  if (JSON.stringify(message.content) === before) return {};
  return { messages: fromAgentMessages([{ ...message, role: 'assistant' }]) };
}

function isAnswer(message: unknown): message is AgentMessage {
  if (!isRecord(message)) return false;
  const { content } = message;
  return Array.isArray(content) && content.every((part) => isRecord(part) && 'type' in part);
}

function describeNoAnswer(message: unknown): string {
  return `expected "message" to be a message with a list of parts as "content", found ${getTypeName(message)}; the answer stays`;
}

export function readToolCall(result: unknown, tool: string): Answer | undefined {
  return toAnswer(result, (fields) => {
    const ruling = { ...readEffect(fields, tool), ...readStop(fields) };
    return { ...ruling, ...readContext(fields), ...readInput(fields, ruling) };
  });
}

const MAX_INPUT_CHARACTERS = 10_000_000;

/** Hooks of other kinds read it as JSON, and so do services. */
function readInput({ input }: Fields, { effect, stop }: Decision): Decision {
  if (input === undefined) return {};
  const { isExact, isCut } = toPlainText(input, MAX_INPUT_CHARACTERS);
  if (isExact && !isCut) return { input };
  // What cannot be used must not take a refusal with it.
  if (stop !== undefined || effect === 'deny' || effect === 'ask') return {};
  throw new HooklineError('PLUGIN_INVALID', {
    message: `beforeTool gave an "input" that JSON cannot say${isCut ? ' in ten million characters' : ''}, so the input stays as it was`,
  });
}

function readEffect(fields: Fields, tool: string): Decision {
  if (fields['skip'] === true) {
    return { effect: 'deny', reason: readReason(fields, `Tool "${tool}" was skipped by a plugin`) };
  }
  const policy = isRecord(fields['policy']) ? fields['policy'] : {};
  if (policy['enabled'] === false) {
    return { effect: 'deny', reason: readReason(fields, `Tool "${tool}" is disabled by policy`) };
  }
  if (policy['autoApprove'] === false) {
    return {
      effect: 'ask',
      reason: readReason(fields, `Tool "${tool}" requires approval, which a plugin asks for`),
    };
  }
  return policy['autoApprove'] === true ? { effect: 'allow' } : {};
}

/** The tool has run: what comes after it does not, and its result stays. */
export function readToolResult(result: unknown): Answer | undefined {
  const answer = toAnswer(result, (fields) => ({
    ...readStop(fields, 'run'),
    ...readContext(fields),
    ...readOtherResult(fields),
  }));
  const given = isRecord(result) ? result['result'] : undefined;
  if (answer === undefined || given === undefined || isRecord(given)) return answer;
  const note = `expected "result" to be an object with "output", found ${getTypeName(given)}; the result stays`;
  return { ...answer, notes: [...(answer.notes ?? []), note] };
}

const NO_OUTPUT = '(no output)';

/** The whole result is another one: whether the call failed is said with it. */
function readOtherResult({ result }: Fields): Decision {
  if (!isRecord(result)) return {};
  const { output = NO_OUTPUT, isError } = result;
  return { output: output === null ? 'null' : toPlainData(output), failed: isError === true };
}
