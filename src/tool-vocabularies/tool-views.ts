import { dropUndefined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import {
  findCalledTool,
  getOwnPathKey,
  getOwnVocabulary,
  isCatalogued,
  type CalledTool,
  type CallPart,
  getForm,
  getRules,
  type Tool,
  TOOLS,
  translatePath,
} from './tools.ts';
import { toPlainText, type Fields, listChangedKeys, isSame, copyValues } from './fields.ts';
import { EDITOR } from './sdk.ts';
import { convertFields, listParts } from './call-parts.ts';
import {
  AGENT_VOCABULARIES,
  type AgentVocabulary,
  isAgentVocabulary,
  type OwnVocabulary,
  VOCABULARIES,
  type ViewContext,
  type ToolCall,
  type ToolView,
  type Vocabulary,
} from './vocabulary.ts';
import { describeNonObject, type ToolForm } from './tool-form.ts';

export { CHANGE_NAMES, TOOL_NAMES, findVocabulary, listNames, listNamesIn } from './tools.ts';

export type { InputChange, SharedInput } from './vocabulary.ts';
export {
  AGENT_VOCABULARIES,
  type AgentVocabulary,
  isAgentVocabulary,
  type OwnVocabulary,
  VOCABULARIES,
  type ViewContext,
  type ToolCall,
  type ToolView,
  type Vocabulary,
};

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

const NOWHERE: ViewContext = { cwd: '/', root: null };

/**
 * Lists the call as hooks of a vocabulary get it: once in its own vocabulary, else once per part.
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
  const parts = listParts(call, called, context);
  const from = getOwnVocabulary(called);
  return parts.map((part, index) => {
    const form = getForm(part.tool, vocabulary);
    const input = form.show(convertFields(part, from, vocabulary, context));
    return { name: form.name, input, part: parts.length === 1 ? null : index };
  });
}

/** Creates the view of a call under the name that the model used, also one that is no longer used. */
export function createCalledView(call: ToolCall, context: ViewContext): ToolView {
  const called = findCalledTool(call);
  if (called === null) return { name: call.name, input: call.input, part: null };
  return { ...createOwnView(call, called, context), name: call.name };
}

/**
 * Returns the tool of a call under Claude's name, the first where one call does several things, and the files
 * that it names; `cwd` is null where it is not known.
 */
export function summarizeCall(call: ToolCall, cwd: string | null) {
  const called = findCalledTool(call);
  if (called === null) return { tool: call.name, paths: [] };
  const context = { cwd: cwd ?? '/', root: cwd };
  const parts = listParts(call, called, context);
  const from = getOwnVocabulary(called);
  const paths = parts.flatMap(({ tool, fields }): readonly string[] => {
    const file = tool.pathField === undefined ? undefined : fields[tool.pathField];
    if (typeof file !== 'string' || file === '') return [];
    return [cwd === null ? file : translatePath(file, from, 'claude', context)];
  });
  const { tool } = parts[0] ?? called;
  return { tool: tool.defaultForm.name, paths: [...new Set(paths)] };
}

/** Finds the vocabulary of a call; null when its tool has the same form in all of them. */
export function findCallVocabulary(call: ToolCall): Vocabulary | null {
  const called = findCalledTool(call);
  return called === null ? null : getOwnVocabulary(called);
}

/** Lists the names under which hooks of a vocabulary get the call. */
export function listNamesOfCall(call: ToolCall, vocabulary: Vocabulary): readonly string[] {
  return [...new Set(listToolViews(call, vocabulary, NOWHERE).map(({ name }) => name))];
}

/** Whether hooks of a vocabulary get the call as another tool, because they know none like it. */
export function hasStandIn(call: ToolCall, vocabulary: Vocabulary): boolean {
  const called = findCalledTool(call);
  return called !== null && called.vocabulary !== vocabulary
    ? getForm(called.tool, vocabulary).isStandIn === true
    : false;
}

const namesByCall = new Map<string, readonly string[]>();

/** Lists every name that a view's part has in any vocabulary, Claude's first, for matchers. */
export function listToolNames(call: ToolCall, view: ToolView): readonly string[] {
  // The same name may mean another tool in the vocabulary of another agent.
  if (call.vocabulary !== undefined) return findNames(call, view);
  const cachedNames = namesByCall.get(call.name);
  if (cachedNames !== undefined) return cachedNames;
  const names = findNames(call, view);
  if (hasFixedNames(call.name)) namesByCall.set(call.name, names);
  return names;
}

function findNames(call: ToolCall, view: ToolView): readonly string[] {
  const names = listViewedTools(call, view).flatMap(({ forms, formerNames }) => {
    const [own, ...others] = VOCABULARIES.map((vocabulary) => forms[vocabulary]?.name);
    return [own, ...formerNames, ...others];
  });
  return [...new Set([...names, call.name])].filter((name) => name !== undefined);
}

/**
 * Formats a call's result as hooks of a vocabulary know it: structured, text, or rows. `part` is that
 * of the view that the result belongs to.
 */
export function formatResult(
  call: ToolCall,
  result: ToolResult,
  vocabulary: Vocabulary,
  part: number | null,
): unknown {
  if (isAgentVocabulary(vocabulary)) {
    const { response, text } = getPartResult(result, part);
    return response ?? text;
  }
  return RESULT_FORMS[vocabulary](call, result, part);
}

type ToResult = (call: ToolCall, result: ToolResult, part: number | null) => unknown;

const RESULT_FORMS: Readonly<Record<OwnVocabulary, ToResult>> = {
  claude: (call, result, part) => toClaudeResponse(call, getPartResult(result, part)),
  classic: (_call, result, part) => getPartResult(result, part).text,
  sdk: toSdkOutput,
};

/** Detects the vocabulary whose keys a rewritten input has; null when several or none fit it best. */
export function detectVocabulary(call: ToolCall, input: unknown): Vocabulary | null {
  const called = findCalledTool(call);
  if (called === null || !isRecord(input)) return null;
  const tools = called.tool.changesFile === true ? [TOOLS.Write, TOOLS.Edit] : [called.tool];
  const inputKeys = Object.keys(input);
  const scores = VOCABULARIES.map((vocabulary) => {
    const knownKeys = listKeys(tools, vocabulary);
    return { vocabulary, score: inputKeys.filter((key) => knownKeys.has(key)).length };
  });
  const best = Math.max(...scores.map(({ score }) => score));
  const [first, second] = scores.filter(({ score }) => score === best);
  if (best === 0) return call.vocabulary ?? null;
  return second === undefined ? (first?.vocabulary ?? null) : null;
}

function createOwnView(call: ToolCall, called: CalledTool, context: ViewContext): ToolView {
  const { tool, vocabulary } = called;
  const name = tool.formerNames.includes(call.name) ? tool.defaultForm.name : call.name;
  const key = getOwnPathKey(called);
  if (key === null || vocabulary === null || !isRecord(call.input)) {
    return { name, input: call.input, part: null };
  }
  const file = call.input[key];
  const converted =
    typeof file === 'string' ? translatePath(file, vocabulary, vocabulary, context) : file;
  // Hooks may get the same object that the call has: content can be large.
  const input = converted === file ? call.input : { ...call.input, [key]: converted };
  return { name, input, part: null };
}

function listViewedTools(call: ToolCall, view: ToolView): readonly Tool[] {
  const called = findCalledTool(call);
  if (called === null) return [];
  if (called.plural !== 'editor' && called.plural !== 'patch') return [called.tool];
  const tools = listParts(call, called, NOWHERE).map(({ tool }) => tool);
  const viewed = view.part === null ? undefined : tools[view.part];
  return viewed === undefined ? tools : [viewed];
}

/** Whether its names depend only on the name of the tool, not on the input. */
function hasFixedNames(name: string): boolean {
  if (!isCatalogued(name)) return false;
  const plural = findCalledTool({ name, input: null })?.plural;
  return plural !== 'editor' && plural !== 'patch';
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
  if (called === null || called.plural === 'patch') return getPartResult(result, part).text;
  // Each service has its own format.
  if (called.tool === TOOLS.WebSearch) return result.response ?? result.text;
  const parts = listParts(call, called, NOWHERE);
  const callPart = parts[part ?? 0];
  if (callPart === undefined) return getPartResult(result, part).text;
  const form = getForm(callPart.tool, 'sdk');
  if (form.name === EDITOR) return createRow(callPart, getPartResult(result, part));
  // Claude's list of questions is a list too, but its answer has no rows.
  if (form.list === null || callPart.tool.forms.sdk === null) {
    return getPartResult(result, part).text;
  }
  if (part !== null) return [createRow(callPart, getPartResult(result, part))];
  return parts.map((each, index) => createRow(each, result.parts?.[index] ?? result));
}

function createRow({ tool, fields }: CallPart, { text, success, error }: ToolResult) {
  const query = toPlainText(fields[tool.essential[0] ?? '']);
  return dropUndefined({ query, result: text, success, error });
}

function listKeys(tools: readonly Tool[], vocabulary: OwnVocabulary): ReadonlySet<string> {
  const keys = tools.flatMap((tool) => tool.forms[vocabulary]?.keys ?? []);
  const isChange = tools.some((tool) => tool.changesFile === true);
  return new Set(isChange ? [...keys, ...getRules(vocabulary).changeKeys] : keys);
}

/** A new input in one form of a call. */
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

/** Applies a rewrite to the call's own input; fields that the form lacks keep their value. */
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
  return { ok: true, input: restoreOwnPath(call, called, input, vocabulary, context) };
}

