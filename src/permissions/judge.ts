import type { GitProfile } from '../process/git/git-profile.ts';
import type { AllowedDirectories } from './allowed-directories.ts';
import { findDeniedReads } from './denied-reads.ts';
import type {
  PermissionMode,
  PermissionCall,
  PermissionRuling,
  ProgramSearch,
} from './permissions.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import { isCommandMatch } from './rules/command-pattern.ts';
import {
  isSandboxExit,
  getCallCommand,
  getCallPaths,
  SANDBOX_EXIT,
} from './rules/call-arguments.ts';
import type { GuardMatch } from './rules/path-pattern.ts';
import {
  isAllowedByRule,
  matchGuardRule,
  type PermissionRule,
  type RuleLocations,
} from './rules/permission-rule.ts';
import { isUncertain, parseShellCommands, type ShellCommand } from './rules/shell-commands.ts';
import {
  createEditorCheck,
  createReaderCheck,
  findUnaskedProgram,
  isGitReader,
} from './read-only-commands.ts';
import { suggestUpdates } from './permission-updates.ts';
import { truncateText, isRecord } from '../base/json.ts';

/** The session's permissions at the time of a call. */
interface JudgeContext {
  readonly mode: PermissionMode;
  readonly rules: readonly PermissionRule[];
  readonly places: RuleLocations;
  readonly allowedDirectories: AllowedDirectories;
  readonly protectedPaths: ProtectedPaths;
  /** Finds out how git may run where the call is made; a string says why only with approval. */
  readonly findGitProfile: () => GitProfile | string;
  readonly programs: ProgramSearch;
  /** The file that forbids to leave the sandbox, for messages; null when none does. */
  readonly exitForbiddenBy: string | null;
}

/**
 * Order: deny rules, the mode plan, protected paths, ask rules, then the mode and the allow rules. Ask
 * rules come after plan and protected paths, because a hook may answer an ask rule for the user.
 */
export function judgeCall(call: PermissionCall, context: JudgeContext): PermissionRuling {
  const guards = context.rules
    .filter(({ behavior }) => behavior !== 'allow')
    .map((rule) => ({ rule, match: matchGuardRule(rule, call, context.places) }));
  const ruling =
    checkDenyRules(call, guards) ??
    checkPlanMode(call, context) ??
    checkProtectedPaths(call, context) ??
    checkSandboxExit(call, context) ??
    checkSandboxQuestion(call) ??
    checkAskRules(call, guards) ??
    checkExitPlan(call) ??
    checkMode(call, context);
  if (context.mode !== 'dontAsk' || ruling.effect !== 'ask') return ruling;
  const hint = ruling.hintWithoutUser === undefined ? '' : ` ${ruling.hintWithoutUser}`;
  const reason = `Permission to use ${describeCall(call)} has been denied: it needs approval, and the mode dontAsk never asks. ${ruling.reason}${hint}`;
  return { ...ruling, effect: 'deny', reason, suggestions: [] };
}

interface Guard {
  readonly rule: PermissionRule;
  readonly match: GuardMatch;
}

function checkDenyRules(call: PermissionCall, guards: readonly Guard[]): PermissionRuling | null {
  const denying = guards.find(({ rule, match }) => rule.behavior === 'deny' && match === 'yes');
  if (denying === undefined) return null;
  return createFirmRuling(
    'deny',
    `Permission to use ${describeCall(call)} has been denied by ${formatRule(denying.rule)}.`,
  );
}

function checkPlanMode(call: PermissionCall, { mode }: JudgeContext): PermissionRuling | null {
  if (mode !== 'plan' || call.kind === 'read' || QUIET_KINDS.includes(call.kind)) return null;
  return createFirmRuling(
    'deny',
    `Permission to use ${describeCall(call)} has been denied: the mode plan allows only reading, planning and asking.`,
  );
}

/** To allow it is to accept the plan, so neither a mode nor the kind of the tool may allow it. */
function checkExitPlan(call: PermissionCall): PermissionRuling | null {
  if (call.names[0] !== 'ExitPlanMode') return null;
  return { effect: 'ask', reason: PLAN_ASKED, isOverridable: true, suggestions: [] };
}

const PLAN_ASKED = 'ExitPlanMode needs approval: the user accepts or rejects the plan.';

const QUIET_KINDS: readonly PermissionCall['kind'][] = ['plan', 'ask'];

function checkAskRules(call: PermissionCall, guards: readonly Guard[]): PermissionRuling | null {
  const matching = guards.filter(({ match }) => match !== 'no');
  const asking = matching.find(({ rule }) => rule.behavior === 'ask')?.rule;
  if (asking !== undefined) {
    return createFirmRuling(
      'ask',
      `${describeCall(call)} needs approval: required by ${formatRule(asking)}.`,
    );
  }
  const [uncertain] = matching;
  if (uncertain === undefined) return null;
  return createFirmRuling(
    'ask',
    `${describeCall(call)} needs approval: what it runs is not certain, and ${formatRule(uncertain.rule)} may deny it.`,
  );
}

