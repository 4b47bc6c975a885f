import type { LanguageModelUsage, TextStreamPart, ToolSet } from 'ai';
import type { AssistantBlock } from '../../sessions/messages.ts';
import type { FinishReason, ModelChunk, ModelEnd, Usage } from './model.ts';
import { getSignature } from './reasoning.ts';

export type SdkPart = TextStreamPart<ToolSet>;

/** Assembles an answer from the parts of the AI SDK's stream. */
export class AnswerBuilder {
  readonly #content: Draft[] = [];
  readonly #texts = new Map<string, WrittenDraft>();
  readonly #calls = new Map<string, CallDraft>();
  #finish: Finish | null = null;

  /** Returns the chunks that the part adds. */
  add(part: SdkPart): readonly ModelChunk[] {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#write(part);
      case 'tool-input-start':
        this.#beginCall(part.id, part.toolName);
        return [];
      case 'tool-input-delta': {
        const { id, name } = this.#beginCall(part.id, '');
        return [{ type: 'input-delta', id, name, text: part.delta }];
      }
      case 'tool-call': {
        const { toolCallId: id, toolName: name, input } = part;
        const signature = getCallSignature(part);
        Object.assign(this.#beginCall(id, name), { name, input, signature });
        return [];
      }
      case 'finish-step':
        this.#finish = parseFinish(part);
        return [];
      default:
        return [];
    }
  }

  /** The whole answer, or null when the service sent no finish reason. */
  build(): ModelEnd | null {
    return this.#finish === null ? null : createEnd(this.#content, this.#finish);
  }

  #write(part: WritingPart): readonly ModelChunk[] {
    const type = part.type.startsWith('text') ? 'text' : 'thinking';
    const start = { type, text: '', signature: null } as const;
    const draft = this.#begin(this.#texts, `${type} ${part.id}`, start);
    draft.signature = getSignature(part.providerMetadata) ?? draft.signature;
    const text = 'text' in part ? part.text : '';
    draft.text += text;
    return text === '' ? [] : [{ type: `${type}-delta`, text }];
  }

  #beginCall(id: string, name: string): CallDraft {
    const start = { type: 'call', id, name, input: {}, signature: null } as const;
    return this.#begin(this.#calls, id, start);
  }

  #begin<Kind extends Draft>(drafts: Map<string, Kind>, key: string, start: Kind): Kind {
    const begun = drafts.get(key);
    if (begun !== undefined) return begun;
    drafts.set(key, start);
    this.#content.push(start);
    return start;
  }
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
  const isMissingReason = hasCalls && (finishReason === 'stop' || finishReason === 'other');
  return {
    type: 'end',
    content,
    finishReason: isMissingReason ? 'tool-calls' : finishReason,
    usage,
  };
}

function toFinishReason(reason: string): FinishReason {
  const reasons: readonly FinishReason[] = ['stop', 'tool-calls', 'length', 'content-filter'];
  return reasons.find((each) => each === reason) ?? 'other';
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
