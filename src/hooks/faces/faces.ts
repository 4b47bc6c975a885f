import { isRecord } from '../../base/json.ts';
import {
  APPLY_PATCH,
  EDITOR,
  faceOf,
  findCalledTool,
  isCatalogued,
  ownPathKey,
  ownVocabulary,
  type CalledTool,
} from './catalogue.ts';
import type { Slot, Tool } from './face.ts';
import { rawText, type Fields } from './fields.ts';
import { EDIT, WRITE } from './file-tools.ts';
import { BASH, WEB_SEARCH } from './other-tools.ts';
import { fieldsInFace, slotsOf } from './slots.ts';
import {
  translatePath,
  VOCABULARIES,
  type FaceContext,
  type ToolCall,
  type ToolView,
  type Translation,
  type Vocabulary,
} from './tool-call.ts';

export { TOOL_NAMES, vocabularyOfName } from './catalogue.ts';
export { rewriteInput, type Rewritten } from './rewrite.ts';
export type { InputChange, InputInHand } from './tool-call.ts';
export { VOCABULARIES, type FaceContext, type ToolCall, type ToolView, type Vocabulary };

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

export interface ResultView {
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

const NOWHERE: FaceContext = { cwd: '/', root: null };
const PATCH_KEYS = ['input', 'insert_line'];

/**
 * The call as hooks of a vocabulary see it: once in its own words, else once per part.
 * Never empty and never throws, whatever the input is.
 */
export function viewsOf(
  call: ToolCall,
  vocabulary: Vocabulary,
  context: FaceContext,
): readonly ToolView[] {
  const called = findCalledTool(call);
  if (called === null) return [{ name: call.name, input: call.input, part: null }];
  if (called.vocabulary === vocabulary) return [ownView(call, called, context)];
  const slots = slotsOf(call, called, context);
  const translation = { from: ownVocabulary(called), into: vocabulary };
  return slots.map((slot, index) => ({
    name: faceOf(slot.tool, vocabulary).name,
    input: shownInput(slot, translation, context),
    part: slots.length === 1 ? null : index,
  }));
}

const namesByCall = new Map<string, readonly string[]>();

/** Every name that a view's part has in any vocabulary, Claude's first, for matchers. */
export function namesOf(call: ToolCall, view: ToolView): readonly string[] {
  const known = namesByCall.get(call.name);
  if (known !== undefined) return known;
  const names = findNames(call, view);
  if (hasFixedNames(call.name)) namesByCall.set(call.name, names);
  return names;
}

function findNames(call: ToolCall, view: ToolView): readonly string[] {
  const names = toolsShown(call, view).flatMap(({ claude, formerName, classic, sdk }) => [
    claude.name,
    formerName,
    classic?.name,
    sdk?.name,
  ]);
  return [...new Set([...names, call.name])].filter((name) => name !== undefined);
}

/** A call's result as hooks of a vocabulary know it: structured, text, or rows. */
export function resultOf(call: ToolCall, result: ToolResult, view: ResultView): unknown {
  const seen = partOf(result, view.part);
  if (view.vocabulary === 'claude') return claudeResponse(call, seen);
  if (view.vocabulary === 'classic') return seen.text;
  return sdkOutput(call, result, view.part);
}

/** The vocabulary whose keys a rewritten input has, or null when several or none fit it best. */
export function vocabularyOfKeys(call: ToolCall, input: unknown): Vocabulary | null {
  const called = findCalledTool(call);
  if (called === null || !isRecord(input)) return null;
  const tools = called.tool.changesFile === true ? [WRITE, EDIT] : [called.tool];
  const given = Object.keys(input);
  const scores = VOCABULARIES.map((vocabulary) => {
    const known = keysIn(tools, vocabulary);
    return { vocabulary, score: given.filter((key) => known.has(key)).length };
  });
  const best = Math.max(...scores.map(({ score }) => score));
  const [first, second] = scores.filter(({ score }) => score === best);
  return best === 0 || second !== undefined ? null : (first?.vocabulary ?? null);
}

function shownInput(slot: Slot, translation: Translation, context: FaceContext): Fields {
  return faceOf(slot.tool, translation.into).show(fieldsInFace(slot, translation, context));
}

function ownView(call: ToolCall, called: CalledTool, context: FaceContext): ToolView {
  const { tool, vocabulary } = called;
  const name = call.name === tool.formerName ? tool.claude.name : call.name;
  const key = ownPathKey(called);
  if (key === null || vocabulary === null || !isRecord(call.input)) {
    return { name, input: call.input, part: null };
  }
  const file = call.input[key];
  const own = { from: vocabulary, into: vocabulary };
  const said = typeof file === 'string' ? translatePath(file, own, context) : file;
  // Hooks may get the very object that the call has: content can be large.
  const input = said === file ? call.input : { ...call.input, [key]: said };
  return { name, input, part: null };
}

function toolsShown(call: ToolCall, view: ToolView): readonly Tool[] {
  const called = findCalledTool(call);
  if (called === null) return [];
  if (call.name !== EDITOR && call.name !== APPLY_PATCH) return [called.tool];
  if (view.name !== call.name) return [isWrite(view.name) ? WRITE : EDIT];
  return slotsOf(call, called, NOWHERE).map((slot) => slot.tool);
}

/** Whether they depend on nothing but what the tool is called. */
function hasFixedNames(name: string): boolean {
  return isCatalogued(name) && name !== EDITOR && name !== APPLY_PATCH;
}

function isWrite(name: string): boolean {
  return name === WRITE.claude.name || name === WRITE.classic?.name;
}

function partOf(result: ToolResult, part: number | null): ToolResult {
  if (part !== null) return result.parts?.[part] ?? result;
  const isOnlyInside = result.response === undefined && result.parts?.length === 1;
  return isOnlyInside ? (result.parts[0] ?? result) : result;
}

function claudeResponse(call: ToolCall, { response, text }: ToolResult): unknown {
  if (response !== undefined) return response;
  if (findCalledTool(call)?.tool !== BASH) return text;
  return { stdout: text, stderr: '', interrupted: false, isImage: false, noOutputExpected: false };
}

function sdkOutput(call: ToolCall, result: ToolResult, part: number | null): unknown {
  const called = findCalledTool(call);
  if (called === null || call.name === APPLY_PATCH) return partOf(result, part).text;
  // Whoever brings it answers in words of their own.
  if (called.tool === WEB_SEARCH) return result.response ?? result.text;
  const slots = slotsOf(call, called, NOWHERE);
  const slot = slots[part ?? 0];
  if (slot === undefined) return partOf(result, part).text;
  const face = faceOf(slot.tool, 'sdk');
  if (face.name === EDITOR) return rowOf(slot, partOf(result, part));
  // Claude's list of questions is a list too, but its answer has no rows.
  if (face.list === null || slot.tool.sdk === null) return partOf(result, part).text;
  if (part !== null) return [rowOf(slot, partOf(result, part))];
  return slots.map((each, index) => rowOf(each, result.parts?.[index] ?? result));
}

function rowOf({ tool, fields }: Slot, { text, success, error }: ToolResult): ResultRow {
  const query = rawText(fields[tool.essential[0] ?? '']);
  const row = { query, result: text, success };
  return error === undefined ? row : { ...row, error };
}

function keysIn(tools: readonly Tool[], vocabulary: Vocabulary): ReadonlySet<string> {
  const keys = tools.flatMap((tool) => tool[vocabulary]?.keys ?? []);
  const isChange = tools.some((tool) => tool.changesFile === true);
  return new Set(isChange && vocabulary === 'sdk' ? [...keys, ...PATCH_KEYS] : keys);
}
