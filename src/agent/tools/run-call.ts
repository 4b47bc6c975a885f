import { isRecord } from '../../base/json.ts';
import { findClosestName } from '../../base/spelling.ts';
import {
  type FaceContext,
  namesOf,
  TOOL_NAMES,
  type ToolCall,
  type ToolView,
  viewsOf,
  vocabularyOfName,
} from '../../hooks/faces/faces.ts';
import type { McpServerFacts } from '../../hooks/facts.ts';
import { findInputProblem } from './calls/check-input.ts';
import { CHANGING_CALLS, changesOf } from './calls/file-changes.ts';
import { joinOutputs } from './calls/join-outputs.ts';
import { findObstacle, runChanges } from './calls/run-changes.ts';
import { MAX_WHOLE_BYTES } from './files/changeable-file.ts';
import { lookInto } from './files/look-into.ts';
import { decodeText } from './files/text-file.ts';
import { absolutePath } from './files/tool-path.ts';
import type { PreparedCall, RunningCall, Tool, ToolKind, ToolOutput } from './tool.ts';
import type { Workbench } from './workbench.ts';

/** A call that can be run, whatever name it was made under. */
export interface PreparedToolCall {
  /** Claude's name of it, of its first part when it has several. */
  readonly toolName: string;
  readonly kind: ToolKind;
  /** The MCP server that the tool belongs to. */
  readonly mcpServer?: McpServerFacts;
  /** What it does, in Claude's words, for permission rules. Never empty. */
  readonly parts: readonly CallPart[];
  /** The call's own input as hooks shall see it; of a call in Claude's words with absolute paths and defaults. */
  readonly input: unknown;
  run(call: RunningCall): Promise<ToolOutput>;
}

export interface CallPart {
  readonly name: string;
  /** Every name of the tool, Claude's first. */
  readonly names: readonly string[];
  readonly input: unknown;
  readonly kind: ToolKind;
  /** Null when the call has only one. */
  readonly part: number | null;
}

export interface CallSurroundings {
  readonly bench: Workbench;
  /** Those that this agent has. */
  readonly tools: readonly Tool[];
  /** What the model was told that they are called; by default their own names. */
  readonly toldNames?: () => readonly string[];
}

/** Makes a call under any of its tool's names ready to run; a string says, for the model, what is wrong. */
export function prepareCall(
  call: ToolCall,
  surroundings: CallSurroundings,
): PreparedToolCall | string {
  const { bench, tools } = surroundings;
  const context = faceContextOf(bench);
  const views = viewsOf(call, 'claude', context).map((view) => completed(call, view, bench));
  const pairs = views.map((view) => calledIn(view, call, tools));
  const known = pairs.flatMap(({ view, tool }) => (tool === null ? [] : [{ view, tool }]));
  if (known.length < pairs.length) return sayUnknown(call.name, surroundings);
  const problem = findInputProblem(call);
  if (problem !== null) return problem;
  return CHANGING_CALLS.includes(call.name)
    ? prepareChanges(call, known, surroundings)
    : prepareParts(call, known, bench);
}

/** A model's input without what only hooks may say in it. */
export function inputOfModel({ name, input }: ToolCall, tools: readonly Tool[]): unknown {
  const kept = tools.find((tool) => tool.name === name)?.hookFields ?? [];
  if (kept.length === 0 || !isRecord(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !kept.includes(key)));
}

/** What hooks are told of a call, under the name that it was made with. */
export function toolFacts(
  { id, name }: { readonly id: string; readonly name: string },
  { input, mcpServer }: Pick<PreparedToolCall, 'input' | 'mcpServer'>,
) {
  const tool = { callId: id, name, input };
  return mcpServer === undefined ? { tool } : { tool, mcpServer };
}

/** Whether a call may run at the same time as others of its turn. */
export function mayRunBeside(call: ToolCall, tools: readonly Tool[]): boolean {
  const views = viewsOf(call, 'claude', { cwd: '/', root: null });
  return views.every((view) => {
    const { tool } = calledIn(view, call, tools);
    return tool?.runsBeside === true || tool?.kind === 'read' || tool?.kind === 'plan';
  });
}

function faceContextOf(bench: Workbench): FaceContext {
  return { cwd: bench.cwd(), root: bench.workspaceRoots[0] ?? null, readText: readWholeText };
}

function readWholeText(file: string): string | null {
  const found = lookInto(file, MAX_WHOLE_BYTES);
  return found.is === 'file' ? (decodeText(found.bytes)?.text ?? null) : null;
}

/** In other words a search shows the lines that it finds. */
const SEARCHES = ['search_files', 'search_codebase'];

function completed(call: ToolCall, view: ToolView, bench: Workbench): ToolView {
  if (!isRecord(view.input)) return view;
  if (SEARCHES.includes(call.name)) {
    return { ...view, input: { ...view.input, output_mode: 'content', '-n': true } };
  }
  const file = view.input['file_path'];
  if (typeof file !== 'string' || !CHANGING_CALLS.includes(call.name)) return view;
  return { ...view, input: { ...view.input, file_path: absolutePath(file, bench) } };
}

interface CalledPart {
  readonly view: ToolView;
  readonly tool: Tool | null;
}

