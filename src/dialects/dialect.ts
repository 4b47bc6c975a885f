import type { Discovery } from './discovery.ts';

/** A foreign hook vocabulary. `discover` must not run anything and must not throw. */
export interface Dialect {
  readonly name: string;
  discover(options?: DiscoverOptions): Discovery;
  /** How changes of announced files come to count. */
  readonly changes?: AnnouncedChanges;
}

export interface DiscoverOptions {
  /** Announced files are not read again, but count as they last did. */
  readonly keepsAnnounced?: boolean;
}

export interface AnnouncedChanges {
  /** Whether the file holds something else than what counts. */
  isPending(file: string): boolean;
  /** Looks at what a changed file holds now, without letting it count. */
  look(file: string): void;
  /** Lets what was looked at count, or drops it. */
  settle(file: string, isTaken: boolean): void;
}
