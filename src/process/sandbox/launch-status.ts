import { closeSync, fstatSync, ftruncateSync, readSync } from 'node:fs';
import { createAnonymousFile } from '../../base/files.ts';

/** Where bubblewrap writes what becomes of one sandbox. */
export interface LaunchStatus {
  readonly descriptor: number;
  /** Whether the program was started, once bubblewrap has ended by itself. */
  hasStarted(): boolean;
  /** The first process in the sandbox; null before there is one. */
  readChild(): number | null;
  /** Must be called when bubblewrap has ended. */
  giveBack(): void;
}

/** Files that are used again and again, because to make one takes longer than to empty it. */
export class LaunchStatusFiles {
  readonly #free: number[] = [];

  take(): LaunchStatus {
    const descriptor = this.#free.pop() ?? createAnonymousFile(NO_CONTENT);
    return {
      descriptor,
      hasStarted: () => readStatus(descriptor).includes('"exit-code"'),
      readChild: () => parseChild(readStatus(descriptor)),
      giveBack: () => {
        ftruncateSync(descriptor);
        this.#free.push(descriptor);
      },
    };
  }

  /** Those that are in use are closed with this process. */
  close(): void {
    for (const descriptor of this.#free.splice(0)) closeSync(descriptor);
  }
}

const NO_CONTENT = new Uint8Array();

/** Lines of JSON; the exit code is among them if the sandbox was made and the program started. */
function readStatus(descriptor: number): string {
  const buffer = Buffer.alloc(fstatSync(descriptor).size);
  return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0));
}

/** The number is complete when something follows it. */
function parseChild(status: string): number | null {
  const [, pid] = /"child-pid": (\d+)\D/.exec(status) ?? [];
  return pid === undefined ? null : Number(pid);
}
