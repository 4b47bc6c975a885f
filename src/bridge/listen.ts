import type { Server } from 'node:http';
import { getErrorCode, getErrorMessage, HooklineError } from '../base/errors.ts';
import { DEFAULT_PORT } from './protocol.ts';

const HOSTS = ['127.0.0.1', '::1'] as const;
/** How many ports after the default one are tried. */
const MORE_PORTS = 10;
/** How often a free port is asked of the system until both families have it. */
const FREE_PORT_ATTEMPTS = 20;

/** What a machine without a family of addresses answers. */
const NO_SUCH_FAMILY = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

export interface ListeningServers {
  readonly port: number;
  readonly servers: readonly Server[];
  /** As a client writes them: `127.0.0.1`, `[::1]`. */
  readonly hosts: readonly string[];
}

/**
 * Listens on both loopback addresses, because `localhost` may mean either. Without a port, the default one or the next that
 * is free in both families; a family that the machine lacks is left out.
 */
export async function listenOnLoopback(
  namedPort: number | null,
  createServer: () => Server,
  defaultPort: number = DEFAULT_PORT,
): Promise<ListeningServers> {
  if (namedPort === 0) return listenOnFreePort(createServer);
  const last = namedPort ?? defaultPort + MORE_PORTS;
  for (let port = namedPort ?? defaultPort; port <= last; port++) {
    const listening = await tryToListen(port, createServer);
    if (listening !== null) return listening;
  }
  throw new HooklineError('BRIDGE_PORT_TAKEN', {
    message:
      namedPort === null
        ? `ports ${defaultPort} to ${last} are in use by other programs`
        : `port ${namedPort} is in use by another program`,
    hint: 'Pass another one with --port, or stop the program that has it.',
  });
}

async function listenOnFreePort(createServer: () => Server): Promise<ListeningServers> {
  for (let attempt = 0; attempt < FREE_PORT_ATTEMPTS; attempt++) {
    const listening = await tryToListen(0, createServer);
    if (listening !== null) return listening;
  }
  throw new HooklineError('BRIDGE_PORT_TAKEN', {
    message: 'found no port that is free for 127.0.0.1 and ::1',
    hint: 'Pass one with --port.',
  });
}

/** Null when the port is taken in one of the families. */
async function tryToListen(
  wantedPort: number,
  createServer: () => Server,
): Promise<ListeningServers | null> {
  const servers: Server[] = [];
  const hosts: string[] = [];
  let port = wantedPort;
  for (const host of HOSTS) {
    const server = createServer();
    const code = await listen(server, host, port);
    if (code === null) {
      servers.push(server);
      hosts.push(host === '::1' ? '[::1]' : host);
      port = getPort(server);
    } else if (code === 'EADDRINUSE') {
      for (const other of servers) other.close();
      return null;
    } else if (!NO_SUCH_FAMILY.has(code)) throw explainListenError(host, port, code);
  }
  if (servers.length === 0) throw explainListenError(HOSTS.join(' and '), port, 'EADDRNOTAVAIL');
  return { port, servers, hosts };
}

/** Returns the code of the error, or null when it listens. */
function listen(server: Server, host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(getErrorCode(error) ?? getErrorMessage(error)));
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners('error');
      resolve(null);
    });
  });
}

function getPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function explainListenError(host: string, port: number, code: string): HooklineError {
  return new HooklineError('BRIDGE_PORT_TAKEN', {
    message: `cannot listen on ${host}, port ${port}: ${code}`,
    hint:
      code === 'EACCES'
        ? 'Ports below 1024 need privileges: pass another one.'
        : 'Pass another port with --port.',
  });
}