function formatRule({ text, source }: PermissionRule): string {
  return `the rule ${text} of ${source}`;
}

/** A ruling that neither a hook nor a mode overrides. */
function createFirmRuling(effect: PermissionRuling['effect'], reason: string): PermissionRuling {
  return { effect, reason, isOverridable: false, suggestions: [] };
}

function checkProtectedPaths(
  call: PermissionCall,
  { protectedPaths }: JudgeContext,
): PermissionRuling | null {
  const touched = protectedPaths.findTouched(call);
  if (touched === null) return null;
  const reason = `${describeCall(call)} needs approval in every mode: it touches ${touched}, which controls what runs here.`;
  const question = checkSandboxQuestion(call);
  if (question === null) return { ...createFirmRuling('ask', reason), needsPerson: true };
  return { ...question, reason: `${reason} ${question.reason}` };
}

/** A command that asks to run outside of the sandbox; no rule, mode or hook answers for the user. */
function checkSandboxExit(
  call: PermissionCall,
  { exitForbiddenBy }: JudgeContext,
): PermissionRuling | null {
  if (getCallCommand(call) === null || !isSandboxExit(call)) return null;
  if (exitForbiddenBy !== null) {
    return createFirmRuling(
      'deny',
      `Permission to use ${describeCall(call)} has been denied: it asks to run outside of the sandbox (${SANDBOX_EXIT}), which ${exitForbiddenBy} forbids. Call it without ${SANDBOX_EXIT}.`,
    );
  }
  const reason = `${describeCall(call)} needs approval in every mode: it asks to run outside of the sandbox (${SANDBOX_EXIT}), where it can read ~/.ssh and other keys and write wherever you can.`;
  return { ...createFirmRuling('ask', reason), needsPerson: true };
}

/** A command for which the sandbox would be opened; no rule, mode or hook answers for the user. */
function checkSandboxQuestion(call: PermissionCall): PermissionRuling | null {
  const { sandboxQuestion: question } = call;
  if (question === undefined) return null;
  return {
    ...createFirmRuling(
      'ask',
      `${describeCall(call)} needs approval in every mode: ${question.reason}`,
    ),
    needsPerson: true,
    sandboxAccess: question.access,
    hintWithoutUser: question.hint,
  };
}

function checkMode(call: PermissionCall, context: JudgeContext): PermissionRuling {
  if (context.mode === 'bypassPermissions') {
    return {
      ...createAllow('The mode bypassPermissions allows it.'),
      ...findBypassGit(call, context),
    };
  }
  return checkAllowRules(call, context) ?? checkToolKind(call, context) ?? createAsk(call, context);
}

function createAllow(reason: string): PermissionRuling {
  return { effect: 'allow', reason, isOverridable: true, suggestions: [] };
}

function checkAllowRules(call: PermissionCall, context: JudgeContext): PermissionRuling | null {
  const allowRules = context.rules.filter(({ behavior }) => behavior === 'allow');
  const rule = allowRules.find(
    (each) => isAllowedByRule(each, call, context.places) && each.counts?.() !== false,
  );
  if (rule !== undefined) return createAllow(`It is allowed by ${formatRule(rule)}.`);
  return null;
}

function checkToolKind(call: PermissionCall, context: JudgeContext): PermissionRuling | null {
  if (QUIET_KINDS.includes(call.kind)) {
    return createAllow('It changes nothing outside the session.');
  }
  const command = getCallCommand(call);
  if (command !== null) return checkShellCommand(command, call, context);
  if (call.kind === 'read' && isInAllowedDirectories(call, context)) {
    return createAllow('It reads inside the workspace.');
  }
  const canEdit = context.mode === 'acceptEdits' && call.kind === 'edit';
  return canEdit && isInAllowedDirectories(call, context)
    ? createAllow('The mode acceptEdits allows edits inside the workspace.')
    : null;
}

function isInAllowedDirectories(
  call: PermissionCall,
  { allowedDirectories }: JudgeContext,
): boolean {
  const paths = getCallPaths(call);
  return paths !== null && paths.every(({ file }) => allowedDirectories.contains(file, call.cwd));
}

function checkShellCommand(
  line: string,
  call: PermissionCall,
  context: JudgeContext,
): PermissionRuling | null {
  const parsedLine = parseShellCommands(line);
  if (parsedLine.commands.length === 0 || isUncertain(parsedLine)) return null;
  if (!parsedLine.commands.every(createCommandCheck(line, call, context))) return null;
  const reason = 'Every command in it only reads inside the workspace or is allowed by a rule.';
  return {
    ...createAllow(reason),
    ...findUnaskedGit(call, context),
    ...findProgramFiles(parsedLine.commands, context),
  };
}

