import path from 'node:path';
import { findClosestName } from '../base/did-you-mean.ts';
import { HooklineError, invariant } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { AgentInstall, InstallPlace, InstallScope } from '../dialects/install.ts';
import { findInstalledScript, formatInstalledCommand } from '../dialects/installed-command.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { createProgramFinder } from '../process/program-finder.ts';
import { cleanSearchPath, listUntrustedDirectories } from '../process/search-path.ts';
import { planScript } from './installed-script.ts';

/** An agent in whose settings our entry can be installed. */
export interface KnownAgent {
  readonly name: string;
  readonly install: AgentInstall;
}

/** Where the files of agents and of Hookline are. */
export interface AgentsMachine {
  readonly surroundings: Surroundings;
  readonly stateDirectory: string;
  /** The real path of the project that `--project` means. */
  readonly project: string;
}

function listInstallable(): readonly Dialect[] {
  return DIALECTS.filter(({ install }) => install !== undefined);
}

/** The names of all agents that can be switched on. */
export function listAgentNames(): readonly string[] {
  return listInstallable()
    .map(({ name }) => name)
    .toSorted();
}

export async function loadAgent(name: string): Promise<KnownAgent> {
  const dialect = listInstallable().find((each) => each.name === name);
  if (dialect?.install === undefined) throw createUnknownAgentError(name);
  return { name, install: await dialect.install() };
}

function createUnknownAgentError(name: string): HooklineError {
  const names = listAgentNames();
  const closest = findClosestName(name, names);
  return new HooklineError('AGENT_UNKNOWN', {
    message: `expected the name of an agent, found ${JSON.stringify(name)}`,
    hint: closest === null ? `Known are ${names.join(', ')}.` : `Did you mean ${closest}?`,
  });
}

/** Describes where an agent's entries go and what they start. */
export function createPlace(
  agent: string,
  scope: InstallScope,
  { surroundings, stateDirectory, project }: AgentsMachine,
): InstallPlace {
  const script = planScript(surroundings, stateDirectory);
  return {
    surroundings,
    scope,
    project,
    command: formatInstalledCommand(script.path, agent, surroundings),
    script: script.path,
    isOwnCommand: (command) => findInstalledScript(command, stateDirectory) !== null,
  };
}

/** What shows that an agent is installed: its program, else its directory; null when neither is found. */
export function findAgentOnMachine(
  { install }: KnownAgent,
  machine: AgentsMachine,
): { readonly program: string | null; readonly directory: string | null } | null {
  const program = findProgram(install.programs, machine);
  const directory = install.listDirectories(machine.surroundings).find(isDirectory) ?? null;
  return program === null && directory === null ? null : { program, directory };
}

/** Programs of the project do not count: they are not what the user starts. */
function findProgram(
  names: readonly string[],
  { surroundings: { env, platform, home }, project }: AgentsMachine,
): string | null {
  const directories = cleanSearchPath(
    env['PATH'],
    listUntrustedDirectories([project], home),
    platform,
  );
  const find = createProgramFinder(directories, platform, env['PATHEXT']);
  for (const name of names) {
    const program = find(name);
    if (program !== null) return program;
  }
  return null;
}

/** The error for an agent that is not on this machine. */
export function createMissingAgentError(
  { name, install }: KnownAgent,
  { surroundings }: AgentsMachine,
): HooklineError {
  const [directory] = install.listDirectories(surroundings);
  const program = install.programs[0] ?? name;
  invariant(program !== '', 'an agent has a program');
  return new HooklineError('AGENT_MISSING', {
    message: `${install.title} is not installed: found neither the program ${program} nor ${directory ?? path.join('~', `.${name}`)}`,
    hint: `Install ${install.title} first.`,
  });
}
