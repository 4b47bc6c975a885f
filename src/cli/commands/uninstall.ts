import { NPX_COMPAT, removeNpxCompat } from '../../agents/npx-compat.ts';
import { disableAgent, listInstallations, removeScript } from '../../agents/switch-agents.ts';
import { systemClock } from '../../base/clock.ts';
import { isDirectory } from '../../base/files.ts';
import { type Command, rejectInsideSession } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { toOneLine } from '../output/print.ts';
import { openAgentsMachine } from './agents/open-machine.ts';
import { listAllTargets, switchAll } from './agents/switch.ts';

/** `hookline uninstall`: leaves the files of all agents and projects as they were found. */
export const uninstallHookline: Command<{ readonly dryRun?: boolean }> = async (
  context,
  { dryRun = false },
) => {
  rejectInsideSession(context, 'uninstall');
  const machine = openAgentsMachine(context);
  const projects = listInstallations(machine)
    .filter(({ agent }) => agent === NPX_COMPAT)
    .map(({ project }) => project ?? machine.project);
  const exitCode = await switchAll(
    context,
    listAllTargets(machine),
    { dryRun },
    { verb: 'disabled', run: disableAgent },
  );
  if (dryRun || exitCode !== EXIT.fine) return exitCode;
  for (const project of projects) {
    if (isDirectory(project)) await removeNpxCompat({ ...machine, project }, systemClock.now());
  }
  await removeScript(machine);
  if (context.flags.json !== true) {
    const directory = toOneLine(machine.stateDirectory);
    context.print.out(
      `Your settings, trust and recorded events stay in ${directory}: delete it yourself, then the package: npm uninstall -g hookline`,
    );
  }
  return exitCode;
};
