import { isDeepStrictEqual } from 'node:util';
import type { ServerConfig } from '../../mcp/server-config.ts';
import type { FoundServer } from './find-servers.ts';

/** Servers that were added at run time. */
export interface AddedServers {
  /** Disconnects those that no other caller added. */
  remove(): Promise<void>;
}

interface DynamicServerPorts {
  /** Whether a server that is configured has this name. */
  readonly isTaken: (name: string) => boolean;
  readonly connect: (server: FoundServer) => Promise<void>;
  readonly disconnect: (name: string) => Promise<void>;
  readonly onConflict: (config: ServerConfig, why: string) => void;
}

/** An added server with the number of its users. */
interface DynamicServer extends FoundServer {
  users: number;
}

/**
 * Servers that are added and removed at run time, such as those of plugins. Equal servers are shared; of
 * several with one name the last one is connected, and the one before it again after its removal.
 */
export class DynamicServers {
  readonly #ports: DynamicServerPorts;
  readonly #byName = new Map<string, DynamicServer[]>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: DynamicServerPorts) {
    this.#ports = ports;
  }

  add(servers: readonly ServerConfig[]): AddedServers {
    const adding = this.#enqueue(() => this.#addAll(servers));
    let removing: Promise<void> | null = null;
    const remove = async (): Promise<void> => {
      const added = await adding;
      await this.#enqueue(() => this.#removeAll(added));
    };
    return { remove: () => (removing ??= remove()) };
  }

  /** Sequential, because a server that is being closed and one that is being started may have one name. */
  #enqueue<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all servers added so far are being connected. */
  async waitUntilStarted(): Promise<void> {
    await this.#last;
  }

  /** The connected ones. */
  current(): readonly FoundServer[] {
    return [...this.#byName.values()].flatMap((sameName) => sameName.at(-1) ?? []);
  }

  async #addAll(servers: readonly ServerConfig[]): Promise<readonly DynamicServer[]> {
    const added: DynamicServer[] = [];
    for (const config of servers) {
      const server = await this.#addOne(config);
      if (server !== null) added.push(server);
    }
    return added;
  }

  async #addOne(config: ServerConfig): Promise<DynamicServer | null> {
    const { name, file, endpoint } = config;
    const sameName = this.#byName.get(name) ?? [];
    const same = sameName.find((server) => isDeepStrictEqual(server.config.endpoint, endpoint));
    if (same !== undefined) {
      same.users += 1;
      return same;
    }
    if (sameName.length === 0 && this.#ports.isTaken(name)) {
      this.#ports.onConflict(config, 'is not started: another one has this name');
      return null;
    }
    // A changed plugin may add another server with the same name.
    if (sameName.some((server) => server.config.file !== file)) {
      this.#ports.onConflict(config, 'replaces another one with this name');
    }
    const server: DynamicServer = { config, withheld: () => null, users: 1 };
    this.#byName.set(name, [...sameName, server]);
    await this.#reconnect(name);
    return server;
  }

  async #removeAll(servers: readonly DynamicServer[]): Promise<void> {
    for (const server of servers) await this.#removeOne(server);
  }

  async #removeOne(server: DynamicServer): Promise<void> {
    const { name } = server.config;
    server.users -= 1;
    const sameName = this.#byName.get(name) ?? [];
    if (server.users > 0 || !sameName.includes(server)) return;
    const remaining = sameName.filter((each) => each !== server);
    if (remaining.length === 0) this.#byName.delete(name);
    else this.#byName.set(name, remaining);
    if (sameName.at(-1) === server) await this.#reconnect(name);
  }

  async #reconnect(name: string): Promise<void> {
    await this.#ports.disconnect(name);
    const last = this.#byName.get(name)?.at(-1);
    if (last !== undefined) await this.#ports.connect(last);
  }
}
