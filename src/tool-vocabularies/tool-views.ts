import { isRecord } from '../base/json.ts';
import {
  findCalledTool,
  getOwnPathKey,
  getOwnVocabulary,
  isCatalogued,
  type CalledTool,
  type CallPart,
  getForm,
  RULES,
  type Tool,
  TOOLS,
  translatePath,
  type Translation,
} from './tools.ts';
import { toPlainText, type Fields, listChangedKeys, isSame, withValues } from './fields.ts';
import { APPLY_PATCH, EDITOR } from './sdk.ts';
import { convertFields, listParts } from './call-parts.ts';
import {
  VOCABULARIES,
  type ViewContext,
  type ToolCall,
  type ToolView,
  type Vocabulary,
} from './vocabulary.ts';
import { describeNonObject, type ToolForm } from './tool-form.ts';

export { TOOL_NAMES, findVocabulary } from './tools.ts';

export type { InputChange, InputInHand } from './vocabulary.ts';
export { VOCABULARIES, type ViewContext, type ToolCall, type ToolView, type Vocabulary };

export interface ToolResult {
  /** Claude's structured `tool_response`, or anything; undefined when there is only text. */
  readonly response: unknown;
  /** What the model sees. */
  readonly text: string;
  readonly success: boolean;
  readonly error?: string;
  /** Of a command. */
  readonly exitCode?: number;
  /** Whether `response` is in no vocabulary: the tool is a plugin's, whatever its name looks like. */
  readonly inOwnWords?: true;
  /** One for each part of a plural call. */
  readonly parts?: readonly ToolResult[];
}

interface ResultView {
  readonly vocabulary: Vocabulary;
  /** The `part` of the view that the result belongs to. */
  readonly part: number | null;
}

interface ResultRow {
  readonly query: string;
  readonly result: string;
  readonly success: boolean;
  readonly error?: string;
}

const NOWHERE: ViewContext = { cwd: '/', root: null };

/**
 * The call as hooks of a vocabulary see it: once in its own words, else once per part.
 * Never empty and never throws, whatever the input is.
 */
export function listToolViews(
  call: ToolCall,
  vocabulary: Vocabulary,
  context: ViewContext,
): readonly ToolView[] {
  const called = findCalledTool(call);
  if (called === null) return [{ name: call.name, input: call.input, part: null }];
  if (called.vocabulary === vocabulary) return [createOwnView(call, called, context)];
  const slots = listParts(call, called, context);
  const translation = { from: getOwnVocabulary(called), into: vocabulary };
  return slots.map((slot, index) => ({
    name: getForm(slot.tool, vocabulary).name,
    input: writeInput(slot, translation, context),
    part: slots.length === 1 ? null : index,
  }));
}

const namesByCall = new Map<string, readonly string[]>();

/** Every name that a view's part has in any vocabulary, Claude's first, for matchers. */
export function listToolNames(call: ToolCall, view: ToolView): readonly string[] {
  const known = namesByCall.get(call.name);
  if (known !== undefined) return known;
  const names = findNames(call, view);
  if (hasFixedNames(call.name)) namesByCall.set(call.name, names);
  return names;
}

function findNames(call: ToolCall, view: ToolView): readonly string[] {
  const names = listShownTools(call, view).flatMap(({ forms, formerNames }) => {
    const [own, ...others] = VOCABULARIES.map((vocabulary) => forms[vocabulary]?.name);
    return [own, ...formerNames, ...others];
  });
  return [...new Set([...names, call.name])].filter((name) => name !== undefined);
}

/** A call's result as hooks of a vocabulary know it: structured, text, or rows. */
export function formatResult(call: ToolCall, result: ToolResult, view: ResultView): unknown {
  return RESULT_FORMS[view.vocabulary](call, result, view.part);
}

type ToResult = (call: ToolCall, result: ToolResult, part: number | null) => unknown;

const RESULT_FORMS: Readonly<Record<Vocabulary, ToResult>> = {
  claude: (call, result, part) => toClaudeResponse(call, getPartResult(result, part)),
  classic: (_call, result, part) => getPartResult(result, part).text,
  sdk: toSdkOutput,
};

