import type { RuntimeEvent } from '../agent/runtime-event.ts';

type Delta = Extract<RuntimeEvent, { type: 'text-delta' | 'thinking-delta' | 'input-delta' }>;

/** Puts what models write in pieces together to whole words, so that secrets can be seen in it. */
export interface DeltaBuffer {
  /** What can be told now: whole words, and every other event in its place among them. */
  take(event: RuntimeEvent): readonly RuntimeEvent[];
  /** What is still held back. */
  flush(): readonly RuntimeEvent[];
}

export function createDeltaBuffer(): DeltaBuffer {
  const held = new Map<string, Delta>();
  const release = (isWanted: (delta: Delta) => boolean): readonly Delta[] => {
    const released = [...held].filter(([, delta]) => isWanted(delta));
    for (const [key] of released) held.delete(key);
    return released.flatMap(([, delta]) => piecesOf(delta, delta.text));
  };
  return {
    take(event) {
      const isSameAgent = ({ agentId }: Delta): boolean => agentId === event.agentId;
      if (!isDelta(event)) return ENDS.has(event.type) ? [...release(isSameAgent), event] : [event];
      // Another kind of text begins only where the one before has ended.
      const before = release((delta) => isSameAgent(delta) && delta.type !== event.type);
      const key = keyOf(event);
      const text = (held.get(key)?.text ?? '') + event.text;
      const end = endOfWords(text, event.text.length);
      held.delete(key);
      if (end < text.length) held.set(key, { ...event, text: text.slice(end) });
      return [...before, ...piecesOf(event, text.slice(0, end))];
    },
    flush: () => release(() => true),
  };
}

/** After these the model writes no more of what it has begun. */
const ENDS: ReadonlySet<string> = new Set([
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

function keyOf(delta: Delta): string {
  return `${delta.agentId} ${delta.type === 'input-delta' ? delta.callId : ''}`;
}

// Not behind what says that a secret follows, nor before what says that a name was that.
const GAP = /(?<![\s=:>]|\b(?:Bearer|Basic))\s+(?=[^\s=:])/giu;
const KEY_BEGINS = '-----BEGIN';
const KEY_ENDS = /-----END[^-]*-----\s/u;

/** No secret is longer; whoever writes more without a blank writes something else. */
const MAX_HELD = 16 * 1024;

/** How much of a text is whole words; looks only at what the last piece can have ended. */
function endOfWords(text: string, added: number): number {
  if (text.length > MAX_HELD) return text.length;
  if (!/\s/u.test(text.slice(-added - 1))) return 0;
  const end = [...text.matchAll(GAP)].at(-1);
  const words = end === undefined ? 0 : end.index + end[0].length;
  const key = text.indexOf(KEY_BEGINS);
  return key === -1 || KEY_ENDS.test(text.slice(key)) ? words : Math.min(words, key);
}

const KEY = /(-----BEGIN[^]*?(?:-----END[^-]*-----|$))/u;

/** In JSON a secret may stand right behind an escaped line end, as if it were one word with it. */
function piecesOf(delta: Delta, text: string): readonly Delta[] {
  if (delta.type !== 'input-delta') return text === '' ? [] : [{ ...delta, text }];
  return text
    .split(KEY)
    .flatMap((part) => (part.startsWith(KEY_BEGINS) ? [part] : part.split(/(?<=\\[nrt"])/u)))
    .filter((piece) => piece !== '')
    .map((piece) => ({ ...delta, text: piece }));
}
