import { randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import type { Clock } from '../base/clock.ts';
import { VERSION } from '../base/version.ts';
import type { Moment } from '../hooks/facts.ts';
import type { Surroundings } from '../dialects/machine.ts';
import { getMachineId } from './machine-id.ts';

/**
 * Returns the fields that every event of a session has, with the current time. Fields that are not
 * `known` are generated once.
 */
export function createMoment(
  surroundings: Surroundings,
  clock: Clock,
  initialMoment: Partial<Moment>,
): () => Moment {
  const startedAt = clock.now();
  let session: Moment | null = null;
  return () => {
    session ??= createSession(surroundings, initialMoment, startedAt);
    return { ...session, at: clock.now() };
  };
}

/** Returns the user id that hooks and plugins get. */
export function getUserId(surroundings: Surroundings): string {
  const readVariable = createVariableReader(surroundings);
  return (
    readVariable('CLINE_USER_ID') ??
    getMachineId(surroundings) ??
    readVariable('USER') ??
    readVariable('USERNAME') ??
    'unknown'
  );
}

/** Reads a variable; an empty one counts as unset. */
function createVariableReader({ env }: Surroundings): (name: string) => string | null {
  return (name) => env[name]?.trim().match(/.+/su)?.[0] ?? null;
}

function createSession(
  surroundings: Surroundings,
  initialMoment: Partial<Moment>,
  startedAt: number,
): Moment {
  const { cwd } = surroundings;
  const readVariable = createVariableReader(surroundings);
  const sessionId = initialMoment.sessionId ?? randomUUID();
  return {
    sessionId,
    taskId: String(startedAt),
    ulid: ulid(startedAt),
    at: startedAt,
    cwd,
    workspaceRoots: [],
    permissionMode: 'default',
    model: { provider: 'unknown', id: 'unknown' },
    agent: { id: sessionId, parentId: null, type: null },
    iteration: 0,
    userId: getUserId(surroundings),
    version: readVariable('CLINE_VERSION') ?? VERSION,
    transcriptPath: null,
    promptId: null,
    ...initialMoment,
  };
}
