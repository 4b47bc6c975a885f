import path from 'node:path';
import {
  type AgentsMachine,
  findAgentOnMachine,
  listAgentNames,
  loadAgent,
} from '../../../agents/agents.ts';
import {
  disableAgent,
  enableAgent,
  listInstallations,
  type SwitchOptions,
  type SwitchResult,
} from '../../../agents/switch-agents.ts';
import { systemClock } from '../../../base/clock.ts';
import { getErrorMessage, HooklineError, isHooklineError } from '../../../base/errors.ts';
import { formatPath } from '../../../base/paths.ts';
import { getDefaultDirectory, getEventsFile } from '../../../bridge/fallback-file.ts';
import type { InstallScope } from '../../../dialects/install.ts';
import { type Command, type CommandContext, rejectInsideSession } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { colors } from '../../output/colors.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';
import { type ExitCodeOptions, runWithExitCodes } from './exit-codes.ts';
import { formatDiff } from './format-diff.ts';
import { openAgentsMachine } from './open-machine.ts';

export interface SwitchFlags extends ExitCodeOptions {
  readonly agents?: readonly string[];
  readonly all?: boolean;
  readonly project?: boolean;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
}

/** `hookline agents enable NAME`: adds our entry to an agent's settings. */
export const enableAgents: Command<SwitchFlags> = (context, flags) => {
  rejectInsideSession(context, 'agents enable');
  return runWithExitCodes(context, flags, async () => {
    const machine = openAgentsMachine(context);
    const names = flags.all === true ? await listFoundAgents(machine) : requireNames(flags);
    const targets = names.map((name) => ({ name, machine, scope: getScope(flags) }));
    return switchAll(context, targets, flags, { verb: 'enabled', run: enableAgent });
  });
};

/** `hookline agents disable NAME`: leaves each file as it was found. */
export const disableAgents: Command<SwitchFlags> = (context, flags) => {
  rejectInsideSession(context, 'agents disable');
  return runWithExitCodes(context, flags, () => {
    const machine = openAgentsMachine(context);
    const targets =
      flags.all === true
        ? listAllTargets(machine)
        : requireNames(flags).map((name) => ({ name, machine, scope: getScope(flags) }));
    return switchAll(context, targets, flags, { verb: 'disabled', run: disableAgent });
  });
};

function getScope({ project }: SwitchFlags): InstallScope {
  return project === true ? 'project' : 'user';
}

async function listFoundAgents(machine: AgentsMachine): Promise<readonly string[]> {
  const agents = await Promise.all(listAgentNames().map(loadAgent));
  return agents
    .filter((agent) => findAgentOnMachine(agent, machine) !== null)
    .map(({ name }) => name);
}

function requireNames({ agents = [] }: SwitchFlags): readonly string[] {
  if (agents.length > 0) return [...new Set(agents)];
  throw new HooklineError('USAGE_INVALID', {
    message: 'expected the name of an agent, or --all',
    hint: `Known are ${listAgentNames().join(', ')}.`,
  });
}

interface SwitchTarget {
  readonly name: string;
  readonly machine: AgentsMachine;
  readonly scope: InstallScope;
}

/** Everything that was ever installed, in whichever project, and what no record knows of. */
export function listAllTargets(machine: AgentsMachine): readonly SwitchTarget[] {
  const names = listAgentNames();
  const recorded = listInstallations(machine)
    .filter(({ agent }) => names.includes(agent))
    .map(({ agent, scope, project }) => ({
      name: agent,
      scope,
      machine: { ...machine, project: project ?? machine.project },
    }));
  const here = names.flatMap((name) =>
    (['user', 'project'] as const).map((scope) => ({ name, scope, machine })),
  );
  const keys = new Set<string>();
  return [...recorded, ...here].filter(({ name, scope, machine: { project } }) => {
    const key = JSON.stringify([name, scope, scope === 'project' ? project : null]);
    const isNew = !keys.has(key);
    keys.add(key);
    return isNew;
  });
}

interface SwitchAction {
  readonly verb: 'enabled' | 'disabled';
  readonly run: (
    machine: AgentsMachine,
    name: string,
    options: SwitchOptions,
  ) => Promise<SwitchResult>;
}

