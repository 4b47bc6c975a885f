import { systemClock } from '../../base/clock.ts';
import { isProcessAlive } from '../../process/process-table.ts';
import {
  CLIENT_SECRET_HEADER,
  EVENT_ID_HEADER,
  formatRoute,
  SERVER_SECRET_HEADER,
} from '../protocol.ts';
import type { RunningBridge } from '../run-file.ts';
import { exchange, type HttpFailure } from './http-exchange.ts';
import { findListeners, type Listener, readSocketTables } from './listeners.ts';

export interface Delivery {
  readonly agent: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  /** How long a bridge may take to answer; longer for a large body. */
  readonly waitMs: number;
  /** The ports of the command line; empty when a bridge is to be found. */
  readonly ports: readonly number[];
  /** Where a bridge is looked for then. */
  readonly knownPorts: readonly number[];
  /** What the run file says, whether that bridge still runs or not. */
  readonly bridge: RunningBridge | null;
}

/** An agent waits for its hook, so nobody waits longer for a bridge. */
export const WAIT_MS = 150;
const LEAST_WAIT_MS = 20;
/** A large body needs more time to be sent and stored than one that nobody takes. */
const BYTES_PER_MS = 64 * 1024;

/**
 * Posts an event to the first bridge that takes it. Returns null when one has, else why each did not; the event may have
 * arrived all the same, so it keeps its id.
 */
export async function deliverEvent(delivery: Delivery): Promise<readonly HttpFailure[] | null> {
  const waitMs = delivery.waitMs + Math.floor(delivery.body.length / BYTES_PER_MS);
  const deadline = systemClock.elapsed() + waitMs;
  const failures: HttpFailure[] = [];
  for (const { send, isOnly } of listAttempts(delivery)) {
    // The first one gets its chance however long it took to find it.
    const left = Math.ceil(deadline - systemClock.elapsed());
    if (left <= 0 && failures.length > 0) break;
    const failure = await send(Math.max(left, LEAST_WAIT_MS));
    if (failure === null) return null;
    failures.push(failure);
    if (isOnly && failure.code !== 'ECONNREFUSED') break;
  }
  return failures.length === 0 ? [describeNobody(delivery)] : failures;
}

interface Attempt {
  readonly send: (waitMs: number) => Promise<HttpFailure | null>;
  /** Whether nobody else gets the event, unless nobody listens there. */
  readonly isOnly: boolean;
}

function* listAttempts(delivery: Delivery): Generator<Attempt> {
  const { ports, knownPorts } = delivery;
  const bridge = findOwnBridge(delivery.bridge);
  if (ports.length === 0 && bridge !== null) {
    // What our own bridge refuses is not sent to a stranger.
    yield { send: (waitMs) => postToOwnBridge(delivery, bridge, waitMs), isOnly: true };
  }
  const tables = readSocketTables();
  for (const port of ports.length === 0 ? knownPorts : ports) {
    if (port === bridge?.port) {
      if (ports.length === 0) continue;
      yield { send: (waitMs) => postToOwnBridge(delivery, bridge, waitMs), isOnly: false };
      continue;
    }
    for (const listener of findListeners(port, tables)) {
      const target = { ...listener, port };
      yield { send: (waitMs) => postToForeignBridge(delivery, target, waitMs), isOnly: false };
    }
  }
}

/**
 * A process that still runs holds its port, so nobody else can listen there. Elsewhere than on Linux, looking that up
 * takes longer than posting; there the secret of the answer alone tells.
 */
function findOwnBridge(bridge: RunningBridge | null): RunningBridge | null {
  if (bridge === null || process.platform !== 'linux') return bridge;
  return isProcessAlive(bridge) ? bridge : null;
}

async function postToOwnBridge(
  delivery: Delivery,
  { port, clientSecret, serverSecret }: RunningBridge,
  waitMs: number,
): Promise<HttpFailure | null> {
  const headers = { [CLIENT_SECRET_HEADER]: clientSecret };
  const answer = await post(delivery, { host: '127.0.0.1', port, headers }, waitMs);
  if (!('status' in answer)) return answer;
  if (answer.headers.get(SERVER_SECRET_HEADER.toLowerCase()) !== serverSecret) {
    return { message: `port ${port} was not answered by the bridge of the run file`, code: null };
  }
  return toFailure(answer.status);
}

interface ForeignBridge extends Listener {
  readonly port: number;
}

async function postToForeignBridge(
  delivery: Delivery,
  { host, port, uid }: ForeignBridge,
  waitMs: number,
): Promise<HttpFailure | null> {
  const start = systemClock.elapsed();
  const isNamed = delivery.ports.length > 0;
  if (!isTrustedUser(uid, isNamed)) {
    return { message: `port ${port} belongs to another user (id ${uid})`, code: 'EACCES' };
  }
  if (!isNamed) {
    const health = await exchange({ host, port, method: 'GET', path: '/health' }, waitMs);
    if (!('status' in health)) return health;
    if (health.status !== 200 || !isKnownHealth(health.body)) {
      return { message: `port ${port} is not a bridge: unknown answer of /health`, code: null };
    }
  }
  const left = Math.max(1, Math.ceil(waitMs - (systemClock.elapsed() - start)));
  const answer = await post(delivery, { host, port, headers: {} }, left);
  return 'status' in answer ? toFailure(answer.status) : answer;
}

/** Whoever the system administrator is can read events anyway; a port that nobody named must be this user's own. */
function isTrustedUser(uid: number | null, isNamed: boolean): boolean {
  const own = process.getuid?.();
  return uid === null || own === undefined || uid === own || (isNamed && uid === 0);
}

/** The shapes of the bridges that exist, ours among them. */
function isKnownHealth(body: string): boolean {
  try {
    const health: unknown = JSON.parse(body);
    if (typeof health !== 'object' || health === null) return false;
    const isFine = 'status' in health && health.status === 'ok' && 'timestamp' in health;
    return isFine && ('eventCounts' in health || 'processedEvents' in health);
  } catch {
    return false;
  }
}

function post(
  { agent, eventId, body }: Delivery,
  target: { host: Listener['host']; port: number; headers: Readonly<Record<string, string>> },
  waitMs: number,
): ReturnType<typeof exchange> {
  const { host, port } = target;
  const headers = {
    'Content-Type': 'application/json',
    [EVENT_ID_HEADER]: eventId,
    ...target.headers,
  };
  return exchange(
    { host, port, method: 'POST', path: `/${formatRoute(agent)}`, headers, body },
    waitMs,
  );
}

/** Every bridge that exists answers one of these two when it has the event. */
function toFailure(status: number): HttpFailure | null {
  return status === 200 || status === 201 ? null : { message: `HTTP ${status}`, code: null };
}

function describeNobody({ ports, knownPorts }: Delivery): HttpFailure {
  const expected = (ports.length === 0 ? knownPorts : ports).join(', ');
  return { message: `connect ECONNREFUSED: no bridge on port ${expected}`, code: 'ECONNREFUSED' };
}
