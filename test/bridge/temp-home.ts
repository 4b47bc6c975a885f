import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { getRunFile, readRunFile, type RunningBridge } from '../../src/bridge/run-file.ts';
import { openEventStore, type StoredEvent } from '../../src/store/event-store.ts';
import { hooklineProgram, resultOf, startHookline } from '../cli/hookline.ts';

/** A temporary home directory, with the places that the bridge and the forwarder use in it. */
export interface TempHome {
  readonly home: string;
  readonly stateDirectory: string;
  /** The directory of the fallback files. */
  readonly events: string;
}

export function createTempHome(): TempHome {
  const home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-bridge-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return {
    home,
    stateDirectory: path.join(home, '.hookline'),
    events: path.join(home, '.cline', 'hook-events'),
  };
}

/** A port on which nobody listens: it was free a moment ago. */
export async function findClosedPort(): Promise<number> {
  const server = await listen();
  const port = getPort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function listen(server: Server = createServer(), host = '127.0.0.1'): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  onTestFinished(() => void server.close());
  return server;
}

export function getPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export interface ServedBridge extends RunningBridge {
  readonly child: ChildProcess;
}

/** Starts `bridge serve` on a free port and waits until it listens. */
export async function serveBridge(
  { home, stateDirectory }: TempHome,
  args: readonly string[] = ['--port', '0'],
): Promise<ServedBridge> {
  const child = startHookline(['bridge', 'serve', ...args], { cwd: home, home });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = resultOf(child);
  const listening = await Promise.race([
    new Promise((resolve) => child.stdout?.once('data', resolve)),
    ended,
  ]);
  const bridge = readRunFile(getRunFile(stateDirectory));
  if (bridge === null) return expect.fail(`no bridge: ${JSON.stringify(listening)}`);
  return { ...bridge, child };
}

export type ForwarderName = 'agent-hook' | 'claude-hook' | 'cline-hook';

/** Runs the built forwarder to its end with this on stdin. */
export function forward(
  { home }: TempHome,
  name: ForwarderName,
  args: readonly string[],
  input: string | Uint8Array,
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof resultOf> {
  const program = path.join(path.dirname(hooklineProgram()), `${name}.js`);
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    env: { HOME: home, PATH: process.env['PATH'], ...env },
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return resultOf(child);
}

export const SILENT = { code: 0, stdout: '', stderr: '' };

/** All stored events. */
export async function readEvents({ stateDirectory }: TempHome): Promise<readonly StoredEvent[]> {
  const store = await openEventStore({ directory: stateDirectory });
  try {
    return [...store.list()];
  } finally {
    await store.close();
  }
}

export function readPayloads(events: readonly StoredEvent[]): readonly string[] {
  return events.map(({ payload }) => Buffer.from(payload).toString('utf8'));
}

export function readArray(file: string): readonly Record<string, unknown>[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function listDirectory(directory: string): readonly string[] {
  return readdirSync(directory).toSorted();
}
