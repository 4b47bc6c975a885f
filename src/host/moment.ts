import { randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import type { Clock } from '../base/clock.ts';
import { VERSION } from '../base/version.ts';
import type { Moment } from '../hooks/facts.ts';
import type { Surroundings } from './config.ts';

export interface MomentRequest {
  readonly surroundings: Surroundings;
  readonly clock: Clock;
  /** What the caller knows of its session; the rest is made up once and stays. */
  readonly known: Partial<Moment>;
}

/** Gives what every event of a session carries, with the present time. */
export function createMoment(request: MomentRequest): () => Moment {
  const startedAt = request.clock.now();
  let session: Moment | null = null;
  return () => {
    session ??= beginSession(request, startedAt);
    return { ...session, at: request.clock.now() };
  };
}

/** What whoever works here is known by to hooks and plugins. */
export function getUserId(surroundings: Surroundings): string {
  const named = namedIn(surroundings);
  return named('CLINE_USER_ID') ?? named('USER') ?? named('USERNAME') ?? 'unknown';
}

/** A variable that is set to nothing says nothing. */
function namedIn({ env }: Surroundings): (name: string) => string | null {
  return (name) => env[name]?.trim().match(/.+/su)?.[0] ?? null;
}

function beginSession({ surroundings, known }: MomentRequest, startedAt: number): Moment {
  const { cwd } = surroundings;
  const named = namedIn(surroundings);
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
    version: named('CLINE_VERSION') ?? VERSION,
    transcriptPath: null,
    promptId: null,
    ...known,
  };
}
