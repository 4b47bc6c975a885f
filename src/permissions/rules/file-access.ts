import { findCarried, getProgramName } from './carriers.ts';
import { isInterpreter } from './foreign-code.ts';
import type { CommandWords } from './visit-script.ts';

/** How a command treats the files that its words name. */
export type FileAccess = 'read' | 'write';

/** Programs that read none of the files that their arguments name. */
const READ_NOTHING: ReadonlySet<string> = new Set(['echo', 'printf', 'cd', 'pushd', 'mkdir', '>']);

/** Whether a command may read or write the files that it names. */
export function canAccessFiles(words: CommandWords, access: FileAccess): boolean {
  return access === 'read' ? canReadFiles(words) : canWriteFiles(words);
}

function canReadFiles([name = '']: CommandWords): boolean {
  return !READ_NOTHING.has(getProgramName(name));
}

const WRITERS: ReadonlySet<string> = new Set(
  `> 7z 7za ar bsdtar bunzip2 bzip2 chattr chgrp chmod chown compress convert cp cpio csplit ctags dd debugfs ed emacs ex
  ffmpeg fallocate ftp gcp git-apply gunzip gzip install ld link ln lz4 lzma mkdir mkfifo mknod mktemp mmv mount mv nano nvim
  objcopy pax patch pico rcp red rename restore rm rmdir rsync scp setfacl sftp shred shuf-o split sponge srm ssh-keygen
  script strip tar gtar tee touch truncate uncompress unlink unrar unxz unzip unzstd uudecode wget vi vim view wipe xz zip zstd`.split(
    /\s+/,
  ),
);
const IN_PLACE =
  /^(?:g?sed|perl|ruby|g?awk|yq|jq|sd|prettier|eslint|black|ruff|gofmt|rustfmt|clang-format|autopep8|isort)$/;
const GIT_WRITES =
  /^(?:checkout|checkout-index|restore|rm|mv|clean|reset|apply|am|switch|stash|read-tree|worktree|clone|init|submodule|archive|bundle|format-patch|merge-file|sparse-checkout|unpack-file|mergetool|difftool)$/;
const WRITE_OPTION =
  /^(?:-[a-zA-Z]*[oO].*|--?(?:out|output|dest|destination|target|write|fix|in-?place|save|dump|log-?file|o)\b.*|-[wi]|-i\S+|of=.*|-fprintf?0?|-fls|-delete|-t)$/;
const WRITING_CODE =
  /write|open|unlink|\brm|rename|append|truncate|copy|move|mkdir|chmod|link|>|system|exec|spawn|save|dump|\bput|\bw\s|^w|\/[gip\d]*w\s/i;

/** Also when the program follows a carrier such as `sudo` or `xargs`. */
function canWriteFiles(words: CommandWords): boolean {
  const names = words.map(getProgramName);
  if (names.some((name) => WRITERS.has(name))) return true;
  if (names.includes('git') && words.some((word) => GIT_WRITES.test(word))) return true;
  if (words.some((word) => /^(?:-delete|-fprint\w*|-fls|of=.*)$/.test(word))) return true;
  const [name = ''] = names;
  if (/^(?:uniq|xxd)$/.test(name) && words.slice(1).filter(isOperand).length > 1) return true;
  if (names.some((each) => IN_PLACE.test(each)) && words.some(isInPlaceOption)) return true;
  if (names.some(isInterpreter) && words.slice(1).some(isWritingCode)) return true;
  return !ONLY_READS.has(name) && words.slice(1).some((word) => WRITE_OPTION.test(word));
}

function isOperand(word: string): boolean {
  return !word.startsWith('-');
}

function isInPlaceOption(word: string): boolean {
  return /^-\w*[iw]|^--(?:in-place|inplace|write|fix)/.test(word);
}

function isWritingCode(word: string): boolean {
  return /[^\w./=-]/.test(word) && WRITING_CODE.test(word);
}

/** Programs whose options look like those that write, and do not. */
const ONLY_READS: ReadonlySet<string> = new Set(
  `= < [ cat cut diff echo egrep fgrep file find grep head ls od printf ps rg stat tail test tr wc npm pnpm yarn node
  docker make ssh curl-config sudo env du df tree which cmp comm join paste column fold nl rev tac less man`.split(
    /\s+/,
  ),
);

/** Programs that read everything below a directory. */
const TREE_READERS: ReadonlySet<string> = new Set(
  `7z 7za ack ag bsdtar cpio dd fd fdfind find gtar ln mount mv pax rg rga rsync scp tar ugrep zip`.split(
    /\s+/,
  ),
);
const RECURSIVE = /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)/;
const RECURSIVE_SEARCH = /^-[a-zA-Z]*[rRd]|^--(?:recursive|dereference-recursive|directories)/;
const SEARCHERS = /^(?:[efz]?grep)$/;
const RECURSIVE_READERS = /^(?:cp|diff|scp|rsync|gcp)$/;

/** Programs that change everything below a directory. */
const TREE_WRITERS: ReadonlySet<string> = new Set(
  `7z 7za bsdtar cpio curl find gtar ln mv patch pax rmdir rsync tar unzip unrar restore srm wget wipe mount`.split(
    /\s+/,
  ),
);
const RECURSIVE_WRITERS = /^(?:rm|cp|chmod|chown|chgrp|chattr|setfacl|scp|gcp|shred)$/;
const GIT_TREE_WRITES = /^(?:restore|clean|apply|am|checkout-index|read-tree)$/;

