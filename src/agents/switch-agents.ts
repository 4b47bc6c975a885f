import { rmSync } from 'node:fs';
import { withFileLock } from '../base/files.ts';
import type { InstallScope } from '../dialects/install.ts';
import {
  type AgentsMachine,
  createMissingAgentError,
  createPlace,
  findAgentOnMachine,
  type KnownAgent,
  loadAgent,
} from './agents.ts';
import { applyDisable, applyEnable, checkChanges, type OnStep } from './apply-changes.ts';
import { describeScript, planScript, writeScript } from './installed-script.ts';
import {
  getRecordFile,
  type InstallTarget,
  type Installation,
  isSameTarget,
  pruneBackups,
  readInstallRecord,
  writeInstallRecord,
} from './install-record.ts';
import { listFormerEntries } from './former-package.ts';
import { type FileChange, planDisable, planEnable, type PlanOptions } from './plan-changes.ts';

export interface SwitchOptions {
  readonly scope: InstallScope;
  /** Plans only. */
  readonly isDryRun?: boolean;
  /** Whether entries of a vanished package are replaced, too. */
  readonly replacesFormer?: boolean;
  readonly now: number;
  readonly onStep?: OnStep;
}

/** What was changed, or would be. */
export interface SwitchResult extends InstallTarget {
  readonly title: string;
  readonly changes: readonly ChangedFile[];
  /** The events that are recorded. */
  readonly events: readonly string[];
  /** What the user has to do before they are. */
  readonly nextStep: string | null;
  /** Places with entries of a vanished package that were left. */
  readonly former: readonly string[];
}

export interface ChangedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Installs our entries in an agent's settings. Doing it again changes nothing. */
export async function enableAgent(
  machine: AgentsMachine,
  name: string,
  options: SwitchOptions,
): Promise<SwitchResult> {
  const agent = await loadAgent(name);
  if (findAgentOnMachine(agent, machine) === null) throw createMissingAgentError(agent, machine);
  const { replacesFormer = false } = options;
  return switchAgent(agent, machine, options, (planned) => planEnable(planned, { replacesFormer }));
}

/** Removes our entries from an agent's settings, and leaves each file as it was found. */
export async function disableAgent(
  machine: AgentsMachine,
  name: string,
  options: SwitchOptions,
): Promise<SwitchResult> {
  return switchAgent(await loadAgent(name), machine, options, planDisable);
}

async function switchAgent(
  agent: KnownAgent,
  machine: AgentsMachine,
  options: SwitchOptions,
  plan: (options: PlanOptions) => readonly FileChange[],
): Promise<SwitchResult> {
  const { scope, isDryRun = false } = options;
  const target = createTarget(agent.name, scope, machine);
  const run = (): readonly FileChange[] => {
    const changes = plan(createPlanOptions(agent, target, machine));
    checkChanges(changes);
    if (!isDryRun) apply(plan !== planDisable, changes, target, machine, options);
    return changes;
  };
  // A dry run must not even create the directory of the lock.
  const changes = isDryRun ? run() : await withFileLock(getRecordFile(machine.stateDirectory), run);
  const place = createPlace(agent.name, scope, machine);
  return {
    ...target,
    title: agent.install.title,
    events: agent.install.events,
    nextStep: describeNextStep(agent),
    changes: changes
      .filter(({ file, text }) => file.text !== text)
      .map(({ file, text }) => ({ path: file.path, before: file.text, after: text })),
    former:
      isDryRun && options.replacesFormer === true ? [] : listFormerEntries(agent.install, place),
  };
}

function describeNextStep({ install }: KnownAgent): string | null {
  const { nextStep, readsHooks, title } = install;
  if (nextStep !== undefined) return nextStep;
  return readsHooks === 'at start' ? `Restart sessions of ${title} that run now.` : null;
}

function createTarget(
  agent: string,
  scope: InstallScope,
  { project }: AgentsMachine,
): InstallTarget {
  return { agent, scope, project: scope === 'project' ? project : null };
}

function createPlanOptions(
  { name, install }: KnownAgent,
  target: InstallTarget,
  machine: AgentsMachine,
): PlanOptions {
  const { installations } = readInstallRecord(machine.stateDirectory);
  return {
    install,
    place: createPlace(name, target.scope, machine),
    stateDirectory: machine.stateDirectory,
    installed: installations.find((each) => isSameTarget(each, target)) ?? null,
  };
}

function apply(
  isEnabling: boolean,
  changes: readonly FileChange[],
  target: InstallTarget,
  { surroundings, stateDirectory }: AgentsMachine,
  { now, onStep = () => undefined }: SwitchOptions,
): void {
  let record = readInstallRecord(stateDirectory);
  if (isEnabling) {
    const script = planScript(surroundings, stateDirectory);
    if (writeScript(script)) onStep('script');
    record = { ...record, script: describeScript(script) };
  }
  const options = { stateDirectory, record, target, now, onStep };
  const changed = isEnabling ? applyEnable(changes, options) : applyDisable(changes, options);
  pruneBackups(stateDirectory, changed);
}

/** Lists what is installed, of all projects. */
export function listInstallations({ stateDirectory }: AgentsMachine): readonly Installation[] {
  return readInstallRecord(stateDirectory).installations;
}

/** Removes the script that entries start, once no entry is left. */
export async function removeScript({ surroundings, stateDirectory }: AgentsMachine): Promise<void> {
  await withFileLock(getRecordFile(stateDirectory), () => {
    const record = readInstallRecord(stateDirectory);
    rmSync(planScript(surroundings, stateDirectory).path, { force: true });
    writeInstallRecord(stateDirectory, { ...record, script: null });
  });
}
