import {
  createPlace,
  findAgentOnMachine,
  listAgentNames,
  loadAgent,
} from '../../../agents/agents.ts';
import { inspectFiles } from '../../../agents/inspect-files.ts';
import { formatPath } from '../../../base/paths.ts';
import type { Command } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { colors } from '../../output/colors.ts';
import { toOneLine } from '../../output/print.ts';
import { openAgentsMachine } from './open-machine.ts';

/** `hookline agents list`: the agents that can be switched on, and where our entries are. */
export const listAgents: Command<object> = async (context) => {
  const machine = openAgentsMachine(context);
  const agents = await Promise.all(
    listAgentNames().map(async (name) => {
      const agent = await loadAgent(name);
      const found = findAgentOnMachine(agent, machine);
      const files = (['user', 'project'] as const).flatMap((scope) =>
        inspectFiles(agent.install, createPlace(name, scope, machine))
          .filter(({ content }) => content === 'ours')
          .map((file) => file.path),
      );
      const { title } = agent.install;
      return { agent: name, title, found: found?.program ?? found?.directory ?? null, files };
    }),
  );
  if (context.flags.json === true) context.print.json({ agents });
  else {
    const places = { cwd: machine.project, home: machine.surroundings.home };
    const lines = agents.map(({ agent, title, found, files }) => {
      const state = files.length > 0 ? colors.green('on') : colors.dim('off');
      const where = files.length > 0 ? formatFiles(files, places) : describeFound(found, places);
      return `${agent.padEnd(9)} ${state.padEnd(3)}  ${title.padEnd(12)} ${colors.dim(where)}`;
    });
    context.print.out(lines.join('\n'));
    context.print.out('Switch one on with `hookline agents enable NAME`.');
  }
  return EXIT.fine;
};

type Places = Parameters<typeof formatPath>[1];

function formatFiles([first = '', ...others]: readonly string[], places: Places): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${toOneLine(formatPath(first, places))}${more}`;
}

function describeFound(found: string | null, places: Places): string {
  return found === null ? 'not installed' : `found ${toOneLine(formatPath(found, places))}`;
}
