import { dropUndefined } from '../../base/defined.ts';
import {
  truncateText,
  isNestedTooDeep,
  isRecord,
  MAX_NESTING,
  parseJson,
  getTypeName,
} from '../../base/json.ts';

/** A file hook's answer, with one name for the fields of both generations. */
export interface FileHookAnswer {
  readonly cancel?: boolean;
  readonly context?: string;
  readonly errorMessage?: string;
  readonly review?: boolean;
  readonly overrideInput?: unknown;
}

interface ReadAnswer {
  /** Null when stdout contains no JSON object with a known field. */
  readonly answer: FileHookAnswer | null;
  /** Why stdout is an invalid answer, or null. */
  readonly fault: string | null;
  readonly notes: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The answer's fields, each with every spelling that hooks use, the stronger spelling first. */
const SPELLINGS = {
  cancel: ['cancel'],
  shouldContinue: ['shouldContinue', 'should_continue'],
  context: ['context', 'contextModification', 'context_modification'],
  errorMessage: ['errorMessage', 'error_message'],
  review: ['review'],
  overrideInput: ['overrideInput', 'override_input'],
} as const;

const KNOWN_FIELDS: ReadonlySet<string> = new Set(Object.values(SPELLINGS).flat());

/** Finds the answer in stdout: a HOOK_CONTROL line, else all of it, else the last JSON object in the noise. */
export function readAnswer(stdout: string): ReadAnswer {
  const text = stdout.trim();
  if (text === '') return createNoAnswer([]);
  const object = findObject(text);
  if (object === null) return explainUnreadable(text);
  if ('error' in object) return rejectControlLine(object.error);
  // `{}` is an empty answer of the SDK.
  if (Object.keys(object.value).length === 0) return createNoAnswer(object.notes);
  if (!hasKnownField(object.value)) {
    return createNoAnswer([...object.notes, 'its JSON has no known field']);
  }
  return readObject(object.value, object.notes);
}

function readObject(value: Fields, before: readonly string[]): ReadAnswer {
  const fault = findFlagFault(value) ?? findOverrideFault(value);
  const notes = [...before];
  const answer = readFields(value, notes);
  if (fault === null) return { answer, fault, notes };
  if (answer.cancel !== true) return { answer: null, fault, notes: before };
  // An invalid `overrideInput` must not invalidate the refusal.
  const { overrideInput: _input, ...refusal } = answer;
  return { answer: refusal, fault: null, notes: [...notes, `${fault}; ignored`] };
}

function createNoAnswer(notes: readonly string[]): ReadAnswer {
  return { answer: null, fault: null, notes };
}

function explainUnreadable(text: string): ReadAnswer {
  const parsed = parseJson(text);
  if (parsed.ok) return createNoAnswer(['stdout is JSON but not an object, so it is ignored']);
  if (!text.includes('{')) return createNoAnswer(['stdout holds no JSON, so it is ignored']);
  return { answer: null, fault: `stdout is not readable as JSON: ${parsed.error}`, notes: [] };
}

/** An unparsable HOOK_CONTROL line is a fault, whatever else stdout contains. */
function rejectControlLine(error: string): ReadAnswer {
  const fault = `its HOOK_CONTROL line is not readable as JSON: ${error}`;
  return { answer: null, fault, notes: [] };
}

function hasKnownField(fields: Fields): boolean {
  return Object.keys(fields).some((key) => KNOWN_FIELDS.has(key));
}

function findObject(text: string) {
  const control = findControlLine(text);
  if (control !== null) return parseControl(control);
  const whole = parseObject(text);
  if (whole !== null) return { value: whole, notes: [] };
  const value = findLastObject(text);
  return value === null ? null : { value, notes: ['stdout holds more than its JSON'] };
}

const CONTROL_PREFIX = 'HOOK_CONTROL\t';

function findControlLine(text: string): string | null {
  if (!text.includes(CONTROL_PREFIX)) return null;
  const lines = text.split('\n').map((line) => line.trim());
  const line = lines.findLast((each) => each.startsWith(CONTROL_PREFIX));
  return line === undefined ? null : line.slice(CONTROL_PREFIX.length);
}

function parseControl(line: string) {
  const parsed = parseJson(line);
  if (!parsed.ok) return { error: parsed.error };
  return { value: isRecord(parsed.value) ? parsed.value : {}, notes: [] };
}

function parseObject(text: string): Fields | null {
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : null;
}

// The limit affects only nested broken objects; consecutive objects are parsed once each.
const PARSE_AT_LEAST = 1_000_000;
const PARSE_TIMES_OVER = 4;

/**
 * Finds the last JSON object with a known field, else the last one. A log line that is JSON must not
 * replace a `cancel` printed before it.
 */
function findLastObject(text: string): Fields | null {
  let last: Fields | null = null;
  let budget = PARSE_AT_LEAST + text.length * PARSE_TIMES_OVER;
  let insideOf = Number.POSITIVE_INFINITY;
  for (const { start, end } of findBalancedSpans(text).toReversed()) {
    if (start >= insideOf) continue;
    budget -= end - start;
    // Unparsed output may contain a refusal, so there is no answer.
    if (budget < 0) return null;
    const value = parseObject(text.slice(start, end));
    if (value === null) continue;
    if (hasKnownField(value)) return value;
    last ??= value;
    insideOf = start;
  }
  return last;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds every balanced pair of braces outside JSON strings, ordered by the closing brace. */
function findBalancedSpans(text: string): Span[] {
  const open: number[] = [];
  const spans: Span[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    // A JSON string has no raw line break, so the quote before it was not part of JSON.
    if (character === '\n') inString = false;
    else if (inString && character === '\\') at++;
    else if (character === '"' && open.length > 0) inString = !inString;
    else if (inString) continue;
    else if (character === '{') open.push(at);
    else if (character === '}') closeSpan(open, spans, at);
  }
  return spans;
}

function closeSpan(open: number[], spans: Span[], at: number): void {
  const start = open.pop();
  if (start !== undefined) spans.push({ start, end: at + 1 });
}

function readFields(fields: Fields, notes: string[]): FileHookAnswer {
  const cancel = readCancel(fields, notes);
  const context = readText(fields, SPELLINGS.context, notes);
  const errorMessage = readText(fields, SPELLINGS.errorMessage, notes);
  const review = readFlag(fields, SPELLINGS.review, notes);
  const override = SPELLINGS.overrideInput.find((key) => isPresent(fields[key]));
  const overrideInput = override === undefined ? undefined : fields[override];
  return dropUndefined({ cancel, context, errorMessage, review, overrideInput });
}

/** A guard with an invalid `cancel` has failed, not agreed. */
function findFlagFault(fields: Fields): string | null {
  const flags = [...SPELLINGS.cancel, ...SPELLINGS.shouldContinue, ...SPELLINGS.review];
  const bad = flags.find((key) => isPresent(fields[key]) && parseFlag(fields[key]) === null);
  if (bad === undefined) return null;
  return `"${bad}" should be true or false, found ${getTypeName(fields[bad])}${formatValue(fields[bad])}`;
}

const SHOWN_CHARS = 80;

/** Formats a scalar value; nothing for arrays and objects. */
function formatValue(value: unknown): string {
  return typeof value === 'object' ? '' : ` ${truncateText(JSON.stringify(value), SHOWN_CHARS)}`;
}

function findOverrideFault(fields: Fields): string | null {
  const deep = SPELLINGS.overrideInput.find((key) => isNestedTooDeep(fields[key]));
  return deep === undefined ? null : `"${deep}" is nested deeper than ${MAX_NESTING} levels`;
}

/** Either field may refuse: `cancel: true`, or the older `shouldContinue: false`. */
function readCancel(fields: Fields, notes: string[]): boolean | undefined {
  const cancel = readFlag(fields, SPELLINGS.cancel, notes);
  const shouldContinue = readFlag(fields, SPELLINGS.shouldContinue, notes);
  if (cancel === undefined && shouldContinue === undefined) return undefined;
  return cancel === true || shouldContinue === false;
}

function readFlag(fields: Fields, keys: readonly string[], notes: string[]): boolean | undefined {
  const key = keys.find((each) => isPresent(fields[each]));
  if (key === undefined) return undefined;
  const flag = parseFlag(fields[key]) ?? undefined;
  if (flag !== undefined && typeof fields[key] === 'string') {
    notes.push(
      `"${key}" should be ${flag}, found the string ${JSON.stringify(fields[key])}; accepted`,
    );
  }
  return flag;
}

// Accepts "true" and "false" in quotes, which shell scripts often print.
function parseFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  const spelled = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (spelled === 'true') return true;
  return spelled === 'false' ? false : null;
}

function readText(fields: Fields, keys: readonly string[], notes: string[]): string | undefined {
  const presentKeys = keys.filter((key) => isPresent(fields[key]));
  for (const key of presentKeys) {
    if (typeof fields[key] !== 'string') {
      notes.push(`"${key}" should be a string, found ${getTypeName(fields[key])}; ignored`);
    }
  }
  const texts = presentKeys.map((key) => fields[key]).filter((value) => typeof value === 'string');
  return texts.find((text) => text.trim() !== '');
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
