import { readFileSync } from 'node:fs';

/** Somebody who listens on a port of this machine. */
export interface Listener {
  readonly host: '127.0.0.1' | '::1';
  /** The user whose process it is; null where the system does not show it. */
  readonly uid: number | null;
}

/** Addresses as the kernel writes them, in groups of four bytes that are turned around. */
const LOOPBACK_HOSTS: Readonly<Record<string, readonly Listener['host'][]>> = {
  '0100007F': ['127.0.0.1'],
  '00000000': ['127.0.0.1'],
  '0000000000000000FFFF00000100007F': ['127.0.0.1'],
  '0000000000000000FFFF000000000000': ['127.0.0.1'],
  '00000000000000000000000001000000': ['::1'],
  // All addresses, of both families unless the listener refuses one of them.
  '00000000000000000000000000000000': ['127.0.0.1', '::1'],
};

const LISTENING = '0A';

/**
 * Finds who listens on a port of the loopback addresses, without connecting. Where the system does not show it, both
 * addresses are returned, without a user.
 */
export function findListeners(port: number, tables = readSocketTables()): readonly Listener[] {
  if (tables === null) {
    return [
      { host: '127.0.0.1', uid: null },
      { host: '::1', uid: null },
    ];
  }
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0');
  return tables.flatMap((line) => {
    const [, local = '', , state, , , , uid] = line.trim().split(/\s+/);
    const [address = '', linePort] = local.split(':');
    if (state !== LISTENING || linePort !== hexPort) return [];
    return (LOOPBACK_HOSTS[address] ?? []).map((host) => ({ host, uid: Number(uid) }));
  });
}

/** The lines of the kernel's tables of TCP sockets; null where there are none. */
export function readSocketTables(): readonly string[] | null {
  try {
    const tables = [readFileSync('/proc/net/tcp', 'latin1'), readIfPresent('/proc/net/tcp6')];
    return tables.flatMap((table) => table.split('\n').slice(1));
  } catch {
    return null;
  }
}

/** Empty on a system without IPv6. */
function readIfPresent(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
