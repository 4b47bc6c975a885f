import {
  getToolCalls,
  type AssistantBlock,
  type Message,
  type ToolUseBlock,
  type UserBlock,
} from '../../sessions/messages.ts';
import {
  type Model,
  type ModelChunk,
  type ModelEnd,
  type ModelFailure,
  type Prices,
  type Usage,
  FAILURE_CLASSES,
  NO_USAGE,
} from './model.ts';
import { HooklineError } from '../../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../../base/json.ts';
import { findClosestName } from '../../base/did-you-mean.ts';

/** One answer of a scripted model. */
export interface ScriptTurn {
  readonly thinking?: string;
  readonly text?: string;
  readonly tools?: readonly ScriptCall[];
  /** Missing token counts are estimated from the text length. */
  readonly usage?: Partial<Usage>;
  /** The model fails after emitting the turn's text. */
  readonly failure?: ScriptFailure;
}

interface ScriptCall {
  readonly name: string;
  /** A string stands for arguments that are not valid JSON. */
  readonly input: unknown;
  readonly id?: string;
}

interface ScriptFailure {
  readonly class: ModelFailure['class'];
  readonly message?: string;
  readonly status?: number;
  readonly retryable?: boolean;
}

/**
 * A model that answers each request with the next turn; sub-agents and hooks that use the same model take
 * turns, too. Fails when no turn is left.
 */
export function createScriptedModel(
  turns: readonly ScriptTurn[],
  options: Partial<Pick<Model, 'id' | 'contextTokens' | 'prices'>> = {},
): Model {
  const measureMessage = createMessageMeasure();
  let nextTurn = 0;
  let lastCall = 0;
  return {
    provider: 'scripted',
    id: options.id ?? 'scripted',
    contextTokens: options.contextTokens ?? 200_000,
    prices: options.prices === undefined ? FREE : options.prices,
    async *stream(request, signal) {
      const turn = turns[nextTurn];
      if (turn === undefined) {
        yield createFailure({ class: 'invalid_request', message: formatTooShort(turns.length) });
        return;
      }
      nextTurn += 1;
      const measures = request.messages.map(measureMessage);
      const lastUsed = measures.reduce((last, each) => Math.max(last, each.lastCall), lastCall);
      const calls = numberCalls(turn.tools ?? [], lastUsed);
      lastCall = calls.lastCall;
      const length = measures.reduce((sum, each) => sum + each.length, request.system.length);
      yield* streamTurn(turn, createAnswer(turn, calls.blocks, length), signal);
    },
  };
}

const FREE: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function formatTooShort(count: number): string {
  const turns = count === 1 ? '1 turn' : `${count} turns`;
  return `The script has ${turns} and was asked for more; add a turn to it.`;
}

/** Call numbers continue in a resumed session, so that ids stay unique. */
function numberCalls(
  calls: readonly ScriptCall[],
  lastUsed: number,
): { readonly blocks: readonly ToolUseBlock[]; readonly lastCall: number } {
  let lastCall = lastUsed;
  const blocks = calls.map(({ name, input, id }): ToolUseBlock => {
    if (id === undefined) lastCall += 1;
    return { type: 'tool_use', id: id ?? `call_${lastCall}`, name, input };
  });
  return { blocks, lastCall };
}

function createAnswer(
  turn: ScriptTurn,
  calls: readonly ToolUseBlock[],
  requestLength: number,
): ModelEnd {
  const { thinking = '', text = '' } = turn;
  const content: AssistantBlock[] = [];
  if (thinking !== '') content.push({ type: 'thinking', thinking });
  if (text !== '') content.push({ type: 'text', text });
  content.push(...calls);
  return {
    type: 'end',
    content,
    finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
    usage: { ...estimateUsage(requestLength, content), ...turn.usage },
  };
}

async function* streamTurn(
  turn: ScriptTurn,
  answer: ModelEnd,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  for (const chunk of listDeltas(answer)) {
    if (signal.aborted) break;
    yield chunk;
  }
  if (signal.aborted) {
    yield createFailure({ class: 'aborted', message: 'The request was aborted.' });
  } else if (turn.failure !== undefined) yield createFailure(turn.failure);
  else yield answer;
}

