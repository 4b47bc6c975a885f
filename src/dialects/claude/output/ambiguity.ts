import { findClosestName } from '../../../base/did-you-mean.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import {
  cleanOutput,
  findNestedRefusal,
  findRefusal,
  findRefusingField,
  findRepeatedKey,
  isUtf16,
  canHoldAnswer,
  isSpecificOutput,
} from '../../find-refusal.ts';
import { type ClaudeEvent, isGate } from '../events.ts';
import { formatExampleAnswer } from './advice.ts';
import { canBlock } from './rulings.ts';
import { getFailurePolicy } from './failures.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Explains why plain text on stdout may be an answer that cannot be read for sure, or returns null. */
export function explainAmbiguousText(event: ClaudeEvent, stdout: string): string | null {
  if (!isGate(event) && !canBlock(event)) return null;
  const text = cleanOutput(stdout).trim();
  if (isUtf16(stdout) && (isGate(event) || ANSWER_KEY.test(text))) return NOT_UTF8;
  const parsed = parseJson(text);
  if (parsed.ok) return explainWrongShape(event, stdout, parsed.value);
  // Elsewhere text is context, which may quote an answer.
  if (!isGate(event)) return isWrappedAnswer(text) ? NOT_ALONE : null;
  if (!ANSWER_KEY.test(text) && !ANSWER_LINE.test(text)) return null;
  return text.startsWith('{') ? `its JSON was not read: ${parsed.error}` : NOT_ALONE;
}

const NOT_UTF8 = 'stdout is not UTF-8 but UTF-16 or binary; print the JSON as UTF-8';
const NOT_ALONE =
  'its JSON was not read: stdout must hold nothing but one JSON object; send log lines to stderr';

/** A key of an answer in quotes, also in escaped ones. */
const ANSWER_KEY =
  /\\{0,9}["'](?:hookSpecificOutput|permissionDecision|decision|behavior|continue)\\{0,9}["']\s{0,99}:/i;
/** The same without quotes, as in YAML. */
const ANSWER_LINE =
  /^[ \t]{0,20}\{?[ \t]{0,20}(?:permissionDecision|decision)[ \t]{0,20}[:=][ \t]{0,20}\S/im;

function explainWrongShape(event: ClaudeEvent, stdout: string, value: unknown): string | null {
  if (isRecord(value)) return 'stdout holds control characters inside its JSON';
  const isAnswer = isGate(event) ? canHoldAnswer(value) : ANSWER_KEY.test(stdout);
  if (!isAnswer) return null;
  const found = Array.isArray(value) ? 'an array' : 'a bare string';
  return `expected one JSON object such as {"decision": "block"}, found ${found}`;
}

const FENCED = /^```[a-z]{0,9}[ \t]*\r?\n([\s\S]*?)\r?\n```$/i;

/** Whether the whole text is an answer in a code fence, or a list of them, one in each line. */
function isWrappedAnswer(text: string): boolean {
  const inside = FENCED.exec(text)?.[1] ?? text;
  const lines = inside.split('\n').filter((line) => line.trim() !== '');
  const isJson = (json: string): boolean => parseJson(json).ok;
  return ANSWER_KEY.test(text) && (isJson(inside) || lines.every(isJson));
}

/** Explains why an answer says two things at once, or says it under a name that is not read. */
export function explainAmbiguousAnswer(
  event: ClaudeEvent,
  stdout: string,
  value: Fields,
): string | null {
  if (!isGate(event) && !canBlock(event)) return null;
  const specific = isRecord(value['hookSpecificOutput']) ? value['hookSpecificOutput'] : {};
  const repeatedKey = mayRepeatKeys(stdout) ? findRepeatedKey(stdout, NESTED) : null;
  if (repeatedKey !== null) return `its JSON has the key "${repeatedKey}" more than once`;
  const words = listRulingWords(value, specific);
  const [refusing, allowing] = [REFUSING, ALLOWING].map((group) =>
    words.find(({ word }) => group.includes(word)),
  );
  if (refusing !== undefined && allowing !== undefined) {
    return `it refuses and allows at once: "${refusing.key}": "${refusing.word}" beside "${allowing.key}": "${allowing.word}"`;
  }
  return isGate(event) ? explainUnreadRuling(event, value, specific) : null;
}

const NESTED = ['hookSpecificOutput', 'decision'];
const REFUSING = ['block', 'deny'];
const ALLOWING = ['approve', 'allow'];

/** Cheap, because every answer is checked; an escaped letter may hide that a key is repeated. */
function mayRepeatKeys(stdout: string): boolean {
  if (stdout.includes('\\u')) return true;
  const keys = stdout.match(/"[A-Za-z]{1,40}"(?=\s{0,99}:)/g) ?? [];
  return new Set(keys).size < keys.length;
}

function listRulingWords(value: Fields, specific: Fields) {
  const decision = isRecord(specific['decision']) ? specific['decision'] : {};
  const words = [
    { key: 'decision', word: value['decision'] },
    { key: 'permissionDecision', word: specific['permissionDecision'] },
    { key: 'behavior', word: decision['behavior'] },
  ];
  return words.flatMap(({ key, word }) => (typeof word === 'string' ? [{ key, word }] : []));
}

const READ_BY_GATE: Readonly<Record<'top' | 'specific', readonly string[]>> = {
  top: ['decision', 'hookSpecificOutput', 'continue', 'reason', 'async', 'asyncTimeout'],
  specific: ['hookEventName', 'permissionDecision', 'permissionDecisionReason'],
};

/**
 * A refusal under a name that nothing reads: `permissionDecision` outside of `hookSpecificOutput`,
 * `decison`, `cancel` of another agent. A hook that prints its own payload has none of them.
 */
function explainUnreadRuling(event: ClaudeEvent, value: Fields, specific: Fields): string | null {
  const unread = [
    ...listUnread(value, READ_BY_GATE.top, ''),
    ...listUnread(specific, READ_BY_GATE.specific, 'hookSpecificOutput.'),
  ];
  const misspelt = unread.find(({ name, word }) => isMisspelt(name) && typeof word === 'string');
  const refusing = unread.find(({ name, word }) => findRefusingField({ [name]: word }) !== null);
  const found = refusing ?? misspelt;
  if (found !== undefined) {
    const meant = findMeantName(found.name);
    const suggestion = meant === null || meant === found.name ? '' : ` (did you mean ${meant}?)`;
    return describeUnread(event, `"${found.place}${found.name}"${suggestion}`);
  }
  const nested = findUnreadContainer(value);
  return nested === null || !isSpecificOutput(nested.container)
    ? null
    : describeUnread(event, nested.place);
}

function describeUnread(event: ClaudeEvent, found: string): string {
  return `${found} is not read on ${event}, but looks like a decision`;
}

/** A refusal in an object that nothing reads; what is read of `decision` is for another event. */
function findUnreadContainer(value: Fields) {
  return findNestedRefusal(
    Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'hookSpecificOutput')),
  );
}

