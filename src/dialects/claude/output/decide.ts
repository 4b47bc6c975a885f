import { stripVTControlCharacters } from 'node:util';
import type { Decision, Failure } from '../../../hooks/decision.ts';
import type { Answer, HandlerInput } from '../../../hooks/handler.ts';
import { formatLastErrorLine } from '../../command-handler.ts';
import type { ClaudeEvent } from '../events.ts';
import {
  type FailedHook,
  explainFailure,
  getFailurePolicy,
  createExitFailure,
  noteReasonOnStdout,
  noteShellComplaint,
  noteUnparsed,
  formatStderr,
} from './failures.ts';
import { APPROVAL_KEYS, translateApproval } from './approval-answer.ts';
import {
  explainAmbiguousAnswer,
  explainAmbiguousText,
  explainWrappedRefusal,
  findRefusalInOutput,
} from './ambiguity.ts';
import { parseOutput } from './parse.ts';
import {
  canBlock,
  toDecision,
  readInterrupt,
  noteIdleDecision,
  type Ruling,
  readRuling,
  readStop,
} from './rulings.ts';
import { checkAnswer, type HookAnswer, type SpecificOutput } from './schema.ts';
import { limitText, type Spill } from './spill.ts';
import path from 'node:path';
import { dropUndefined } from '../../../base/defined.ts';
import { truncateText, isRecord, getTypeName } from '../../../base/json.ts';
import { formatResult } from '../../../tool-vocabularies/tool-views.ts';

interface Decided {
  readonly decision: Decision;
  readonly notes: readonly string[];
}

const NOTHING: Decided = { decision: {}, notes: [] };

/** Reads what an answer changes besides the effect; `specific` has only the fields that the event reads. */
function readChanges(specific: SpecificOutput, request: OutputRequest): Decided {
  const { input, spill } = request;
  return mergeDecided([
    readContext(specific, spill),
    { decision: selectPlainChanges(specific), notes: [] },
    readClassifierContext(specific),
    readReplacedOutput(specific, request),
    readTitle(specific, input),
    readWatchPaths(specific),
  ]);
}

function mergeDecided(all: readonly Decided[]): Decided {
  const decision: Decision = {};
  for (const each of all) Object.assign(decision, each.decision);
  return { decision, notes: all.flatMap((each) => each.notes) };
}

/**
 * On Stop and SubagentStop context makes the agent continue, as a refusal does, and counts against
 * the same limit. It is still context, not a reason: the host continues when there is any.
 */
function readContext({ additionalContext }: SpecificOutput, spill: Spill): Decided {
  if (additionalContext === undefined || additionalContext === '') return NOTHING;
  const { text, notes } = limitText(additionalContext, 'additionalContext', spill);
  return { decision: { context: text }, notes };
}

function selectPlainChanges(specific: SpecificOutput): Decision {
  const { updatedInput, updatedPrompt, suppressOriginalPrompt, initialUserMessage } = specific;
  const { reloadSkills, retry, worktreePath, displayContent, action, content } = specific;
  return dropUndefined({
    input: updatedInput,
    prompt: updatedPrompt,
    suppressPrompt: suppressOriginalPrompt,
    initialMessage: initialUserMessage,
    reloadSkills,
    retry,
    worktreePath,
    display: displayContent,
    answer: action === undefined ? undefined : dropUndefined({ action, content }),
  });
}

const MAX_CLASSIFIER_CHARACTERS = 2000;

function readClassifierContext({ classifierContext: text }: SpecificOutput): Decided {
  if (text === undefined) return NOTHING;
  const cut = truncateText(text, MAX_CLASSIFIER_CHARACTERS);
  const note = `classifierContext cut at ${MAX_CLASSIFIER_CHARACTERS} characters; it had ${text.length}`;
  return { decision: { classifierContext: cut }, notes: cut === text ? [] : [note] };
}

