import path from 'node:path';
import { findCarried, getProgramName, isInert, isShell } from './carriers.ts';
import { isInterpreter } from './foreign-code.ts';
import type { CommandWords } from './visit-script.ts';

/** How a command treats the files that its words name. */
export type FileAccess = 'read' | 'write';

/** The words of a command that may name files which it reads or writes. */
export interface AccessedWords {
  readonly certain: CommandWords;
  /** Those of which nobody knows, because the program is not known. */
  readonly possible: CommandWords;
}

export function listAccessedWords(words: CommandWords, access: FileAccess): AccessedWords {
  if (access === 'write') return listWrittenWords(words);
  return { certain: canReadFiles(words) ? words : [], possible: [] };
}

/** Whether a command certainly reads or writes some of the files that it names. */
export function canAccessFiles(words: CommandWords, access: FileAccess): boolean {
  return listAccessedWords(words, access).certain.length > 0;
}

/** Programs that read none of the files that their arguments name. */
const READ_NOTHING: ReadonlySet<string> = new Set(
  `> [ basename cd chgrp chmod chown dirname echo ls mkdir printf pushd readlink realpath rm rmdir stat test touch type
  unlink which`.split(/\s+/),
);
const GIT_READS_NOTHING = /^(?:check-ignore|ls-files|rev-list|rm|status)$/;

function canReadFiles(words: CommandWords): boolean {
  const [name = '', subcommand = ''] = words;
  if (name === 'find') return words.some((word) => /^-(?:exec|ok|files0|fls|fprint)/.test(word));
  if (name === 'git' && GIT_READS_NOTHING.test(subcommand)) return false;
  if (name === 'git' && subcommand === 'log') return words.some(isGitPatchOption);
  return !READ_NOTHING.has(getProgramName(name));
}

function isGitPatchOption(word: string): boolean {
  return /^-(?:[pucLSG]|-(?:patch|cc|unified|word-diff|raw|output))|:/.test(word);
}

