import type { AllowedDirectories } from './allowed-directories.ts';
import { findDeniedReads } from './denied-reads.ts';
import type { PermissionMode, PermissionCall, PermissionRuling } from './permissions.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import { isCommandMatch } from './rules/command-pattern.ts';
import { getCallCommand, getCallPaths } from './rules/call-arguments.ts';
import {
  type GuardMatch,
  isAllowedByRule,
  matchGuardRule,
  type PermissionRule,
  type RuleLocations,
} from './rules/permission-rule.ts';
import { isUncertain, parseShellCommands } from './rules/shell-commands.ts';
import type { ShellCommand } from './rules/shell-reading.ts';
import { createEditorCheck, createReaderCheck } from './read-only-commands.ts';
import { suggestUpdates } from './suggest-updates.ts';
import { truncateText, isRecord } from '../base/json.ts';

/** All that decides about a call at one moment. */
interface JudgeContext {
  readonly mode: PermissionMode;
  readonly rules: readonly PermissionRule[];
  readonly places: RuleLocations;
  readonly allowedDirectories: AllowedDirectories;
  readonly protectedPaths: ProtectedPaths;
}

/**
 * Deny rules, what the mode plan leaves out, protected places, ask rules, then what the mode and the
 * allow rules say. A rule that asks must open neither what the mode forbids nor, to hooks that answer
 * for the person, a protected place.
 */
export function judgeCall(call: PermissionCall, by: JudgeContext): PermissionRuling {
  const guards = by.rules
    .filter(({ behavior }) => behavior !== 'allow')
    .map((rule) => ({ rule, match: matchGuardRule(rule, call, by.places) }));
  const ruling =
    deniedByRule(call, guards) ??
    deniedByPlan(call, by) ??
    touchesProtected(call, by) ??
    askedByRule(call, guards) ??
    askedForPlan(call) ??
    byMode(call, by);
  if (by.mode !== 'dontAsk' || ruling.effect !== 'ask') return ruling;
  const reason = `Permission to use ${describeCall(call)} has been denied: it would have to be asked for, and in the mode dontAsk nobody is. ${ruling.reason}`;
  return { ...ruling, effect: 'deny', reason, suggestions: [] };
}

interface Guard {
  readonly rule: PermissionRule;
  readonly match: GuardMatch;
}

function deniedByRule(call: PermissionCall, guards: readonly Guard[]): PermissionRuling | null {
  const denying = guards.find(({ rule, match }) => rule.behavior === 'deny' && match === 'yes');
  if (denying === undefined) return null;
  const by = nameRule(denying.rule);
  return firm('deny', `Permission to use ${describeCall(call)} has been denied by ${by}.`);
}

function deniedByPlan(call: PermissionCall, { mode }: JudgeContext): PermissionRuling | null {
  if (mode !== 'plan' || call.kind === 'read' || QUIET_KINDS.includes(call.kind)) return null;
  return firm(
    'deny',
    `Permission to use ${describeCall(call)} has been denied: in the mode plan nothing is changed, run or fetched; only reading, planning and asking are open.`,
  );
}

/** Whoever lets it pass agrees with the plan, so that a mode or a kind cannot. */
function askedForPlan(call: PermissionCall): PermissionRuling | null {
  if (call.names[0] !== 'ExitPlanMode') return null;
  return { effect: 'ask', reason: PLAN_ASKED, isOverridable: true, suggestions: [] };
}

const PLAN_ASKED = 'ExitPlanMode has to be asked for: a person agrees with a plan, or does not.';

const QUIET_KINDS: readonly PermissionCall['kind'][] = ['plan', 'ask'];

function askedByRule(call: PermissionCall, guards: readonly Guard[]): PermissionRuling | null {
  const matching = guards.filter(({ match }) => match !== 'no');
  const asking = matching.find(({ rule }) => rule.behavior === 'ask')?.rule;
  if (asking !== undefined) {
    return firm('ask', `${describeCall(call)} has to be asked for by ${nameRule(asking)}.`);
  }
  const [doubted] = matching;
  if (doubted === undefined) return null;
  return firm(
    'ask',
    `${describeCall(call)} has to be asked for: what it runs cannot be told for sure, and ${nameRule(doubted.rule)} may forbid it.`,
  );
}

function nameRule({ text, source }: PermissionRule): string {
  return `the rule ${text} of ${source}`;
}

/** What no hook and no mode stands above. */
function firm(effect: PermissionRuling['effect'], reason: string): PermissionRuling {
  return { effect, reason, isOverridable: false, suggestions: [] };
}

