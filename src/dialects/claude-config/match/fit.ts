import { memoize } from '../../../base/memoize.ts';
import { type ToolView, viewsOf } from '../../../hooks/faces/faces.ts';
import { callOf, type HookEvent } from '../../../hooks/facts.ts';
import type { Entry } from '../entry.ts';
import { parseRule, type Rule, isRuleMatch } from '../../../permissions/rules/rule.ts';
import { findToolNote, matcherNotes } from './matcher-notes.ts';
import { type Budget, createBudget, type Matching, matchingOf } from './matching.ts';
import { isToolEvent } from './subjects.ts';

/** Whether an entry is to be asked about an event. */
export interface Fit {
  /**
   * Why not, or null when it is. `names` are all names of the tool, Claude's first, or the event's
   * subject; `tool` is the part of the call that is asked about, in Claude's words: without it, all are.
   */
  readonly fits: (
    event: HookEvent,
    names: readonly string[],
    tool?: ToolView | null,
  ) => string | null;
  /** What a person should know, such as names that no tool has. */
  readonly notes: readonly string[];
  /** Why it can never run, or null. */
  readonly problem: string | null;
}

export interface FitMeans {
  /** The person's home, which `~/` in a condition means; null when it is not known. */
  readonly home: string | null;
  /** What may still be spent on patterns. */
  readonly budget: Budget;
}

/** Never throws: what cannot be compiled is the fit's problem, and such an entry fits nothing. */
export function compileFit(
  entry: Entry,
  { home, budget }: FitMeans = { home: null, budget: createBudget() },
): Fit {
  const matching = matchingOf(entry, budget);
  if (typeof matching === 'string') return misfit(matching, () => []);
  const ofMatcher = (): readonly string[] => matcherNotes(matching.matcher, entry.event);
  const condition = compileCondition(entry);
  if (typeof condition === 'string') return misfit(condition, memoize(ofMatcher));
  const notes = memoize(() => [...ofMatcher(), ...conditionNotes(condition)]);
  return fitOf(whyNot({ entry, matching, condition }, home), null, notes);
}

function misfit(problem: string, notes: () => readonly string[]): Fit {
  return fitOf(() => problem, problem, notes);
}

/** Looking for misspelt names takes long, and only lists of hooks show what is found. */
function fitOf(fits: Fit['fits'], problem: string | null, notes: () => readonly string[]): Fit {
  return {
    fits,
    problem,
    get notes() {
      return notes();
    },
  };
}

/** Put together from what the entry needs only: a thousand entries are asked for one event. */
function whyNot({ entry, matching, condition }: Compiled, home: string | null): Fit['fits'] {
  const { whyMismatch } = matching;
  const isForAll =
    entry.agentType === undefined &&
    entry.event !== 'StopFailure' &&
    entry.event !== 'PostToolUseFailure' &&
    entry.source.kind !== 'skill';
  if (isForAll && condition === null) return whyMismatch;
  const whyUnmet = condition === null ? () => null : unmetOf(condition, home);
  return (event, names, tool) =>
    whyForeign(entry, event) ?? whyMismatch(event, names) ?? whyUnmet(event, names, tool);
}

interface Compiled {
  readonly entry: Entry;
  readonly matching: Matching;
  readonly condition: Rule | null;
}

/** The rule, null when there is none, or a sentence about why it can never be met. */
function compileCondition({ condition, event }: Entry): Rule | string | null {
  if (condition === undefined || condition === '') return null;
  const written = `if ${JSON.stringify(condition)}`;
  if (!isToolEvent(event)) {
    return `${written} can never be met: ${event} is not about a tool call, so the hook never runs`;
  }
  return (
    parseRule(condition) ??
    `${written} can never be met: expected a rule such as "Bash(git push *)", "Write(src/**)" or "Edit"`
  );
}

const SEVERAL_RULES = /\)\s*(?:or|OR|and|AND|\|\|?|&&?|,|;)\s*[A-Z]\w*\(/;

function conditionNotes(rule: Rule | null): readonly string[] {
  if (rule === null) return [];
  const note = findToolNote(rule.tool);
  return [
    ...(note === null ? [] : [`in "if", ${note}`]),
    ...(SEVERAL_RULES.test(rule.text)
      ? ['"if" takes one rule, and this is read as one: write a handler for each of them']
      : []),
  ];
}

function whyForeign({ event: name, agentType, source }: Entry, event: HookEvent): string | null {
  const skill = source.kind === 'skill' ? (source.command ?? source.plugin?.name ?? '') : null;
  if (skill !== null && event.skills?.includes(skill) !== true) {
    return `only once ${source.command === undefined ? 'the skill ' : '/'}${skill} is used`;
  }
  if (name === 'StopFailure' && (event.name !== 'RunEnd' || event.errorClass === undefined)) {
    return 'the run was not ended by an error of the model’s service';
  }
  if (event.name === 'PostToolUseFailure' && event.denied === true) {
    return 'the call was denied, so the tool did not run';
  }
  if (agentType === undefined || event.agent.type === agentType) return null;
  return `only for agents of type ${agentType}`;
}

function unmetOf(rule: Rule, home: string | null): Fit['fits'] {
  const unmet = `if ${JSON.stringify(rule.text)} is not met`;
  return (event, names, tool) => {
    const root = event.workspaceRoots[0] ?? event.cwd;
    const context = { cwd: event.cwd, root, home, mode: 'guard' } as const;
    const isMet = viewsAsked(event, tool).some(({ input }) =>
      isRuleMatch(rule, { names, input }, context),
    );
    return isMet ? null : unmet;
  };
}

function viewsAsked(event: HookEvent, tool: ToolView | null | undefined): readonly ToolView[] {
  if (tool !== undefined && tool !== null) return [tool];
  const call = callOf(event);
  const context = { cwd: event.cwd, root: event.workspaceRoots[0] ?? null };
  return call === null ? [] : viewsOf(call, 'claude', context);
}
