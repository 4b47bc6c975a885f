import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError, readTextIfPresent } from '../../base/files.ts';
import { stripByteOrderMark } from '../../base/json.ts';
import { findRealPath, isInside } from '../../base/paths.ts';

export type OverrideTier = 'bundled' | 'global' | 'project';

/** A file of a plugin, or the file of the user or the project that replaces it. */
export interface OverrideFile {
  readonly name: string;
  readonly tier: OverrideTier;
  readonly path: string;
  readonly text: string;
}

export interface OverrideDirectories {
  readonly bundled: string;
  readonly global: string | null;
  readonly project: string | null;
  /** Links in the project's directory must not lead out of it. */
  readonly workspaceRoot: string | null;
}

export interface OverrideRules {
  /** The file extensions that are read (`.md`); all by default. */
  readonly extensions?: readonly string[];
  /** Returns the name of a file; by default the file name without its extension. Null skips the file. */
  readonly nameOf?: (file: { readonly path: string; readonly text: string }) => string | null;
  /** Gets the problem of a file that cannot be used; the other files are used. */
  readonly onProblem?: (problem: string) => void;
}

const MOST_BYTES = 1024 * 1024;

/** Reads the files of all tiers; of files with the same name the project's wins, then the user's, then the plugin's. */
export function readOverrides(
  directories: OverrideDirectories,
  rules: OverrideRules,
): readonly OverrideFile[] {
  const { bundled, global, project, workspaceRoot } = directories;
  const tiers: readonly Tier[] = [
    { tier: 'bundled', directory: bundled, within: null },
    { tier: 'global', directory: global, within: null },
    { tier: 'project', directory: project, within: workspaceRoot },
  ];
  const files = tiers.flatMap((each) => listFiles(each, rules));
  return [...new Map(files.map((file) => [file.name, file])).values()];
}

/** A kind becomes a directory name below the user's and the project's directories, so it must not lead out of them. */
export function checkKind(kind: string): void {
  const isPlain = kind !== '' && kind.split('/').every((part) => /^\w[\w.-]*$/u.test(part));
  if (isPlain) return;
  throw new HooklineError('USAGE_INVALID', {
    message: `expected "kind" to be a name such as "agents", found ${JSON.stringify(kind)}`,
    hint: 'It is the name of a directory: letters, digits, ".", "_" and "-".',
  });
}

interface Tier {
  readonly tier: OverrideTier;
  readonly directory: string | null;
  readonly within: string | null;
}

function listFiles(
  { tier, directory, within }: Tier,
  rules: OverrideRules,
): readonly OverrideFile[] {
  if (directory === null) return [];
  return listNames(directory, rules).flatMap((entry) => {
    const file = path.join(directory, entry);
    const skipFile = (why: string): readonly OverrideFile[] => {
      rules.onProblem?.(`${file} is left out: ${why}`);
      return [];
    };
    try {
      if (!statSync(file).isFile()) return [];
      const why = explainUnusable(file, within);
      if (why !== null) return skipFile(why);
      const text = stripByteOrderMark(readTextIfPresent(file) ?? '');
      return withName({ tier, path: file, text }, rules);
    } catch (error) {
      return skipFile(getErrorMessage(error));
    }
  });
}

function listNames(directory: string, { extensions, onProblem }: OverrideRules): readonly string[] {
  const isIncluded = (name: string): boolean =>
    !name.startsWith('.') && (extensions?.includes(path.extname(name)) ?? true);
  try {
    return readdirSync(directory).filter(isIncluded).toSorted();
  } catch (error) {
    if (!isNotFoundError(error)) {
      onProblem?.(`${directory} cannot be read: ${getErrorMessage(error)}`);
    }
    return [];
  }
}

function explainUnusable(file: string, within: string | null): string | null {
  if (within !== null && !isInside(findRealPath(within) ?? within, findRealPath(file) ?? file)) {
    return 'a link leads out of the workspace';
  }
  const { size } = statSync(file);
  return size > MOST_BYTES ? `it has ${size} bytes, and at most ${MOST_BYTES} are read` : null;
}

function withName(
  file: Omit<OverrideFile, 'name'>,
  { nameOf }: OverrideRules,
): readonly OverrideFile[] {
  const name = nameOf === undefined ? path.parse(file.path).name : nameOf(file);
  return name === null || name.trim() === '' ? [] : [{ name: name.trim(), ...file }];
}
