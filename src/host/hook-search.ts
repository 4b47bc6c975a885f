import type { Clock } from '../base/clock.ts';
import type { HookExchange } from '../trace/exchange.ts';
import type { DialectName } from '../dialects/index.ts';
import type { DialectSearch } from '../dialects/machine.ts';
import type { Moment } from '../hooks/facts.ts';
import type { Surroundings } from './config.ts';
import type { Settings } from './settings.ts';
import type { NamedLock } from './trust.ts';

/** Where to look for hooks, and what lets them run. */
export interface HookSearch extends DialectSearch {
  /** The process's own by default, or the first of `roots` when that lies in none of them. */
  readonly cwd?: string;
  /** Workspace roots; the git root of `cwd` when there are none. */
  readonly roots?: readonly string[];
  /** Whose hooks to look for; all of them by default. */
  readonly dialects?: readonly DialectName[];
  /** Told what went to each hook and what came back. */
  readonly onExchange?: (exchange: HookExchange) => void;
  /** `record`: what the person trusted (default). `all`: run everything that is found. */
  readonly trust?: 'record' | 'all';
  /** A lock that the caller vouches for. */
  readonly lock?: NamedLock;
  /** Settings that stand above every file and variable. */
  readonly flags?: Partial<Settings>;
  /** What the caller knows of its session; the rest is filled in. */
  readonly moment?: Partial<Moment>;
  readonly surroundings?: Surroundings;
  readonly clock?: Clock;
}
