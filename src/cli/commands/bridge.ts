import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { getErrorMessage, HooklineError } from '../../base/errors.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { findRunningBridge, startBridge } from '../../bridge/bridge.ts';
import { exchange } from '../../bridge/forward/http-exchange.ts';
import { importFallbackFiles } from '../../bridge/import-fallback-files.ts';
import { AGENTS, CLIENT_SECRET_HEADER, SERVER_SECRET_HEADER } from '../../bridge/protocol.ts';
import { getRunFile, type RunningBridge } from '../../bridge/run-file.ts';
import type { ImportMachine } from '../../bridge/waiting-files.ts';
import { loadConfig } from '../../host/config.ts';
import { openUserStore } from '../../host/open-trace.ts';
import { redactEvent } from '../../host/redact-event.ts';
import { getStateDirectory, readSurroundings } from '../../host/surroundings.ts';
import { isOwnerAlive } from '../../process/owned-files.ts';
import { toCloudEvent } from '../../store/cloud-event.ts';
import type { StoredEvent } from '../../store/event-store.ts';
import { type Command, rejectInsideSession } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { importWaitingEvents } from '../with-store.ts';
import { formatCount, toPrintable } from '../output/print.ts';

interface ServeOptions {
  readonly port?: string;
  readonly idleExit?: string;
}

/** `hookline bridge serve` */
export const serveBridge: Command<ServeOptions> = async (context, { port, idleExit }) => {
  const { print, flags, signal, env } = context;
  const machine = findMachine();
  const { stateDirectory } = machine;
  const homeFile = path.join(stateDirectory, 'config.json');
  const { settings } = loadConfig({ homeFile, workspaceFiles: [], env, flags: {} });
  const namedPort = port === undefined ? null : parsePort(port);
  const idleMs = idleExit === undefined ? null : parseDuration(idleExit);
  const onProblem = (text: string) => print.note(`hookline: ${toPrintable(text)}`);
  const store = await openUserStore(readSurroundings(), onProblem);
  try {
    const bridge = await startBridge({
      stateDirectory,
      store,
      port: namedPort,
      agents: [...new Set([...AGENTS, ...settings['bridge.agents']])],
      formatEvent,
      importFiles: () => importWaitingEvents(store, machine, onProblem),
      idleMs,
      onProblem,
    });
    const { pid, version } = bridge.running;
    if (flags.json === true) {
      print.jsonLine({ addresses: bridge.addresses, port: bridge.running.port, pid, version });
    } else print.out(`Bridge listens on ${bridge.addresses.join(' and ')} (pid ${pid})`);
    const stop = () => void bridge.close();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    await bridge.closed;
  } finally {
    await store.close();
  }
  return EXIT.fine;
};

function findMachine(): ImportMachine {
  const surroundings = readSurroundings();
  const stateDirectory = getStateDirectory(surroundings);
  if (stateDirectory !== null) return { home: surroundings.home, stateDirectory };
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: 'no home directory for the events',
    hint: 'Set HOME or HOOKLINE_HOME.',
  });
}

const MOST_PORT = 65_535;

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= MOST_PORT) return port;
  throw new HooklineError('USAGE_INVALID', {
    message: `--port must be a number from 0 to ${MOST_PORT}, found ${JSON.stringify(text)}`,
    hint: 'Pass 0 for any free port.',
  });
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smh]?)$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit || 's'] ?? 0);
  if (ms > 0) return ms;
  throw new HooklineError('USAGE_INVALID', {
    message: `--idle-exit must be a time such as 90s, 30m or 2h, found ${JSON.stringify(text)}`,
  });
}

async function formatEvent(event: StoredEvent): Promise<string> {
  return JSON.stringify(await redactEvent(toCloudEvent(event), {}));
}

/** `hookline bridge status` */
export const showBridge: Command<object> = async ({ print, flags }) => {
  const running = findRunningBridge(findMachine().stateDirectory);
  const health = running === null ? null : await readHealth(running);
  if (flags.json === true) print.json(describeBridge(running, health));
  else print.out(formatBridge(running, health));
  return health === null ? EXIT.refused : EXIT.fine;
};

interface Health {
  readonly processedEvents: number;
  readonly errors: number;
  readonly uptime: number;
  readonly eventCounts: Readonly<Record<string, number>>;
}

function isHealth(value: unknown): value is Health {
  if (!isRecord(value) || !isRecord(value['eventCounts'])) return false;
  return [value['processedEvents'], value['errors'], value['uptime']].every(
    (count) => typeof count === 'number',
  );
}

