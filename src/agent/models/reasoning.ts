import type { AssistantContent } from 'ai';
import { isRecord, parseJson } from '../../base/json.ts';
import type { ThinkingBlock } from '../../sessions/messages.ts';

/** The wire formats that differ in what they take: `chat` is OpenAI's older one, which many servers speak. */
export type Wire = 'anthropic' | 'openai' | 'google' | 'chat';

type AssistantPart = Exclude<AssistantContent, string>[number];
type ReasoningPart = Extract<AssistantPart, { type: 'reasoning' }>;
type ProviderOptions = NonNullable<ReasoningPart['providerOptions']>;

export type Reasoning =
  | { readonly place: 'here'; readonly part: ReasoningPart }
  /** It belongs to the part after it. */
  | { readonly place: 'next'; readonly options: ProviderOptions };

// Anthropic's signatures stand as they are, since that is how Claude's transcripts have them. Others
// say whose they are, so that a session that goes on with another service does not send them there.
const REDACTED = 'redacted:';
const OPENAI = 'openai:';
const GOOGLE = 'google:';

/** A thought as its own service wants it back; null for another's, or when it wants none. */
export function toReasoning({ thinking, signature }: ThinkingBlock, wire: Wire): Reasoning | null {
  switch (wire) {
    case 'anthropic':
      return signature === undefined ? null : toAnthropicReasoning(thinking, signature);
    case 'openai':
      return signature?.startsWith(OPENAI) === true ? toOpenaiReasoning(thinking, signature) : null;
    case 'google':
      return signature?.startsWith(GOOGLE) === true
        ? {
            place: 'next',
            options: { google: { thoughtSignature: signature.slice(GOOGLE.length) } },
          }
        : null;
    case 'chat':
      return signature === undefined && thinking !== '' ? createReasoning(thinking) : null;
  }
}

function toAnthropicReasoning(thinking: string, signature: string): Reasoning | null {
  if (signature.startsWith(OPENAI) || signature.startsWith(GOOGLE)) return null;
  return signature.startsWith(REDACTED)
    ? createReasoning('', { anthropic: { redactedData: signature.slice(REDACTED.length) } })
    : createReasoning(thinking, { anthropic: { signature } });
}

function toOpenaiReasoning(thinking: string, signature: string): Reasoning | null {
  const parsed = parseJson(signature.slice(OPENAI.length));
  if (!parsed.ok || !isRecord(parsed.value)) return null;
  const { itemId, encrypted } = parsed.value;
  if (typeof itemId !== 'string') return null;
  const reasoningEncryptedContent = typeof encrypted === 'string' ? encrypted : null;
  return createReasoning(thinking, { openai: { itemId, reasoningEncryptedContent } });
}

function createReasoning(text: string, providerOptions?: ProviderOptions): Reasoning {
  const part: ReasoningPart = { type: 'reasoning', text };
  return {
    place: 'here',
    part: providerOptions === undefined ? part : { ...part, providerOptions },
  };
}

/** What the block must keep of the service's own words about a thought or a call, or null. */
export function getSignature(metadata: unknown): string | null {
  if (!isRecord(metadata)) return null;
  const { anthropic, openai, google } = metadata;
  if (isRecord(anthropic)) return getAnthropicSignature(anthropic);
  if (isRecord(openai) && typeof openai['itemId'] === 'string') {
    const { itemId, reasoningEncryptedContent: encrypted } = openai;
    return `${OPENAI}${JSON.stringify({ itemId, encrypted: encrypted ?? null })}`;
  }
  if (!isRecord(google) || typeof google['thoughtSignature'] !== 'string') return null;
  return `${GOOGLE}${google['thoughtSignature']}`;
}

function getAnthropicSignature({
  signature,
  redactedData,
}: Record<string, unknown>): string | null {
  if (typeof redactedData === 'string') return `${REDACTED}${redactedData}`;
  return typeof signature === 'string' ? signature : null;
}
