import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import {
  findArray,
  findText,
  toPlainText,
  copyChanges,
  copyValues,
  omitField,
  type Fields,
} from './fields.ts';

/**
 * A tool's input in one vocabulary. The fields themselves have Claude's names; `show` and `read` must
 * undo each other.
 */
export interface ToolForm {
  readonly name: string;
  /** Every key of the input, to recognise a rewrite by. */
  readonly keys: readonly string[];
  /** Keys with a fixed value, which stand for no field. */
  readonly constants: Fields;
  /** Set when one input may hold several parts. */
  readonly list: ListShape | null;
  /** Set where the vocabulary has no such tool, and another one with a similar effect stands for it. */
  readonly isStandIn?: true;
  readonly show: (fields: Fields) => Fields;
  /** Returns the fields of an input, or a sentence about why it cannot be read. */
  readonly read: (input: unknown, base: Fields) => Fields | string;
}

/** How a plural input contains its parts, as documented and as models also write it. */
export interface ListShape {
  /** Keys that hold the list; the first is the documented one. */
  readonly lists: readonly string[];
  /** Keys of an element that name its subject; the first is the documented one. */
  readonly subjects: readonly string[];
  /** The field that the subject becomes. */
  readonly field: string;
  /** Whether a documented element is the bare subject or an object. */
  readonly element: 'text' | 'object';
  /** An element's fields beside its subject. */
  readonly toFields?: (element: Fields) => Fields;
  readonly toElement?: (fields: Fields) => Fields;
  /** Another key that holds a part of an element's subject, and how to join both. */
  readonly joinedWith?: {
    readonly key: string;
    readonly join: (subject: string, rest: unknown) => string;
  };
}

/**
 * Creates a form that has the same fields under other keys: `keys` maps each field to the key of this
 * vocabulary.
 */
export function createRenamedForm(
  name: string,
  keys: Readonly<Record<string, string>>,
  constants: Fields = {},
): ToolForm {
  const pairs = Object.entries(keys);
  return {
    name,
    keys: [...Object.values(keys), ...Object.keys(constants)],
    constants,
    list: null,
    show: (fields) => ({ ...pickFields(pairs, fields), ...constants }),
    read: (input) => {
      if (!isRecord(input)) return describeNonObject(input);
      return pickFields(
        pairs.map(([field, key]) => [key, field]),
        input,
      );
    },
  };
}

/** Creates a form with the fields as they are; reading fills in defaults. */
export function createPlainForm(
  name: string,
  keys: readonly string[],
  defaults: Fields = {},
): ToolForm {
  const listAbsent = (input: Fields): string[] =>
    Object.keys(defaults).filter((key) => input[key] === undefined);
  return {
    name,
    keys,
    constants: {},
    list: null,
    show: (fields) => fields,
    read: (input) =>
      isRecord(input) ? copyValues(input, listAbsent(input), defaults) : describeNonObject(input),
  };
}

/** Creates a form whose input is a list; a single part becomes a list of one. */
export function createListForm(name: string, list: ListShape): ToolForm {
  return {
    name,
    keys: list.lists.slice(0, 1),
    constants: {},
    list,
    show: (fields) => createListInput(fields, list),
    read: (input) => {
      const [only, ...more] = listItems(input, list);
      if (only === undefined || more.length > 0) {
        return `expected one entry in "${list.lists[0]}", found ${more.length + 1}`;
      }
      return only.fields;
    },
  };
}

export function describeNonObject(value: unknown): string {
  return `expected an object, found ${getTypeName(value)}`;
}

function pickFields(pairs: readonly (readonly [string, string])[], source: Fields): Fields {
  return Object.fromEntries(
    pairs.flatMap(([from, to]) => (source[from] === undefined ? [] : [[to, source[from]]])),
  );
}

/**
 * Lists the parts of a plural input in any of its forms: text, list, object; at least one. `put`
 * returns the whole input with other fields in this part.
 */
export function listItems(
  input: unknown,
  shape: ListShape,
): readonly { readonly fields: Fields; readonly put: (next: Fields) => unknown }[] {
  return listElements(input, shape).map(({ element, replace }) => {
    const fields = readElement(element, shape);
    return { fields, put: (next) => replace(changeElement(element, fields, next, shape)) };
  });
}

function createListInput(fields: Fields, shape: ListShape): Fields {
  return { [getListKey(shape)]: [createElement(fields, shape)] };
}

interface PlacedElement {
  readonly element: unknown;
  readonly replace: (next: unknown) => unknown;
}

function listElements(input: unknown, shape: ListShape): readonly PlacedElement[] {
  const list = findList(input);
  if (list !== null) return listPlacedElements(list, (next) => next);
  if (typeof input === 'string') {
    return [
      { element: input, replace: (next) => (isRecord(next) ? wrapElement(next, shape) : next) },
    ];
  }
  if (isRecord(input)) return listRecordElements(input, shape);
  return [{ element: toPlainText(input), replace: (next) => wrapElement(next, shape) }];
}