/** The files of the programs that no rule allows: a hook's PATH may lead into the workspace, too. */
function findProgramFiles(
  commands: readonly ShellCommand[],
  { rules, programs }: JudgeContext,
): Pick<PermissionRuling, 'programFiles'> {
  const names = commands
    .filter((command) => !rules.some((rule) => isCommandAllowedBy(rule, command)))
    .flatMap((command) => findUnaskedProgram(command) ?? [])
    .filter((name) => name !== 'git');
  if (names.length === 0) return {};
  return { programFiles: Object.fromEntries(names.map((name) => [name, programs.find(name)])) };
}

/** In this mode a line may go anywhere, and what is switched off for this directory is off there, too. */
function findBypassGit(
  call: PermissionCall,
  context: JudgeContext,
): Pick<PermissionRuling, 'gitProfile'> {
  const { gitProfile } = findUnaskedGit(call, context);
  return gitProfile === undefined ? {} : { gitProfile: { ...gitProfile, directory: null } };
}

/** The profile for git commands in a line that only read, unless a rule allows each of them. */
function findUnaskedGit(
  call: PermissionCall,
  { rules, findGitProfile }: JudgeContext,
): Pick<PermissionRuling, 'gitProfile'> {
  const line = getCallCommand(call);
  if (line === null) return {};
  const isUnasked = (command: ShellCommand): boolean =>
    isGitReader(command) && !rules.some((rule) => isCommandAllowedBy(rule, command));
  if (!parseShellCommands(line).commands.some(isUnasked)) return {};
  const gitProfile = findGitProfile();
  return typeof gitProfile === 'string' ? {} : { gitProfile };
}

/** Whether a command of the line is allowed; each may be allowed by a different rule. */
function createCommandCheck(
  line: string,
  { cwd }: PermissionCall,
  { mode, rules, allowedDirectories, places, findGitProfile, programs }: JudgeContext,
): (command: ShellCommand) => boolean {
  const denied = findDeniedReads(rules, cwd, places);
  const { home } = places;
  const commandContext = { cwd, home, allowedDirectories, denied, findGitProfile, programs };
  const isReader = createReaderCheck(line, commandContext);
  const isEditor = mode === 'acceptEdits' ? createEditorCheck(line, commandContext) : () => false;
  return (command) =>
    !command.hasAssignment &&
    (isReader(command) ||
      isEditor(command) ||
      rules.some((rule) => isCommandAllowedBy(rule, command)));
}

function isCommandAllowedBy(
  { behavior, parsed, counts }: PermissionRule,
  { text }: ShellCommand,
): boolean {
  const { content } = parsed;
  if (behavior !== 'allow' || content.kind !== 'command') return false;
  return isCommandMatch(content.pattern, text) && counts?.() !== false;
}

function createAsk(call: PermissionCall, context: JudgeContext): PermissionRuling {
  const command = getCallCommand(call);
  const isCovered = command === null ? () => false : createCommandCheck(command, call, context);
  return {
    effect: 'ask',
    reason: `No rule allows ${describeCall(call)}, and in the mode ${context.mode} it needs approval.${explainGit(command, context)}${explainProgram(command, context)}`,
    isOverridable: true,
    suggestions: suggestUpdates(call, isInAllowedDirectories(call, context), isCovered),
  };
}

/** Explains why a git command that only reads needs approval; empty for other commands. */
function explainGit(line: string | null, { findGitProfile }: JudgeContext): string {
  if (line === null || !parseShellCommands(line).commands.some(isGitReader)) return '';
  const profile = findGitProfile();
  return typeof profile === 'string'
    ? ` Git needs it here, because it could run programs of the repository: ${profile}.`
    : '';
}

/** Explains why a command that only reads needs approval, because of the PATH; empty for other commands. */
function explainProgram(line: string | null, { programs }: JudgeContext): string {
  const names =
    line === null
      ? []
      : parseShellCommands(line).commands.flatMap((each) => findUnaskedProgram(each) ?? []);
  const file = names.map((name) => programs.findUntrusted(name)).find((each) => each !== null);
  return file === undefined || file === null
    ? ''
    : ` It would start ${file}, which the PATH leads to and the agent can write.`;
}

const MAX_LENGTH = 200;
const SUBJECTS = [
  ['command', 'with command'],
  ['file_path', 'on'],
  ['notebook_path', 'on'],
  ['url', 'on'],
  ['path', 'in'],
  ['subagent_type', 'for'],
  ['skill', 'for'],
] as const;

/** A call for messages: `Bash with command git push`, `Edit on /work/a.ts`. */
function describeCall({ names, input }: PermissionCall): string {
  const [name = 'the tool'] = names;
  if (!isRecord(input)) return name;
  for (const [key, word] of SUBJECTS) {
    const value = input[key];
    if (typeof value === 'string') return `${name} ${word} ${shortenText(value)}`;
  }
  return name;
}

function shortenText(text: string): string {
  const line = truncateText(text, MAX_LENGTH + 1)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= MAX_LENGTH ? line : `${truncateText(line, MAX_LENGTH)}…`;
}
