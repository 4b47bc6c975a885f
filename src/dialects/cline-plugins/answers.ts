import { HooklineError } from '../../base/errors.ts';
import { listMisspeltKeys } from '../misspelt-fields.ts';
import { isRecord, getTypeName } from '../../base/json.ts';
import { findNestedRefusal, findRefusingField } from '../find-refusal.ts';
import type { Decision, Failure } from '../../hooks/decision.ts';
import type { Answer } from '../../hooks/handler.ts';
import type { AgentMessage } from '../../plugins/contract/message.ts';
import type { AgentModelRequest, HookName } from '../../plugins/contract/runtime-hooks.ts';
import type { MutableRequest } from './mutable-request.ts';
import { fromAgentMessages } from '../../plugins/messages/agent-messages.ts';
import { toPlainText, toPlainData } from '../../plugins/serialize/plain-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What each hook may return. */
const RETURNS: Readonly<
  Record<AnsweringHook, { readonly keys: readonly string[]; readonly how: string }>
> = {
  beforeRun: {
    keys: ['stop', 'reason', 'appendContext'],
    how: 'nothing, or { stop: true, reason: "why" } to refuse the run',
  },
  afterRun: { keys: [], how: 'nothing' },
  beforeModel: {
    keys: ['stop', 'reason', 'messages', 'tools', 'options', 'systemPrompt'],
    how: 'nothing, other messages, tools or options, or { stop: true, reason: "why" }',
  },
  afterModel: {
    keys: ['stop', 'reason', 'message'],
    how: 'nothing, { message } to replace the answer, or { stop: true, reason: "why" }',
  },
  beforeTool: {
    keys: ['skip', 'stop', 'reason', 'input', 'policy', 'appendContext'],
    how: 'nothing to agree, or { skip: true, reason: "why" } to refuse the call',
  },
  afterTool: {
    keys: ['stop', 'reason', 'result', 'appendContext'],
    how: 'nothing, { result: { output } } to replace the result, or { stop: true, reason: "why" }',
  },
};

type AnsweringHook = Exclude<HookName, 'onEvent'>;

/** How the author of a plugin makes a hook answer, after a failure of this kind. */
export function adviseOnFailure(hook: AnsweringHook, { kind }: Failure): string | null {
  if (kind === 'timeout') return 'Let it answer sooner.';
  if (kind !== 'threw' && kind !== 'output') return null;
  return `${hook} returns ${RETURNS[hook].how}.`;
}

const NESTED_KEYS: Readonly<Record<string, readonly string[]>> = {
  policy: ['enabled', 'autoApprove'],
  result: ['output', 'isError', 'metadata'],
};

/** Adds a warning for each key that is nearly one of those that are read. */
export function warnAboutKeys(
  hook: AnsweringHook,
  result: unknown,
  answer: Answer | undefined,
): Answer | undefined {
  if (!isRecord(result)) return answer;
  const { keys } = RETURNS[hook];
  const nested = Object.entries(NESTED_KEYS).filter(([name]) => keys.includes(name));
  const warnings = [
    ...listMisspeltKeys(result, keys, ''),
    ...nested.flatMap(([name, known]) => listMisspeltKeys(result[name], known, `${name}.`)),
  ];
  return warnings.length === 0 ? answer : { ...answer, warnings };
}

/** Reads a hook's result as fields; adds a note when it is not an object. */
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

/** By default a stop skips the pending action. */
function readStop(fields: Fields, pending: 'skip' | 'run' = 'skip'): Decision {
  if (fields['stop'] !== true) return {};
  return { stop: { reason: readReason(fields, 'a plugin stopped the run'), pending } };
}

function readReason({ reason }: Fields, otherwise: string): string {
  return typeof reason === 'string' && reason !== '' ? reason : otherwise;
}

function readContext({ appendContext: context }: Fields): Decision {
  return typeof context === 'string' && context.trim() !== '' ? { context } : {};
}

export function readRunStart(result: unknown): Answer | undefined {
  return toAnswer(result, (fields) => ({ ...readStop(fields), ...readContext(fields) }));
}

/** Reads the request even when the hook returned nothing, because it may have changed it in place. */
export function readModelRequest(
  result: unknown,
  copy: AgentModelRequest,
  request: MutableRequest,
): Answer | undefined {
  const { fields, notes } = readFields(result);
  request.applyResult(copy, fields);
  const decision = { ...readStop(fields), ...request.listChanges() };
  if (notes.length === 0 && Object.keys(decision).length === 0) return undefined;
  return { decision, notes };
}

