import { memoize } from '../../../base/memoize.ts';
import { type ToolView, listToolViews } from '../../../tool-vocabularies/tool-views.ts';
import { getToolCall, type HookEvent } from '../../../hooks/facts.ts';
import type { Entry, Source } from '../entry.ts';
import { parseRule, type Rule, isRuleMatch } from '../../../permissions/rules/rule.ts';
import {
  CompileBudget,
  type SubjectMatcher,
  getSubjectMatcher,
  isToolEvent,
  hasSubject,
  SUBJECT_VALUES,
} from './subject-matcher.ts';
import type { Matcher } from '../../../hooks/matcher.ts';
import { type ClaudeEvent, isClaudeEvent } from '../events.ts';
import { FORK_TOOLS, FORMER_TOOLS, findIntendedTool, isKnownTool } from '../../known-tools.ts';

/** Decides whether an entry runs at an event. */
export interface EntryMatcher {
  /**
   * Returns why the entry does not run, or null. `names` are all names of the tool, Claude's first,
   * or the event's subject; `tool` is one part of the call under Claude's name, by default all parts.
   */
  readonly fits: (
    event: HookEvent,
    names: readonly string[],
    tool?: ToolView | null,
  ) => string | null;
  /** Warnings, such as names that no tool has. */
  readonly notes: readonly string[];
  /** Those of the notes that say why it does not match what it should. */
  readonly mistakes: readonly string[];
  /** Why it can never run, or null. */
  readonly problem: string | null;
}

/**
 * Never throws: an entry that cannot be compiled has a `problem` and never runs. `home` replaces `~/`
 * in a condition.
 */
export function compileEntryMatcher(
  entry: Entry,
  home: string | null = null,
  budget = new CompileBudget(),
): EntryMatcher {
  const subjectMatcher = getSubjectMatcher(entry, budget);
  if (typeof subjectMatcher === 'string') return createNeverMatching(subjectMatcher, NO_REMARKS);
  const { matcher } = subjectMatcher;
  const condition = compileCondition(entry);
  const remarks = {
    notes: () => listMatcherNotes(matcher, entry.event),
    mistakes: memoize(() => [
      ...listMatcherMistakes(matcher, entry),
      ...(typeof condition === 'string' ? [] : listConditionMistakes(condition, entry)),
    ]),
  };
  if (typeof condition === 'string') return createNeverMatching(condition, remarks);
  const fits = createMismatchFinder(entry, subjectMatcher, condition, home);
  const hasForkNames = entry.source.isCline && isToolEvent(entry.event);
  return createEntryMatcher(hasForkNames ? addForkNames(fits) : fits, null, remarks);
}

// All handlers of one dispatch get the same array, so it can be the key of a cache.
const forkNamesByNames = new WeakMap<readonly string[], readonly string[]>();

/** Matchers and conditions in Cline's files may use names of the fork that reads them. */
function addForkNames(fits: EntryMatcher['fits']): EntryMatcher['fits'] {
  return (event, names, tool) => {
    const known = forkNamesByNames.get(names) ?? [...names, ...listForkNames(names)];
    forkNamesByNames.set(names, known);
    return fits(event, known, tool);
  };
}

function listForkNames(names: readonly string[]): readonly string[] {
  return [...FORK_TOOLS].flatMap(([fork, claude]) => (names.includes(claude) ? [fork] : []));
}

interface Remarks {
  readonly notes: () => readonly string[];
  readonly mistakes: () => readonly string[];
}

const NO_REMARKS: Remarks = { notes: () => [], mistakes: () => [] };

function createNeverMatching(problem: string, remarks: Remarks): EntryMatcher {
  return createEntryMatcher(() => problem, problem, remarks);
}

/** The remarks are computed on demand, because looking for misspelt names is slow. */
function createEntryMatcher(
  fits: EntryMatcher['fits'],
  problem: string | null,
  { notes, mistakes }: Remarks,
): EntryMatcher {
  return {
    fits,
    problem,
    get notes() {
      return [...notes(), ...mistakes()];
    },
    get mistakes() {
      return problem === null ? mistakes() : [problem, ...mistakes()];
    },
  };
}