function isLooseList(called: CalledTool | null, input: unknown): boolean {
  if (called === null || called.vocabulary === null || called.form.list === null) return false;
  if (!getRules(called.vocabulary).takesBareLists) return false;
  return typeof input === 'string' || Array.isArray(input);
}

/** Writes a path that was not changed as the call wrote it. */
function restoreOwnPath(
  call: ToolCall,
  called: CalledTool,
  input: Fields,
  vocabulary: Vocabulary,
  context: ViewContext,
): Fields {
  const key = getOwnPathKey(called);
  const file = key === null ? undefined : input[key];
  if (key === null || typeof file !== 'string') return input;
  const before = isRecord(call.input) ? call.input[key] : undefined;
  const isUnchanged =
    typeof before === 'string' && translatePath(before, vocabulary, vocabulary, context) === file;
  const own = isUnchanged ? before : translatePath(file, vocabulary, vocabulary, context);
  return own === file ? input : { ...input, [key]: own };
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
  const form = getForm(slot.tool, rewrite.vocabulary);
  const base = convertFields(slot, getOwnVocabulary(part.called), rewrite.vocabulary, context);
  const hookInput = form.show(base);
  if (isSame(hookInput, rewrite.input)) return { ok: true, input: call.input };
  const newFields = form.read(rewrite.input, base);
  if (typeof newFields === 'string') return refuse(call, newFields);
  const missing = slot.tool.essential.find((field) => typeof newFields[field] !== 'string');
  if (missing !== undefined) return refuse(call, `expected "${missing}" to be text`);
  const before = form.read(hookInput, base);
  const changed = listChangedKeys(typeof before === 'string' ? {} : before, newFields);
  const next = copyValues(slot.fields, changed, convertPath(part, changed, newFields, context));
  // Claude's keys are the fields themselves, so checkPut finds what is lost of them.
  const isPlain = hookInput === base;
  const ignored = isPlain ? [] : listIgnoredKeys(form, hookInput, rewrite.input);
  return checkPut(part, next, changed, ignored, context);
}

