import path from 'node:path';
import type { Cause, CauseCode, InstallScope } from '../dialects/install.ts';
import { copyEnvironment } from '../process/environment.ts';
import { runProgram } from '../process/run.ts';
import { listRunningPrograms } from '../process/running-programs.ts';
import { type AgentsMachine, createPlace, findAgentOnMachine, type KnownAgent } from './agents.ts';
import { listFormerEntries } from './former-package.ts';
import { inspectFiles, type InspectedFile } from './inspect-files.ts';
import { type Installation, readInstallRecord } from './install-record.ts';
import { findScriptCauses } from './script-causes.ts';

/** What is known of the events of an agent. */
export interface AgentHistory {
  readonly lastEvent: { readonly name: string; readonly at: number } | null;
  readonly lastFailure: { readonly message: string; readonly at: number } | null;
}

export type AgentState = 'installed' | 'off' | 'occupied' | 'broken';

export interface AgentStatus {
  readonly agent: string;
  readonly state: AgentState;
  /** Whether the entry also answers for the hooks of Hookline. */
  readonly guard: boolean;
  readonly causes: readonly Cause[];
  /** The files with our entries. */
  readonly files: readonly string[];
}

/** Checks whether the hooks of an agent can fire, and finds each reason for which they cannot. */
export async function inspectAgent(
  agent: KnownAgent,
  machine: AgentsMachine,
  history: AgentHistory,
  scopes: readonly InstallScope[] = ['user', 'project'],
): Promise<AgentStatus> {
  const found = inspectScopes(agent, scopes, machine);
  const active = found.filter(({ isOurs }) => isOurs);
  const files = found.flatMap((each) => each.files);
  const causes = [
    ...(active.length === 0 ? [] : await findActiveCauses(agent, active, machine, history)),
    ...files.flatMap((file) => file.causes),
    ...findScopeCauses(agent, found, machine),
    ...found.flatMap(({ scope }) => findFormerCauses(agent, scope, machine)),
  ];
  return {
    agent: agent.name,
    state: decideState(files, causes),
    guard: false,
    causes: removeRepeats(causes),
    files: files.flatMap((file) => (file.content === 'ours' ? [file.path] : [])),
  };
}

interface InspectedScope {
  readonly scope: InstallScope;
  readonly files: readonly InspectedFile[];
  readonly isOurs: boolean;
}

/** In the home directory the files of the project are those of the user, and count once. */
function inspectScopes(
  { name, install }: KnownAgent,
  scopes: readonly InstallScope[],
  machine: AgentsMachine,
): readonly InspectedScope[] {
  const paths = new Set<string>();
  return scopes.map((scope) => {
    const files = inspectFiles(install, createPlace(name, scope, machine)).filter(
      (file) => !paths.has(file.path),
    );
    for (const file of files) paths.add(file.path);
    return { scope, files, isOurs: files.some(({ content }) => content === 'ours') };
  });
}

/** Causes with which our entry is there and cannot work as it is. */
const BREAKING: readonly CauseCode[] = [
  'entries-missing',
  'file-broken',
  'file-shadowed',
  'interpreter-missing',
  'not-executable',
  'program-missing',
  'script-changed',
];

function decideState(files: readonly InspectedFile[], causes: readonly Cause[]): AgentState {
  const has = (content: InspectedFile['content']): boolean =>
    files.some((file) => file.content === content);
  if (has('occupied')) return 'occupied';
  if (has('broken')) return 'broken';
  if (!has('ours')) return 'off';
  return causes.some(({ code }) => BREAKING.includes(code)) ? 'broken' : 'installed';
}

async function findActiveCauses(
  agent: KnownAgent,
  active: readonly InspectedScope[],
  machine: AgentsMachine,
  history: AgentHistory,
): Promise<readonly Cause[]> {
  const { name, install } = agent;
  const commands = active.flatMap(({ files }) => files.flatMap((file) => file.commands));
  const own = await Promise.all(
    active.map(async ({ scope }) => install.findCauses?.(createPlace(name, scope, machine)) ?? []),
  );
  return [
    ...(await findVersionCauses(agent, machine)),
    ...own.flat(),
    ...active.flatMap(findGaps),
    ...findScriptCauses(name, commands, machine),
    ...findRestartCauses(agent, active, machine, history),
  ];
}