/**
 * Includes only the checks that the entry needs, because one event may be checked against a thousand
 * entries.
 */
function createMismatchFinder(
  entry: Entry,
  { explainMismatch: whyMismatch }: SubjectMatcher,
  condition: Rule | null,
  home: string | null,
): EntryMatcher['fits'] {
  const isForAll =
    entry.agentType === undefined &&
    entry.event !== 'StopFailure' &&
    entry.event !== 'PostToolUseFailure' &&
    entry.event !== 'Notification' &&
    entry.source.kind !== 'skill';
  if (isForAll && condition === null) return whyMismatch;
  const explainUnmet = condition === null ? () => null : createConditionCheck(condition, home);
  return (event, names, tool) =>
    explainForeign(entry, event) ?? whyMismatch(event, names) ?? explainUnmet(event, names, tool);
}

/** Compiles the rule of `if`; null without one, or a sentence about why it can never be met. */
function compileCondition({ condition, event }: Entry): Rule | string | null {
  if (condition === undefined || condition === '') return null;
  const quotedCondition = `if ${JSON.stringify(condition)}`;
  if (!isToolEvent(event)) {
    return `${quotedCondition} can never be met: ${event} is not about a tool call, so the hook never runs`;
  }
  return (
    parseRule(condition) ??
    `${quotedCondition} can never be met: expected a rule such as "Bash(git push *)", "Write(src/**)" or "Edit"`
  );
}

