import { dropUndefined } from '../../base/defined.ts';
import {
  findJsonMistake,
  formatJsonMistake,
  type JsonMistake,
  locateOffset,
} from '../../base/json-mistakes.ts';
import {
  truncateText,
  isNestedTooDeep,
  isRecord,
  MAX_NESTING,
  parseJson,
  getTypeName,
} from '../../base/json.ts';
import {
  cleanOutput,
  findNestedRefusal,
  findRefusal,
  findRefusingField,
  findRepeatedKey,
  isUtf16,
  canHoldAnswer,
  isSpecificOutput,
} from '../find-refusal.ts';
import { listMisspeltKeys } from '../misspelt-fields.ts';

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
  /** What refuses in one reading of an invalid answer; the hook then refuses. */
  readonly refusal?: string;
  /** What looks like a refusal where Cline does not look for one either. */
  readonly suspicion?: string;
  readonly notes: readonly string[];
  /** About fields that were not read; absent without any. */
  readonly warnings?: readonly string[];
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

/**
 * Finds the answer in stdout: a HOOK_CONTROL line, else all of it, else the last JSON object in the
 * noise. Output that can be read in two ways is a fault.
 */
export function readAnswer(stdout: string): ReadAnswer {
  const text = stdout.trim();
  if (text === '') return createNoAnswer([]);
  if (isUtf16(text)) return createFault(NOT_UTF8, text);
  const object = findObject(text);
  if (object === null) return explainUnreadable(text);
  if ('error' in object) return createFault(describeControlFault(object.error), text);
  const read = readFoundObject(object, text);
  const misspelt = listMisspeltKeys(object.value, [...KNOWN_FIELDS]);
  if (misspelt.length > 0) return { ...read, warnings: misspelt };
  const isUnknown = Object.keys(object.value).length > 0 && !hasKnownField(object.value);
  return isUnknown && read.fault === null ? { ...read, warnings: [NO_KNOWN_FIELD] } : read;
}

const NO_KNOWN_FIELD = 'its JSON has no known field';

function readFoundObject({ value, json, earlier, notes }: FoundObject, text: string): ReadAnswer {
  const read = readObject(value, notes);
  if (read.answer?.cancel === true) return read;
  const earlierRefusal = earlier.find((each) => readObject(each, []).answer?.cancel === true);
  if (earlierRefusal !== undefined) return createFault(TWO_ANSWERS, text);
  const repeatedKey = findRepeatedKey(json, []);
  if (repeatedKey !== null && KNOWN_FIELDS.has(repeatedKey)) {
    return createFault(`its JSON has the key "${repeatedKey}" more than once`, json);
  }
  if (!hasKnownField(value)) return explainUnknownFields(value, notes);
  const refusal = read.fault === null ? findForeignRefusal(value) : null;
  if (refusal !== null) return createForeignFault(refusal, notes, BESIDE);
  return addSuspicion(checkShape(read, text), value);
}

const NOT_UTF8 = 'stdout is not UTF-8 but UTF-16 or binary; print the JSON as UTF-8';
const TWO_ANSWERS = 'stdout holds two answers, and one of them refuses';

/** `{}` is an empty answer of the SDK. Fields of another agent's answer may refuse. */
function explainUnknownFields(value: Fields, notes: readonly string[]): ReadAnswer {
  if (Object.keys(value).length === 0) return createNoAnswer(notes);
  const refusal = findForeignRefusal(value);
  if (refusal === null) return addSuspicion(createNoAnswer(notes), value);
  return createForeignFault(refusal, notes, NO_KNOWN_FIELD);
}

const BESIDE = 'its JSON does not cancel';

/** A refusal in another agent's format, also where that agent puts it. */
function findForeignRefusal(value: Fields): string | null {
  const field = findRefusingField(omitKnown(value));
  if (field !== null) return field;
  const nested = findNestedRefusal(omitKnown(value));
  return nested !== null && isSpecificOutput(nested.container) ? nested.place : null;
}

/** Cline ignores an answer in a wrapper, such as `{"data": {"cancel": true}}`. */
function addSuspicion(read: ReadAnswer, value: Fields): ReadAnswer {
  const nested = read.fault === null ? findNestedRefusal(omitKnown(value)) : null;
  if (nested === null) return read;
  const suspicion = `${nested.place} is not read, but looks like a refusal; expected {"cancel": true}`;
  return { ...read, suspicion };
}

function omitKnown(value: Fields): Fields {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !KNOWN_FIELDS.has(name)));
}

function createForeignFault(refusal: string, notes: readonly string[], what: string): ReadAnswer {
  const fault = `${what}, but ${refusal} looks like a refusal; expected {"cancel": true}`;
  return { answer: null, fault, refusal, notes };
}

/** An answer in an array may be one of several. */
function checkShape(read: ReadAnswer, text: string): ReadAnswer {
  const parsed = parseJson(text);
  return parsed.ok && Array.isArray(parsed.value) ? createFault(NO_OBJECT, text) : read;
}

const NO_OBJECT = 'stdout is JSON but not an object';