/** Reads the answer even when the hook returned nothing, because it may have changed it in place. */
export function readModelResponse(
  result: unknown,
  copy: AgentMessage,
  before: string,
): Answer | undefined {
  const { fields, notes } = readFields(result);
  const { message = copy } = fields;
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

/** A value that is no answer, or a refusal under a wrong name or type, is a failure of the guard. */
export function readToolCall(result: unknown, tool: string): Answer | undefined {
  const fault = findToolCallFault(result);
  if (fault !== null) return fault;
  return toAnswer(result, (fields) => {
    const ruling = { ...readEffect(fields, tool), ...readStop(fields) };
    const isRefused = ruling.effect === 'deny' || ruling.stop !== undefined;
    return {
      ...ruling,
      // Cline's runtime answers a call that a plugin skipped with the bare reason.
      ...(isRefused ? { reasonAsResult: true } : {}),
      ...readContext(fields),
      ...readInput(fields, ruling),
    };
  });
}

const EXPECTED = 'expected an object such as { skip: true, reason: "…" }, or nothing';

function findToolCallFault(result: unknown): Answer | null {
  if (result === undefined || result === null) return null;
  if (!isRecord(result)) {
    const message = `${EXPECTED}, found ${getTypeName(result)}`;
    // `return false` is how many hook systems refuse.
    const refuses = result === false ? ({ onFailure: 'closed' } as const) : {};
    return { failure: { kind: 'output', message }, ...refuses };
  }
  if (result['skip'] === true || result['stop'] === true) return null;
  const odd = ['skip', 'stop'].find((name) => isOddFlag(result[name]));
  const refusal = findRefusingField(result) ?? findNestedRefusal(result)?.place ?? null;
  if (odd === undefined && refusal === null) return findPolicyFault(result['policy']);
  const found = refusal ?? `"${odd}" of type ${getTypeName(result[odd ?? ''])}`;
  const message = `${EXPECTED}, found ${found}`;
  return { failure: { kind: 'output', message }, onFailure: 'closed' };
}

/** A policy with a flag that is no boolean: `enabled: "false"` is meant to refuse. */
function findPolicyFault(policy: unknown): Answer | null {
  if (policy === undefined || policy === null) return null;
  const fields = isRecord(policy) ? policy : { policy };
  const odd = Object.entries(fields).find(
    ([name, flag]) =>
      ['enabled', 'autoApprove', 'policy'].includes(name) &&
      flag !== undefined &&
      typeof flag !== 'boolean',
  );
  if (odd === undefined) return null;
  const [name, flag] = odd;
  const message = `expected "policy" such as { enabled: false } or { autoApprove: false }, found "${name}" of type ${getTypeName(flag)}`;
  return { failure: { kind: 'output', message }, onFailure: 'closed' };
}

/** A truthy flag of another type refuses in Cline, too. */
function isOddFlag(flag: unknown): boolean {
  return typeof flag !== 'boolean' && Boolean(flag);
}

const MAX_INPUT_CHARACTERS = 10_000_000;

/** The input must be valid JSON, because hooks of other dialects and providers get it as JSON. */
function readInput({ input }: Fields, { effect, stop }: Decision): Decision {
  if (input === undefined) return {};
  const { isExact, isCut } = toPlainText(input, MAX_INPUT_CHARACTERS);
  if (isExact && !isCut) return { input };
  // An invalid input must not invalidate a refusal.
  if (stop !== undefined || effect === 'deny' || effect === 'ask') return {};
  throw new HooklineError('PLUGIN_INVALID', {
    message: `beforeTool gave an "input" that cannot be written as JSON${isCut ? ' in ten million characters' : ''}, so the input is not changed`,
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

/** The tool has already run, so a stop keeps its result and ends the run afterwards. */
export function readToolResult(result: unknown): Answer | undefined {
  const answer = toAnswer(result, (fields) => ({
    ...readStop(fields, 'run'),
    ...readContext(fields),
    ...readOtherResult(fields),
  }));
  const replacement = isRecord(result) ? result['result'] : undefined;
  if (answer === undefined || replacement === undefined || isRecord(replacement)) return answer;
  const note = `expected "result" to be an object with "output", found ${getTypeName(replacement)}; the result stays`;
  return { ...answer, notes: [...(answer.notes ?? []), note] };
}

const NO_OUTPUT = '(no output)';

/** Replaces the whole result, including whether the call failed. */
function readOtherResult({ result }: Fields): Decision {
  if (!isRecord(result)) return {};
  const { output = NO_OUTPUT, isError } = result;
  return { output: output === null ? 'null' : toPlainData(output), failed: isError === true };
}