/** A plugin may have a tool whose name looks like that of a server's, or that has other faces: it knows its own words. */
function calledIn(view: ToolView, call: ToolCall, tools: readonly Tool[]): CalledPart {
  const find = (name: string): Tool | null => tools.find((tool) => tool.name === name) ?? null;
  const tool = find(view.name);
  return tool === null
    ? { view: { ...view, input: call.input }, tool: find(call.name) }
    : { view, tool };
}

function sayUnknown(name: string, { tools, toldNames }: CallSurroundings): string {
  const own = tools.map((tool) => tool.name);
  const told = toldNames?.() ?? own;
  const other = TOOL_NAMES.filter(({ claude }) => own.includes(claude)).flatMap(
    ({ classic, sdk }) => [...classic, ...sdk],
  );
  const close = findClosestName(name, [...told, ...own, ...other]);
  const hint = close === null ? '' : ` Did you mean ${close}?`;
  return `There is no tool named "${name}".${hint} These are the tools: ${told.join(', ')}.`;
}

interface KnownPart {
  readonly view: ToolView;
  readonly tool: Tool;
}

function prepareParts(
  call: ToolCall,
  known: readonly KnownPart[],
  bench: Workbench,
): PreparedToolCall | string {
  const prepared: { readonly made: PreparedCall; readonly part: CallPart }[] = [];
  for (const { view, tool } of known) {
    const made = tool.prepare(view.input, bench);
    if (typeof made === 'string') return known.length === 1 ? made : sayPart(view, made);
    prepared.push({ made, part: partOf(call, { view, tool }, made.input) });
  }
  const parts = prepared.map(({ part }) => part);
  const [first] = prepared;
  const isOwn = prepared.length === 1 && isInClaudesWords(call.name);
  return {
    ...factsOf(parts),
    ...serverOf(known),
    input: isOwn && first !== undefined ? first.made.input : call.input,
    run: (running) => runParts(prepared, running),
  };
}

function serverOf(known: readonly KnownPart[]): Pick<PreparedToolCall, 'mcpServer'> {
  const mcpServer = known[0]?.tool.server;
  return mcpServer === undefined ? {} : { mcpServer };
}

function isInClaudesWords(name: string): boolean {
  const vocabulary = vocabularyOfName(name);
  return vocabulary === null || vocabulary === 'claude';
}

function sayPart({ part }: ToolView, problem: string): string {
  return `Nothing was done, because part ${(part ?? 0) + 1} of the call does not work: ${problem}`;
}

function partOf(call: ToolCall, { view, tool }: KnownPart, input: unknown): CallPart {
  const names = [...new Set([tool.name, ...namesOf(call, view)])];
  return { name: tool.name, names, input, kind: tool.kind, part: view.part };
}

function factsOf(
  parts: readonly CallPart[],
): Pick<PreparedToolCall, 'toolName' | 'kind' | 'parts'> {
  const [first] = parts;
  const kind = parts.some((part) => part.kind === 'edit') ? 'edit' : (first?.kind ?? 'plan');
  return { toolName: first?.name ?? '', kind, parts };
}

async function runParts(
  prepared: readonly { readonly made: PreparedCall; readonly part: CallPart }[],
  running: RunningCall,
): Promise<ToolOutput> {
  const outputs: ToolOutput[] = [];
  if (prepared.every(({ part }) => part.kind === 'read')) {
    outputs.push(...(await Promise.all(prepared.map(({ made }) => made.run(running)))));
  } else {
    // A command may need what the one before it made.
    for (const { made } of prepared) outputs.push(await made.run(running));
  }
  return joinParts(
    prepared.map(({ part }) => part),
    outputs,
  );
}

function prepareChanges(
  call: ToolCall,
  known: readonly KnownPart[],
  { bench, tools }: CallSurroundings,
): PreparedToolCall | string {
  const views = known.map(({ view }) => view);
  const changes = changesOf(call, views, readWholeText);
  if (typeof changes === 'string') return changes;
  const findTool = (name: string): Tool | null => tools.find((tool) => tool.name === name) ?? null;
  const changing = { changes, views, bench, findTool };
  const obstacle = findObstacle(changing);
  if (obstacle !== null) return obstacle;
  const parts = known.map((each) => partOf(call, each, each.view.input));
  return {
    ...factsOf(parts),
    input: call.input,
    run: async (running) => joinParts(parts, await runChanges(changing, running)),
  };
}

/** The answers to the parts of a call, as one. */
export function joinParts(parts: readonly CallPart[], outputs: readonly ToolOutput[]): ToolOutput {
  return joinOutputs(
    outputs.map((output, index) => ({ heading: headingOf(parts[index]), output })),
  );
}

const LONGEST_HEADING = 200;

/** The tool and what it was about: the first text of its input. */
function headingOf(part: CallPart | undefined): string {
  if (part === undefined) return '';
  const texts = isRecord(part.input) ? Object.values(part.input) : [];
  const about = texts.find((value) => typeof value === 'string') ?? '';
  const [line = ''] = about.split('\n');
  return `${part.name} ${line}`.slice(0, LONGEST_HEADING).trim();
}