function readReplacedOutput(
  specific: SpecificOutput,
  { input, isCline = false }: OutputRequest,
): Decided {
  const isMcp = input.tool?.name.startsWith('mcp__') === true;
  const { updatedToolOutput, updatedMcpToolOutput } = specific;
  if (updatedToolOutput !== undefined) {
    // The Cline that these hooks were written for knows outputs as texts.
    const isFree = isMcp || (isCline && typeof updatedToolOutput === 'string');
    const problem = isFree ? null : findShapeProblem(getToolResponse(input), updatedToolOutput);
    if (problem === null) return { decision: { output: updatedToolOutput }, notes: [] };
    return { decision: {}, notes: [`updatedToolOutput was ignored: ${problem}`] };
  }
  if (updatedMcpToolOutput === undefined) return NOTHING;
  if (isMcp) return { decision: { output: updatedMcpToolOutput }, notes: [] };
  const note = `updatedMCPToolOutput counts for MCP tools only, not for ${input.tool?.name}; use updatedToolOutput`;
  return { decision: {}, notes: [note] };
}

/** Returns the tool's response as the hook's payload has it. */
function getToolResponse({ event, tool }: HandlerInput): unknown {
  if (event.name !== 'PostToolUse') return undefined;
  return formatResult(event.tool, event.result, 'claude', tool?.part ?? null);
}

/** The output of a built-in tool may only be replaced by one of the same shape. */
function findShapeProblem(original: unknown, updated: unknown): string | null {
  if (original === undefined || original === null) return null;
  if (getTypeName(original) !== getTypeName(updated)) {
    return `expected ${getTypeName(original)} as in tool_response, found ${getTypeName(updated)}`;
  }
  if (!isRecord(original) || !isRecord(updated)) return null;
  const common = Object.keys(updated).filter((key) => Object.hasOwn(original, key));
  if (common.length === 0) return 'it has none of the keys of tool_response';
  const odd = common.find((key) => !isLike(original[key], updated[key]));
  if (odd === undefined) return null;
  return `expected "${odd}" to be ${getTypeName(original[odd])}, found ${getTypeName(updated[odd])}`;
}

function isLike(original: unknown, updated: unknown): boolean {
  return original === null || updated === null || getTypeName(original) === getTypeName(updated);
}

/** A title is ignored after a clear or a compaction, because the session keeps its own. */
function readTitle({ sessionTitle }: SpecificOutput, { event }: HandlerInput): Decided {
  if (sessionTitle === undefined) return NOTHING;
  const isSameSession =
    event.name === 'SessionStart' && (event.source === 'clear' || event.source === 'compact');
  if (!isSameSession) return { decision: { title: sessionTitle }, notes: [] };
  return { decision: {}, notes: [`sessionTitle has no effect when the source is ${event.source}`] };
}

function readWatchPaths({ watchPaths }: SpecificOutput): Decided {
  if (watchPaths === undefined) return NOTHING;
  const absolute = watchPaths.filter((file) => path.isAbsolute(file));
  const ignored = watchPaths.length - absolute.length;
  const note = `watchPaths must be absolute; ${ignored} of ${watchPaths.length} were ignored`;
  return { decision: { watchPaths: absolute }, notes: ignored === 0 ? [] : [note] };
}

/** The exit and output of a hook. An HTTP answer has exit code 0 and its body as stdout. */
export interface OutputRequest extends FailedHook {
  readonly input: HandlerInput;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether stdout was truncated. */
  readonly isTruncated: boolean;
  readonly spill: Spill;
  /** Whether the hook is configured in Cline's own files, where other answers are known, too. */
  readonly isCline?: boolean;
}

/**
 * Decodes the output of a finished hook. JSON counts whatever the exit code, and exit code 2 refuses
 * whatever the JSON says. Never throws.
 */
export function decodeOutput(request: OutputRequest): Answer {
  if (request.isTruncated) {
    return createOutputFailure(request, 'stdout is too long and was truncated');
  }
  const output = parseOutput(request.stdout);
  if (output.kind === 'unusable') return createOutputFailure(request, output.why);
  if (output.kind === 'json') return decodeJson(request, output.value);
  const ambiguity = explainAmbiguousText(request.event, request.stdout);
  if (ambiguity !== null) return createOutputFailure(request, ambiguity, [AMBIGUOUS]);
  const plain = output.kind === 'text' ? output : { text: '', warnings: [] };
  const answer = addNotes(noteShellComplaint(request.stderr), decodeText(request, plain.text));
  return addWarnings(plain.warnings, answer);
}

