import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TempWorkspace } from './temp-workspace.ts';

/** Knows when the trace of a dispatch is on disk, so that writing it disturbs no later measurement. */
export interface TraceWatch {
  /** Say it before each dispatch. */
  expect(): void;
  settle(): Promise<void>;
}

const PATIENCE_MS = 5000;
const REST_MS = 10;

export function watchTrace({ home }: TempWorkspace): TraceWatch {
  const file = path.join(home, '.hookline', 'trace', 'trace.jsonl');
  let before: number | null = null;
  return {
    expect() {
      before = getSize(file);
    },
    async settle() {
      const deadline = performance.now() + PATIENCE_MS;
      while (before !== null && getSize(file) === before) {
        if (performance.now() > deadline) throw new Error(`nothing was written to ${file}`);
        await wait(1);
      }
      // What was written leaves garbage behind, which is collected beside the next call.
      if (before !== null) await wait(REST_MS);
      before = null;
    },
  };
}

function getSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