function touchesProtected(
  call: PermissionCall,
  { protectedPaths: protectedPlaces }: JudgeContext,
): PermissionRuling | null {
  const touched = protectedPlaces.findTouched(call);
  if (touched === null) return null;
  const reason = `${describeCall(call)} has to be asked for in every mode: it touches ${touched}, which decides what runs here.`;
  return { ...firm('ask', reason), needsPerson: true };
}

function byMode(call: PermissionCall, by: JudgeContext): PermissionRuling {
  if (by.mode === 'bypassPermissions') return allowed('The mode bypassPermissions allows it.');
  return allowedByRule(call, by) ?? allowedByKind(call, by) ?? plainAsk(call, by);
}

function allowed(reason: string): PermissionRuling {
  return { effect: 'allow', reason, isOverridable: true, suggestions: [] };
}

function allowedByRule(call: PermissionCall, by: JudgeContext): PermissionRuling | null {
  const counting = by.rules.filter(({ behavior }) => behavior === 'allow');
  const rule = counting.find(
    (each) => isAllowedByRule(each, call, by.places) && each.counts?.() !== false,
  );
  if (rule !== undefined) return allowed(`It is allowed by ${nameRule(rule)}.`);
  return null;
}

function allowedByKind(call: PermissionCall, by: JudgeContext): PermissionRuling | null {
  if (QUIET_KINDS.includes(call.kind)) return allowed('It changes nothing outside the session.');
  const command = getCallCommand(call);
  if (command !== null) return allowedCommand(command, call, by);
  if (call.kind === 'read' && isInArea(call, by)) return allowed('It reads inside the workspace.');
  const mayEdit = by.mode === 'acceptEdits' && call.kind === 'edit';
  return mayEdit && isInArea(call, by)
    ? allowed('The mode acceptEdits allows edits inside the workspace.')
    : null;
}

function isInArea(call: PermissionCall, { allowedDirectories: area }: JudgeContext): boolean {
  const paths = getCallPaths(call);
  return paths !== null && paths.every(({ file }) => area.contains(file, call.cwd));
}

function allowedCommand(
  line: string,
  call: PermissionCall,
  by: JudgeContext,
): PermissionRuling | null {
  const reading = parseShellCommands(line);
  if (reading.commands.length === 0 || isUncertain(reading)) return null;
  return reading.commands.every(coveredIn(line, call, by))
    ? allowed('Every command in it only reads inside the workspace or is allowed by a rule.')
    : null;
}

/** Each command of a line may be allowed by another rule than its neighbour. */
function coveredIn(
  line: string,
  { cwd }: PermissionCall,
  { mode, rules, allowedDirectories: area, places }: JudgeContext,
): (command: ShellCommand) => boolean {
  const denied = findDeniedReads(rules, cwd, places);
  const place = { cwd, home: places.home, area, denied };
  const isReader = createReaderCheck(line, place);
  const isEditor = mode === 'acceptEdits' ? createEditorCheck(line, place) : () => false;
  return (command) =>
    !command.hasAssignment &&
    (isReader(command) || isEditor(command) || rules.some((rule) => allowsCommand(rule, command)));
}

function allowsCommand(
  { behavior, parsed, counts }: PermissionRule,
  { text }: ShellCommand,
): boolean {
  const { content } = parsed;
  if (behavior !== 'allow' || content.kind !== 'command') return false;
  return isCommandMatch(content.pattern, text) && counts?.() !== false;
}

function plainAsk(call: PermissionCall, by: JudgeContext): PermissionRuling {
  const command = getCallCommand(call);
  const isCovered = command === null ? () => false : coveredIn(command, call, by);
  return {
    effect: 'ask',
    reason: `No rule allows ${describeCall(call)}, and in the mode ${by.mode} it has to be asked for.`,
    isOverridable: true,
    suggestions: suggestUpdates(call, { isInside: isInArea(call, by), isCovered }),
  };
}

const MAX_SHOWN = 200;
const SUBJECTS = [
  ['command', 'with command'],
  ['file_path', 'on'],
  ['notebook_path', 'on'],
  ['url', 'on'],
  ['path', 'in'],
  ['subagent_type', 'for'],
  ['skill', 'for'],
] as const;

/** A call in a sentence: `Bash with command git push`, `Edit on /work/a.ts`. */
function describeCall({ names, input }: PermissionCall): string {
  const [name = 'the tool'] = names;
  if (!isRecord(input)) return name;
  for (const [key, word] of SUBJECTS) {
    const said = input[key];
    if (typeof said === 'string') return `${name} ${word} ${shorten(said)}`;
  }
  return name;
}

function shorten(text: string): string {
  const line = truncateText(text, MAX_SHOWN + 1)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_SHOWN ? line : `${truncateText(line, MAX_SHOWN)}…`;
}
