import { StringDecoder } from 'node:string_decoder';
import { type BoundedOutput, OutputCollector } from '../../../process/bounded-output.ts';
import { runProgram, type ProgramResult } from '../../../process/run.ts';
import {
  toShellExitCode,
  prepareLaunch,
  type ShellLaunch,
  type ShellCommand,
} from './shell-launch.ts';
import {
  createOrphanedProcessGroups,
  type OrphanedProcessGroups,
} from './orphaned-process-groups.ts';

/** Background commands of one agent. They end with the session at the latest. */
export interface Shells {
  /** A string says why the command was not started. */
  start(shellCommand: ShellCommand): ShellState | string;
  find(id: string): ShellState | null;
  /** Output since the last call; null when there is no such shell. */
  readNew(id: string): BoundedOutput | null;
  /** Ends the shell's process tree; null when there is no such shell. */
  kill(id: string): Promise<ShellState | null>;
  list(): readonly ShellState[];
  /** Calls the listener when a shell starts or ends, until the returned function is called. */
  onChange(listener: (shell: ShellState) => void): () => void;
  /** Processes that ended commands, foreground or background, left running. */
  readonly orphans: OrphanedProcessGroups;
  /** Ends all shells and orphaned processes; none can be started afterwards. */
  closeAll(): Promise<void>;
}

export interface ShellState {
  readonly id: string;
  readonly command: string;
  readonly status: 'running' | 'completed' | 'failed' | 'killed';
  /** Null while it runs and when it was killed. */
  readonly exitCode: number | null;
}

export function createShells(): Shells {
  const shells = new Map<string, BackgroundShell>();
  const listeners = new Set<(shell: ShellState) => void>();
  const notify = (shell: ShellState) => {
    for (const listener of listeners) listener(shell);
  };
  const orphans = createOrphanedProcessGroups();
  let isClosed = false;

  return {
    orphans,
    start(shellCommand) {
      if (isClosed) return 'The session has ended; nothing can be started in the background.';
      const launch = prepareLaunch(shellCommand);
      if (typeof launch === 'string') return launch;
      const id = `bash_${shells.size + 1}`;
      const shell = new BackgroundShell(id, shellCommand.command, launch, orphans);
      shells.set(id, shell);
      notify(shell.state);
      // An error of a listener is not reported, because nobody could handle it.
      shell.ended.then(() => notify(shell.state)).catch(() => undefined);
      return shell.state;
    },
    find: (id) => shells.get(id)?.state ?? null,
    readNew: (id) => shells.get(id)?.readNew() ?? null,
    async kill(id) {
      const shell = shells.get(id);
      await shell?.kill();
      return shell?.state ?? null;
    },
    list: () => [...shells.values()].map(({ state }) => state),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async closeAll() {
      isClosed = true;
      await Promise.all([...shells.values()].map((shell) => shell.kill()));
      orphans.hangUp();
    },
  };
}

const MAX_UNREAD_BYTES = 256 * 1024;

class BackgroundShell {
  readonly ended: Promise<void>;
  readonly #ending = new AbortController();
  // Decodes across chunks, so that no character is split.
  readonly #decoder = new StringDecoder('utf8');
  #unread: OutputCollector = new OutputCollector(MAX_UNREAD_BYTES);
  #state: ShellState;

  constructor(id: string, command: string, launch: ShellLaunch, orphans: OrphanedProcessGroups) {
    this.#state = { id, command, status: 'running', exitCode: null };
    this.ended = this.#run(command, launch, orphans);
  }

  get state(): ShellState {
    return this.#state;
  }

  readNew(): BoundedOutput {
    const output = this.#unread.result();
    this.#unread = new OutputCollector(MAX_UNREAD_BYTES);
    return output;
  }

  async kill(): Promise<void> {
    this.#ending.abort();
    await this.ended;
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
        onOutput: (chunk) => this.#append(this.#decoder.write(chunk)),
      },
    );
    this.#append(this.#decoder.end());
    if (result.spawnError !== null) this.#append(result.spawnError.message);
    orphans.track({ leader, command });
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
  const known = shells.list().map((shell) => shell.id);
  const others = known.length === 0 ? 'none was started' : `there are ${known.join(', ')}`;
  return `No background shell has the ID ${id}; ${others}.`;
}
