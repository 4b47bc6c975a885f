import { readSedArguments } from './sed-script.ts';
import { UNKNOWN } from './shell-words.ts';

/** Programs that run code in a language of their own, which may start programs and open files. */
const INTERPRETER =
  /^(?:python|pypy|ipython|node|nodejs|bun|deno|perl|ruby|irb|php|lua|luajit|tclsh|wish|expect|r|rscript|julia|[gmn]?awk|original-awk|busybox-awk|groovy|scala|jshell|runghc|ghci|elixir|iex|erl|escript|osascript|guile|racket|sbcl|clisp|clojure|ocaml|swift|pwsh|powershell|g?sed|ed|red|ex|vi|vim|nvim|view|rvim|vimdiff|emacs|nano|gdb|lldb|sqlite3?|psql|mysql|m4|dc|bc|ftp|sftp|telnet|less|more|most|man|info|mail|mailx|mutt|ghostscript|gs|make|gmake|bmake|ninja|xsltproc|octave|gnuplot|qjs|d8|js|tsx|ts-node|jiti|tcc)(?:-?[\d.]+)?$/i;

export function isInterpreter(program: string): boolean {
  return INTERPRETER.test(program);
}

/** Whether code in the arguments of an interpreter may start any program or open any file. */
export function canOpenAnything(program: string, args: readonly string[]): boolean {
  if (isOptionDriven(program)) return hasOpeningOption(program, args);
  if (/^g?sed$/.test(program)) return readSedArguments(args).mayRun;
  if (/^(?:[gb]?make|ninja)$/.test(program)) return canMakeAnything(args);
  if (program === 'sftp') return args.some((arg) => /^-[bDoS]|Command/.test(arg));
  if (program.endsWith('awk') && args.some(isInputFile)) return true;
  return listCode(program, args)
    .flatMap((code) => [code, ...splitJoinedCode(code)])
    .some((code) => isOpeningCode(code, program));
}

/** `awk -f -` */
function isInputFile(arg: string, index: number, args: readonly string[]): boolean {
  const file = /^-f(.+)$/.exec(arg)?.[1] ?? (args[index - 1] === '-f' ? arg : '');
  return /^(?:-|\/dev\/\S+)$/.test(file);
}

/** Editors, pagers and debuggers: they run something else only with an option. */
const OPTION_DRIVEN =
  /^(?:red|ex|vi|vim|nvim|view|rvim|vimdiff|emacs|nano|gdb|lldb|less|more|most|man|info|mail|mailx|mutt)$/;

export function isOptionDriven(program: string): boolean {
  return OPTION_DRIVEN.test(program) || /^(?:[gb]?make|ninja)$/.test(program);
}

/** Options that run nothing; long ones can be abbreviated, so that all others may. */
const HARMLESS_OPTIONS: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:less|more|most)$/, /^-[NRSXFinmMgKQ\d]+$|^\+\d+$/],
  [/^(?:man|info)$/, /^-[afkwLMsIi\d]+$|^--(?:all|apropos|whatis|where|path)$/],
  [/^(?:vi|vim|nvim|view|rvim|vimdiff)$/, /^-[RnNbdoOpZMmyvg\d]+$|^\+\d+$/],
  [/^emacs$/, /^-(?:nw|Q|q)$|^\+\d+$/],
  [/^(?:gdb|lldb)$/, /^--?(?:args|quiet|batch|nx|nh|silent|tui|pid|p|q)$/],
  [/^(?:mail|mailx|mutt)$/, /^-[scbrn]$/],
];

function hasOpeningOption(program: string, args: readonly string[]): boolean {
  if (/^(?:[gb]?make|ninja)$/.test(program)) return canMakeAnything(args);
  const harmless = HARMLESS_OPTIONS.find(([name]) => name.test(program))?.[1];
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return args
    .slice(0, end)
    .some(
      (arg) =>
        /^(?:[-+]|\/dev\/)/.test(arg) &&
        !/^(?:--?(?:version|help)|-[hV])$/.test(arg) &&
        harmless?.test(arg) !== true,
    );
}

const MAKE_OPTIONS =
  /^(?:-[bBdehikmnpqrRsStvw]+|-[jl][\d.]*|-C.*|-f.+|-f|-I.*|-[oW].*|--(?:jobs|always-make|directory|file|makefile|keep-going|dry-run|silent|quiet|question|touch|version|help|debug|trace|warn-undefined-variables|no-print-directory|output-sync|load-average|no-builtin-rules)(?:=.*)?)$/;

