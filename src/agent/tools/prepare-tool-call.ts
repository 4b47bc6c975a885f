import { dropUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import {
  type ViewContext,
  listToolNames,
  listNames,
  TOOL_NAMES,
  type ToolCall,
  type ToolView,
  listToolViews,
  findVocabulary,
} from '../../tool-vocabularies/tool-views.ts';
import { EDITOR } from '../../tool-vocabularies/sdk.ts';
import type { McpServerFacts } from '../../hooks/facts.ts';
import { findInputProblem } from './edits/check-input.ts';
import { EDIT_CALLS, parseFileChanges } from './edits/file-changes.ts';
import { findObstacle, runChanges } from './edits/run-changes.ts';
import { planSdkEdit } from './edits/sdk-editor.ts';
import { MAX_WHOLE_BYTES, readPath, resolveToolPath } from './files/read-path.ts';
import { decodeText } from './files/text-file.ts';
import type { PreparedCall, RunningCall, Tool, ToolKind, ToolOutput } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

/** A call that is ready to run, under any of its tool's names. */
export interface PreparedToolCall {
  /** The Claude Code name of the call, or of its first part. */
  readonly toolName: string;
  readonly kind: ToolKind;
  /** The MCP server that the tool belongs to. */
  readonly mcpServer?: McpServerFacts;
  /** The parts of the call in Claude Code's vocabulary, for permission rules. Never empty. */
  readonly parts: readonly PreparedPart[];
  /** The input that hooks see; for calls in Claude Code's vocabulary, with absolute paths and defaults. */
  readonly input: unknown;
  run(call: RunningCall): Promise<ToolOutput>;
}

/** One part of a prepared call, in Claude Code's vocabulary. */
export interface PreparedPart {
  readonly name: string;
  /** Every name of the tool, Claude Code's first. */
  readonly names: readonly string[];
  readonly input: unknown;
  readonly kind: ToolKind;
  /** Null when the call has only one part. */
  readonly part: number | null;
}

interface CallContext {
  readonly context: ToolContext;
  /** The tools of this agent. */
  readonly tools: readonly Tool[];
  /** The tool names that the model sees; by default the tools' own. */
  readonly modelToolNames?: () => readonly string[];
}

/** Prepares a call under any of its tool's names; a string describes the problem for the model. */
export function prepareToolCall(
  call: ToolCall,
  callContext: CallContext,
): PreparedToolCall | string {
  const { context, tools } = callContext;
  const viewContext = createViewContext(context);
  const views = listToolViews(call, 'claude', viewContext).map((view) =>
    fillDefaults(call, view, context),
  );
  const pairs = joinOwnParts(
    call,
    views.map((view) => resolveTool(view, call, tools)),
  );
  const knownParts = pairs.flatMap(({ view, tool }) => (tool === null ? [] : [{ view, tool }]));
  if (knownParts.length < pairs.length) return formatUnknownTool(call.name, callContext);
  const problem = findInputProblem(call);
  if (problem !== null) return problem;
  if (!EDIT_CALLS.includes(call.name)) return prepareParts(call, knownParts, context);
  if (call.name !== EDITOR || context.followsCline !== true) {
    return prepareChanges(call, knownParts, callContext);
  }
  return prepareSdkEdit(call, knownParts, callContext);
}

/** `editor` by the rules of Cline's SDK: no file need be read before. */
function prepareSdkEdit(
  call: ToolCall,
  knownParts: readonly KnownPart[],
  callContext: CallContext,
): PreparedToolCall | string {
  const context = { ...callContext.context, isReadOptional: true };
  const parts: KnownPart[] = [];
  for (const { view, tool } of knownParts) {
    const planned = planSdkEdit(call.input, view, readWholeText);
    if (typeof planned === 'string') return planned;
    const named = callContext.tools.find(({ name }) => name === planned.name);
    parts.push({ view: planned, tool: named ?? tool });
  }
  return prepareChanges(call, parts, { ...callContext, context });
}

/** The model's input without the fields that only hooks may set. */
export function removeHookFields({ name, input }: ToolCall, tools: readonly Tool[]): unknown {
  const hookFields = tools.find((tool) => tool.name === name)?.hookFields ?? [];
  if (hookFields.length === 0 || !isRecord(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !hookFields.includes(key)));
}

/** The facts about a call for hooks, under the name that the model used. */
export function toToolFacts(
  { id, name }: { readonly id: string; readonly name: string },
  { input, mcpServer }: Pick<PreparedToolCall, 'input' | 'mcpServer'>,
) {
  const tool = { callId: id, name, input };
  return mcpServer === undefined ? { tool } : { tool, mcpServer };
}

/** Whether a call may run in parallel with others of its turn. */
export function canRunInParallel(call: ToolCall, tools: readonly Tool[]): boolean {
  const views = listToolViews(call, 'claude', { cwd: '/', root: null });
  return views.every((view) => {
    const { tool } = resolveTool(view, call, tools);
    return tool?.isParallel === true || tool?.kind === 'read' || tool?.kind === 'plan';
  });
}

function createViewContext(context: ToolContext): ViewContext {
  return { cwd: context.cwd(), root: context.workspaceRoots[0] ?? null, readText: readWholeText };
}

function readWholeText(file: string): string | null {
  const found = readPath(file, MAX_WHOLE_BYTES);
  return found.is === 'file' ? (decodeText(found.bytes)?.text ?? null) : null;
}

/** In other vocabularies, a search returns the matching lines. */
const SEARCHES = ['search_files', 'search_codebase'];

function fillDefaults(call: ToolCall, view: ToolView, context: ToolContext): ToolView {
  if (!isRecord(view.input)) return view;
  if (SEARCHES.includes(call.name)) {
    return { ...view, input: { ...view.input, output_mode: 'content', '-n': true } };
  }
  const file = view.input['file_path'];
  if (typeof file !== 'string' || !EDIT_CALLS.includes(call.name)) return view;
  return { ...view, input: { ...view.input, file_path: resolveToolPath(file, context) } };
}

/**
 * A plugin's tool may have a name that looks like an MCP tool's or another vocabulary's; its own input is
 * used then.
 */
function resolveTool(view: ToolView, call: ToolCall, tools: readonly Tool[]) {
  const find = (name: string): Tool | null => tools.find((tool) => tool.name === name) ?? null;
  const tool = find(view.name);
  return tool === null
    ? { view: { ...view, input: call.input }, tool: find(call.name) }
    : { view, tool };
}

/** A tool of that name does the whole call at once, although the parts of the call are known. */
function joinOwnParts(call: ToolCall, pairs: readonly ResolvedPart[]): readonly ResolvedPart[] {
  const [first] = pairs;
  const isOwn = pairs.length > 1 && pairs.every(({ tool }) => tool?.name === call.name);
  if (!isOwn || first === undefined || isClaudeName(call.name)) return pairs;
  return [{ view: { ...first.view, input: call.input, part: null }, tool: first.tool }];
}

type ResolvedPart = ReturnType<typeof resolveTool>;

function formatUnknownTool(name: string, { tools, modelToolNames }: CallContext): string {
  const own = tools.map((tool) => tool.name);
  const visible = modelToolNames?.() ?? own;
  const known = TOOL_NAMES.filter(({ claude }) => own.includes(claude)).flatMap(listNames);
  const close = findClosestName(name, [...visible, ...own, ...known]);
  const hint = close === null ? '' : ` Did you mean ${close}?`;
  return `There is no tool named "${name}".${hint} These are the tools: ${visible.join(', ')}.`;
}

interface KnownPart {
  readonly view: ToolView;
  readonly tool: Tool;
}

function prepareParts(
  call: ToolCall,
  knownParts: readonly KnownPart[],
  context: ToolContext,
): PreparedToolCall | string {
  const prepared: { readonly call: PreparedCall; readonly part: PreparedPart }[] = [];
  for (const { view, tool } of knownParts) {
    const preparedPart = tool.prepare(view.input, context);
    if (typeof preparedPart === 'string') {
      return knownParts.length === 1 ? preparedPart : formatPartProblem(view, preparedPart);
    }
    prepared.push({
      call: preparedPart,
      part: toPreparedPart(call, view, tool, preparedPart.input),
    });
  }
  const parts = prepared.map(({ part }) => part);
  const [first] = prepared;
  const isOwn = prepared.length === 1 && isClaudeName(call.name);
  return {
    ...summarizeParts(parts),
    ...getServer(knownParts),
    input: isOwn && first !== undefined ? first.call.input : call.input,
    run: (running) => runParts(prepared, running),
  };
}

function getServer(parts: readonly KnownPart[]): Pick<PreparedToolCall, 'mcpServer'> {
  return dropUndefined({ mcpServer: parts[0]?.tool.server });
}

function isClaudeName(name: string): boolean {
  const vocabulary = findVocabulary(name);
  return vocabulary === null || vocabulary === 'claude';
}

function formatPartProblem({ part }: ToolView, problem: string): string {
  return `Nothing was done, because part ${(part ?? 0) + 1} of the call does not work: ${problem}`;
}

function toPreparedPart(call: ToolCall, view: ToolView, tool: Tool, input: unknown): PreparedPart {
  const names = [...new Set([tool.name, ...listToolNames(call, view)])];
  return { name: tool.name, names, input, kind: tool.kind, part: view.part };
}

function summarizeParts(
  parts: readonly PreparedPart[],
): Pick<PreparedToolCall, 'toolName' | 'kind' | 'parts'> {
  const [first] = parts;
  const kind = parts.some((part) => part.kind === 'edit') ? 'edit' : (first?.kind ?? 'plan');
  return { toolName: first?.name ?? '', kind, parts };
}

async function runParts(
  prepared: readonly { readonly call: PreparedCall; readonly part: PreparedPart }[],
  running: RunningCall,
): Promise<ToolOutput> {
  const outputs: ToolOutput[] = [];
  if (prepared.every(({ part }) => part.kind === 'read')) {
    outputs.push(...(await Promise.all(prepared.map((each) => each.call.run(running)))));
  } else {
    // Sequential, because a command may depend on the one before it.
    for (const each of prepared) outputs.push(await each.call.run(running));
  }
  return joinPartOutputs(
    prepared.map(({ part }) => part),
    outputs,
  );
}

function prepareChanges(
  call: ToolCall,
  knownParts: readonly KnownPart[],
  { context, tools }: CallContext,
): PreparedToolCall | string {
  const views = knownParts.map(({ view }) => view);
  const changes = parseFileChanges(call, views, readWholeText);
  if (typeof changes === 'string') return changes;
  const findTool = (name: string): Tool | null => tools.find((tool) => tool.name === name) ?? null;
  const changing = { changes, views, context, findTool };
  const obstacle = findObstacle(changing);
  if (obstacle !== null) return obstacle;
  const parts = knownParts.map(({ view, tool }) => toPreparedPart(call, view, tool, view.input));
  return {
    ...summarizeParts(parts),
    input: call.input,
    run: async (running) => joinPartOutputs(parts, await runChanges(changing, running)),
  };
}

/** Joins the outputs of a call's parts. */
export function joinPartOutputs(
  parts: readonly PreparedPart[],
  outputs: readonly ToolOutput[],
): ToolOutput {
  return joinOutputs(
    outputs.map((output, index) => ({ heading: formatHeading(parts[index]), output })),
  );
}

const MAX_HEADING_CHARACTERS = 200;

/** The tool name and the first text of its input. */
function formatHeading(part: PreparedPart | undefined): string {
  if (part === undefined) return '';
  const texts = isRecord(part.input) ? Object.values(part.input) : [];
  const about = texts.find((value) => typeof value === 'string') ?? '';
  const [line = ''] = about.split('\n');
  return `${part.name} ${line}`.slice(0, MAX_HEADING_CHARACTERS).trim();
}

/** Joins several outputs; the result succeeds only when all parts did. */
function joinOutputs(
  parts: readonly { readonly heading: string; readonly output: ToolOutput }[],
): ToolOutput {
  const [only, ...more] = parts;
  if (only !== undefined && more.length === 0) return only.output;
  const outputs = parts.map(({ output }) => output);
  const failed = outputs.find(({ success }) => !success);
  const images = outputs.flatMap((output) => output.images ?? []);
  // The error contains all outputs, because parts that succeeded must not be lost.
  const text = parts
    .map(
      ({ heading, output }, index) =>
        `[${index + 1}/${parts.length}] ${heading}\n${getOutputText(output)}`,
    )
    .join('\n\n');
  return {
    response: undefined,
    text,
    success: failed === undefined,
    parts: outputs,
    ...dropUndefined({
      error: failed === undefined ? undefined : text,
      exitCode: failed?.exitCode,
      images: images.length === 0 ? undefined : images,
      interrupted: outputs.some(({ interrupted }) => interrupted === true) ? true : undefined,
    }),
  };
}

function getOutputText({ success, text, error }: ToolOutput): string {
  return success ? text : (error ?? text);
}
