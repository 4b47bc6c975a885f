import path from 'node:path';
import { truncateText, isRecord, getTypeName } from '../../../base/json.ts';
import type { Decision } from '../../../hooks/decision.ts';
import { resultOf } from '../../../hooks/faces/faces.ts';
import type { HandlerInput } from '../../../hooks/handler.ts';
import type { SpecificOutput } from './schema.ts';
import { capText, type Spill } from './spill.ts';

export interface Decided {
  readonly decision: Decision;
  readonly notes: readonly string[];
}

export const NOTHING: Decided = { decision: {}, notes: [] };

/** What an answer changes besides the effect. Only the fields that the event reads are there. */
export function changesOf(specific: SpecificOutput, input: HandlerInput, spill: Spill): Decided {
  return joined([
    contextOf(specific, spill),
    { decision: plainChanges(specific), notes: [] },
    classifierOf(specific),
    outputOf(specific, input),
    titleOf(specific, input),
    watchPathsOf(specific),
  ]);
}

export function joined(all: readonly Decided[]): Decided {
  const decision: Decision = {};
  for (const each of all) Object.assign(decision, each.decision);
  return { decision, notes: all.flatMap((each) => each.notes) };
}

/**
 * On Stop and SubagentStop the agent goes on to read it, as after a refusal, and that counts against
 * the same cap. It stays context here, because it is no reason: the host goes on when there is any.
 */
function contextOf({ additionalContext }: SpecificOutput, spill: Spill): Decided {
  if (additionalContext === undefined || additionalContext === '') return NOTHING;
  const { text, notes } = capText(additionalContext, { name: 'additionalContext', spill });
  return { decision: { context: text }, notes };
}

function plainChanges(specific: SpecificOutput): Decision {
  const { updatedInput, updatedPrompt, suppressOriginalPrompt, initialUserMessage } = specific;
  const { reloadSkills, retry, worktreePath, displayContent, action, content } = specific;
  return {
    ...(updatedInput === undefined ? {} : { input: updatedInput }),
    ...(updatedPrompt === undefined ? {} : { prompt: updatedPrompt }),
    ...(suppressOriginalPrompt === undefined ? {} : { suppressPrompt: suppressOriginalPrompt }),
    ...(initialUserMessage === undefined ? {} : { initialMessage: initialUserMessage }),
    ...(reloadSkills === undefined ? {} : { reloadSkills }),
    ...(retry === undefined ? {} : { retry }),
    ...(worktreePath === undefined ? {} : { worktreePath }),
    ...(displayContent === undefined ? {} : { display: displayContent }),
    ...(action === undefined
      ? {}
      : { answer: content === undefined ? { action } : { action, content } }),
  };
}

const MAX_CLASSIFIER_CHARACTERS = 2000;

function classifierOf({ classifierContext: text }: SpecificOutput): Decided {
  if (text === undefined) return NOTHING;
  const cut = truncateText(text, MAX_CLASSIFIER_CHARACTERS);
  const note = `classifierContext cut at ${MAX_CLASSIFIER_CHARACTERS} characters; it had ${text.length}`;
  return { decision: { classifierContext: cut }, notes: cut === text ? [] : [note] };
}

function outputOf(specific: SpecificOutput, input: HandlerInput): Decided {
  const isMcp = input.tool?.name.startsWith('mcp__') === true;
  const { updatedToolOutput, updatedMcpToolOutput } = specific;
  if (updatedToolOutput !== undefined) {
    const problem = isMcp ? null : shapeProblem(shownResponse(input), updatedToolOutput);
    if (problem === null) return { decision: { output: updatedToolOutput }, notes: [] };
    return { decision: {}, notes: [`updatedToolOutput was ignored: ${problem}`] };
  }
  if (updatedMcpToolOutput === undefined) return NOTHING;
  if (isMcp) return { decision: { output: updatedMcpToolOutput }, notes: [] };
  const note = `updatedMCPToolOutput counts for MCP tools only, not for ${input.tool?.name}; say updatedToolOutput`;
  return { decision: {}, notes: [note] };
}

/** What the hook was told that the tool answered. */
function shownResponse({ event, tool }: HandlerInput): unknown {
  if (event.name !== 'PostToolUse') return undefined;
  const view = { vocabulary: 'claude', part: tool?.part ?? null } as const;
  return resultOf(event.tool, event.result, view);
}

/** A built-in tool's output may only be replaced by one of its own shape, or the model sees rubbish. */
function shapeProblem(shown: unknown, updated: unknown): string | null {
  if (shown === undefined || shown === null) return null;
  if (getTypeName(shown) !== getTypeName(updated)) {
    return `expected ${getTypeName(shown)} as in tool_response, found ${getTypeName(updated)}`;
  }
  if (!isRecord(shown) || !isRecord(updated)) return null;
  const common = Object.keys(updated).filter((key) => Object.hasOwn(shown, key));
  if (common.length === 0) return 'it has none of the keys of tool_response';
  const odd = common.find((key) => !isLike(shown[key], updated[key]));
  if (odd === undefined) return null;
  return `expected "${odd}" to be ${getTypeName(shown[odd])}, found ${getTypeName(updated[odd])}`;
}

function isLike(shown: unknown, updated: unknown): boolean {
  return shown === null || updated === null || getTypeName(shown) === getTypeName(updated);
}

/** A conversation that was cleared or compacted keeps the title that it has. */
function titleOf({ sessionTitle }: SpecificOutput, { event }: HandlerInput): Decided {
  if (sessionTitle === undefined) return NOTHING;
  const isSameSession =
    event.name === 'SessionStart' && (event.source === 'clear' || event.source === 'compact');
  if (!isSameSession) return { decision: { title: sessionTitle }, notes: [] };
  return { decision: {}, notes: [`sessionTitle has no effect when the source is ${event.source}`] };
}

function watchPathsOf({ watchPaths }: SpecificOutput): Decided {
  if (watchPaths === undefined) return NOTHING;
  const absolute = watchPaths.filter((file) => path.isAbsolute(file));
  const ignored = watchPaths.length - absolute.length;
  const note = `watchPaths must be absolute; ${ignored} of ${watchPaths.length} were ignored`;
  return { decision: { watchPaths: absolute }, notes: ignored === 0 ? [] : [note] };
}