function createFault(fault: string, text: string): ReadAnswer {
  const refusal = findRefusal(text);
  return { answer: null, fault, ...(refusal === null ? {} : { refusal }), notes: [] };
}

function readObject(value: Fields, before: readonly string[]): ReadAnswer {
  const fault = findFlagFault(value) ?? findOverrideFault(value);
  const notes = [...before];
  const answer = readFields(value, notes);
  if (fault === null) return { answer, fault, notes };
  if (answer.cancel !== true) {
    const refusal = findRefusingField(value);
    return { answer: null, fault, ...(refusal === null ? {} : { refusal }), notes: before };
  }
  // An invalid `overrideInput` must not invalidate the refusal.
  const { overrideInput: _input, ...refusal } = answer;
  return { answer: refusal, fault: null, notes: [...notes, `${fault}; ignored`] };
}

function createNoAnswer(notes: readonly string[]): ReadAnswer {
  return { answer: null, fault: null, notes };
}

function explainUnreadable(text: string): ReadAnswer {
  const parsed = parseJson(cleanOutput(text));
  if (parsed.ok && canHoldAnswer(parsed.value)) return createFault(NO_OBJECT, text);
  if (parsed.ok) return createNoAnswer([`${NO_OBJECT}, so it is ignored`]);
  if (text.includes('{')) {
    const mistake = findMistakeAfterNoise(cleanOutput(text));
    const where = mistake === null ? parsed.error : formatJsonMistake(mistake);
    return createFault(`stdout is not readable as JSON: ${where}`, text);
  }
  if (ANSWER_LINE.test(cleanOutput(text))) return createFault('stdout is not JSON', text);
  return createNoAnswer(['stdout holds no JSON, so it is ignored']);
}

/** The JSON starts with the first line that begins with a brace, or else with the first brace. */
function findMistakeAfterNoise(text: string): JsonMistake | null {
  const start = /^[ \t]*\{/m.exec(text)?.index ?? text.indexOf('{');
  const mistake = findJsonMistake(text.slice(start));
  if (mistake === null) return null;
  const offset = start + mistake.offset;
  return { ...mistake, offset, ...locateOffset(text, offset) };
}

/** A field of an answer without quotes and braces, as in YAML. */
const ANSWER_LINE =
  /^[ \t]{0,20}(?:cancel|shouldContinue|should_continue|review|decision)[ \t]{0,20}[:=][ \t]{0,20}\S/im;

/** An unparsable HOOK_CONTROL line is a fault, whatever else stdout contains. */
function describeControlFault(error: string): string {
  return `its HOOK_CONTROL line is not readable as JSON: ${error}`;
}

function hasKnownField(fields: Fields): boolean {
  return Object.keys(fields).some((key) => KNOWN_FIELDS.has(key));
}

interface FoundObject {
  readonly value: Fields;
  /** Its text. */
  readonly json: string;
  /** Other objects with known fields that are printed before it. */
  readonly earlier: readonly Fields[];
  readonly notes: readonly string[];
}

function findObject(text: string): FoundObject | { readonly error: string } | null {
  const controls = listControlLines(text);
  const control = controls.at(-1);
  if (control !== undefined) return parseControl(control, controls.slice(0, -1));
  const whole = parseObject(text);
  if (whole !== null) return { value: whole, json: text, earlier: [], notes: [] };
  const found = findLastObject(text);
  return found === null ? null : { ...found, notes: ['stdout holds more than its JSON'] };
}

const CONTROL_PREFIX = 'HOOK_CONTROL\t';

function listControlLines(text: string): readonly string[] {
  if (!text.includes(CONTROL_PREFIX)) return [];
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith(CONTROL_PREFIX))
    .map((line) => line.slice(CONTROL_PREFIX.length));
}

function parseControl(json: string, before: readonly string[]): ReturnType<typeof findObject> {
  const parsed = parseJson(json);
  if (!parsed.ok) return { error: parsed.error };
  if (parsed.value !== null && !isRecord(parsed.value)) {
    return { error: `expected an object, found ${getTypeName(parsed.value)}` };
  }
  const earlier = before.map(parseObject).filter((each) => each !== null);
  return { value: parsed.value ?? {}, json, earlier, notes: [] };
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
function findLastObject(text: string): Omit<FoundObject, 'notes'> | null {
  const answers: { readonly value: Fields; readonly json: string }[] = [];
  let last: (typeof answers)[number] | null = null;
  let budget = PARSE_AT_LEAST + text.length * PARSE_TIMES_OVER;
  let insideOf = Number.POSITIVE_INFINITY;
  for (const { start, end } of findBalancedSpans(text).toReversed()) {
    if (start >= insideOf) continue;
    budget -= end - start;
    // Unparsed output may contain a refusal, so there is no answer.
    if (budget < 0) return null;
    const json = text.slice(start, end);
    const value = parseObject(json);
    if (value === null) continue;
    if (hasKnownField(value)) answers.push({ value, json });
    last ??= { value, json };
    insideOf = start;
  }
  const [answer, ...earlier] = answers;
  if (answer !== undefined) return { ...answer, earlier: earlier.map(({ value }) => value) };
  return last === null ? null : { ...last, earlier: [] };
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
