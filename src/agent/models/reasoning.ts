import type { AssistantContent } from 'ai';
import { isRecord, parseJson } from '../../base/json.ts';
import type { ThinkingBlock } from '../../sessions/messages.ts';

/** The format of a provider's HTTP requests and responses; `chat` is OpenAI's chat completions, which many servers support. */
export type WireFormat = 'anthropic' | 'openai' | 'google' | 'chat';

type AssistantPart = Exclude<AssistantContent, string>[number];
type ReasoningPart = Extract<AssistantPart, { type: 'reasoning' }>;
type ProviderOptions = NonNullable<ReasoningPart['providerOptions']>;

export type Reasoning =
  | { readonly place: 'here'; readonly part: ReasoningPart }
  /** Attached to the part that follows. */
  | { readonly place: 'next'; readonly options: ProviderOptions };

// Anthropic signatures are stored unchanged, as in Claude Code's transcripts. Others carry a prefix, so
// that a session continued with another service does not send them there.
const REDACTED = 'redacted:';
const OPENAI = 'openai:';
const GOOGLE = 'google:';

/** Reasoning in the form that its own service expects back; null for another service's. */
export function toReasoning(
  { thinking, signature }: ThinkingBlock,
  wire: WireFormat,
): Reasoning | null {
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

/** The signature to store with a reasoning block or call, or null. */
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
