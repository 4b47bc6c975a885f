import { createFileMemory } from './files/file-memory.ts';
import { createShells } from './shell/shells.ts';
import type { Workbench } from './workbench.ts';

export type WorkbenchFacts = Omit<Workbench, 'cwd' | 'moveTo' | 'files' | 'shells'> & {
  /** Where it starts; the start directory unless something is gone on with. */
  readonly cwd: string;
};

export function createWorkbench({ cwd: start, ...facts }: WorkbenchFacts): Workbench {
  let cwd = start;
  return {
    ...facts,
    files: createFileMemory(),
    shells: createShells(),
    cwd: () => cwd,
    moveTo(directory) {
      cwd = directory;
    },
  };
}
