import type { LanguageModelUsage, TextStreamPart, ToolSet } from 'ai';
import type { AssistantBlock } from '../../sessions/messages.ts';
import type { FinishReason, ModelChunk, ModelEnd, Usage } from './model.ts';
import { getSignature } from './reasoning.ts';

export type SdkPart = TextStreamPart<ToolSet>;

/** Assembles an answer from the parts of the AI SDK's stream. */
export interface AnswerBuilder {
  /** Returns the chunks that the part adds. */
  add(part: SdkPart): readonly ModelChunk[];
  /** The whole answer, or null when the service sent no finish reason. */
  finish(): ModelEnd | null;
}

export function createAnswerBuilder(): AnswerBuilder {
  const content: Draft[] = [];
  const written = new Map<string, WrittenDraft>();
  const calls = new Map<string, CallDraft>();
  let finish: Finish | null = null;

  const begin = <Kind extends Draft>(drafts: Map<string, Kind>, key: string, start: Kind): Kind => {
    const begun = drafts.get(key);
    if (begun !== undefined) return begun;
    drafts.set(key, start);
    content.push(start);
    return start;
  };
  const write = (part: WritingPart): readonly ModelChunk[] => {
    const type = part.type.startsWith('text') ? 'text' : 'thinking';
    const draft = begin(written, `${type} ${part.id}`, { type, text: '', signature: null });
    draft.signature = getSignature(part.providerMetadata) ?? draft.signature;
    const text = 'text' in part ? part.text : '';
    draft.text += text;
    return text === '' ? [] : [{ type: `${type}-delta`, text }];
  };
  const beginCall = (id: string, name: string): CallDraft =>
    begin(calls, id, { type: 'call', id, name, input: {}, signature: null });

  return {
    add(part) {
      switch (part.type) {
        case 'text-start':
        case 'text-delta':
        case 'text-end':
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end':
          return write(part);
        case 'tool-input-start':
          beginCall(part.id, part.toolName);
          return [];
        case 'tool-input-delta': {
          const { id, name } = beginCall(part.id, '');
          return [{ type: 'input-delta', id, name, text: part.delta }];
        }
        case 'tool-call': {
          const { toolCallId: id, toolName: name, input } = part;
          Object.assign(beginCall(id, name), { name, input, signature: getCallSignature(part) });
          return [];
        }
        case 'finish-step':
          finish = parseFinish(part);
          return [];
        default:
          return [];
      }
    },
    finish: () => (finish === null ? null : createEnd(content, finish)),
  };
}

type Draft = WrittenDraft | CallDraft;
type Finish = Pick<ModelEnd, 'finishReason' | 'usage'>;

interface WrittenDraft {
  readonly type: 'text' | 'thinking';
  text: string;
  signature: string | null;
}

interface CallDraft {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly signature: string | null;
}

type WritingPart = Extract<
  SdkPart,
  {
    type:
      | 'text-start'
      | 'text-delta'
      | 'text-end'
      | 'reasoning-start'
      | 'reasoning-delta'
      | 'reasoning-end';
  }
>;

/** Only Gemini signs calls; OpenAI's call ids are not needed later. */
function getCallSignature({
  providerMetadata,
}: Extract<SdkPart, { type: 'tool-call' }>): string | null {
  const google = providerMetadata?.['google'];
  return google === undefined ? null : getSignature({ google });
}

function parseFinish(part: Extract<SdkPart, { type: 'finish-step' }>): Finish | null {
  const { finishReason, rawFinishReason, usage } = part;
  // For a truncated stream the SDK invents a finish reason without a raw one.
  const isCut =
    finishReason === 'error' || (finishReason === 'other' && rawFinishReason === undefined);
  return isCut ? null : { finishReason: toFinishReason(finishReason), usage: toUsage(usage) };
}

function createEnd(drafts: readonly Draft[], { finishReason, usage }: Finish): ModelEnd {
  const content = drafts.flatMap(toBlocks);
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  // Some services report `stop` or an own reason although the answer contains calls.
  const isUnsaid = hasCalls && (finishReason === 'stop' || finishReason === 'other');
  return { type: 'end', content, finishReason: isUnsaid ? 'tool-calls' : finishReason, usage };
}

function toFinishReason(reason: string): FinishReason {
  const known: readonly FinishReason[] = ['stop', 'tool-calls', 'length', 'content-filter'];
  return known.find((each) => each === reason) ?? 'other';
}

/** As in Claude Code: input tokens exclude tokens read from or written to a cache. */
function toUsage({ inputTokens, inputTokenDetails, outputTokens }: LanguageModelUsage): Usage {
  const cacheReadTokens = inputTokenDetails.cacheReadTokens ?? 0;
  const cacheWriteTokens = inputTokenDetails.cacheWriteTokens ?? 0;
  const fresh = (inputTokens ?? 0) - cacheReadTokens - cacheWriteTokens;
  return {
    inputTokens: inputTokenDetails.noCacheTokens ?? Math.max(0, fresh),
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function toBlocks(draft: Draft): readonly AssistantBlock[] {
  const { signature } = draft;
  if (draft.type === 'call') {
    const { id, name, input } = draft;
    const call: AssistantBlock = { type: 'tool_use', id, name, input };
    return signature === null ? [call] : [createThinkingBlock('', signature), call];
  }
  const { type, text } = draft;
  if (type === 'thinking' && signature !== null) return [createThinkingBlock(text, signature)];
  if (text === '') return [];
  return type === 'text' ? [{ type, text }] : [createThinkingBlock(text, null)];
}

function createThinkingBlock(thinking: string, signature: string | null): AssistantBlock {
  return { type: 'thinking', thinking, ...(signature === null ? {} : { signature }) };
}
