import { randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import type { Clock } from '../base/clock.ts';
import { VERSION } from '../base/version.ts';
import type { Moment } from '../hooks/facts.ts';
import type { Surroundings } from './config.ts';

export interface MomentRequest {
  readonly surroundings: Surroundings;
  readonly clock: Clock;
  /** Known fields of the session; the others are generated once. */
  readonly known: Partial<Moment>;
}

/** Returns the fields that every event of a session has, with the current time. */
export function createMoment(request: MomentRequest): () => Moment {
  const startedAt = request.clock.now();
  let session: Moment | null = null;
  return () => {
    session ??= createSession(request, startedAt);
    return { ...session, at: request.clock.now() };
  };
}

/** The user id that hooks and plugins get. */
export function getUserId(surroundings: Surroundings): string {
  const readVariable = createVariableReader(surroundings);
  return (
    readVariable('CLINE_USER_ID') ?? readVariable('USER') ?? readVariable('USERNAME') ?? 'unknown'
  );
}

/** Reads a variable; an empty one counts as unset. */
function createVariableReader({ env }: Surroundings): (name: string) => string | null {
  return (name) => env[name]?.trim().match(/.+/su)?.[0] ?? null;
}

function createSession({ surroundings, known }: MomentRequest, startedAt: number): Moment {
  const { cwd } = surroundings;
  const readVariable = createVariableReader(surroundings);
  const sessionId = known.sessionId ?? randomUUID();
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
    ...known,
  };
}
