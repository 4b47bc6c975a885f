import { isRecord, parseJson } from '../base/json.ts';
import { createRenamedForm, describeNonObject, type ToolForm } from './tool-form.ts';
import { findArray, findText, toPlainText, type Fields } from './fields.ts';

export const WEB_SEARCH_KEYS = ['query', 'allowed_domains', 'blocked_domains'];

/** Both of Cline's vocabularies say a search as Claude does, under another name. */
export const CLINE_WEB_SEARCH: ToolForm = createRenamedForm({
  name: 'web_search',
  keys: Object.fromEntries(WEB_SEARCH_KEYS.map((key) => [key, key])),
});

/** A single question whose options are labels only; what they mean is kept from the call. */
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
    read: (given, base) => {
      if (!isRecord(given)) return describeNonObject(given);
      const { question, options } = given;
      if (options === undefined) return { question };
      const known = readList(base['options']).filter(isRecord);
      return { question, options: readList(options).map((label) => findOption(label, known)) };
    },
  };
}

function getLabel(option: unknown): string {
  return isRecord(option) ? (findText(option, ['label']) ?? '') : toPlainText(option);
}

function findOption(option: unknown, known: readonly Fields[]): Fields {
  const label = getLabel(option);
  return known.find((candidate) => candidate['label'] === label) ?? { label, description: '' };
}

/** A list, also one that a model sent as JSON text. */
export function readList(value: unknown): readonly unknown[] {
  const list = findArray(value);
  if (list !== null) return list;
  if (typeof value !== 'string') return [];
  const parsed = parseJson(value);
  return (parsed.ok ? findArray(parsed.value) : null) ?? [];
}
