import type { RuntimeEvent } from '../agent/runtime-event.ts';

type Delta = Extract<RuntimeEvent, { type: 'text-delta' | 'thinking-delta' | 'input-delta' }>;

/** Buffers text deltas of models until they are whole words, so that secrets in them can be detected. */
export class DeltaBuffer {
  readonly #pending = new Map<string, Delta>();

  /** Returns the events that can be emitted now: whole words, and other events in order. */
  take(event: RuntimeEvent): readonly RuntimeEvent[] {
    const isSameAgent = ({ agentId }: Delta): boolean => agentId === event.agentId;
    if (!isDelta(event)) {
      return FLUSHING_EVENTS.has(event.type) ? [...this.#flush(isSameAgent), event] : [event];
    }
    // A delta of another kind means that the text before it has ended.
    const before = this.#flush((delta) => isSameAgent(delta) && delta.type !== event.type);
    const key = getStreamKey(event);
    const text = (this.#pending.get(key)?.text ?? '') + event.text;
    const end = findSafeEnd(text, event.text.length);
    this.#pending.delete(key);
    if (end < text.length) this.#pending.set(key, { ...event, text: text.slice(end) });
    return [...before, ...splitDelta(event, text.slice(0, end))];
  }

  /** Returns what is still buffered. */
  flush(): readonly RuntimeEvent[] {
    return this.#flush(() => true);
  }

  #flush(isWanted: (delta: Delta) => boolean): readonly Delta[] {
    const released = [...this.#pending].filter(([, delta]) => isWanted(delta));
    for (const [key] of released) this.#pending.delete(key);
    return released.flatMap(([, delta]) => splitDelta(delta, delta.text));
  }
}

/** Events after which the model does not continue its text. */
const FLUSHING_EVENTS: ReadonlySet<string> = new Set([
  'message-end',
  'tool-start',
  'retry-start',
  'turn-end',
  'run-end',
  'session-end',
] satisfies readonly RuntimeEvent['type'][]);

function isDelta(event: RuntimeEvent): event is Delta {
  return /^(?:text|thinking|input)-delta$/.test(event.type);
}

function getStreamKey(delta: Delta): string {
  return `${delta.agentId} ${delta.type === 'input-delta' ? delta.callId : ''}`;
}

// A gap is not a safe end after `Bearer`, `=` or `:`, nor before `=` or `:`, because a secret may follow.
const WORD_GAP = /(?<![\s=:>]|\b(?:Bearer|Basic))\s+(?=[^\s=:])/giu;
const KEY_BEGINS = '-----BEGIN';
const KEY_ENDS = /-----END[^-]*-----\s/u;

/** No secret is longer, so a longer text without a space is emitted. */
const MAX_PENDING = 16 * 1024;

/** The length of the whole words in a text; the last delta decides whether one has ended. */
function findSafeEnd(text: string, added: number): number {
  if (text.length > MAX_PENDING) return text.length;
  if (!/\s/u.test(text.slice(-added - 1))) return 0;
  const end = [...text.matchAll(WORD_GAP)].at(-1);
  const words = end === undefined ? 0 : end.index + end[0].length;
  const key = text.indexOf(KEY_BEGINS);
  return key === -1 || KEY_ENDS.test(text.slice(key)) ? words : Math.min(words, key);
}

const KEY = /(-----BEGIN[^]*?(?:-----END[^-]*-----|$))/u;

/** Splits JSON after escaped characters, because a secret may follow `\\n` without a space. */
function splitDelta(delta: Delta, text: string): readonly Delta[] {
  if (delta.type !== 'input-delta') return text === '' ? [] : [{ ...delta, text }];
  return text
    .split(KEY)
    .flatMap((part) => (part.startsWith(KEY_BEGINS) ? [part] : part.split(/(?<=\\[nrt"])/u)))
    .filter((piece) => piece !== '')
    .map((piece) => ({ ...delta, text: piece }));
}
