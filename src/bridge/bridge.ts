import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { getErrorMessage, HooklineError } from '../base/errors.ts';
import { createPrivateDirectory, replacePrivateFileSync } from '../base/files.ts';
import { VERSION } from '../base/version.ts';
import { identifyOwner, isOwnerAlive, refreshFile } from '../process/owned-files.ts';
import type { EventStore } from '../store/event-store.ts';
import { Connections } from './connections.ts';
import { EventStreams, type FormatEvent } from './event-stream.ts';
import { runLocked } from './file-lock.ts';
import { Ingest } from './ingest.ts';
import { listenOnLoopback } from './listen.ts';
import { Routes } from './routes.ts';
import { formatRunFile, getRunFile, readRunFile, type RunningBridge } from './run-file.ts';

export interface BridgeOptions {
  readonly stateDirectory: string;
  readonly store: EventStore;
  /** Null for the default port or one after it, 0 for any that is free. */
  readonly port: number | null;
  readonly agents: readonly string[];
  readonly formatEvent: FormatEvent;
  /** Takes the events that clients have stored in files; called at the start and from then on every few seconds. */
  readonly importFiles: () => Promise<void>;
  /** Stops when nobody has asked anything for so long; null for never. */
  readonly idleMs: number | null;
  readonly onProblem: (text: string) => void;
}

/** Finds the bridge of this home, when one runs. */
export function findRunningBridge(stateDirectory: string): RunningBridge | null {
  const file = getRunFile(stateDirectory);
  const bridge = readRunFile(file);
  return bridge !== null && isOwnerAlive(bridge, file) ? bridge : null;
}

/** Starts the only bridge of this home: takes waiting events into the store, listens, and says so in the run file. */
export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { stateDirectory, port, importFiles } = options;
  rejectSecond(stateDirectory);
  createPrivateDirectory(path.dirname(getRunFile(stateDirectory)));
  await importFiles();
  // A server needs its handler before it has a port, and the handler needs the port.
  const handler: { respond: Respond | null } = { respond: null };
  const connections = new Connections();
  const listening = await listenOnLoopback(port, () => createHttpServer(connections, handler));
  const running: RunningBridge = {
    ...identifyOwner(),
    port: listening.port,
    version: VERSION,
    clientSecret: createSecret(),
    serverSecret: createSecret(),
    token: createSecret(),
  };
  const bridge = new Bridge(options, { ...listening, running, connections });
  handler.respond = (request, response) => bridge.respond(request, response);
  try {
    writeRunFile(stateDirectory, running);
  } catch (error) {
    await bridge.close();
    throw error;
  }
  return bridge;
}

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

function rejectSecond(stateDirectory: string): void {
  const other = findRunningBridge(stateDirectory);
  if (other === null) return;
  throw new HooklineError('BRIDGE_RUNNING', {
    message: `a bridge of this home already runs on http://127.0.0.1:${other.port} (pid ${other.pid})`,
    hint: 'Use it, or stop it with `hookline bridge stop`.',
  });
}

const SECRET_BYTES = 24;

function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

const LOCK_WAIT_MS = 10_000;

/** Under a lock, so that of two that start at once only one writes it. */
function writeRunFile(stateDirectory: string, running: RunningBridge): void {
  const file = getRunFile(stateDirectory);
  const written = runLocked(file, LOCK_WAIT_MS, () => {
    rejectSecond(stateDirectory);
    replacePrivateFileSync(file, formatRunFile(running));
  });
  if (written !== null) return;
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: `${file} is locked by another process`,
    hint: `Wait for it to end, or remove ${file}.lock.`,
  });
}

const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 5000;
const CHECK_MS = 1000;
const MOST_HEADER_BYTES = 16 * 1024;

function createHttpServer(
  connections: Connections,
  handler: { readonly respond: Respond | null },
): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: MOST_HEADER_BYTES,
      noDelay: true,
    },
    (request, response) => handler.respond?.(request, response),
  );
  server.on('connection', (socket) => connections.add(socket));
  return server;
}

const CLOSING_MS = 5000;
/** How often files are looked for that a client wrote because the bridge was too slow for it. */
const IMPORT_MS = 5000;

interface BridgeParts {
  readonly servers: readonly Server[];
  readonly hosts: readonly string[];
  readonly running: RunningBridge;
  readonly connections: Connections;
}

/** A bridge that listens. */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #parts: BridgeParts;
  readonly #streams: EventStreams;
  readonly #routes: Routes;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #stopRefresh: () => void;
  #lastActivity = systemClock.elapsed();
  #closing: Promise<void> | null = null;
  #maintenance: Promise<void> | null = null;
  #onClosed: (() => void) | null = null;
  /** Settles when the bridge has stopped, for whatever reason. */
  readonly closed: Promise<void>;

  constructor(options: BridgeOptions, parts: BridgeParts) {
    this.#options = options;
    this.#parts = parts;
    this.#streams = new EventStreams(options.store, options.formatEvent);
    this.#routes = new Routes({
      bridge: parts.running,
      agents: options.agents,
      ingest: new Ingest(options.store, options.onProblem),
      streams: this.#streams,
      connections: parts.connections,
      onProblem: options.onProblem,
      onStop: () => void this.close(),
    });
    this.#timers = [
      setInterval(() => this.#maintain(), IMPORT_MS),
      setInterval(() => this.#stopWhenIdle(), CHECK_MS),
    ];
    this.#stopRefresh = refreshFile(getRunFile(options.stateDirectory));
    this.closed = new Promise((resolve) => (this.#onClosed = resolve));
  }

  get running(): RunningBridge {
    return this.#parts.running;
  }

  /** `http://127.0.0.1:3043`, and for the other family. */
  get addresses(): readonly string[] {
    return this.#parts.hosts.map((host) => `http://${host}:${this.running.port}`);
  }

  respond(request: IncomingMessage, response: ServerResponse): void {
    this.#lastActivity = systemClock.elapsed();
    void this.#routes.respond(request, response, this.#closing !== null);
  }

  /** Answers what was asked, then closes every connection. The store stays open. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { servers, connections } = this.#parts;
    this.#removeRunFile();
    this.#stopRefresh();
    for (const timer of this.#timers) clearInterval(timer);
    this.#streams.close();
    const closed = servers.map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    connections.closeWaiting();
    // Its answers may take as long as the disk; one that sends no end of its request is not waited for.
    const timer = setTimeout(() => connections.closeAll(), CLOSING_MS);
    await Promise.all(closed);
    clearTimeout(timer);
    await this.#maintenance;
    this.#onClosed?.();
  }

  /** Leaves a run file that another bridge has written since. */
  #removeRunFile(): void {
    const file = getRunFile(this.#options.stateDirectory);
    if (readRunFile(file)?.token === this.running.token) rmSync(file, { force: true });
  }

  #maintain(): void {
    this.#maintenance ??= this.#importAndRestore().finally(() => (this.#maintenance = null));
  }

  async #importAndRestore(): Promise<void> {
    const { stateDirectory, importFiles, onProblem } = this.#options;
    try {
      // Somebody may have cleaned up the state directory; nobody would find the bridge any more.
      if (!existsSync(getRunFile(stateDirectory))) writeRunFile(stateDirectory, this.running);
      await importFiles();
    } catch (error) {
      onProblem(getErrorMessage(error));
    }
  }

  #stopWhenIdle(): void {
    const { idleMs } = this.#options;
    if (idleMs === null || this.#streams.count > 0 || this.#parts.connections.busyCount > 0) return;
    if (systemClock.elapsed() - this.#lastActivity >= idleMs) void this.close();
  }
}
