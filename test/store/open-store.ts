import path from 'node:path';
import { onTestFinished } from 'vitest';
import { openDatabase, type SqlDatabase } from '../../src/store/driver.ts';
import {
  type EventStore,
  type EventStoreOptions,
  openEventStore,
} from '../../src/store/event-store.ts';

/** A store that is closed after the test, with what it reported. */
export async function openStore(
  directory: string,
  options: Partial<EventStoreOptions> = {},
): Promise<EventStore & { readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const store = await openEventStore({
    directory,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  onTestFinished(() => store.close());
  return Object.assign(store, { problems });
}

/** A second connection to the same file, as another program would open it. */
export async function openFile(directory: string): Promise<SqlDatabase> {
  const database = await openDatabase(path.join(directory, 'events.db'));
  let isOpen = true;
  const close = (): void => {
    if (isOpen) database.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { ...database, close };
}