const ANSWER_MS = 5000;

/** Null when the bridge does not answer, or another program has its port. */
async function readHealth(bridge: RunningBridge): Promise<Health | null> {
  const answer = await exchange(
    {
      host: '127.0.0.1',
      port: bridge.port,
      method: 'GET',
      path: '/health',
      headers: { [CLIENT_SECRET_HEADER]: bridge.clientSecret },
    },
    ANSWER_MS,
  );
  if (!('status' in answer) || answer.status !== 200) return null;
  const serverSecret = answer.headers.get(SERVER_SECRET_HEADER.toLowerCase());
  if (serverSecret !== bridge.serverSecret) return null;
  const parsed = parseJson(answer.body);
  return parsed.ok && isHealth(parsed.value) ? parsed.value : null;
}

function describeBridge(running: RunningBridge | null, health: Health | null): object {
  if (running === null) return { running: false };
  const { port, pid, version } = running;
  if (health === null) return { running: true, answers: false, port, pid, version };
  const { processedEvents, errors, uptime, eventCounts } = health;
  const counts = { processedEvents, errors, uptime, eventCounts };
  return { running: true, answers: true, port, pid, version, ...counts };
}

function formatBridge(running: RunningBridge | null, health: Health | null): string {
  if (running === null) return 'No bridge is running. Start one with `hookline bridge serve`.';
  const place = `http://127.0.0.1:${running.port} (pid ${running.pid})`;
  if (health === null) return `The bridge on ${place} does not answer.`;
  const counts = Object.entries(health.eventCounts)
    .filter(([, count]) => count > 0)
    .map(([agent, count]) => `${agent} ${count}`);
  const received = `${formatCount(health.processedEvents, 'event')} received`;
  const byAgent = counts.length === 0 ? '' : ` (${counts.join(', ')})`;
  return `Bridge ${running.version} runs on ${place}: ${received}${byAgent}, ${health.errors} refused`;
}

/** `hookline bridge stop` */
export const stopBridge: Command<object> = async (context) => {
  rejectInsideSession(context, 'bridge stop');
  const { print, flags } = context;
  const { stateDirectory } = findMachine();
  const running = findRunningBridge(stateDirectory);
  if (running !== null) await endBridge(running, stateDirectory);
  if (flags.json === true) print.json({ stopped: running !== null });
  else if (running === null) print.out('No bridge is running.');
  else print.out(`Stopped the bridge (pid ${running.pid}).`);
  return EXIT.fine;
};

const STOP_MS = 15_000;
const POLL_MS = 25;

/** Asks it to stop; one that does not answer gets a signal. */
async function endBridge(bridge: RunningBridge, stateDirectory: string): Promise<void> {
  const { port, pid, token } = bridge;
  const headers = { Authorization: `Bearer ${token}` };
  const request = { host: '127.0.0.1', port, method: 'POST', path: '/stop', headers } as const;
  const answer = await exchange({ ...request, body: new Uint8Array() }, ANSWER_MS);
  if (!('status' in answer) || answer.status !== 200) sendSignal(pid);
  for (let waited = 0; waited < STOP_MS; waited += POLL_MS) {
    if (!isOwnerAlive(bridge, getRunFile(stateDirectory))) return;
    await wait(POLL_MS);
  }
  throw new HooklineError('BRIDGE_UNREACHABLE', {
    message: `the bridge (pid ${pid}) did not stop within ${STOP_MS / 1000} seconds`,
    hint: `End it with \`kill ${pid}\`.`,
  });
}

function sendSignal(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    throw new HooklineError('BRIDGE_UNREACHABLE', {
      message: `the bridge (pid ${pid}) neither answers nor takes a signal: ${getErrorMessage(error)}`,
      cause: error,
    });
  }
}

/** `hookline bridge drain` */
export const drainFiles: Command<object> = async ({ print, flags }) => {
  const machine = findMachine();
  const onProblem = (text: string) => print.note(`hookline: ${toPrintable(text)}`);
  const store = await openUserStore(readSurroundings(), onProblem);
  try {
    const { eventCount, problems } = await importFallbackFiles(store, machine);
    if (flags.json === true) print.json({ events: eventCount, problems });
    else {
      for (const problem of problems) onProblem(problem);
      print.out(`Imported ${formatCount(eventCount, 'event')}.`);
    }
    return problems.length === 0 ? EXIT.fine : EXIT.refused;
  } finally {
    await store.close();
  }
};
