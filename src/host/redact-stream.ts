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
    return [...before, ...createDeltas(event, text.slice(0, end))];
  }

  /** Returns what is still buffered. */
  flush(): readonly RuntimeEvent[] {
    return this.#flush(() => true);
  }

  #flush(isWanted: (delta: Delta) => boolean): readonly Delta[] {
    const released = [...this.#pending].filter(([, delta]) => isWanted(delta));
    for (const [key] of released) this.#pending.delete(key);
    return released.flatMap(([, delta]) => createDeltas(delta, delta.text));
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

// A gap is not a safe end after `=` or `:`, nor before them, because a secret may follow.
const WORD_GAP = /(?<![\s=:>])\s+(?=[^\s=:])/gu;
// After one of these a secret may follow on the same line: `--password x`, `Cookie: a=1; b=2`; not where the
// next word follows at once, as in a sentence.
const SECRET_NAMES =
  /--[\w-]*(?:pass|secret|token|key|user|cookie)|(?:pass|pwd|secret|token|key|auth|credential|cookie)[\w-]*(?![\w-])(?![ \t]+[^\s:=])|bearer|basic|login|(?<!\S)-u|sshpass|mysql|mariadb/iu;
const KEY_BEGINS = '-----BEGIN';
const KEY_ENDS = /-----END[^-]*-----\s/u;

/** No secret is longer, so a longer text is emitted, but for its end. */
const MAX_PENDING = 16 * 1024;
const MAX_SECRET = 4 * 1024;

/** The length of the text that can be emitted; the last delta decides whether a word has ended. */
function findSafeEnd(text: string, added: number): number {
  if (text.length > MAX_PENDING) return findForcedEnd(text);
  if (!/\s/u.test(text.slice(-added - 1))) return 0;
  const gap = [...text.matchAll(WORD_GAP)].at(-1);
  const words = gap === undefined ? 0 : gap.index + gap[0].length;
  const key = text.indexOf(KEY_BEGINS);
  const isKeyOpen = key !== -1 && !KEY_ENDS.test(text.slice(key));
  return Math.min(words, findNamedStart(text, words), isKeyOpen ? key : words);
}

/** Where the word begins that a secret may follow on the last line; the line must be complete. */
function findNamedStart(text: string, end: number): number {
  const lineStart = findOpenLine(text, end);
  const name = SECRET_NAMES.exec(text.slice(lineStart));
  if (name === null) return end;
  const before = text.slice(lineStart, lineStart + name.index);
  return lineStart + before.length - (/\S*$/u.exec(before)?.[0].length ?? 0);
}

const NAME_OF_VALUE = /(?:password|passwd|pwd|pass|secret|token|key)["'`]?,?\s*$/iu;

/** Of the last line, or of the one before when that names what the last line may hold. */
function findOpenLine(text: string, end: number): number {
  const lineStart = text.lastIndexOf('\n', end - 1) + 1;
  const lineBefore = text.lastIndexOf('\n', lineStart - 2) + 1;
  const isNamed = lineStart > 0 && NAME_OF_VALUE.test(text.slice(lineBefore, lineStart));
  return isNamed ? lineBefore : lineStart;
}

/** Between two words where there are some, so that no secret is cut. */
function findForcedEnd(text: string): number {
  const end = text.length - MAX_SECRET;
  const gap = /[^\w.+/=-](?=[\w.+/=-]*$)/u.exec(text.slice(0, end));
  return gap === null ? end : gap.index + 1;
}

function createDeltas(delta: Delta, text: string): readonly Delta[] {
  return text === '' ? [] : [{ ...delta, text }];
}
