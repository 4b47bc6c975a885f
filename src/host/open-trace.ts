import path from 'node:path';
import { HooklineError } from '../base/errors.ts';
import type { Surroundings } from '../dialects/machine.ts';
import type { CallEntry, TraceEntry } from '../trace/entry.ts';
import { SPOOL_FOLDER } from '../trace/spool-file.ts';
import { TraceFile } from '../trace/trace-file.ts';
import type { EventStore, Retention } from '../store/event-store.ts';
import { loadConfig } from './config.ts';
import type { OpenedHooks } from './open-hooks.ts';
import type { Settings } from './settings.ts';
import { getStateDirectory } from './surroundings.ts';

export interface HostTrace {
  /** Makes and writes the entry later, never on the caller's path. */
  record(entry: () => TraceEntry | CallEntry): void;
  /** Settles when all that was recorded is on disk. */
  close(): Promise<void>;
}

/** A folder this large is taken into the event store when a host closes; all that reads the store takes it anyway. */
const LARGE_BYTES = 4 * 1024 * 1024;

/**
 * Opens the trace of a host; null when it is disabled or there is no state directory. A dispatch is appended
 * to a file, from which the event store takes it: opening SQLite would cost a short command a third of its time.
 */
export function openTrace(
  { config: { settings }, stateDirectory }: Pick<OpenedHooks, 'config' | 'stateDirectory'>,
  onProblem: (message: string) => void,
): HostTrace | null {
  if (!settings['trace.enabled'] || stateDirectory === null) return null;
  const file = new TraceFile({ directory: path.join(stateDirectory, SPOOL_FOLDER), onProblem });
  return {
    record: (entry) => file.record(entry),
    async close() {
      await file.flush();
      if (file.getSize() < LARGE_BYTES) return;
      const { openEventStore } = await import('../store/event-store.ts');
      const retention = readRetention(settings);
      const store = await openEventStore({ directory: stateDirectory, retention, onProblem });
      await store.close();
    },
  };
}

function readRetention(settings: Settings): Retention {
  return { days: settings['trace.maxDays'], bytes: settings['trace.maxBytes'] };
}

/** Opens the event store of this user, with the user's own settings; it takes what waits in the trace. */
export async function openUserStore(
  surroundings: Surroundings,
  onProblem: (message: string) => void,
): Promise<EventStore> {
  const directory = getStateDirectory(surroundings);
  if (directory === null) {
    throw new HooklineError('STORE_UNUSABLE', {
      message: 'there is no event store without a home directory',
      hint: 'Set HOME, or HOOKLINE_HOME to the directory of the store.',
    });
  }
  const { settings } = loadConfig({
    homeFile: path.join(directory, 'config.json'),
    workspaceFiles: [],
    env: surroundings.env,
    flags: {},
  });
  const { openEventStore } = await import('../store/event-store.ts');
  return openEventStore({ directory, retention: readRetention(settings), onProblem });
}
