import { StringDecoder } from 'node:string_decoder';
import { type BoundedOutput, OutputCollector } from '../../../process/bounded-output.ts';
import { type SavedOutput, SpillFile } from './command-output.ts';
import { runProgram, type ProgramResult } from '../../../process/run.ts';
import {
  toShellExitCode,
  prepareLaunch,
  type ShellLaunch,
  type BashCommand,
} from './shell-launch.ts';

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
    shellCommand: BashCommand,
    spill: SpillFile = new SpillFile(null, MAX_UNREAD_BYTES),
  ): ShellState | string {
    if (this.#isClosed) return 'The session has ended; nothing can be started in the background.';
    const launch = prepareLaunch(shellCommand);
    if (typeof launch === 'string') return launch;
    const id = `bash_${this.#shells.size + 1}`;
    const shell = new BackgroundShell(id, shellCommand.command, { launch, spill }, this.orphans);
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
    let leader: number | null = null;
    const result = await runProgram(
      {
        ...launch.program,
        stdin: '',
        opensStdin: true,
        timeoutMs: Number.POSITIVE_INFINITY,
        maxStdoutBytes: 0,
      },
      {
        signal: this.#ending.signal,
        onStart: (pid) => void (leader = pid),
        onOutput: (chunk) => {
          this.#spill.push(chunk);
          this.#append(this.#decoder.write(chunk));
        },
      },
    );
    this.#append(this.#decoder.end());
    if (result.spawnError !== null) this.#append(result.spawnError.message);
    this.#spill.finish();
    this.#isTreeEnded = result.isTreeEnded;
    orphans.track(leader, command);
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
  readonly #leaders = new Set<number>();

  /**
   * Must be called when a command has ended; tracks its group if processes remain. The leader is null
   * when no process was started.
   */
  track(leader: number | null, command: string): void {
    for (const each of this.#leaders) {
      if (!sendSignal(-each, 0)) this.#leaders.delete(each);
    }
    if (leader === null || isDisowned(command)) return;
    if (sendSignal(-leader, 0)) this.#leaders.add(leader);
  }

  /**
   * Sends SIGHUP, as a closing terminal does: processes that ignore it (`nohup`) or left the group
   * (`setsid`) continue.
   */
  hangUp(): void {
    for (const leader of this.#leaders) {
      // The leader has ended: a process that has its pid now is unrelated and has its own group.
      if (!sendSignal(leader, 0)) sendSignal(-leader, 'SIGHUP');
    }
    this.#leaders.clear();
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
