import { isRecord } from '../base/json.ts';
import { findCalledTool, getOwnPathKey, getOwnVocabulary, type CalledTool } from './catalogue.ts';
import { describeNonObject, type ToolForm } from './tool-form.ts';
import { listChangedKeys, isSame, withValues, type Fields } from './fields.ts';
import { convertFields, listParts } from './call-parts.ts';
import type { ViewContext, ToolCall, Vocabulary } from './vocabulary.ts';
import { type CallPart, getForm, RULES, translatePath } from './tools.ts';

/** A new input that came back through one form of a call. */
export interface Rewrite {
  readonly vocabulary: Vocabulary;
  /** The `part` of the view that was rewritten. */
  readonly part: number | null;
  readonly input: unknown;
}

export type Rewritten =
  | {
      readonly ok: true;
      readonly input: unknown;
      /** Keys that the call has no place for; they were left out. */
      readonly lost?: readonly string[];
    }
  | { readonly ok: false; readonly error: string };

/** The call's own input after a rewrite; what the form does not say keeps its value. */
export function rewriteInput(call: ToolCall, rewrite: Rewrite, context: ViewContext): Rewritten {
  const called = findCalledTool(call);
  if (called === null || called.vocabulary === rewrite.vocabulary) {
    return replaceInput(call, rewrite, context);
  }
  const slots = listParts(call, called, context);
  const slot = slots[rewrite.part ?? 0];
  if (slot === undefined || (rewrite.part === null && slots.length > 1)) {
    return refuse(call, `it has ${slots.length} parts, and part ${rewrite.part} is none of them`);
  }
  return rewritePart({ call, called, slots, slot, rewrite }, context);
}

function replaceInput(call: ToolCall, rewrite: Rewrite, context: ViewContext): Rewritten {
  const { input, vocabulary } = rewrite;
  const called = findCalledTool(call);
  if (!isRecord(input)) {
    return isLooseList(called, input)
      ? { ok: true, input }
      : refuse(call, describeNonObject(input));
  }
  if (called === null) return { ok: true, input };
  return { ok: true, input: withOwnPath({ call, called, input, vocabulary }, context) };
}

function isLooseList(called: CalledTool | null, input: unknown): boolean {
  if (called === null || called.vocabulary === null || called.form.list === null) return false;
  if (!RULES[called.vocabulary].takesBareLists) return false;
  return typeof input === 'string' || Array.isArray(input);
}

interface Replacement {
  readonly call: ToolCall;
  readonly called: CalledTool;
  readonly input: Fields;
  readonly vocabulary: Vocabulary;
}

function withOwnPath(replacement: Replacement, context: ViewContext): Fields {
  const { call, called, input, vocabulary } = replacement;
  const key = getOwnPathKey(called);
  const given = key === null ? undefined : input[key];
  if (key === null || typeof given !== 'string') return input;
  const before = isRecord(call.input) ? call.input[key] : undefined;
  const same = { from: vocabulary, into: vocabulary };
  const isKept = typeof before === 'string' && translatePath(before, same, context) === given;
  const own = isKept ? before : translatePath(given, same, context);
  return own === given ? input : { ...input, [key]: own };
}

interface PartRewrite {
  readonly call: ToolCall;
  readonly called: CalledTool;
  readonly slots: readonly CallPart[];
  readonly slot: CallPart;
  readonly rewrite: Rewrite;
}

function rewritePart(part: PartRewrite, context: ViewContext): Rewritten {
  const { call, slot, rewrite } = part;
  const face = getForm(slot.tool, rewrite.vocabulary);
  const translation = { from: getOwnVocabulary(part.called), into: rewrite.vocabulary };
  const base = convertFields(slot, translation, context);
  const shown = face.show(base);
  if (isSame(shown, rewrite.input)) return { ok: true, input: call.input };
  const wanted = face.read(rewrite.input, base);
  if (typeof wanted === 'string') return refuse(call, wanted);
  const missing = slot.tool.essential.find((field) => typeof wanted[field] !== 'string');
  if (missing !== undefined) return refuse(call, `expected "${missing}" to be text`);
  const before = face.read(shown, base);
  const changed = listChangedKeys(typeof before === 'string' ? {} : before, wanted);
  const next = withValues(slot.fields, changed, convertPath(part, { changed, wanted }, context));
  // Claude's words reach the fields as they are, so what is lost of them shows below.
  const isPlain = shown === base;
  const ignored = isPlain ? [] : listIgnoredKeys(face, shown, rewrite.input);
  return checkPut(part, { next, changed, ignored, input: slot.put(next) }, context);
}

interface WantedChange {
  readonly changed: readonly string[];
  readonly wanted: Fields;
}

function convertPath(
  { called, slot, rewrite }: PartRewrite,
  { changed, wanted }: WantedChange,
  context: ViewContext,
): Fields {
  const { pathField } = slot.tool;
  if (pathField === undefined || !changed.includes(pathField)) return wanted;
  const file = wanted[pathField];
  if (typeof file !== 'string') return wanted;
  const back = { from: rewrite.vocabulary, into: getOwnVocabulary(called) };
  return { ...wanted, [pathField]: translatePath(file, back, context) };
}

function listIgnoredKeys(face: ToolForm, shown: Fields, given: unknown): string[] {
  if (face.list !== null || !isRecord(given)) return [];
  const isCarried = (key: string): boolean => face.keys.includes(key) && !(key in face.constants);
  return Object.keys(given).filter((key) => !isCarried(key) && !isSame(given[key], shown[key]));
}

interface PutAttempt {
  readonly next: Fields;
  readonly changed: readonly string[];
  readonly ignored: readonly string[];
  readonly input: unknown;
}

// The input is read again: what a diff or a list could not hold shows as a difference.
function checkPut(part: PartRewrite, attempt: PutAttempt, context: ViewContext): Rewritten {
  const { call, called, slots, slot } = part;
  const { next, changed, input } = attempt;
  const reread = listParts({ name: call.name, input }, called, context);
  const index = slots.indexOf(slot);
  const isAlone = slots.every(
    (other, at) => at === index || isSame(other.fields, reread[at]?.fields),
  );
  if (reread.length !== slots.length || !isAlone) {
    return refuse(call, 'the change would reach other parts of the call');
  }
  const missingKeys = changed.filter((key) => !isSame(reread[index]?.fields[key], next[key]));
  const missingEssential = missingKeys.find((key) => slot.tool.essential.includes(key));
  if (missingEssential !== undefined) {
    return refuse(call, `its input cannot say this "${missingEssential}"`);
  }
  const lost = [...new Set([...attempt.ignored, ...missingKeys])];
  return lost.length === 0 ? { ok: true, input } : { ok: true, input, lost };
}

function refuse(call: ToolCall, why: string): Rewritten {
  return { ok: false, error: `the rewrite of ${call.name} cannot be applied: ${why}` };
}
