import type { Clock } from '../base/clock.ts';
import type { HookPorts } from '../dialects/ports.ts';
import type { Exchange } from '../dialects/discovery.ts';
import type { DialectName } from '../dialects/index.ts';
import type { Moment } from '../hooks/facts.ts';
import type { Surroundings } from './config.ts';
import type { Settings } from './settings.ts';
import type { NamedLock } from './trust.ts';

/** Where to look for hooks, and what lets them run. */
export interface HookSearch {
  /** The process's own by default, or the first of `roots` when that lies in none of them. */
  readonly cwd?: string;
  /** Workspace roots; the git root of `cwd` when there are none. */
  readonly roots?: readonly string[];
  /** Whose hooks to look for; all of them by default. */
  readonly dialects?: readonly DialectName[];
  /** A further directory of Cline hooks. */
  readonly hooksDirectory?: string;
  /** Directories of Claude plugins, which need not be installed. */
  readonly pluginDirectories?: readonly string[];
  /** Files, packages and directories with Cline plugins, beside those of the person and the workspace. */
  readonly pluginPaths?: readonly string[];
  /** Further settings in Claude's format: a file, or the JSON itself. */
  readonly claudeSettings?: string;
  /** What hooks may use that need more than a process. */
  readonly ports?: HookPorts;
  /** Whether a person is there to be asked and woken; hooks that would wake are awaited if not. */
  readonly isAttended?: boolean;
  /** Told what went to each hook and what came back. */
  readonly onExchange?: (exchange: Exchange) => void;
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
