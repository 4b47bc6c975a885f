import {
  isNestedTooDeep,
  isRecord,
  MAX_NESTING,
  parseJson,
  stripByteOrderMark,
} from '../../../base/json.ts';

/** A hook's stdout as Claude parses it. */
type ParsedOutput =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string; readonly warnings: readonly string[] }
  | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unusable'; readonly why: string };

/** Parses stdout as JSON only when all of it is one object; anything else is plain text. */
export function parseOutput(stdout: string): ParsedOutput {
  const text = stripByteOrderMark(stdout).trim();
  if (text === '') return { kind: 'nothing' };
  if (!text.startsWith('{')) return { kind: 'text', text, warnings: warnAboutLateJson(text) };
  const parsed = parseJson(text);
  if (!parsed.ok) return { kind: 'text', text, warnings: [describeBrokenJson(parsed.error)] };
  if (!isRecord(parsed.value)) return { kind: 'text', text, warnings: [] };
  if (isNestedTooDeep(parsed.value)) {
    return { kind: 'unusable', why: `its JSON is nested more than ${MAX_NESTING} levels deep` };
  }
  return { kind: 'json', value: parsed.value };
}

/** Finds the last line that is a JSON object, for answers that follow other output. */
export function findLastJsonLine(text: string): Readonly<Record<string, unknown>> | null {
  const line = text.split('\n').findLast((each) => each.trimStart().startsWith('{'));
  const parsed = line === undefined ? null : parseJson(line.trim());
  return parsed?.ok === true && isRecord(parsed.value) ? parsed.value : null;
}

function describeBrokenJson(error: string): string {
  return `stdout starts with "{" but is not one JSON object (${error}), so it was read as plain text`;
}

const ANSWER_KEYS = ['hookSpecificOutput', 'decision', 'continue', 'systemMessage'];
const MOST_TRIES = 8;
const MOST_SEARCHED_CHARACTERS = 1024 * 1024;

/** Warns about JSON after other output, which Claude does not read. */
function warnAboutLateJson(text: string): string[] {
  if (text.length > MOST_SEARCHED_CHARACTERS || !hasLateAnswer(text)) return [];
  return [
    'the JSON after other output was not read: stdout must hold nothing but the JSON object; send log lines to stderr',
  ];
}

function hasLateAnswer(text: string): boolean {
  let start = text.lastIndexOf('\n{');
  for (let tries = 0; start >= 0 && tries < MOST_TRIES; tries++) {
    const parsed = parseJson(text.slice(start));
    if (parsed.ok && isRecord(parsed.value) && isAnswer(parsed.value)) return true;
    start = start === 0 ? -1 : text.lastIndexOf('\n{', start - 1);
  }
  return false;
}

function isAnswer(value: Readonly<Record<string, unknown>>): boolean {
  return ANSWER_KEYS.some((key) => Object.hasOwn(value, key));
}
