import { openUserStore } from '../host/open-trace.ts';
import { readSurroundings } from '../host/surroundings.ts';
import type { EventStore } from '../store/event-store.ts';
import type { CommandContext } from './context.ts';
import { toPrintable } from './output/print.ts';

/** Opens the event store of the user, runs the work, and always closes the store. */
export async function withStore<Result>(
  { print }: Pick<CommandContext, 'print'>,
  work: (store: EventStore) => Promise<Result> | Result,
): Promise<Result> {
  const store = await openUserStore(readSurroundings(), (problem) =>
    print.note(`note: ${toPrintable(problem)}`),
  );
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
