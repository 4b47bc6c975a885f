/** Programs that run code in a language of their own, which may start programs and open files. */
const INTERPRETER =
  /^(?:python|pypy|ipython|node|nodejs|bun|deno|perl|ruby|irb|php|lua|luajit|tclsh|wish|expect|r|rscript|julia|[gmn]?awk|original-awk|busybox-awk|groovy|scala|jshell|runghc|ghci|elixir|iex|erl|escript|osascript|guile|racket|sbcl|clisp|clojure|ocaml|swift|pwsh|powershell|g?sed|ed|red|ex|vi|vim|nvim|view|rvim|vimdiff|emacs|nano|gdb|lldb|sqlite3?|psql|mysql|m4|dc|bc|ftp|sftp|telnet|less|more|most|man|info|mail|mailx|mutt|ghostscript|gs|make|gmake|bmake|ninja|xsltproc|octave|gnuplot|qjs|d8|js|tsx|ts-node|jiti|tcc)(?:-?[\d.]+)?$/i;

export function isInterpreter(program: string): boolean {
  return INTERPRETER.test(program);
}

/** Tokens that open files, start programs, or reach functions by computed names. */
const OPENING_CODE =
  /system|exec|spawn|popen|subprocess|child_process|fork|\bshell|\beval|compile|importlib|import\s*\(|__\w+__|getattr|globals\s*\(|builtins|constructor|\brequire\b|\bimport\b|Function|globalThis|Reflect|process\.(?:binding|dlopen|mainModule|getBuiltin|kill)|process\s*\[|\bopen|fopen|file_get|file_put|readfile|passthru|proc_|read_?text|read_?bytes|read_?file|write_?text|write_?bytes|write_?file|pathlib|shutil|fileinput|runpy|ctypes|\bFile\b|\bIO\b|\bDir\b|Deno\.|Bun\.|\bos\.|unlink|truncate|\bqx\b|`|%x|getline|printf?[^;}]*>|\|\s*["']|<\s*["'$]|@ARGV\s*=|ARGV\[?\w*\]?\s*=|syscall|\bdo\s+["']|\bsource\b|(?<![.\w])load\s*\(|loadfile|dofile|include|#!|!|\.shell|\.system|\.read|\.import|\\copy|\\!|COPY\s/i;

/** Modules and files that neither start programs nor open files. */
const HARMLESS_CODE =
  /\b(?:from\s+)?import\s+(?:json|sys|re|math|time|datetime|random|string|itertools|functools|collections|platform|base64|hashlib|uuid|textwrap|statistics|decimal)\b(?:\s*,\s*(?:json|sys|re|math|time|datetime|random|string|itertools|functools|collections|platform|base64|hashlib|uuid|textwrap|statistics|decimal)\b)*|\brequire\(\s*['"](?:[\w./@-]+\.json|(?:node:)?(?:path|url|util|crypto|assert|querystring))['"]\s*\)|!==?|!=|if\s+not\b|\bRegExp\.exec\b|\.exec\(/g;

/** `e`, `w`, `r` and their kin run programs, write and read files. */
const OPENING_SED =
  /(?:^|[;{}\n\d$/,!])\s*[eEwWrRF](?:\s|$)|[/|,#:@!][gipmIM\d]*[ew][gipmIM\d]*\s*(?:$|[;}\s])/;
const OPENING_OPTION =
  /^(?:\+.+|-c.*|--cmd.*|-S.*|-s|-es|-ex|-x|-iex|-P.*|-H.*|--pager.*|--html.*|--eval.*|--load.*|-l|--init-command.*|-batch|-f-|--file=-|--makefile=-)$/;

/** Editors, pagers, debuggers and `make`: they run something else only with these options. */
const OPTION_DRIVEN =
  /^(?:red|ex|vi|vim|nvim|view|rvim|vimdiff|emacs|nano|gdb|lldb|less|more|most|man|info|mail|mailx|mutt|g?make|bmake|ninja)$/;

export function isOptionDriven(program: string): boolean {
  return OPTION_DRIVEN.test(program);
}

/** Whether code in the arguments of an interpreter may start any program or open any file. */
export function canOpenAnything(program: string, args: readonly string[]): boolean {
  if (isOptionDriven(program)) {
    return args.some((arg) => OPENING_OPTION.test(arg) || /^(?:-|\/dev\/\S+)$/.test(arg));
  }
  if (/^g?sed$/.test(program)) return args.some((arg) => OPENING_SED.test(arg));
  if (args.some((arg) => CODE_OPTION.test(arg)) || program.endsWith('awk')) {
    return args.some((arg) => !/^-?[\w./-]*$/.test(arg) && isOpeningCode(arg));
  }
  return false;
}

/** The options before code, such as `-e`, `-pe`, `-c`, `--eval`, also joined to it. */
const CODE_OPTION = /^(?:-\w*[cerpEnB]\b.*|--eval.*|--print.*|eval|-cmd.*|-r.*)$/s;

export function isOpeningCode(code: string): boolean {
  return OPENING_CODE.test(code.replaceAll(HARMLESS_CODE, ' '));
}

/** The names and words in code of any language: `run(['git', 'push'])` has `run`, `git`, `push`. */
export function splitCode(code: string): readonly string[] {
  return code.split(/[^\w./@%+~-]+/).filter((token) => token !== '');
}