const WRITERS: ReadonlySet<string> = new Set(
  `> 7z 7za ar bsdtar bunzip2 jar bzip2 chattr chgrp chmod chown compress convert cp cpio csplit ctags dd debugfs ed emacs ex
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
  /write|open|unlink|\brm|rename|append|truncate|copy|move|mkdir|chmod|link|>|system|exec|spawn|save|dump|\bput|\bw\s|^w|\/[gip\d]*w\s|attach|into|\.o|create/i;

function listWrittenWords(words: CommandWords): AccessedWords {
  const [name = ''] = words;
  if (!isSureWriter(words)) return { certain: [], possible: listPossiblyWritten(words) };
  return { certain: KEEPS_SOURCES.test(name) ? listCopyTargets(words) : words, possible: [] };
}

/** Programs that only read what they copy; `mv` does not. */
const KEEPS_SOURCES = /^(?:cp|gcp|install|scp)$/;

/** Where `cp a b dir` and the like put copies. */
export function listCopyTargets(words: CommandWords): CommandWords {
  const operands = words.slice(1).filter((word) => !word.startsWith('-'));
  const named = words.flatMap((word, index) => {
    const [, joined] = /^(?:-t|--target-dir\w*=|--t\w*=)(.+)$/.exec(word) ?? [];
    if (joined !== undefined) return [joined];
    return /^-\w*t$|^--t[\w-]*$/.test(words[index - 1] ?? '') ? [word] : [];
  });
  const targets = named.length > 0 ? named : operands.slice(-1);
  const copies = targets.flatMap((target) =>
    operands.map((source) => `${target}/${path.basename(source)}`),
  );
  return copies.length > MAX_COPIES ? words : [...targets, ...copies];
}

const MAX_COPIES = 200;

/** Also when the program follows a carrier such as `sudo` or `xargs`. */
function isSureWriter(words: CommandWords): boolean {
  const names = listPrograms(words);
  const [name = ''] = names;
  if (name === '=') return words.slice(1).some(isWritingCode);
  if (names.some((each) => WRITERS.has(each))) return !isListing(words);
  if (names.includes('git') && words.some((word) => GIT_WRITES.test(word))) {
    return !isListing(words);
  }
  if (words.some((word) => /^(?:-delete|-fprint\w*|-fls|of=.*)$/.test(word))) return true;
  if (/^(?:uniq|xxd)$/.test(name) && words.slice(1).filter(isOperand).length > 1) return true;
  if (names.some((each) => IN_PLACE.test(each)) && words.some(isInPlaceOption)) return true;
  if (names.some(isInterpreter) && words.slice(1).some(isWritingCode)) return true;
  return !ONLY_READS.has(name) && words.slice(1).some((word) => WRITE_OPTION.test(word));
}

/** The names at which a command may begin: only the first, when the program runs none of its arguments. */
function listPrograms(words: CommandWords): readonly string[] {
  const [name = ''] = words;
  const program = getProgramName(name);
  return isInert(program) ? [program] : words.map(getProgramName);
}

/** `tar tf x`, `unzip -l x`, `git clean -n` and `git stash list` change nothing. */
function isListing(words: CommandWords): boolean {
  const [name = '', mode = ''] = words;
  if (/^(?:g|bsd)?tar$/.test(name)) {
    return /^-?[a-zA-Z]*t[a-zA-Z]*$|^--list$/.test(mode) && !mode.includes('x');
  }
  if (name === 'unzip') return words.some((word) => /^-\w*[lvZtp]\w*$/.test(word));
  if (name !== 'git') return false;
  if (mode === 'clean') return words.some((word) => /^-\w*n|^--dry/.test(word));
  return mode === 'stash' && words.some((word) => /^(?:list|show|drop)$/.test(word));
}

function isOperand(word: string): boolean {
  return word === '-' || !word.startsWith('-');
}

function isInPlaceOption(word: string): boolean {
  return /^-\w*[iw]|^--(?:in|write|fix)/.test(word);
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

/** Programs that write where an option says, and read the files that stand alone. */
const TOOLS =
  /^(?:aws|bun|c\+\+|cargo|cc|clang|curl|deno|docker|esbuild|eslint|g\+\+|gcc|go|gpg|gradle|helm|java|javac|jest|mvn|node|npm|npx|openssl|pip3?|playwright|pnpm|podman|poetry|prettier|protoc|pytest|python3?|ruff|rustc|sort|swc|terraform|tsc|tsup|tsx|uv|vite|vitest|webpack|wget|yarn|iconv|shuf|split|mktemp|openssl)$/;
/** Options whose value is read. */
const INPUT_OPTION =
  /^(?:-[CIKLUcfhiprux]|--?(?:config|cacert|cert|conf|cwd|data|directory|env-file|exclude|file|from|header|ignore|import|in|include|input|key|make|max|min|project|require|root|rootdir|schema|source|test|url|user|with)[\w-]*)$/;

/** What makes a tool write a file that stands alone, or after an option that is for input elsewhere. */
const NAMED_WRITES: readonly (readonly [RegExp, RegExp])[] = [
  [/^cargo$/, /^(?:init|new)$/],
  [/^curl$/, /^-\w*[cD]|^--(?:cookie-j|dump|etag-s|hsts|alt-svc)/],
  [/^dpkg(?:-deb)?$/, /^-\w*[xXbe]|^--(?:extract|vextract|build|control)/],
  [/^python/, /^-?m?(?:zipfile|tarfile|venv|virtualenv|compileall|py_compile|gzip)$/],
  [
    /^sqlite3?$/,
    /^(?!\s*(?:select|explain|\.(?:tables|schema|ind|databases|mode|headers?)))[a-z.]/i,
  ],
];

/** Only programs that are known to read can be told from those that write. */
function listPossiblyWritten(words: CommandWords): CommandWords {
  const [name = '', ...args] = words;
  const program = getProgramName(name);
  if (
    NAMED_WRITES.some(
      ([tool, option]) => tool.test(program) && args.some((arg) => option.test(arg)),
    )
  ) {
    return args;
  }
  if (ONLY_READS.has(program) && !TOOLS.test(program)) return [];
  if (TOOLS.test(program)) return listOptionValues(args);
  if (isInert(program) || isShell(program) || isInterpreter(program)) return [];
  return READING_TOOLS.test(program) || findCarried([program]).runsArguments === 'yes' ? [] : args;
}

/** Programs that read what they name, and run none of their arguments as they are. */
const READING_TOOLS =
  /^(?:git|source|\.|trap|eval|alias|complete|compgen|mapfile|readarray|fc|enable|bind|gh|glab|code|open|xdg-open|mocha|ava|tap|phpunit|rspec|flake8|pylint|mypy|pyright|shellcheck|hadolint|yamllint|markdownlint|stylelint|ansible|kustomize|b2sum|cksum|strings|sha\w*sum|hexdump|bat|batcat|ag|ack|ug|ugrep|look|tsort|ptx|expand|fmt|pr|nm|objdump|readelf|size|addr2line|ldd|identify|exiftool|tokei|cloc|scc|wdiff|colordiff|delta|difft|qrencode|pdftotext)$/;

function listOptionValues(args: readonly string[]): readonly string[] {
  return args.filter((arg, index) => {
    const [, option] = /^(--?[\w-]+)=/.exec(arg) ?? [];
    if (option !== undefined) return !INPUT_OPTION.test(option);
    if (/^-\w./.test(arg)) return !INPUT_OPTION.test(arg.slice(0, 2));
    const previous = args[index - 1] ?? '';
    return previous.startsWith('-') && !arg.startsWith('-') && !INPUT_OPTION.test(previous);
  });
}

/** Programs that read the names of files from a file or from their input. */
const NAME_LISTS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:g|bsd)?tar$/, /^-?\w*T|^--files-from/],
  [/^(?:sort|wc|du|find)$/, /^--?files0/],
  [/^git$/, /^--(?:pathspec-from|stdin-paths|stdin)/],
  [/^xargs$/, /^-\w*a|^--arg/],
  [/^rsync$/, /^--(?:files|include|exclude)-from/],
  [/^zip$/, /^-@$/],
  [/^wget$/, /^-i|^--input/],
  [/^curl$/, /^-\w*K|^--config/],
  [/^(?:gcc|g\+\+|cc|clang|java|javac|jar|ld|7za?)$/, /^@/],
  [/^parallel$/, /^-a|^--arg-file|^::::/],
  [/^(?:cpio|pax|afio)$/, /^-\w*[opOPw]/],
];

/** Whether a command reads files whose names it finds somewhere else. */
export function hasNameList(words: CommandWords): boolean {
  const names = listPrograms(words);
  return NAME_LISTS.some(
    ([program, option]) =>
      names.some((name) => program.test(name)) && words.some((word) => option.test(word)),
  );
}

/** Programs that read everything below a directory. */
const TREE_READERS: ReadonlySet<string> = new Set(
  `7z 7za ack ag borg bsdtar cpio dd diff fd fdfind find gtar jar ln mksquashfs mount mv pax rclone restic rg rga rsync
  scp tar ugrep xorriso zip`.split(/\s+/),
);
const RECURSIVE = /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)/;
const RECURSIVE_SEARCH = /^-[a-zA-Z]*[rRd]|^--(?:recursive|dereference-recursive|directories)/;
const SEARCHERS = /^(?:[efz]?grep)$/;
const RECURSIVE_READERS = /^(?:cp|diff|scp|rsync|gcp)$/;

/** Programs that change everything below a directory. */
const TREE_WRITERS: ReadonlySet<string> = new Set(
  `7z 7za bsdtar cpio curl find gtar jar ln mv patch pax rmdir rsync tar unzip unrar restore srm wget wipe mount`.split(
    /\s+/,
  ),
);
const RECURSIVE_WRITERS = /^(?:rm|cp|chmod|chown|chgrp|chattr|setfacl|scp|gcp|shred)$/;
const GIT_TREE_WRITES = /^(?:restore|clean|apply|am|checkout-index|read-tree)$/;

/** Whether a command may read or write all files below the directories that it names. */
export function canAccessTrees(words: CommandWords, access: FileAccess): boolean {
  const names = listPrograms(words);
  const isRecursive = words.some((word) => RECURSIVE.test(word));
  if (access === 'read') {
    if (names.includes('git')) return words.some((word) => /^--(?:no-index|untracked)$/.test(word));
    if (names[0]?.startsWith('python') === true) {
      return words.some((word) => /^(?:zip|tar)file$/.test(word));
    }
    if (names[0] === 'find') return runsReader(words);
    if (/^(?:docker|podman|nerdctl)$/.test(names[0] ?? '')) {
      return words.some(isMount) || words[1] === 'cp';
    }
    if (/^(?:kubectl|aws|gsutil|gcloud)$/.test(names[0] ?? '')) {
      return words.some((word) => /^(?:cp|sync|mv|rsync)$/.test(word));
    }
    if (names.some((name) => SEARCHERS.test(name))) {
      return words.some((word) => RECURSIVE_SEARCH.test(word));
    }
    if (names.some((name) => RECURSIVE_READERS.test(name)) && isRecursive) return true;
    return (
      TREE_READERS.has(names[0] ?? '') || names.slice(1).some((name) => /^(?:rg|tar)$/.test(name))
    );
  }
  if (isListing(words)) return false;
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
  return words.some((word) => GIT_NAMED_WRITES.test(word));
}

/** Without one of these words they change only what they name. */
const GIT_NAMED_WRITES = /^(?:checkout|rm|mv)$/;
const WHOLE_TREE = /^(?:--|\.|-f|--force|:\/|\.\/)$/;

const UNPACKERS = /^(?:tar|gtar|bsdtar|unzip|cpio|jar|pax|patch|7z|7za|unrar)$/;
const TARGET_DIRECTORY = /^(?:-C.*|-d|--directory.*|--one-top-level.*|-o.+)$/;

/** Whether it works on the current directory: `never`, `always`, or when it names no other path. */
export function getTreeDefault(
  words: CommandWords,
  access: FileAccess,
): 'never' | 'always' | 'unnamed' {
  const names = listPrograms(words);
  if (access === 'read') {
    const isSearch = names.some((name) =>
      /^(?:[ef]?grep|rg|rga|ag|ack|fd|fdfind|ugrep|git)$/.test(name),
    );
    return isSearch ? 'unnamed' : 'never';
  }
  if (names.includes('git')) {
    if (words.some((word) => /^(?:apply|am|stash|reset|read-tree)$/.test(word))) return 'always';
    const isNamed = words.some((word) => GIT_NAMED_WRITES.test(word));
    return isNamed && !words.some((word) => WHOLE_TREE.test(word)) ? 'never' : 'unnamed';
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
  if (access === 'write') return isSureWriter(words) && program !== 'mkdir';
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
