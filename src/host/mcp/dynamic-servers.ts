import { isDeepStrictEqual } from 'node:util';
import type { ServerConfig } from '../../mcp/server-config.ts';
import type { FoundServer } from './find-servers.ts';

/** Servers that somebody brought. */
export interface AddedServers {
  /** Ends those that nobody else brought, too. */
  remove(): Promise<void>;
}

export interface DynamicServerPorts {
  /** Whether a server that is configured has this name. */
  readonly isTaken: (name: string) => boolean;
  readonly connect: (server: FoundServer) => Promise<void>;
  readonly disconnect: (name: string) => Promise<void>;
  readonly onConflict: (config: ServerConfig, why: string) => void;
}

/** A server that was brought, and by how many. */
interface Guest extends FoundServer {
  holders: number;
}

/**
 * Servers that come and go, such as those of a session's plugins. Several who bring the same one share
 * it; of several with one name the last that came is connected, and the one before it again once it
 * has left.
 */
export class DynamicServers {
  readonly #ports: DynamicServerPorts;
  readonly #byName = new Map<string, Guest[]>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(ports: DynamicServerPorts) {
    this.#ports = ports;
  }

  add(servers: readonly ServerConfig[]): AddedServers {
    const joining = this.#inTurn(() => this.#bringAll(servers));
    let leaving: Promise<void> | null = null;
    const leave = async (): Promise<void> => {
      const brought = await joining;
      await this.#inTurn(() => this.#releaseAll(brought));
    };
    return { remove: () => (leaving ??= leave()) };
  }

  /** One after the other: what is being ended and what is being started may have one name. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Done when all that joined so far is being connected. */
  async waitUntilStarted(): Promise<void> {
    await this.#last;
  }

  /** Those that are connected. */
  current(): readonly FoundServer[] {
    return [...this.#byName.values()].flatMap((guests) => guests.at(-1) ?? []);
  }

  async #bringAll(servers: readonly ServerConfig[]): Promise<readonly Guest[]> {
    const brought: Guest[] = [];
    for (const config of servers) {
      const guest = await this.#bring(config);
      if (guest !== null) brought.push(guest);
    }
    return brought;
  }

  async #bring(config: ServerConfig): Promise<Guest | null> {
    const { name, file, endpoint } = config;
    const guests = this.#byName.get(name) ?? [];
    const same = guests.find((guest) => isDeepStrictEqual(guest.config.endpoint, endpoint));
    if (same !== undefined) {
      same.holders += 1;
      return same;
    }
    if (guests.length === 0 && this.#ports.isTaken(name)) {
      this.#ports.onConflict(config, 'is not started: another one has this name');
      return null;
    }
    // The same plugin may bring another one under the same name, once it has changed.
    if (guests.some((guest) => guest.config.file !== file)) {
      this.#ports.onConflict(config, 'takes the place of another one with this name');
    }
    const made: Guest = { config, withheld: () => null, holders: 1 };
    this.#byName.set(name, [...guests, made]);
    await this.#reconnect(name);
    return made;
  }

  async #releaseAll(guests: readonly Guest[]): Promise<void> {
    for (const guest of guests) await this.#release(guest);
  }

  async #release(guest: Guest): Promise<void> {
    const { name } = guest.config;
    guest.holders -= 1;
    const guests = this.#byName.get(name) ?? [];
    if (guest.holders > 0 || !guests.includes(guest)) return;
    const left = guests.filter((each) => each !== guest);
    if (left.length === 0) this.#byName.delete(name);
    else this.#byName.set(name, left);
    if (guests.at(-1) === guest) await this.#reconnect(name);
  }

  async #reconnect(name: string): Promise<void> {
    await this.#ports.disconnect(name);
    const last = this.#byName.get(name)?.at(-1);
    if (last !== undefined) await this.#ports.connect(last);
  }
}