function listDeltas({ content }: ModelEnd): readonly ModelChunk[] {
  return content.flatMap((block): readonly ModelChunk[] => {
    switch (block.type) {
      case 'thinking':
        return splitWords(block.thinking).map((text) => ({ type: 'thinking-delta', text }));
      case 'text':
        return splitWords(block.text).map((text) => ({ type: 'text-delta', text }));
      case 'tool_use':
        return [{ type: 'input-delta', id: block.id, name: block.name, text: formatInput(block) }];
      case 'media':
        return [];
    }
  });
}

function splitWords(text: string): readonly string[] {
  return text.split(/(?<=\s)(?=\S)/);
}

function formatInput({ input }: ToolUseBlock): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

const RETRYABLE: readonly ModelFailure['class'][] = [
  'rate_limit',
  'overloaded',
  'server_error',
  'unreachable',
  'protocol',
];

function createFailure(failure: ScriptFailure): ModelChunk {
  return {
    type: 'failure',
    failure: {
      class: failure.class,
      message: failure.message ?? `The script says that the model fails with ${failure.class}.`,
      status: failure.status ?? null,
      isRetryable: failure.retryable ?? RETRYABLE.includes(failure.class),
      retryAfterMs: null,
    },
  };
}

function estimateUsage(requestLength: number, answer: readonly AssistantBlock[]): Usage {
  return {
    inputTokens: estimateTokens(requestLength),
    outputTokens: estimateTokens(JSON.stringify(answer).length),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Caches the result per message, so that a long conversation is measured once. */
function createMessageMeasure() {
  const measures = new WeakMap<Message, { readonly length: number; readonly lastCall: number }>();
  return (message: Message) => {
    const cached = measures.get(message);
    if (cached !== undefined) return cached;
    const numbers = getToolCalls(message).map(({ id }) =>
      Number(/^call_(\d+)$/.exec(id)?.[1] ?? 0),
    );
    const measure = {
      length: message.content.reduce((sum, block) => sum + computeLength(block), 0),
      /** The highest call number, 0 when there are none. */
      lastCall: Math.max(0, ...numbers),
    };
    measures.set(message, measure);
    return measure;
  };
}

function computeLength(block: AssistantBlock | UserBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'thinking':
      return block.thinking.length;
    case 'image':
      return block.source.data.length;
    case 'tool_use':
      return JSON.stringify(block.input ?? null).length;
    case 'media':
      return 0;
    case 'tool_result':
      return typeof block.content === 'string'
        ? block.content.length
        : block.content.reduce((sum, each) => sum + computeLength(each), 0);
  }
}

/** Parses the file of a scripted model: a JSON array of turns. */
export function parseScript(text: string, file: string): readonly ScriptTurn[] {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    throw createScriptError({ file, path: '' }, `is not valid JSON: ${parsed.error}`);
  }
  return parseList(parsed.value, { file, path: '' }).map(({ value, place }) =>
    parseTurn(value, place),
  );
}

interface ScriptPath {
  readonly file: string;
  /** The path inside the document: `[1].tools[0].name`. */
  readonly path: string;
}

const TURN_KEYS = ['text', 'thinking', 'tools', 'usage', 'failure'] as const;
const CALL_KEYS = ['name', 'input', 'id'] as const;
const FAILURE_KEYS = ['class', 'message', 'status', 'retryable'] as const;

function parseTurn(value: unknown, place: ScriptPath): ScriptTurn {
  const turn = parseFields(value, place, TURN_KEYS);
  return {
    ...parseOptional('text', turn, place, parseString),
    ...parseOptional('thinking', turn, place, parseString),
    ...parseOptional('tools', turn, place, parseCalls),
    ...parseOptional('usage', turn, place, parseUsage),
    ...parseOptional('failure', turn, place, parseFailure),
  };
}