function decodeJson(request: OutputRequest, written: Readonly<Record<string, unknown>>): Answer {
  const value = request.isCline === true ? translateApproval(request.event, written) : written;
  if (typeof value === 'string') return createOutputFailure(request, value);
  const keys = request.isCline === true ? APPROVAL_KEYS : [];
  const checked = checkAnswer(request.event, value, keys);
  if (!checked.ok) {
    return addWarnings(checked.warnings, createOutputFailure(request, checked.problem));
  }
  const ambiguity = explainAmbiguousAnswer(request.event, request.stdout, value);
  // The reason of the failure names the key that a warning would name again.
  if (ambiguity !== null) return createOutputFailure(request, ambiguity, [AMBIGUOUS]);
  return addWarnings(checked.warnings, decideChecked(request, checked.answer, value));
}

function decideChecked(
  request: OutputRequest,
  answer: HookAnswer,
  value: Readonly<Record<string, unknown>>,
): Answer {
  const { decision, notes } = decideAnswer(answer, request);
  const all = [...notes, ...listExitNotes(request)];
  const isFailed = !hasEndedWell(request) && decision.effect !== 'deny';
  if (isFailed && getFailurePolicy(request.event, request.onFailure) === 'closed') {
    return addNotes(all, { failure: explainExit(request) });
  }
  const suspicion = explainWrappedRefusal(request.event, value);
  return { decision, notes: all, ...dropUndefined({ suspicion: suspicion ?? undefined }) };
}

/** Converts the JSON to a decision; which fields count depends on the event. */
function decideAnswer(answer: HookAnswer, request: OutputRequest): Decided {
  const { event, spill } = request;
  const ruling = applyExitCode(readRuling(event, answer), request);
  const stop = readInterrupt(answer) ?? readStop(event, answer);
  const { decision, notes } = mergeDecided([
    readChanges(answer.specific, request),
    readPermissionChanges(answer),
    readNotice(answer.systemMessage, spill),
    { decision: toDecision(event, ruling), notes: noteIdleDecision(event, answer) },
    stop === null ? NOTHING : { decision: { stop }, notes: [] },
    answer.terminalSequence === undefined ? NOTHING : { decision: {}, notes: [NO_TERMINAL] },
  ]);
  return { decision: ruling.effect === 'deny' ? omitAnswer(decision) : decision, notes };
}

const NO_TERMINAL = 'terminalSequence is not sent to the terminal';

/** Exit code 2 always refuses, but the reason of a refusal in the JSON is preferred. */
function applyExitCode(ruling: Ruling, request: OutputRequest): Ruling {
  if (!isBlockedByExit(request)) return ruling;
  const jsonReason = ruling.effect === 'deny' ? ruling.reason : undefined;
  return { effect: 'deny', reason: jsonReason ?? formatExitReason(request) };
}

/** On WorktreeCreate every failure blocks, because the worktree was not created. */
function isBlockedByExit({ event, exitCode }: OutputRequest): boolean {
  if (event === 'WorktreeCreate') return exitCode !== 0;
  return exitCode === 2 && canBlock(event);
}

function formatExitReason({ label, stderr }: OutputRequest): string {
  return `[${label}]: ${formatStderr(stderr)}`;
}

function readPermissionChanges({ specific }: HookAnswer): Decided {
  const { decision } = specific;
  if (decision?.behavior !== 'allow') return NOTHING;
  const { updatedInput: input, updatedPermissions: permissions } = decision;
  return { decision: dropUndefined({ input, permissions }), notes: [] };
}

function readNotice(systemMessage: string | undefined, spill: Spill): Decided {
  if (systemMessage === undefined || systemMessage === '') return NOTHING;
  const { text, notes } = limitText(systemMessage, 'systemMessage', spill);
  return { decision: { notice: text }, notes };
}

/** A refused action gets no answer. */
function omitAnswer({ answer: _answer, ...rest }: Decision): Decision {
  return rest;
}