function listRecordElements(input: Fields, shape: ListShape): readonly PlacedElement[] {
  for (const key of [...shape.lists, ...shape.subjects]) {
    const list = findList(input[key]);
    if (list !== null && list.length > 0) {
      return listPlacedElements(list, (next) => ({ ...input, [key]: next }));
    }
  }
  const single = shape.lists.find((key) => isElement(input[key]));
  if (single !== undefined) {
    return [{ element: input[single], replace: (next) => ({ ...input, [single]: next }) }];
  }
  if (findText(input, shape.subjects) !== null) {
    return [{ element: input, replace: (next) => next }];
  }
  const isEmptyList = shape.lists.some((key) => Array.isArray(input[key]));
  const replace = (next: unknown): unknown => ({ ...input, ...wrapElement(next, shape) });
  return [{ element: isEmptyList ? '' : toPlainText(input), replace }];
}

function listPlacedElements(
  list: readonly unknown[],
  replaceList: (next: readonly unknown[]) => unknown,
): readonly PlacedElement[] {
  if (list.length === 0) return [{ element: '', replace: (next) => replaceList([next]) }];
  return list.map((element, index) => ({
    element,
    replace: (next) => replaceList(list.with(index, next)),
  }));
}

// Models send lists as JSON text; a command such as `[ -f x ]` is none.
function findList(value: unknown): readonly unknown[] | null {
  const list = findArray(value);
  if (list !== null) return list;
  if (typeof value !== 'string' || !value.trimStart().startsWith('[')) return null;
  const parsed = parseJson(value);
  return parsed.ok ? findArray(parsed.value) : null;
}

function isElement(value: unknown): boolean {
  return typeof value === 'string' || isRecord(value);
}

function wrapElement(element: unknown, shape: ListShape): Fields {
  return { [getListKey(shape)]: [element] };
}

function getListKey(shape: ListShape): string {
  return shape.lists[0] ?? '';
}

function readElement(element: unknown, shape: ListShape): Fields {
  if (!isRecord(element)) return { [shape.field]: toPlainText(element) };
  const subject = findText(element, shape.subjects);
  if (subject === null) {
    return { [shape.field]: toPlainText(element), ...shape.toFields?.(element) };
  }
  const rest = element[shape.joinedWith?.key ?? ''];
  const subjectText = shape.joinedWith?.join(subject, rest) ?? subject;
  return { [shape.field]: subjectText, ...shape.toFields?.(element) };
}

function createElement(fields: Fields, shape: ListShape): unknown {
  return shape.element === 'text' ? fields[shape.field] : createElementRecord(fields, shape);
}

function createElementRecord(
  fields: Fields,
  shape: ListShape,
  key = shape.subjects[0] ?? '',
): Fields {
  return { [key]: fields[shape.field], ...shape.toElement?.(fields) };
}

function changeElement(element: unknown, fields: Fields, next: Fields, shape: ListShape): unknown {
  if (isRecord(element)) return changeRecord(element, fields, next, shape);
  const fresh = createElementRecord(next, shape);
  const isSubjectOnly = Object.values(fresh).filter((value) => value !== undefined).length === 1;
  return isSubjectOnly ? next[shape.field] : fresh;
}

function changeRecord(element: Fields, fields: Fields, next: Fields, shape: ListShape): unknown {
  const key = shape.subjects.find((subject) => typeof element[subject] === 'string');
  // A program and its arguments, once joined, cannot be taken apart again.
  const whole = shape.joinedWith === undefined ? element : omitField(element, shape.joinedWith.key);
  return copyChanges(
    whole,
    createElementRecord(fields, shape, key),
    createElementRecord(next, shape, key),
  );
}

/** Both of Cline's vocabularies have Claude's fields of a search, under another name. */
export const CLINE_WEB_SEARCH: ToolForm = createRenamedForm('web_search', {
  query: 'query',
  allowed_domains: 'allowed_domains',
  blocked_domains: 'blocked_domains',
});

/** Creates the form of a single question whose options are labels only; descriptions come from the call. */
export function createQuestionForm(
  name: string,
  format: (labels: readonly string[]) => unknown,
): ToolForm {
  return {
    name,
    keys: ['question', 'options'],
    constants: {},
    list: null,
    show: ({ question, options }) => ({
      question,
      ...(options === undefined ? {} : { options: format(readList(options).map(getLabel)) }),
    }),
    read: (input, base) => {
      if (!isRecord(input)) return describeNonObject(input);
      const { question, options } = input;
      if (options === undefined) return { question };
      const knownOptions = readList(base['options']).filter(isRecord);
      return {
        question,
        options: readList(options).map((label) => findOption(label, knownOptions)),
      };
    },
  };
}

function getLabel(option: unknown): string {
  return isRecord(option) ? (findText(option, ['label']) ?? '') : toPlainText(option);
}

function findOption(option: unknown, knownOptions: readonly Fields[]): Fields {
  const label = getLabel(option);
  return (
    knownOptions.find((candidate) => candidate['label'] === label) ?? { label, description: '' }
  );
}

/** Reads a list, also one that a model sent as JSON text. */
export function readList(value: unknown): readonly unknown[] {
  const list = findArray(value);
  if (list !== null) return list;
  if (typeof value !== 'string') return [];
  const parsed = parseJson(value);
  return (parsed.ok ? findArray(parsed.value) : null) ?? [];
}
