import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import type { OpenedSandbox } from '../../agent/tools/shell/shell-launch.ts';
import type { SpawnRequest } from '../../process/spawn.ts';
import {
  createSandboxLauncher,
  type SandboxedProgram,
  type SandboxLauncher,
} from '../../process/sandbox/create-sandbox.ts';
import { type HostProxy, startHostProxy } from '../../process/sandbox/host-proxy.ts';
import type { SandboxProbe } from '../../process/sandbox/probe.ts';
import type { SandboxProfileName } from '../../process/sandbox/profile.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { findLimitedNetwork, isReachable } from './limits.ts';
import { CommandQuestions, formatInHome } from './command-questions.ts';
import {
  NO_ACCESS,
  ProfileBuilder,
  type SandboxDirectories,
  type SandboxParts,
} from './profile-builder.ts';

/** What a session keeps for its commands outside of the workspace, made with the first of them. */
export class SessionPlaces {
  #directory: string | null = null;
  #proxy: HostProxy | null = null;
  #launcher: SandboxLauncher | null = null;

  openDirectories(): SandboxDirectories {
    this.#directory ??= createSessionDirectory();
    return { own: this.#directory, temporary: path.join(this.#directory, TEMPORARY) };
  }

  openLauncher(
    probe: WorkingProbe,
    { stateDirectory, surroundings }: OpenedHooks,
  ): SandboxLauncher {
    const parent = stateDirectory ?? this.openDirectories().own;
    const directory = path.join(parent, 'sandbox');
    const { nodePath } = surroundings;
    return (this.#launcher ??= createSandboxLauncher({ probe, directory, nodePath }));
  }

  /** Null for a network that needs no proxy. */
  async openProxy(opened: OpenedHooks): Promise<HostProxy | null> {
    if (!needsProxy(findLimitedNetwork(opened))) return null;
    const socket = path.join(this.openDirectories().own, 'proxy.socket');
    this.#proxy ??= await startHostProxy(socket, (host, port) => isReachable(host, port, opened));
    return this.#proxy;
  }

  close(): void {
    this.#proxy?.close();
    this.#launcher?.close();
    if (this.#directory === null) return;
    rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = null;
  }
}

type WorkingProbe = Extract<SandboxProbe, { readonly works: true }>;

const TEMPORARY = 'tmp';

function createSessionDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookline-session-')));
  mkdirSync(path.join(directory, TEMPORARY));
  return directory;
}

function needsProxy(network: ReturnType<typeof findLimitedNetwork>): boolean {
  return network !== 'on' && network !== 'off';
}

/** A sandbox that is entered with either profile. */
interface NamedSandbox extends OpenedSandbox {
  enterAs(name: SandboxProfileName, program: SpawnRequest): SandboxedProgram | string;
}

export async function prepareSandbox(
  probe: SandboxProbe,
  parts: SandboxParts,
  session: SessionPlaces,
): Promise<NamedSandbox | string | null> {
  if (!probe.works) return null;
  const { opened } = parts;
  const { home } = opened.surroundings;
  try {
    const directories = session.openDirectories();
    const launcher = session.openLauncher(probe, opened);
    const builder = new ProfileBuilder(parts, directories, await session.openProxy(opened));
    const questions = new CommandQuestions(parts, builder);
    const enter = (
      name: SandboxProfileName,
      program: SpawnRequest,
      access = NO_ACCESS,
    ): SandboxedProgram | string => {
      const profile = builder.build(program.cwd, name, access);
      return typeof profile === 'string' ? profile : launcher.prepare(program, profile);
    };
    return {
      temporaryDirectory: directories.temporary,
      takeScript: createScriptPool(directories.own),
      hidden: builder.listHiddenKeys().map((file) => formatInHome(file, home)),
      findQuestion: (command, cwd) => questions.find(command, cwd),
      enter: (program, access) => enter('workspace', program, access),
      enterAs: enter,
    };
  } catch (error) {
    return `The sandbox could not be prepared, so nothing was started: ${getErrorMessage(error)}`;
  }
}

/** Writes scripts into the same files again and again: to create and remove files takes longer. */
function createScriptPool(directory: string): OpenedSandbox['takeScript'] {
  const free: string[] = [];
  let count = 0;
  return () => {
    const file = free.pop() ?? path.join(directory, `script-${(count += 1)}`);
    return { file, giveBack: () => void free.push(file) };
  };
}