/**
 * Explains a refusal in a wrapper, such as `{"data": {"decision": "block"}}`. Claude Code ignores it, too, so it
 * is a suspicion; null when there is none.
 */
export function explainWrappedRefusal(event: ClaudeEvent, value: Fields): string | null {
  if (!isGate(event) && !canBlock(event)) return null;
  const nested = findUnreadContainer(value);
  if (nested === null) return null;
  return `${describeUnread(event, nested.place)}; expected ${formatExampleAnswer(event)}`;
}

function listUnread(fields: Fields, read: readonly string[], place: string) {
  return Object.entries(fields)
    .filter(([name]) => !read.includes(name))
    .map(([name, word]) => ({ name, word, place }));
}

function isMisspelt(name: string): boolean {
  return findMeantName(name) !== null;
}

/** The field with a decision that a name is, or is nearly. */
function findMeantName(name: string): string | null {
  const plain = name.replaceAll(/[_\s-]/g, '');
  return findClosestName(plain, ['decision', 'permissionDecision', 'hookSpecificOutput']);
}

/**
 * Finds what refuses in an unusable answer. Null where a failure never blocks, because there a refusal
 * would keep the agent from ending.
 */
export function findRefusalInOutput(event: ClaudeEvent, stdout: string): string | null {
  if (getFailurePolicy(event, 'block') === 'open') return null;
  const parsed = parseJson(stdout.trim());
  const isWhole = parsed.ok && isRecord(parsed.value) && !mayRepeatKeys(stdout);
  if (!isWhole || !isRecord(parsed.value)) return isGate(event) ? findRefusal(stdout) : null;
  return findRefusalInFields(parsed.value);
}

/** Other parts of an object may quote something, such as the payload that the hook got. */
function findRefusalInFields(value: Fields): string | null {
  const specific = value['hookSpecificOutput'];
  const decision = isRecord(specific) ? specific['decision'] : undefined;
  const found = [value, specific, decision].filter(isRecord).map(findRefusingField);
  const nested = findUnreadContainer(value);
  return found.find((each) => each !== null) ?? nested?.place ?? null;
}