function listExitNotes(request: OutputRequest): string[] {
  const { event, exitCode, signal } = request;
  if (exitCode === 0 || isBlockedByExit(request)) return [];
  if (exitCode === 2) return [describeIdleExit(event)];
  const how = exitCode === null ? `killed by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
  return [`its JSON counts although it ended with ${how}`];
}

function decodeText(request: OutputRequest, text: string): Answer {
  if (isBlockedByExit(request)) return createExitRefusal(request);
  if (request.exitCode === 0) return readPlainText(request, text);
  if (request.exitCode === 2) return createIdleExitAnswer(request);
  return { failure: explainExit(request) };
}

function createExitRefusal(request: OutputRequest): Answer {
  const { stdout, stderr } = request;
  const decision = { effect: 'deny', reason: formatExitReason(request) } as const;
  const astray = request.exitCode === 2 ? noteReasonOnStdout(stdout, stderr) : [];
  return addNotes([...noteUnparsed(stderr), ...astray], { decision });
}

/** Events at which Claude shows the hook's stderr to the user. */
const SHOWN_TO_USER: readonly ClaudeEvent[] = [
  'SessionStart',
  'Setup',
  'SessionEnd',
  'SubagentStart',
  'Notification',
  'PostCompact',
  'CwdChanged',
  'FileChanged',
];

function createIdleExitAnswer({ event, stderr, spill }: OutputRequest): Answer {
  const text = stderr.trim();
  if (!SHOWN_TO_USER.includes(event) || text === '') {
    return { notes: [`${describeIdleExit(event)}${formatLastErrorLine(stderr)}`] };
  }
  const { decision, notes } = readNotice(text, spill);
  return { decision, notes: [describeIdleExit(event), ...notes] };
}

function describeIdleExit(event: ClaudeEvent): string {
  return `exit code 2 has no effect on ${event}`;
}

/** Reads plain text on exit code 0 as context or notice; most events ignore it. */
function readPlainText({ event, spill }: OutputRequest, text: string): Answer {
  if (event === 'WorktreeCreate') return readWorktreePath(text);
  if (text === '') return {};
  const limitOutput = () => limitText(text, 'stdout', spill);
  switch (event) {
    case 'SessionStart':
    case 'UserPromptSubmit':
    case 'UserPromptExpansion': {
      const { text: context, notes } = limitOutput();
      return { decision: { context }, notes };
    }
    case 'PreCompact': {
      const { text: instructions, notes } = limitOutput();
      return { decision: { instructions }, notes };
    }
    default:
      return {};
  }
}

function readWorktreePath(text: string): Answer {
  const lines = stripVTControlCharacters(text).split('\n');
  const last = lines.map((line) => line.trim()).findLast((line) => line !== '');
  if (last !== undefined) return { decision: { worktreePath: last } };
  const message = 'expected the path of the worktree as the last line of stdout, found nothing';
  return { failure: { kind: 'output', message } };
}

/**
 * Output that cannot be read for sure decides nothing, unless the exit code refuses; and it refuses when
 * one reading of it does.
 */
function createOutputFailure(
  request: OutputRequest,
  problem: string,
  notes: readonly string[] = [],
): Answer {
  if (isBlockedByExit(request)) return addNotes([problem, ...notes], createExitRefusal(request));
  const refusal = findRefusalInOutput(request.event, request.stdout);
  const message =
    refusal === null ? problem : `${problem}; refused, because one reading of it says ${refusal}`;
  const failure = explainFailure(request, { kind: 'output', message }, message);
  return addNotes(notes, {
    failure,
    ...(refusal === null ? {} : { onFailure: 'closed' as const }),
  });
}

const AMBIGUOUS = 'its output cannot be read as one answer for sure, so it allows nothing';

function hasEndedWell({ exitCode }: OutputRequest): boolean {
  return exitCode === 0 || exitCode === 2;
}

function explainExit(request: OutputRequest): Failure {
  return explainFailure(request, createExitFailure(request), formatStderr(request.stderr));
}

function addNotes(notes: readonly string[], answer: Answer): Answer {
  if (notes.length === 0) return answer;
  return { ...answer, notes: [...notes, ...(answer.notes ?? [])] };
}

function addWarnings(warnings: readonly string[], answer: Answer): Answer {
  return warnings.length === 0 ? answer : { ...answer, warnings };
}
