import { openUserStore } from '../host/open-trace.ts';
import { getErrorMessage } from '../base/errors.ts';
import { hasWaitingEvents, type ImportMachine } from '../bridge/waiting-files.ts';
import { getStateDirectory, readSurroundings } from '../host/surroundings.ts';
import type { EventStore } from '../store/event-store.ts';
import type { CommandContext } from './context.ts';
import { toPrintable } from './output/print.ts';

/** Opens the event store of the user, takes what waits in files, runs the work, and always closes the store. */
export async function withStore<Result>(
  { print }: Pick<CommandContext, 'print'>,
  work: (store: EventStore) => Promise<Result> | Result,
): Promise<Result> {
  const surroundings = readSurroundings();
  const showProblem = (problem: string) => print.note(`note: ${toPrintable(problem)}`);
  const store = await openUserStore(surroundings, showProblem);
  try {
    const stateDirectory = getStateDirectory(surroundings);
    if (stateDirectory !== null) {
      await importWaitingEvents(store, { home: surroundings.home, stateDirectory }, showProblem);
    }
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Takes the events into the store that clients stored in files; what cannot be imported is only reported. */
export async function importWaitingEvents(
  store: EventStore,
  machine: ImportMachine,
  showProblem: (problem: string) => void,
): Promise<void> {
  if (!hasWaitingEvents(machine)) return;
  const { importFallbackFiles } = await import('../bridge/import-fallback-files.ts');
  try {
    const { problems } = await importFallbackFiles(store, machine);
    for (const problem of problems) showProblem(problem);
  } catch (error) {
    showProblem(`events in files cannot be stored: ${getErrorMessage(error)}`);
  }
}
