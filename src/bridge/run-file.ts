import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A running bridge, as its run file describes it. */
export interface RunningBridge {
  readonly port: number;
  readonly pid: number;
  /** When the process started, in the system's own unit; empty where it is not known. */
  readonly startedAt: string;
  /** The number of its process namespace; empty where there are none. */
  readonly namespace: string;
  readonly version: string;
  readonly clientSecret: string;
  readonly serverSecret: string;
  /** Opens the routes that read events, or change or start something. */
  readonly token: string;
}

export function getRunFile(stateDirectory: string): string {
  return path.join(stateDirectory, 'run', 'bridge');
}

/** Lines in a fixed order, because the shell form reads them without a parser. */
export function formatRunFile(bridge: RunningBridge): string {
  const lines = [
    'hookline-bridge 1',
    `port ${bridge.port}`,
    `pid ${bridge.pid}`,
    `started ${bridge.startedAt}`,
    `namespace ${bridge.namespace}`,
    `version ${bridge.version}`,
    `client ${bridge.clientSecret}`,
    `server ${bridge.serverSecret}`,
    `token ${bridge.token}`,
  ];
  return `${lines.join('\n')}\n`;
}

const RUN_FILE =
  /^hookline-bridge 1\nport (\d{1,5})\npid (\d+)\nstarted (\d*)\nnamespace (\d*)\nversion (\S+)\nclient (\w+)\nserver (\w+)\ntoken (\w+)\n$/;

function parseRunFile(text: string): RunningBridge | null {
  const match = RUN_FILE.exec(text);
  if (match === null) return null;
  const [, port, pid, startedAt = '', namespace = '', version = ''] = match;
  const [clientSecret = '', serverSecret = '', token = ''] = match.slice(6);
  return {
    port: Number(port),
    pid: Number(pid),
    startedAt,
    namespace,
    version,
    clientSecret,
    serverSecret,
    token,
  };
}

const ACCESS_OF_OTHERS = 0o077;

/**
 * Reads the run file, whether its bridge still runs or not. Null without one, and for a file that others can read or
 * could have written: its secrets prove nothing.
 */
export function readRunFile(file: string): RunningBridge | null {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile()) return null;
    const uid = process.getuid?.();
    if (uid !== undefined && stats.uid !== uid) return null;
    if (uid !== undefined && (stats.mode & ACCESS_OF_OTHERS) !== 0) return null;
    return parseRunFile(readFileSync(file, 'latin1'));
  } catch {
    // Removed since, or not readable: no bridge that this process could use.
    return null;
  }
}