const SEVERAL_RULES = /\)\s*(?:or|OR|and|AND|\|\|?|&&?|,|;)\s*[A-Z]\w*\(/;

function listConditionMistakes(rule: Rule | null, { source }: Entry): readonly string[] {
  if (rule === null) return [];
  const note = findToolNote(rule.tool, source);
  return [
    ...(note === null ? [] : [`in "if", ${note}`]),
    ...(SEVERAL_RULES.test(rule.text)
      ? ['"if" takes one rule, and this is read as one: write a handler for each of them']
      : []),
  ];
}

function explainForeign(
  { event: name, agentType, source }: Entry,
  event: HookEvent,
): string | null {
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
  if (event.name === 'Notification' && event.type === 'task_complete') {
    return 'Claude Code sends no notification when the agent is done';
  }
  if (agentType === undefined || event.agent.type === agentType) return null;
  return `only for agents of type ${agentType}`;
}

function createConditionCheck(rule: Rule, home: string | null): EntryMatcher['fits'] {
  const unmet = `if ${JSON.stringify(rule.text)} is not met`;
  return (event, names, tool) => {
    const root = event.workspaceRoots[0] ?? event.cwd;
    const context = { cwd: event.cwd, root, home, mode: 'guard' } as const;
    const isMet = listViews(event, tool).some(({ input }) =>
      isRuleMatch(rule, { names, input }, context),
    );
    return isMet ? null : unmet;
  };
}

function listViews(event: HookEvent, tool: ToolView | null | undefined): readonly ToolView[] {
  if (tool !== undefined && tool !== null) return [tool];
  const call = getToolCall(event);
  const context = { cwd: event.cwd, root: event.workspaceRoots[0] ?? null };
  return call === null ? [] : listToolViews(call, 'claude', context);
}

function listMatcherNotes(matcher: Matcher, event: ClaudeEvent): readonly string[] {
  if (matcher.kind === 'all') return [];
  if (!hasSubject(event)) return [`the matcher is ignored: ${event} has nothing to match`];
  return matcher.note === null ? [] : [`matcher ${quote(matcher.text)} ${matcher.note}`];
}

/** Lists names and patterns in a matcher that can never match. */
function listMatcherMistakes(matcher: Matcher, { event, source }: Entry): readonly string[] {
  if (matcher.kind === 'all' || !hasSubject(event)) return [];
  return isToolEvent(event) ? listToolNotes(matcher, source) : listValueNotes(matcher, event);
}

function listToolNotes({ kind, text }: Matcher, source: Source): readonly string[] {
  if (kind === 'list') return listNotes(splitNames(text), source);
  if (EXPRESSION.test(text)) {
    return [
      `${quote(text)} can never match: a matcher is the name of a tool or a pattern for it; what the call is about belongs in "if"`,
    ];
  }
  const [, tool] = /^(\w+)\(.*\)$/s.exec(text) ?? [];
  if (tool === undefined || !isKnownTool(tool)) {
    return listNotes(listPlainAlternatives(text), source);
  }
  return [`${quote(text)} can never match: it is a permission rule, which belongs in "if"`];
}

/** `^(Edit|Write)$`: the alternatives of a pattern that are plain names. */
function listPlainAlternatives(pattern: string): readonly string[] {
  const bare = /^\^?\(?(?:\?:)?([^()]*)\)?\$?$/.exec(pattern)?.[1];
  return bare === undefined ? [] : splitNames(bare).filter((name) => /^[A-Za-z_]+$/.test(name));
}

/** `tool == "Bash" && tool_input.command matches "npm"`: no tool has such a name. */
const EXPRESSION = /\s(?:[=!]=|&&|matches)\s/;

/** A former name is fine beside the current one. */
function listNotes(names: readonly string[], source: Source): readonly string[] {
  const current = names.filter((name) => !names.includes(FORMER_TOOLS.get(name) ?? ''));
  return current.flatMap((name) => findToolNote(name, source) ?? []);
}

/** Explains why no tool has this name, or null when that is unknown. */
function findToolNote(name: string, { isCline }: Source): string | null {
  const forkTool = FORK_TOOLS.get(name);
  if (forkTool !== undefined) {
    return isCline
      ? null
      : `${quote(name)} matches nothing: only Cline's own files use this name; write ${forkTool}`;
  }
  const successor = FORMER_TOOLS.get(name);
  if (successor !== undefined) {
    return `${name} is a tool of older versions; no tool has this name now: write ${successor}`;
  }
  if (name.startsWith('mcp__')) return findMcpNote(name);
  if (isClaudeEvent(name)) return `${quote(name)} matches nothing: it is an event, not a tool`;
  const suggestion = findIntendedTool(name);
  if (suggestion === null) return null;
  const isCaseVariant = suggestion.toLowerCase() === name.toLowerCase();
  const why = isCaseVariant ? 'names of tools are case-sensitive' : 'no tool of this name is known';
  return `${quote(name)} matches nothing: ${why}; did you mean ${quote(suggestion)}?`;
}

function findMcpNote(name: string): string | null {
  if (/^mcp__.+?__./.test(name)) return null;
  const server = name.replace(/__$/, '');
  const which = server === 'mcp' ? 'every MCP tool' : 'every tool of the server';
  return `${quote(name)} matches nothing: it names no tool; write ${quote(`${server}__.*`)} for ${which}`;
}

function listValueNotes({ kind, text }: Matcher, event: ClaudeEvent): readonly string[] {
  if (event === 'FileChanged') return listFileNotes(text);
  const values = SUBJECT_VALUES[event];
  if (values === undefined || kind !== 'list') return [];
  return splitNames(text)
    .filter((name) => !values.includes(name))
    .map((name) => `${quote(name)} matches nothing: ${event} has ${values.join(', ')}`);
}

/** A matcher of FileChanged also names the files to watch, so that patterns do not work in it. */
function listFileNotes(text: string): readonly string[] {
  return text
    .split('|', MAX_LOOKED_AT)
    .filter((name) => /[*?[\](){}^$+\\]/.test(name))
    .map(
      (name) => `${quote(name)} is watched as the name of a file: each name has to be written out`,
    );
}

const MAX_LOOKED_AT = 200;

/** Limited to the first names, because looking for misspellings is slow. */
function splitNames(text: string): readonly string[] {
  const names = text.split(/[|,]/, MAX_LOOKED_AT).map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function quote(text: string): string {
  return JSON.stringify(text);
}
