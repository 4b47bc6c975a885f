import { existsSync } from 'node:fs';
import path from 'node:path';
import type { AgentHistory } from '../../../agents/status.ts';
import type { AgentsMachine } from '../../../agents/agents.ts';
import { tryOrNull } from '../../../base/errors.ts';
import { readTextIfPresent } from '../../../base/files.ts';
import { parseJson } from '../../../base/json.ts';
import { readNested } from '../../../dialects/install-settings.ts';
import { getDefaultDirectory, getErrorsFile } from '../../../bridge/fallback-file.ts';
import { openEventStore } from '../../../store/event-store.ts';
import { importWaitingEvents } from '../../with-store.ts';

export type ReadHistory = (agent: string) => AgentHistory;

/** Reads the last event and the last failure of agents, then closes the store. */
export async function withHistory<Result>(
  machine: AgentsMachine,
  onProblem: (text: string) => void,
  work: (read: ReadHistory) => Promise<Result>,
): Promise<Result> {
  const { stateDirectory, surroundings } = machine;
  const home = surroundings.home ?? stateDirectory;
  // Looking must not create a database: there is none when nothing was ever recorded.
  const hasEvents = [path.join(stateDirectory, 'events.db'), getDefaultDirectory(home)].some(
    (place) => existsSync(place),
  );
  const store = hasEvents ? await openEventStore({ directory: stateDirectory, onProblem }) : null;
  try {
    if (store !== null) await importWaitingEvents(store, { home, stateDirectory }, onProblem);
    return await work((agent) => {
      const event = store?.lastOf(agent) ?? null;
      const name = event?.event ?? event?.foreignEvent ?? 'unknown';
      return {
        lastEvent: event === null ? null : { name, at: event.at },
        lastFailure: readLastFailure(agent, machine),
      };
    });
  } finally {
    await store?.close();
  }
}

/** The last entry of the file in which the forwarder reports why it could not deliver an event. */
function readLastFailure(
  agent: string,
  { surroundings: { home } }: AgentsMachine,
): AgentHistory['lastFailure'] {
  if (home === null) return null;
  const file = getErrorsFile(getDefaultDirectory(home), agent);
  const parsed = parseJson(tryOrNull(() => readTextIfPresent(file)) ?? '');
  const entries = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  const last: unknown = entries.at(-1);
  const at = Date.parse(String(readNested(last, 'timestamp')));
  const message = readNested(last, 'error', 'message');
  const context = readNested(last, 'context');
  if (typeof message !== 'string' || Number.isNaN(at)) return null;
  return { message: typeof context === 'string' ? `${context}: ${message}` : message, at };
}
