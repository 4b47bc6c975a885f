import { StringDecoder } from 'node:string_decoder';
import { type BoundedOutput, OutputCollector } from '../../../process/bounded-output.ts';
import { type SavedOutput, SpillFile } from './command-output.ts';
import type { ProgramResult } from '../../../process/run.ts';
import type { SandboxedProgram } from '../../../process/sandbox/create-sandbox.ts';
import { runLaunch, type ShellLaunch, type ShellRun, toShellExitCode } from './shell-launch.ts';

export interface ShellState {
  readonly id: string;
  readonly command: string;
  readonly status: 'running' | 'completed' | 'failed' | 'killed';
  /** Null while it runs and when it was killed. */
  readonly exitCode: number | null;
}

export interface KilledShell extends ShellState {
  /** Whether nothing that it started can be left. */
  readonly isTreeEnded: boolean;
}

export interface NewOutput extends BoundedOutput {
  /** The file that has what is missing; null when nothing is, or when there is none. */
  readonly saved: SavedOutput | null;
}

/** Background commands of one agent. They end with the session at the latest. */
export class Shells {
  /** Processes that ended commands, foreground or background, left running. */
  readonly orphans = new OrphanedProcessGroups();
  readonly #shells = new Map<string, BackgroundShell>();
  readonly #listeners = new Set<(shell: ShellState) => void>();
  #isClosed = false;