function parseCalls(value: unknown, place: ScriptPath): readonly ScriptCall[] {
  return parseList(value, place).map((each) => {
    const call = parseFields(each.value, each.place, CALL_KEYS);
    return {
      name: parseString(call['name'], appendStep(each.place, 'name')),
      input: call['input'] ?? {},
      ...parseOptional('id', call, each.place, parseString),
    };
  });
}

function parseUsage(value: unknown, place: ScriptPath): Partial<Usage> {
  const usage = parseFields(value, place, Object.keys(NO_USAGE));
  return {
    ...parseOptional('inputTokens', usage, place, parseCount),
    ...parseOptional('outputTokens', usage, place, parseCount),
    ...parseOptional('cacheReadTokens', usage, place, parseCount),
    ...parseOptional('cacheWriteTokens', usage, place, parseCount),
  };
}

function parseFailure(value: unknown, place: ScriptPath): ScriptFailure {
  const failure = parseFields(value, place, FAILURE_KEYS);
  return {
    class: parseClass(failure['class'], appendStep(place, 'class')),
    ...parseOptional('message', failure, place, parseString),
    ...parseOptional('status', failure, place, parseCount),
    ...parseOptional('retryable', failure, place, parseBoolean),
  };
}

function parseClass(value: unknown, place: ScriptPath): ScriptFailure['class'] {
  const found = FAILURE_CLASSES.find((each) => each === value);
  if (found !== undefined) return found;
  throw createScriptError(place, `must be one of ${FAILURE_CLASSES.join(', ')}`);
}

type Fields = Readonly<Record<string, unknown>>;

/** An object with the parsed field, or an empty one when the field is absent. */
function parseOptional<Key extends string, Value>(
  key: Key,
  fields: Fields,
  place: ScriptPath,
  parse: (value: unknown, place: ScriptPath) => Value,
): { [key in Key]?: Value } {
  const value = fields[key];
  const field: { [key in Key]?: Value } = {};
  if (value !== undefined) field[key] = parse(value, appendStep(place, key));
  return field;
}

function parseList(value: unknown, place: ScriptPath): { value: unknown; place: ScriptPath }[] {
  if (!Array.isArray(value)) throw createTypeError(place, 'an array', value);
  return value.map((each: unknown, index) => ({ value: each, place: appendStep(place, index) }));
}

/** An object whose keys are all known. */
function parseFields(value: unknown, place: ScriptPath, knownKeys: readonly string[]): Fields {
  if (!isRecord(value)) throw createTypeError(place, 'an object', value);
  const unknown = Object.keys(value).find((key) => !knownKeys.includes(key));
  if (unknown === undefined) return value;
  const closest = findClosestName(unknown, knownKeys);
  const hint =
    closest === null ? `known fields: ${knownKeys.join(', ')}` : `did you mean "${closest}"?`;
  throw createScriptError(place, `has an unknown field "${unknown}"; ${hint}`);
}

function parseString(value: unknown, place: ScriptPath): string {
  if (typeof value !== 'string') throw createTypeError(place, 'a string', value);
  return value;
}

function parseBoolean(value: unknown, place: ScriptPath): boolean {
  if (typeof value !== 'boolean') throw createTypeError(place, 'true or false', value);
  return value;
}

function parseCount(value: unknown, place: ScriptPath): number {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0;
  if (!isCount) throw createTypeError(place, 'a whole number from 0', value);
  return value;
}

function appendStep({ file, path }: ScriptPath, step: string | number): ScriptPath {
  return { file, path: typeof step === 'number' ? `${path}[${step}]` : `${path}.${step}` };
}

function createTypeError(place: ScriptPath, expected: string, value: unknown): HooklineError {
  const found = typeof value === 'number' ? String(value) : getTypeName(value);
  return createScriptError(place, `must be ${expected}, found ${found}`);
}

function createScriptError({ file, path }: ScriptPath, problem: string): HooklineError {
  const subject = path === '' ? 'the script' : path;
  return new HooklineError('MODEL_SCRIPT_INVALID', {
    message: `${file}: ${subject} ${problem}`,
    hint: 'A script is a JSON array of turns such as { "text": "…", "tools": [{ "name": "Read", "input": { … } }] }.',
  });
}
