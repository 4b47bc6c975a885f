import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import type { Setting } from '../base/setting.ts';

/** What a user or a caller may set for one dialect. */
export interface DialectOptions {
  /** Settings, by their names in the configuration file, such as `cline.cancel`. */
  readonly settings?: Readonly<Record<string, Setting>>;
  /** Places that a caller may name beside those that are always searched. */
  readonly paths?: readonly PathOption[];
  /** Environment variables that it reads beside those of its settings; a test case inherits none of them. */
  readonly variables?: readonly string[];
  /** Variables that a test case may set although nobody trusts it: none of them changes what a hook runs. */
  readonly harmlessVariables?: readonly string[];
}

/**
 * A path that a caller may name: a file, a directory, or the text itself. The flags of a dialect are of
 * this kind; anything else is a setting.
 */
export interface PathOption {
  /** Its name in `paths` of `createHost`; older ones are also options by themselves (`MachineSearch`). */
  readonly name: string;
  /** Whether several may be named. */
  readonly isRepeatable?: boolean;
  /** Its flag on the command line; absent when it has none. */
  readonly flag?: {
    /** As the help prints it, such as `--hooks-dir <dir>`. */
    readonly usage: string;
    readonly about: string;
    /** Throws a HooklineError for a path that is missing, because a missing guard would go unnoticed. */
    readonly check: (path: string) => Promise<void> | void;
  };
}

/** The paths that a caller named, by the names of the options. */
export type NamedPaths = Readonly<Record<string, string | readonly string[]>>;

/** Lists the paths that the caller named with this option. */
export function listNamedPaths(paths: NamedPaths, { name }: PathOption): readonly string[] {
  const named = paths[name] ?? [];
  return typeof named === 'string' ? [named] : named;
}

/** Reads a setting from the effective values; its default when the value is missing or invalid. */
export function readSetting<Value>(setting: Setting<Value>, value: unknown): Value {
  const read = setting.read(value);
  return 'value' in read ? read.value : setting.defaultValue;
}

/** Creates a check that the flag names a directory. */
export function createDirectoryCheck(flag: string, what: string): (place: string) => void {
  return (place) => {
    if (isDirectory(place)) return;
    throw new HooklineError('USAGE_INVALID', {
      message: `${flag} must be ${what}: ${JSON.stringify(place)} is not a directory`,
      hint: 'Pass one that exists.',
    });
  };
}
