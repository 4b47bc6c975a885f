import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { resolveFrom } from '../../base/paths.ts';
import { getProgramName } from './carriers.ts';
import { expandHome } from './home-path.ts';
import type { PathContext } from './path-pattern.ts';
import { UNKNOWN } from './shell-words.ts';
import type { CommandWords } from './visit-script.ts';

type FileContext = Pick<PathContext, 'cwd' | 'home'>;

const MAX_BASES = 8;

/** The directories that relative paths of a line may start in: the current one and every `cd` target. */
export function listEnteredDirectories(
  commands: readonly CommandWords[],
  context: FileContext,
): readonly string[] {
  return findEnteredDirectories(commands, context).directories;
}

interface EnteredDirectories {
  readonly directories: readonly string[];
  /** False when the line may enter a directory that is not known, or too many. */
  readonly isComplete: boolean;
}

export function findEnteredDirectories(
  commands: readonly CommandWords[],
  { cwd, home }: FileContext,
): EnteredDirectories {
  const bases = new Set([cwd]);
  const targets = new Set<string>();
  let isComplete = true;
  for (const words of commands) {
    for (const target of listDirectoryTargets(words, home)) {
      const isKnown = target !== null && !target.includes(UNKNOWN) && bases.size <= MAX_BASES;
      isComplete &&= isKnown;
      if (!isKnown) continue;
      const written = expandHome(target, home);
      const isRepeated = targets.has(target);
      targets.add(target);
      // Without -P the shell removes `..` before it looks at links; programs and the kernel do not.
      const entered = [...bases].flatMap((base) => [
        path.resolve(base, written),
        resolveFrom(base, written),
      ]);
      // `cd src` twice means the same directory, unless there is one in the other.
      entered
        .filter((directory) => !isRepeated || isDirectory(directory))
        .forEach((directory) => bases.add(directory));
    }
  }
  return { directories: [...bases], isComplete };
}

/** What a command enters: `cd x`, `git -C x`, `make -C x`, `tar --directory=x`, `env --chdir=x`. */
function listDirectoryTargets(
  [name = '', ...args]: CommandWords,
  home: string | null,
): readonly (string | null)[] {
  if (/^(?:builtin|command)$/.test(name)) {
    const start = args.findIndex((arg) => !arg.startsWith('-'));
    if (start !== -1) return listDirectoryTargets(args.slice(start), home);
  }
  if (name === 'cd' || name === 'pushd') {
    return [args.find((arg) => !/^-[LPe@]*$|^--$/.test(arg)) ?? home];
  }
  const isOption = (option: string): boolean =>
    DIRECTORY_OPTION.test(option) ||
    (MOVING_CARRIERS.test(getProgramName(name)) && /^-\w*[wdDrR]$/.test(option));
  return args.flatMap((arg, index) => {
    const [, joined] = JOINED_DIRECTORY.exec(arg) ?? [];
    if (joined !== undefined) return [joined];
    return isOption(args[index - 1] ?? '') ? [arg] : [];
  });
}

/** Also in a group of short options: `env -iC x`. */
const DIRECTORY_OPTION =
  /^(?:-\w*C|--(?:chdir|cwd|dir|directory|prefix|root|wd|work-tree|working-directory)|-execdir)$/;
/** Long options can be abbreviated. */
const JOINED_DIRECTORY =
  /^(?:-C(?=.)|--(?:ch\w*|cwd?|dir|dire\w*|prefix|root|wd|work\w*(?:-\w*)?)=)(.+)$/;
/** Carriers with a short option for the directory. */
const MOVING_CARRIERS =
  /^(?:unshare|nsenter|runuser|su|start-stop-daemon|docker|podman|sudo|doas)$/;