function convertPath(
  { called, slot, rewrite }: PartRewrite,
  changed: readonly string[],
  newFields: Fields,
  context: ViewContext,
): Fields {
  const { pathField } = slot.tool;
  if (pathField === undefined || !changed.includes(pathField)) return newFields;
  const file = newFields[pathField];
  if (typeof file !== 'string') return newFields;
  const ownFile = translatePath(file, rewrite.vocabulary, getOwnVocabulary(called), context);
  return { ...newFields, [pathField]: ownFile };
}

/** Lists changed keys of a hook's input that stand for no field of the tool. */
function listIgnoredKeys(form: ToolForm, hookInput: Fields, rewritten: unknown): string[] {
  if (form.list !== null || !isRecord(rewritten)) return [];
  const isField = (key: string): boolean => form.keys.includes(key) && !(key in form.constants);
  return Object.keys(rewritten).filter(
    (key) => !isField(key) && !isSame(rewritten[key], hookInput[key]),
  );
}

/** Puts the fields into the input and reads it again, to find what a diff or a list cannot hold. */
function checkPut(
  { call, called, slots, slot }: PartRewrite,
  next: Fields,
  changed: readonly string[],
  ignored: readonly string[],
  context: ViewContext,
): Rewritten {
  const input = slot.put(next);
  const reread = listParts({ ...call, input }, called, context);
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
  const lostKeys = [...new Set([...ignored, ...missingKeys])];
  return lostKeys.length === 0 ? { ok: true, input } : { ok: true, input, lost: lostKeys };
}

function refuse(call: ToolCall, why: string): Rewritten {
  return { ok: false, error: `the rewrite of ${call.name} cannot be applied: ${why}` };
}
