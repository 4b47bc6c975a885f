import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { resolveFrom, resolveTarget } from '../../base/paths.ts';
import { findCarried, getProgramName } from './carriers.ts';
import { isGlob } from './glob-words.ts';
import type { CommandFiles } from './shell-files.ts';
import { UNKNOWN } from './shell-words.ts';
import type { CommandWords } from './visit-script.ts';

const SYSTEM_DIRECTORIES = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/usr/sbin',
  '/sbin',
  '/opt/homebrew/bin',
  '/usr/lib/git-core',
  '/usr/libexec/git-core',
];

/** Programs that only look at a file. */
const ONLY_LOOKS =
  /^(?:ls|file|stat|which|type|test|\[|readlink|realpath|dirname|basename|echo|du|man|whereis|ldd|sha\d+sum|md5sum)$/;

/**
 * Whether a command uses the file of a program otherwise than by running it: `cp /usr/bin/git g`,
 * `ln -s $(which git) g`, `cat < /usr/bin/git > g` and `hash -p /usr/bin/git g` give it another name.
 */
export function hasProgramFile({ words, files }: CommandFiles, program: string | null): boolean {
  if (program === null) return false;
  const [name = '', ...args] = skipCarriers(words);
  if (ONLY_LOOKS.test(getProgramName(name))) return false;
  const isCopier = /^(?:cp|ln|mv|install|link|cat|dd|rsync|hash)$/.test(getProgramName(name));
  if (isCopier && args.includes(program)) return true;
  const candidates = files.filter((file) => file !== name && canBeProgram(file, program));
  if (candidates.length === 0) return false;
  const own = name.includes('/') ? getFileKey(name) : null;
  const known = SYSTEM_DIRECTORIES.map((directory) => getFileKey(path.join(directory, program)));
  return candidates
    .map(getFileKey)
    .some((key) => key !== null && key !== own && known.includes(key));
}

/** The command that `env`, `sudo` and the like run. */
function skipCarriers(words: CommandWords): CommandWords {
  if (findCarried(words.slice(0, 1)).runsArguments !== 'yes') return words;
  const start = words.findIndex(
    (word, index) => index > 0 && !/^-|=/.test(word) && findCarried([word]).runsArguments !== 'yes',
  );
  return start === -1 ? words : words.slice(start);
}

/** Most files of a line are no programs, and looking each one up takes time. */
export function canBeProgram(file: string, program: string): boolean {
  const directory = path.dirname(file);
  return path.basename(file) === program || SYSTEM_DIRECTORIES.includes(directory);
}

/** The device and inode of a file, by which links and hard links of it are known. */
function getFileKey(file: string): string | null {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true ? `${stats.dev}:${stats.ino}` : null;
  } catch {
    return null;
  }
}

const MAX_PROGRAM = 256 * 1024 * 1024;

/** Whether a program outside the system's directories has the bytes of the one that a rule names. */
export function isProgramCopy(name: string, program: string | null, cwd: string): boolean {
  if (program === null || !name.includes('/')) return false;
  if (name.includes(UNKNOWN) || isGlob(name)) return false;
  const file = resolveTarget(resolveFrom(cwd, name)).path;
  if (SYSTEM_DIRECTORIES.includes(path.dirname(file))) return false;
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_PROGRAM) return false;
    return SYSTEM_DIRECTORIES.some((directory) => {
      const original = path.join(directory, program);
      const known = statSync(original, { throwIfNoEntry: false });
      if (known?.isFile() !== true || known.size !== stats.size) return false;
      return readFileSync(original).equals(readFileSync(file));
    });
  } catch {
    // A file that cannot be read may be a copy.
    return true;
  }
}