/** `make --eval`, `make X:='$(shell …)'`, and a makefile that comes from a pipe. */
function canMakeAnything(args: readonly string[]): boolean {
  return args.some((arg) => {
    if (/^(?:-f|--(?:file|makefile)=)?(?:-|\/dev\/\S+)$/.test(arg)) return true;
    if (arg.startsWith('-')) return !MAKE_OPTIONS.test(arg);
    const [, name, value = ''] = /^([^=]*?)[:?+!]*=([^]*)$/.exec(arg) ?? [];
    if (name === undefined) return false;
    return /SHELL|FLAGS$|^MAKE/.test(name) && !/^C\w*FLAGS|^LD\w*FLAGS|^GOFLAGS/.test(name)
      ? true
      : /[$`\\;|&<>()]/.test(value);
  });
}

/** The options before code, such as `-e`, `-pe`, `-c`, `--eval`, also joined to it. */
const CODE_OPTION = /^(?:-\w*[ceEprRnBF]|--ev|--pr|eval$|-cmd)/;
/** Modules of Python that run their arguments. */
const CODE_MODULE = /^-?m?(?:timeit|pdb|trace|c?[Pp]rofile|runpy|code)$/;
/** Languages whose code is the first argument, or every one. */
const CODE_FIRST = /awk$|^(?:sqlite3?)$/;

/** The arguments that may be code: all that are more than a plain word, when one of them must be. */
function listCode(program: string, args: readonly string[]): readonly string[] {
  const isModule = /^-[bBdEhiIOqsSuvVWx]*m/.test(args[0] ?? '') && /^(?:python|pypy)/.test(program);
  const loads = args.some((arg) =>
    /^(?:--(?:import|require|loader|experimental-loader)\b|-M)/.test(arg),
  );
  const hasCode = isModule
    ? args.some((arg) => CODE_MODULE.test(arg))
    : args.some((arg) => CODE_OPTION.test(arg)) || CODE_FIRST.test(program) || loads;
  if (!hasCode) return [];
  return args.filter((arg) => !/^-{0,2}[\w./:@+%-]*$/.test(arg) || /^\.\w/.test(arg));
}

/** `-esystem(…)` is `-e system(…)`, and letters of options may stand before it. */
function splitJoinedCode(code: string): readonly string[] {
  return /^-\w/.test(code) ? [2, 3, 4].map((length) => code.slice(length)) : [];
}

/** Tokens that open files, start programs, or reach functions by computed names. */
const OPENING_CODE =
  /system|exec|spawn|popen|subprocess|child_process|fork|\bshell|\beval|compile|importlib|import\s*\(|__\w+__|getattr|globals\s*\(|locals\s*\(|\bvars\b|\bmodules\b|_getframe|\b[fgc][bi]?_(?:frame|globals|builtins|locals|code)|attrgetter|methodcaller|breakpoint|FileType|builtins|constructor|\brequire\b|\bimport\b|Function|globalThis|Reflect|process\.(?:binding|dlopen|mainModule|getBuiltin|kill|chdir|loadEnv|report)|process\s*\[|chdir|\bopen|fopen|file_get|file_put|readfile|passthru|proc_|read_?text|read_?bytes|read_?file|write_?text|write_?bytes|write_?file|pathlib|shutil|fileinput|linecache|runpy|ctypes|\bFile\b|\bIO\b|\bDir\b|Deno\.|Bun\.|\bos\.|unlink|truncate|\bqx\b|`|%x|getline|printf?[^;}]*>|\|\s*["']|<\s*["'$*]|\bARG[VF]\b|\bARGC\b|\bglob\b|syscall|\bdo\s+["']|\bsource\b|(?<![.\w])load\s*\(|loadfile|dofile|include|#!|!|\.shell|\.system|\.read|\.import|\\copy|\\!|COPY\s|\bsend\b|public_send|\bmethod\s*\(|instance_e|const_get|ObjectSpace|Kernel|->\s*\$|(?<!&)&\s*[{$]|\*\{|\(\?\??\{|call_user|array_(?:map|filter|walk)|u[ak]?sort|\$\w+\s*\(|\b_G\b|\b_ENV\b|\bpackage\.|\bdebug\.|metatable/i;

/** Modules of Python that neither start programs nor open files. */
const MODULES =
  'json|sys|re|math|time|datetime|random|string|itertools|functools|collections|platform|base64|hashlib|uuid|textwrap|statistics|decimal|fractions|calendar|typing|enum|dataclasses|secrets|struct|unicodedata|zoneinfo|heapq|bisect|copy|pprint|html|ipaddress|urllib\\.parse';
const MODULE_NAME = `(?:${MODULES})(?:\\s+as\\s+\\w+)?`;

/** Modules and files that neither start programs nor open files, and files that are named for certain. */
const HARMLESS_CODE = new RegExp(
  [
    String.raw`\bfrom\s+(?:${MODULES})\s+import\s+\w+(?:\s*,\s*\w+)*`,
    String.raw`\bimport\s+${MODULE_NAME}(?:\s*,\s*${MODULE_NAME})*(?![\w.])`,
    String.raw`^\s*import\s+(\w+)\s*;\s*print\(\1\.__version__\)\s*$`,
    String.raw`\bopen\(\s*(['"])[\w./@-]+\2\s*(?:,\s*(['"])rb?t?\3\s*)?\)`,
    String.raw`\brequire\(\s*['"](?:[\w./@-]+\.json|(?:node:)?(?:path|url|util|crypto|assert|querystring))['"]\s*\)`,
    String.raw`!==?|!=|if\s+not\b|\bRegExp\.exec\b|\.exec\(|\bre\.compile\(|__name__`,
  ].join('|'),
  'g',
);

/** Members by computed names, and names in escapes: `x["con" + "structor"]`. */
const COMPUTED_MEMBER =
  /(?<=[\w$\])"'}.])(?<!\b(?:return|of|in|case|else|typeof|await|const|let|var))\s*\[(?!\s*(?:\d+|"[^"\\]*"|'[^'\\]*')\s*\])|\{\s*\[|,\s*\[.*?\]\s*:|\\[ux]/;
const JAVASCRIPT = /^(?:node|nodejs|bun|deno|qjs|d8|js|tsx|ts-node|jiti)$/;
/** Their words are code wherever they stand, so that none can be told from another. */
const WORD_LANGUAGES = /^(?:tclsh|wish|expect|m4)$/;
const SIMPLE_PHP = /^\s*(?:(?:echo|print|var_dump)\b[\s\w()"',.+*/-]*;?\s*)*$/;

export function isOpeningCode(code: string, language = ''): boolean {
  const name = language.replace(/(?<=^[a-z]{3,})-?[\d.]+$/, '');
  if (WORD_LANGUAGES.test(name)) return true;
  if (name.endsWith('awk')) return isOpeningAwk(code);
  if (name.startsWith('sqlite')) return isOpeningSql(code);
  if (/^(?:psql|mysql)$/.test(name) && OPENING_CLIENT.test(code)) return true;
  if (name === 'php' && !SIMPLE_PHP.test(code.replace(/^-\w/, ''))) return true;
  // Python reads other forms of a letter as the letter.
  const rest = code.normalize('NFKC').replaceAll(HARMLESS_CODE, ' ');
  if (OPENING_CODE.test(rest)) return true;
  return JAVASCRIPT.test(name) && COMPUTED_MEMBER.test(rest);
}

/** Awk starts programs by pipes and `system`, and opens files by `getline`, ARGV and computed names. */
function isOpeningAwk(code: string): boolean {
  const plain = code
    .replaceAll(/"(?:\\.|[^"\\\n])*"/g, '""')
    .replaceAll(/(^|[(,!~{};&|\n])(\s*)\/(?:\\.|[^/\\\n])*\//g, '$1$2""');
  if (/\bsystem\b|\bgetline\b|\bARG[VC]\b|@|\|&|(?<!\|)\|(?!\|)/.test(plain)) return true;
  return /\bprintf?\b[^;}\n]*>(?!>?\s*""\s*(?:[;}\n]|$))/.test(plain);
}

const SQLITE_COMMAND =
  /^\.(?:tables|schema|mode|headers?|width|nullvalue|separator|ind[ei]\w*|databases|dbinfo|dump|help|quit|exit|timer|stats|show|changes|echo|eqp|explain|fullschema|limit|lint|print|sha3sum)\b[^|>]*$/;
const OPENING_SQL =
  /\b(?:readfile|writefile|edit|load_extension|attach|into\s+['"(]|fsdir|lsdir|zipfile|sqlite_dbpage|vacuum\s+\S*\s*into)\b|vacuum\s+into/i;

/** `\o |program`, `\i file` and the like; `\d`, `\l`, `\x` only show something. */
const OPENING_CLIENT =
  /\\(?![dlxqtac]\w*\+?(?:\s|$))|\b(?:source|tee|pager|edit|outfile|dumpfile|load_file|load\s+data)\b/i;

/** Commands of sqlite3 begin with a dot and can be abbreviated; functions of SQL cannot be computed. */
function isOpeningSql(code: string): boolean {
  if (OPENING_SQL.test(code)) return true;
  return code
    .split('\n')
    .map((line) => line.trim())
    .some((line) => line.startsWith('.') && !SQLITE_COMMAND.test(line));
}

/** The files that code in the arguments names in a way of its own: `sed 'r x'`. */
export function listNamedInCode(program: string, args: readonly string[]): readonly string[] {
  if (!/^g?sed$/.test(program) || args.some((arg) => arg.startsWith(UNKNOWN))) return [];
  return readSedArguments(args).files;
}

/** The names and words in code of any language: `run(['git', 'push'])` has `run`, `git`, `push`. */
export function splitCode(code: string): readonly string[] {
  return code.split(/[^\w./@%+~-]+/).filter((token) => token !== '');
}