/** The vocabulary whose keys a rewritten input has, or null when several or none fit it best. */
export function detectVocabulary(call: ToolCall, input: unknown): Vocabulary | null {
  const called = findCalledTool(call);
  if (called === null || !isRecord(input)) return null;
  const tools = called.tool.changesFile === true ? [TOOLS.Write, TOOLS.Edit] : [called.tool];
  const given = Object.keys(input);
  const scores = VOCABULARIES.map((vocabulary) => {
    const known = listKeys(tools, vocabulary);
    return { vocabulary, score: given.filter((key) => known.has(key)).length };
  });
  const best = Math.max(...scores.map(({ score }) => score));
  const [first, second] = scores.filter(({ score }) => score === best);
  return best === 0 || second !== undefined ? null : (first?.vocabulary ?? null);
}

function writeInput(slot: CallPart, translation: Translation, context: ViewContext): Fields {
  return getForm(slot.tool, translation.into).show(convertFields(slot, translation, context));
}

function createOwnView(call: ToolCall, called: CalledTool, context: ViewContext): ToolView {
  const { tool, vocabulary } = called;
  const name = tool.formerNames.includes(call.name) ? tool.defaultForm.name : call.name;
  const key = getOwnPathKey(called);
  if (key === null || vocabulary === null || !isRecord(call.input)) {
    return { name, input: call.input, part: null };
  }
  const file = call.input[key];
  const own = { from: vocabulary, into: vocabulary };
  const converted = typeof file === 'string' ? translatePath(file, own, context) : file;
  // Hooks may get the very object that the call has: content can be large.
  const input = converted === file ? call.input : { ...call.input, [key]: converted };
  return { name, input, part: null };
}

function listShownTools(call: ToolCall, view: ToolView): readonly Tool[] {
  const called = findCalledTool(call);
  if (called === null) return [];
  if (call.name !== EDITOR && call.name !== APPLY_PATCH) return [called.tool];
  if (view.name !== call.name) return [isWrite(view.name) ? TOOLS.Write : TOOLS.Edit];
  return listParts(call, called, NOWHERE).map((slot) => slot.tool);
}

/** Whether they depend on nothing but what the tool is called. */
function hasFixedNames(name: string): boolean {
  return isCatalogued(name) && name !== EDITOR && name !== APPLY_PATCH;
}

function isWrite(name: string): boolean {
  return VOCABULARIES.some((vocabulary) => TOOLS.Write.forms[vocabulary]?.name === name);
}

function getPartResult(result: ToolResult, part: number | null): ToolResult {
  if (part !== null) return result.parts?.[part] ?? result;
  const isOnlyInside = result.response === undefined && result.parts?.length === 1;
  return isOnlyInside ? (result.parts[0] ?? result) : result;
}

function toClaudeResponse(call: ToolCall, { response, text }: ToolResult): unknown {
  if (response !== undefined) return response;
  if (findCalledTool(call)?.tool !== TOOLS.Bash) return text;
  return { stdout: text, stderr: '', interrupted: false, isImage: false, noOutputExpected: false };
}

function toSdkOutput(call: ToolCall, result: ToolResult, part: number | null): unknown {
  const called = findCalledTool(call);
  if (called === null || call.name === APPLY_PATCH) return getPartResult(result, part).text;
  // Whoever brings it answers in words of their own.
  if (called.tool === TOOLS.WebSearch) return result.response ?? result.text;
  const slots = listParts(call, called, NOWHERE);
  const slot = slots[part ?? 0];
  if (slot === undefined) return getPartResult(result, part).text;
  const face = getForm(slot.tool, 'sdk');
  if (face.name === EDITOR) return createRow(slot, getPartResult(result, part));
  // Claude's list of questions is a list too, but its answer has no rows.
  if (face.list === null || slot.tool.forms.sdk === null) return getPartResult(result, part).text;
  if (part !== null) return [createRow(slot, getPartResult(result, part))];
  return slots.map((each, index) => createRow(each, result.parts?.[index] ?? result));
}

function createRow({ tool, fields }: CallPart, { text, success, error }: ToolResult): ResultRow {
  const query = toPlainText(fields[tool.essential[0] ?? '']);
  const row = { query, result: text, success };
  return error === undefined ? row : { ...row, error };
}

function listKeys(tools: readonly Tool[], vocabulary: Vocabulary): ReadonlySet<string> {
  const keys = tools.flatMap((tool) => tool.forms[vocabulary]?.keys ?? []);
  const isChange = tools.some((tool) => tool.changesFile === true);
  return new Set(isChange ? [...keys, ...RULES[vocabulary].changeKeys] : keys);
}

/** A new input that came back through one form of a call. */
interface Rewrite {
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