/** Finds files of a scope in which our entries are missing although others of the scope have them. */
function findGaps({ files }: InspectedScope): readonly Cause[] {
  const gaps = files.filter(({ content }) => content === 'free').map((file) => file.path);
  if (gaps.length === 0) return [];
  return [{ code: 'entries-missing', message: `Our entries are missing in ${gaps.join(', ')}.` }];
}

const VERSION_TIME_LIMIT_MS = 10_000;

async function findVersionCauses(
  agent: KnownAgent,
  machine: AgentsMachine,
): Promise<readonly Cause[]> {
  const { title, oldestVersion } = agent.install;
  const found = findAgentOnMachine(agent, machine);
  if (found === null) {
    const message = `${title} is not installed: neither its program nor its directory was found.`;
    return [{ code: 'agent-missing', message }];
  }
  if (found.program === null || oldestVersion === undefined) return [];
  const { stdout } = await runProgram({
    file: found.program,
    args: ['--version'],
    cwd: machine.project,
    env: copyEnvironment(machine.surroundings.env),
    stdin: '',
    timeoutMs: VERSION_TIME_LIMIT_MS,
  });
  const version = /\d+\.\d+\.\d+/.exec(stdout.text)?.[0];
  if (version === undefined || !isOlder(version, oldestVersion)) return [];
  const message = `${title} ${version} is too old: hooks need ${oldestVersion} or newer.`;
  return [{ code: 'agent-too-old', message }];
}

function isOlder(version: string, other: string): boolean {
  const [one, two] = [version, other].map((each) => each.split('.').map(Number));
  const differing = one?.findIndex((part, index) => part !== two?.[index]) ?? -1;
  return differing !== -1 && (one?.[differing] ?? 0) < (two?.[differing] ?? 0);
}

/** An agent that reads hooks when it starts does not know of ours if it was started before. */
function findRestartCauses(
  { name, install }: KnownAgent,
  active: readonly InspectedScope[],
  { surroundings, stateDirectory, project }: AgentsMachine,
  { lastEvent }: AgentHistory,
): readonly Cause[] {
  if (install.readsHooks === 'at once') return [];
  const isMeant = (each: Installation): boolean =>
    each.agent === name &&
    active.some(({ scope }) => scope === each.scope) &&
    (each.project === null || each.project === project);
  const installedAt = Math.max(
    0,
    ...readInstallRecord(stateDirectory)
      .installations.filter(isMeant)
      .map(({ at }) => at),
  );
  if (lastEvent !== null && lastEvent.at > installedAt) return [];
  const older = listRunningPrograms(install.programs, surroundings).filter(
    ({ startedAt }) => startedAt < installedAt,
  );
  if (older.length === 0) return [];
  const ids = older.map(({ pid }) => pid).join(', ');
  const message = `${install.title} was started before our hook was installed (process ${ids}): restart it.`;
  return [{ code: 'not-restarted', message }];
}

function findScopeCauses(
  { name }: KnownAgent,
  found: readonly InspectedScope[],
  { stateDirectory, project }: AgentsMachine,
): readonly Cause[] {
  const active = found.filter(({ isOurs }) => isOurs);
  if (active.length > 1) {
    const message = `Our hook is installed for you and for ${project}, so that events there may be recorded twice: run \`hookline agents disable ${name} --project\`.`;
    return [{ code: 'wrong-scope', message }];
  }
  if (active.length > 0) return [];
  const others = readInstallRecord(stateDirectory)
    .installations.filter((each) => each.agent === name && each.project !== null)
    .map((each) => each.project ?? '')
    .filter((other) => path.resolve(other) !== project);
  if (others.length === 0) return [];
  const message = `Our hook is installed for ${others.join(', ')} only, not for ${project}.`;
  return [{ code: 'wrong-scope', message }];
}

function findFormerCauses(
  { name, install }: KnownAgent,
  scope: InstallScope,
  machine: AgentsMachine,
): readonly Cause[] {
  const places = listFormerEntries(install, createPlace(name, scope, machine));
  if (places.length === 0) return [];
  const message = `${places.join(', ')}: starts @principal-ai/agent-hooks, which is no longer on npm. Replace it with \`hookline agents enable ${name}${scope === 'project' ? ' --project' : ''} --replace\`.`;
  return [{ code: 'former-package', message }];
}

function removeRepeats(causes: readonly Cause[]): readonly Cause[] {
  const messages = new Set<string>();
  return causes.filter(({ message }) => {
    const isNew = !messages.has(message);
    messages.add(message);
    return isNew;
  });
}
