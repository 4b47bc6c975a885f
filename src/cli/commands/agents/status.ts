import {
  type AgentsMachine,
  createMissingAgentError,
  findAgentOnMachine,
  listAgentNames,
  loadAgent,
} from '../../../agents/agents.ts';
import { type AgentHistory, type AgentStatus, inspectAgent } from '../../../agents/status.ts';
import { formatTime } from '../../../base/clock.ts';
import { HooklineError } from '../../../base/errors.ts';
import { redactObject } from '../../../host/redact-object.ts';
import type { Command, CommandContext } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { colors } from '../../output/colors.ts';
import { toPrintable } from '../../output/print.ts';
import { type ExitCodeOptions, runWithExitCodes } from './exit-codes.ts';
import { withHistory } from './history.ts';
import { openAgentsMachine } from './open-machine.ts';

interface StatusOptions extends ExitCodeOptions {
  readonly agents?: readonly string[];
  readonly project?: boolean;
}

/** `hookline agents status`: whether events arrive, and each reason for which they do not. */
export const showAgentStatus: Command<StatusOptions> = (context, options) =>
  runWithExitCodes(context, options, () => printStatus(context, options));

async function printStatus(
  context: CommandContext,
  { agents = [], project, as }: StatusOptions,
): Promise<ExitCode> {
  const machine = openAgentsMachine(context);
  const names = agents.length === 0 ? listAgentNames() : agents;
  const scopes = project === true ? (['project'] as const) : (['user', 'project'] as const);
  const onProblem = (text: string): void => context.print.note(`hookline: ${toPrintable(text)}`);
  const statuses = await withHistory(machine, onProblem, (readHistory) =>
    Promise.all(
      names.map(async (name) => {
        const history = readHistory(name);
        const agent = await loadAgent(name);
        return describe(await inspectAgent(agent, machine, history, scopes), history);
      }),
    ),
  );
  const shown = await redactObject({ agents: statuses }, context.flags);
  if (context.flags.json === true) context.print.json(shown);
  else context.print.out(shown.agents.map(formatStatus).join('\n'));
  if (as !== undefined) await throwForFormerCodes(names, statuses, machine);
  const isFine = statuses.every(({ state }) => state === 'installed' || state === 'off');
  return isFine ? EXIT.fine : EXIT.refused;
}

function describe({ agent, state, guard, causes }: AgentStatus, history: AgentHistory) {
  const { lastEvent, lastFailure } = history;
  return {
    agent,
    state,
    guard,
    lastEvent: lastEvent === null ? null : { ...lastEvent, at: formatTime(lastEvent.at) },
    lastFailure: lastFailure === null ? null : { ...lastFailure, at: formatTime(lastFailure.at) },
    causes,
  };
}

type ShownStatus = ReturnType<typeof describe>;

function formatStatus({ agent, state, lastEvent, lastFailure, causes }: ShownStatus): string {
  const last =
    lastEvent === null ? 'no event yet' : `last event ${lastEvent.name} at ${lastEvent.at}`;
  return [
    `${agent.padEnd(9)} ${paintState(state)}${state === 'off' && lastEvent === null ? '' : `  ${last}`}`,
    ...(lastFailure === null
      ? []
      : [colors.dim(`  last failure at ${lastFailure.at}: ${toPrintable(lastFailure.message)}`)]),
    ...causes.map(({ code, message }) => colors.yellow(`  ${code}: ${toPrintable(message)}`)),
  ].join('\n');
}

function paintState(state: AgentStatus['state']): string {
  if (state === 'installed') return colors.green(state);
  return state === 'off' ? colors.dim(state) : colors.yellow(state);
}

/** The former package said by its exit code what is wrong. */
async function throwForFormerCodes(
  names: readonly string[],
  statuses: readonly ShownStatus[],
  machine: AgentsMachine,
): Promise<void> {
  for (const [index, name] of names.entries()) {
    const agent = await loadAgent(name);
    if (findAgentOnMachine(agent, machine) === null) throw createMissingAgentError(agent, machine);
    const broken = statuses[index]?.causes.find(({ code }) => code === 'file-broken');
    if (broken !== undefined) {
      throw new HooklineError('CONFIG_INVALID', { message: broken.message });
    }
  }
}