  /** A string says why the command was not started. */
  start(
    command: string,
    launch: ShellLaunch,
    spill: SpillFile = new SpillFile(null, MAX_UNREAD_BYTES),
  ): ShellState | string {
    if (this.#isClosed) {
      launch.sandboxed?.release();
      launch.dispose();
      return 'The session has ended; nothing can be started in the background.';
    }
    const id = `bash_${this.#shells.size + 1}`;
    const shell = new BackgroundShell(id, command, { launch, spill }, this.orphans);
    this.#shells.set(id, shell);
    this.#notify(shell.state);
    // An error of a listener is not reported, because no caller could handle it.
    shell.ended.then(() => this.#notify(shell.state)).catch(() => undefined);
    return shell.state;
  }

  find(id: string): ShellState | null {
    return this.#shells.get(id)?.state ?? null;
  }

  /** Output since the last call; null when there is no such shell. */
  readNew(id: string): NewOutput | null {
    return this.#shells.get(id)?.readNew() ?? null;
  }

  /** Ends the shell's process tree; null when there is no such shell. */
  async kill(id: string): Promise<KilledShell | null> {
    return (await this.#shells.get(id)?.kill()) ?? null;
  }

  list(): readonly ShellState[] {
    return [...this.#shells.values()].map(({ state }) => state);
  }

  /** Calls the listener when a shell starts or ends, until the returned function is called. */
  onChange(listener: (shell: ShellState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends all shells and orphaned processes; none can be started afterwards. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#shells.values()].map((shell) => shell.kill()));
    this.orphans.hangUp();
  }

  #notify(shell: ShellState): void {
    for (const listener of this.#listeners) listener(shell);
  }
}

/** What is kept in memory until it is read. */
export const MAX_UNREAD_BYTES = 256 * 1024;

interface PreparedShell {
  readonly launch: ShellLaunch;
  readonly spill: SpillFile;
}

class BackgroundShell {
  readonly ended: Promise<void>;
  readonly #ending = new AbortController();
  // Decodes across chunks, so that no character is split.
  readonly #decoder = new StringDecoder('utf8');
  #unread: OutputCollector = new OutputCollector(MAX_UNREAD_BYTES);
  readonly #spill: SpillFile;
  #state: ShellState;
  #isTreeEnded = false;

  constructor(
    id: string,
    command: string,
    { launch, spill }: PreparedShell,
    orphans: OrphanedProcessGroups,
  ) {
    this.#state = { id, command, status: 'running', exitCode: null };
    this.#spill = spill;
    this.ended = this.#run(command, launch, orphans);
  }

  get state(): ShellState {
    return this.#state;
  }

  readNew(): NewOutput {
    const output = this.#unread.result();
    this.#unread = new OutputCollector(MAX_UNREAD_BYTES);
    return { ...output, saved: output.truncated ? this.#spill.saved : null };
  }

  async kill(): Promise<KilledShell> {
    this.#ending.abort();
    await this.ended;
    return { ...this.#state, isTreeEnded: this.#isTreeEnded };
  }

  async #run(command: string, launch: ShellLaunch, orphans: OrphanedProcessGroups): Promise<void> {
    const limits = { timeoutMs: Number.POSITIVE_INFINITY, maxStdoutBytes: 0 };
    const run = await runLaunch(launch, limits, {
      signal: this.#ending.signal,
      onOutput: (chunk) => {
        this.#spill.push(chunk);
        this.#append(this.#decoder.write(chunk));
      },
    });
    const { result } = run;
    this.#append(this.#decoder.end());
    if (result.spawnError !== null) this.#append(result.spawnError.message);
    if (run.isUnmade) this.#append(result.stderr.text);
    this.#spill.finish();
    this.#isTreeEnded = result.isTreeEnded;
    orphans.track(run, command);
    this.#state = { ...this.#state, ...toEndState(result) };
    launch.dispose();
  }

  #append(text: string): void {
    this.#unread.push(Buffer.from(text, 'utf8'));
  }
}

function toEndState(result: ProgramResult): Pick<ShellState, 'status' | 'exitCode'> {
  if (result.ending === 'abort') return { status: 'killed', exitCode: null };
  const exitCode = toShellExitCode(result);
  return { status: exitCode === 0 ? 'completed' : 'failed', exitCode };
}

/** Lists the known shells when none has this id; null when one has. */
export function describeUnknownShell(id: string, shells: Shells): string | null {
  if (shells.find(id) !== null) return null;
  const ids = shells.list().map((shell) => shell.id);
  const others = ids.length === 0 ? 'none was started' : `there are ${ids.join(', ')}`;
  return `No background shell has the ID ${id}; ${others}.`;
}

/** Process groups of ended commands in which processes still run, such as after `server &`. */
class OrphanedProcessGroups {
  /** By leader; the sandbox that the group lives in, or null. */
  readonly #groups = new Map<number, SandboxedProgram | null>();

  /**
   * Must be called when a command has ended; tracks its group if processes remain, and releases its
   * sandbox if none do. The leader is null when no process was started.
   */
  track({ leader, sandboxed }: ShellRun, command: string): void {
    this.#forgetEnded();
    const isAlive = leader !== null && sendSignal(-leader, 0);
    if (!isAlive) sandboxed?.release();
    else if (sandboxed !== null || !isDisowned(command)) this.#groups.set(leader, sandboxed);
  }

  #forgetEnded(): void {
    for (const [leader, sandboxed] of this.#groups) {
      if (sendSignal(-leader, 0)) continue;
      this.#groups.delete(leader);
      sandboxed?.release();
    }
  }

  /**
   * Sends SIGHUP, as a closing terminal does: processes that ignore it (`nohup`) or left the group
   * (`setsid`) continue. In a sandbox none does: its first process is in the group, and all others
   * end with that.
   */
  hangUp(): void {
    for (const [leader, sandboxed] of this.#groups) {
      // The leader has ended: a process that has its pid now is unrelated and has its own group.
      if (!sendSignal(leader, 0)) sendSignal(-leader, sandboxed === null ? 'SIGHUP' : 'SIGKILL');
      sandboxed?.release();
    }
    this.#groups.clear();
  }
}

/** `disown` is internal to the shell, so the command's text is the only sign of it. */
function isDisowned(command: string): boolean {
  return /\bdisown\b/.test(command);
}

/** Also false where process groups do not exist. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