/** Switches one agent after the other. One that refuses does not stop the others, and fails the command. */
export async function switchAll(
  context: CommandContext,
  targets: readonly SwitchTarget[],
  { dryRun: isDryRun = false, replace: replacesFormer = false }: SwitchFlags,
  { verb, run }: SwitchAction,
): Promise<ExitCode> {
  const results: SwitchResult[] = [];
  const failures: { readonly agent: string; readonly error: HooklineError }[] = [];
  for (const { name, machine, scope } of targets) {
    try {
      const now = systemClock.now();
      results.push(await run(machine, name, { scope, isDryRun, replacesFormer, now }));
    } catch (error) {
      if (!isHooklineError(error) || targets.length === 1) throw error;
      failures.push({ agent: name, error });
    }
  }
  const shown = targets.length === 1 ? results : results.filter(hasChanged);
  if (context.flags.json === true) printJson(context, shown, failures, verb, isDryRun);
  else printText(context, shown, verb, isDryRun);
  for (const { agent, error } of failures) {
    if (context.flags.json === true) break;
    context.print.note(`${agent}: ${toPrintable(getErrorMessage(error))}`);
    if (error.hint !== undefined) context.print.note(`  ${toPrintable(error.hint)}`);
  }
  return failures.length === 0 ? EXIT.fine : EXIT.refused;
}

function hasChanged({ changes }: SwitchResult): boolean {
  return changes.length > 0;
}

function printJson(
  { print, flags }: CommandContext,
  results: readonly SwitchResult[],
  failures: readonly { readonly agent: string; readonly error: HooklineError }[],
  verb: string,
  isDryRun: boolean,
): void {
  print.json({
    [isDryRun ? 'planned' : verb]: results.map((result) => ({
      agent: result.agent,
      scope: result.scope,
      project: result.project,
      changed: hasChanged(result),
      files: result.changes.map((change) => ({
        path: change.path,
        ...(isDryRun ? { diff: formatDiff(change, flags.raw === true) } : {}),
      })),
      ...(verb === 'enabled' ? { events: result.events, former: result.former } : {}),
    })),
    failed: failures.map(({ agent, error: { code, message, hint } }) => ({
      agent,
      error: { code, message, hint: hint ?? null },
    })),
  });
}

function printText(
  context: CommandContext,
  results: readonly SwitchResult[],
  verb: SwitchAction['verb'],
  isDryRun: boolean,
): void {
  if (results.length === 0) context.print.out('Nothing to change.');
  for (const result of results) {
    if (isDryRun) printDiffs(context, result);
    else printResult(context, result, verb);
  }
}

function printDiffs({ print, flags }: CommandContext, { changes, title }: SwitchResult): void {
  if (changes.length === 0) print.out(`${title}: nothing to change.`);
  for (const change of changes) print.out(formatDiff(change, flags.raw === true).trimEnd());
}

function printResult(
  context: CommandContext,
  result: SwitchResult,
  verb: SwitchAction['verb'],
): void {
  const machine = openAgentsMachine(context);
  const places = { cwd: machine.project, home: machine.surroundings.home };
  const showPath = (file: string): string => toOneLine(formatPath(file, places));
  const { title, changes } = result;
  const whose = result.scope === 'project' ? ` for ${toOneLine(result.project ?? '')}` : '';
  const isOld = changes.length === 0;
  context.print.out(
    [
      `${colors.bold(title)}: ${isOld ? 'was already ' : ''}${verb}${whose}`,
      ...changes.map((change) => `  ${describeChange(change)} ${showPath(change.path)}`),
      ...(verb === 'enabled' ? describeRecording(result, machine, showPath) : []),
      ...result.former.map((place) =>
        colors.yellow(
          `  ${showPath(place)} starts @principal-ai/agent-hooks, which is no longer on npm: replace it with --replace`,
        ),
      ),
    ].join('\n'),
  );
}

function describeChange({ before, after }: SwitchResult['changes'][number]): string {
  if (before === null) return 'wrote';
  return after === null ? 'removed' : 'changed';
}

function describeRecording(
  { agent, events, nextStep, scope }: SwitchResult,
  { stateDirectory, surroundings }: AgentsMachine,
  showPath: (file: string) => string,
): readonly string[] {
  const directory = getDefaultDirectory(surroundings.home ?? '');
  return [
    `  records ${events.join(', ')}`,
    `  with their whole payloads (prompts, commands, file contents), on this machine only: in ${showPath(path.join(stateDirectory, 'events.db'))},`,
    `  or in ${showPath(getEventsFile(directory, agent))} until \`hookline bridge serve\`, \`trace\` or \`agents status\` takes it from there`,
    ...(scope === 'project'
      ? ['  the entry names a path of this machine: do not commit it for others']
      : []),
    ...(nextStep === null ? [] : [colors.yellow(`  ${nextStep}`)]),
  ];
}
