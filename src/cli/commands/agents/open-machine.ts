import { HooklineError } from '../../../base/errors.ts';
import type { AgentsMachine } from '../../../agents/agents.ts';
import { getStateDirectory, readSurroundings } from '../../../host/surroundings.ts';
import { resolveRoots } from '../../../host/workspace.ts';
import type { CommandContext } from '../../context.ts';

/** Finds the directories of agents, of Hookline and of the project. */
export function openAgentsMachine({ flags }: CommandContext): AgentsMachine {
  const surroundings = readSurroundings();
  const stateDirectory = getStateDirectory(surroundings);
  if (stateDirectory === null || surroundings.home === null) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: 'no home directory was found, so that there are no settings of agents to change',
      hint: 'Set HOME.',
    });
  }
  const [project = surroundings.cwd] = resolveRoots(surroundings.cwd, flags.root ?? []);
  return { surroundings, stateDirectory, project };
}