/** Whether a command may read or write all files below the directories that it names. */
export function canAccessTrees(words: CommandWords, access: FileAccess): boolean {
  const names = words.map(getProgramName);
  const isRecursive = words.some((word) => RECURSIVE.test(word));
  if (access === 'read') {
    if (names.includes('git')) return words.some((word) => word === '--no-index');
    if (names[0] === 'find') return runsReader(words);
    if (/^(?:docker|podman|nerdctl)$/.test(names[0] ?? '')) return words.some(isMount);
    if (names.some((name) => SEARCHERS.test(name))) {
      return words.some((word) => RECURSIVE_SEARCH.test(word));
    }
    if (names.some((name) => RECURSIVE_READERS.test(name)) && isRecursive) return true;
    return (
      TREE_READERS.has(names[0] ?? '') || names.slice(1).some((name) => /^(?:rg|tar)$/.test(name))
    );
  }
  if (names.includes('git')) return isTreeWrite(words);
  if (names[0] === 'find') {
    return words.some((word) => /^-(?:exec|ok|delete|fls|fprint)/.test(word));
  }
  if (names.some((name) => RECURSIVE_WRITERS.test(name)) && isRecursive) return true;
  return names.some((name) => TREE_WRITERS.has(name));
}

/** `find . -exec basename {} +` reads no file. */
function runsReader(words: CommandWords): boolean {
  const start = words.findIndex((word) => /^-(?:exec|ok)/.test(word));
  return start !== -1 && !NO_FILE_ARGUMENTS.has(findProgram(words.slice(start + 1)));
}

function isMount(word: string): boolean {
  return /^(?:-v.*|--(?:volume|mount)\b.*)$/.test(word);
}

/** `git checkout -- .`, `git reset --hard`, `git clean -fd`: they replace files that nobody names. */
function isTreeWrite(words: CommandWords): boolean {
  if (words.includes('stash')) return !words.some((word) => /^(?:list|show|drop)$/.test(word));
  if (words.some((word) => GIT_TREE_WRITES.test(word))) return true;
  if (words.includes('reset')) return words.some((word) => /^--(?:hard|merge|keep)$/.test(word));
  const isCheckout = words.includes('checkout') || words.includes('rm') || words.includes('mv');
  return isCheckout && words.some((word) => /^(?:--|\.|-f|--force|:\/|\.\/)$/.test(word));
}

const UNPACKERS = /^(?:tar|gtar|bsdtar|unzip|cpio|pax|patch|7z|7za|unrar)$/;
const TARGET_DIRECTORY = /^(?:-C.*|-d|--directory.*|--one-top-level.*|-o.+)$/;

/** Whether it works on the current directory: `never`, `always`, or when it names no other path. */
export function getTreeDefault(
  words: CommandWords,
  access: FileAccess,
): 'never' | 'always' | 'unnamed' {
  const names = words.map(getProgramName);
  if (access === 'read') {
    const isSearch = names.some((name) =>
      /^(?:[ef]?grep|rg|rga|ag|ack|fd|fdfind|ugrep)$/.test(name),
    );
    return isSearch ? 'unnamed' : 'never';
  }
  if (names.includes('git')) {
    return words.some((word) => /^(?:apply|am|stash|reset|read-tree)$/.test(word))
      ? 'always'
      : 'unnamed';
  }
  const isUnpacking = names.some((name) => UNPACKERS.test(name)) && !isPacking(words);
  return isUnpacking && !words.some((word) => TARGET_DIRECTORY.test(word)) ? 'always' : 'never';
}

function isPacking([, mode = '']: CommandWords): boolean {
  return /^-?[a-zA-Z]*c[a-zA-Z]*$|^(?:--create|a)$/.test(mode);
}

/** Programs whose unknown arguments are texts, names or numbers rather than files. */
const NO_FILE_ARGUMENTS: ReadonlySet<string> = new Set(
  `: [ [[ alias apt apt-get basename break brew builtin bun bundle bunx cal cargo cd code command continue date declare
  df dig dirname docker echo exit export expr factor false gem gh git glab go gradle gradlew groups hash helm
  host hostname id ip jobs kill killall kubectl let local lsof make mkdir mkfifo mvn mvnw nice node nohup npm npx nslookup
  nproc pgrep ping pip pip3 pipx pkill pnpm podman poetry popd printenv printf ps pushd pwd read readonly return
  rustc rustup seq set shift shopt sleep stty systemctl terraform test timeout touch trap true tsc tput type typeset
  umask uname unset uv wait which whoami yarn yes = curl wget time eval jest vitest pytest tox eslint prettier ssh`.split(
    /\s+/,
  ),
);
const GIT_FILE_READERS = /^(?:diff|show|hash-object|grep|blame|cat-file|archive|apply|am)$/;

/** Whether a word that is not known may name a file that the command reads or writes. */
export function canUnknownBeFile(words: CommandWords, access: FileAccess): boolean {
  const [name = ''] = words;
  const program = findProgram(words);
  if (name === '>' || name === '<') return (name === '>') === (access === 'write');
  if (access === 'write') return canWriteFiles(words) && program !== 'mkdir';
  if (program === 'git') return words.some((word) => GIT_FILE_READERS.test(word));
  return canReadFiles(words) && !NO_FILE_ARGUMENTS.has(program);
}

/** The program that a carrier such as `xargs -n 1` starts, or the command's own. */
function findProgram(words: CommandWords): string {
  if (/^[<>=]$/.test(words[0] ?? '')) return words[0] ?? '';
  const isSkipped = (word: string): boolean =>
    /^-|=|^\d+[smhd]?$/.test(word) || findCarried([word]).runsArguments === 'yes';
  const found = words.find((word) => !isSkipped(word)) ?? words[0] ?? '';
  return getProgramName(found);
}
