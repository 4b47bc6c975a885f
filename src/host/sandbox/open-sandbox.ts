import { tmpdir } from 'node:os';
import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';
import type { CommandSandbox, OpenedSandbox } from '../../agent/tools/shell/shell-launch.ts';
import { probeSandbox, type SandboxProbe } from '../../process/sandbox/probe.ts';
import { expandHome } from '../../permissions/rules/home-path.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { Settings } from '../settings.ts';
import { listLimitNotes, resolveSandboxMode } from './limits.ts';
import { prepareSandbox, SessionPlaces } from './prepare-sandbox.ts';
import type { SandboxParts } from './profile-builder.ts';

/** The sandbox of a session's commands. */
export interface SessionSandbox extends CommandSandbox {
  /** Removes its temporary directory. */
  close(): void;
}

/** What decides whether a session has a sandbox, and what it is made of. */
interface SandboxOptions extends SandboxParts {
  /** Overrides the setting. */
  readonly mode: Settings['sandbox.mode'] | undefined;
  readonly notice: (text: string) => void;
}

type ProbedHost = Pick<
  OpenedHooks,
  'surroundings' | 'workspaceRoots' | 'stateDirectory' | 'config'
>;

/** Whether a sandbox works on this machine, and what is missing. */
export function probeHostSandbox(host: ProbedHost): Promise<SandboxProbe> {
  const { platform, env } = host.surroundings;
  const untrusted = host.workspaceRoots;
  return probeSandbox({ platform, path: env['PATH'], untrusted, places: listMounted(host) });
}

/** The directories from which sandboxes mount something. */
function listMounted(host: ProbedHost): readonly string[] {
  const { home } = host.surroundings;
  const wishes = host.config.settings['sandbox.write'].map((wish) => expandHome(wish, home));
  const owned = [tmpdir(), home, host.stateDirectory].filter((place) => place !== null);
  return [...host.workspaceRoots, ...owned, ...wishes]
    .filter((place) => path.isAbsolute(place))
    .flatMap((place) => findRealPath(place) ?? []);
}

/**
 * Opens the sandbox of a session. In the mode `on` it throws where no sandbox works; in the mode `auto`
 * commands then run without one, which is reported once.
 */
export async function openSandbox(options: SandboxOptions): Promise<SessionSandbox> {
  const { opened, notice } = options;
  for (const note of listLimitNotes(opened)) notice(note);
  const { mode, requiredBy } = resolveSandboxMode(opened, options.mode);
  if (mode === 'off') return NO_SANDBOX;
  const probing = probeHostSandbox(opened);
  if (mode === 'on') requireSandbox(await probing, requiredBy);
  else void probing.then((probe) => reportUnavailable(probe, notice));
  const places = new SessionPlaces();
  let opening: Promise<OpenedSandbox | string | null> | null = null;
  return {
    open: () => (opening ??= probing.then((probe) => prepareSandbox(probe, options, places))),
    close: () => places.close(),
  };
}

const NO_SANDBOX: SessionSandbox = { open: async () => null, close: () => undefined };

function requireSandbox(probe: SandboxProbe, requiredBy: string | null): void {
  if (probe.works) return;
  if (requiredBy !== null) {
    throw new HooklineError('SANDBOX_UNAVAILABLE', {
      message: `"sandbox.enabled" in ${requiredBy} is true, and no sandbox can be made: ${probe.why}`,
      hint: probe.hint ?? 'Remove it there, or choose with `--sandbox auto` or `--sandbox off`.',
    });
  }
  throw new HooklineError('SANDBOX_UNAVAILABLE', {
    message: `the setting sandbox.mode is "on", and no sandbox can be made: ${probe.why}`,
    hint: probe.hint ?? 'Set it to "auto" or "off" to run commands without a sandbox.',
  });
}

function reportUnavailable(probe: SandboxProbe, notice: (text: string) => void): void {
  if (probe.works) return;
  const hint = probe.hint === null ? '' : ` ${probe.hint}`;
  notice(`commands run without a sandbox: ${probe.why}${hint}`);
}
