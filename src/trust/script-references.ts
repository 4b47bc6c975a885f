/** What the text of a script, or of a command line, loads and starts, as far as the text says so. */
export interface ScriptReferences {
  /** Python modules: `a.b`, `.sibling`, `..cousin.x`. */
  readonly modules: ReadonlySet<string>;
  /** Paths that an import names, relative to the script; the ending may be missing. */
  readonly imports: ReadonlySet<string>;
  /** Paths that a shell starts or sources, relative to the script, the cwd or the root. */
  readonly started: ReadonlySet<string>;
  /** Directories that the script enters or adds to a search path. */
  readonly directories: ReadonlySet<string>;
  /** Interpreters, as they are written. */
  readonly interpreters: ReadonlySet<string>;
  /** Every bare word: programs that are looked up on the PATH are among them. */
  readonly words: ReadonlySet<string>;
}

const MAX_REFERENCES = 2_000;

const MAX_EXTRACTED = 100;
const extracted = new Map<string, ScriptReferences>();

/**
 * Independent of the language, because the command line decides which interpreter reads a file. Caches its
 * results, because the hooks of a directory load the same helpers.
 */
export function extractScriptReferences(text: string): ScriptReferences {
  const known = extracted.get(text);
  if (known !== undefined) return known;
  if (extracted.size >= MAX_EXTRACTED) extracted.clear();
  const references = readReferences(text);
  extracted.set(text, references);
  return references;
}

function readReferences(text: string): ScriptReferences {
  const plain = text.replaceAll(/\\\r?\n/g, ' ');
  const commands = [...readShebang(plain), ...splitIntoCommands(expandAssignments(plain))];
  return {
    modules: limitTo(MAX_REFERENCES, [...listPythonModules(plain), ...listModuleOptions(commands)]),
    imports: limitTo(MAX_REFERENCES, listLoadedPaths(plain)),
    started: limitTo(MAX_REFERENCES, commands.flatMap(listStartedPaths)),
    directories: limitTo(MAX_REFERENCES, listEnteredDirectories(plain, commands)),
    interpreters: limitTo(MAX_REFERENCES, commands.flatMap(listInterpreters)),
    words: new Set(plain.match(/[\w.+-]{1,100}/g)),
  };
}

function limitTo(most: number, words: Iterable<string>): ReadonlySet<string> {
  return new Set([...new Set(words)].slice(0, most));
}

/** The words of the `#!` line, in which `env -S` may have escapes. */
function readShebang(text: string): readonly (readonly string[])[] {
  const line = /^\uFEFF?#!([^\n]{0,2000})/.exec(text)?.[1];
  if (line === undefined) return [];
  const plain = line.replaceAll(/\\[_tnrfv]/g, ' ').replaceAll(/["'\\]/g, '');
  const words = plain
    .split(/\s+/)
    .map((word) => word.replace(/^-(?:v?S|-split-string=?)/, ''))
    .filter((word) => word !== '' && !word.startsWith('-'));
  return [words.flatMap((word) => [word, ...word.split(/[=:,]/)]).filter((word) => word !== '')];
}

const NAME = String.raw`[\w.]{1,200}(?:[ \t]{1,20}as[ \t]{1,20}\w{1,100})?`;
const LIST = String.raw`${NAME}(?:[ \t]{0,20},[ \t]{0,20}${NAME}){0,50}`;
const START = String.raw`(?:^|[\n;:"'\x60(])[ \t]{0,200}`;
const PYTHON_IMPORT = new RegExp(`${START}import[ \\t]{1,20}(?<list>${LIST})`, 'g');
const PYTHON_FROM = new RegExp(
  String.raw`${START}from[ \t]{1,20}(?<module>[\w.]{1,200})[ \t]{1,20}import[ \t]{0,20}(?<names>\([^)]{0,4000}|[^\n;#]{0,1000})`,
  'g',
);
const PYTHON_CALL =
  /\b(?:import_module|__import__|find_spec|run_module)\s{0,20}\(\s{0,20}["'](?<module>[\w.]{1,200})["']/g;

function* listPythonModules(text: string): Generator<string> {
  if (!/import|find_spec|run_module/.test(text)) return;
  for (const { groups } of text.matchAll(PYTHON_IMPORT)) {
    yield* (groups?.['list'] ?? '').split(',').map(readModuleName);
  }
  for (const { groups } of text.matchAll(PYTHON_FROM)) {
    const module = groups?.['module'] ?? '';
    yield module;
    const names = (groups?.['names'] ?? '').split(/[(),]/).map(readModuleName);
    const joint = module.endsWith('.') ? '' : '.';
    yield* names.filter((name) => /^\w+$/.test(name)).map((name) => `${module}${joint}${name}`);
  }
  for (const { groups } of text.matchAll(PYTHON_CALL)) yield groups?.['module'] ?? '';
}

function readModuleName(written: string): string {
  return written.trim().split(/\s/)[0] ?? '';
}

/** `python -m pkg.tool` */
function* listModuleOptions(commands: readonly (readonly string[])[]): Generator<string> {
  for (const words of commands) {
    for (const [index, word] of words.entries()) {
      const name = /^-\w*m(?<attached>[\w.]*)$/.exec(word)?.groups?.['attached'];
      if (name === undefined) continue;
      const module = name === '' ? (words[index + 1] ?? '') : name;
      if (/^[\w.]+$/.test(module)) yield* [module, `${module}.__main__`];
    }
  }
}

const LOADING =
  /(?<![\w$-])(?:from|import|require|require_relative|require_once|include|include_once|load|autoload|dofile|loadfile|do|use|resolve|register|run_path|SourceFileLoader|Import-Module|Worker|fork)\b[^"'`\n;]{0,60}(["'`])(?<file>[^"'`\n]{1,400})\1/gi;
const PERL_USE = new RegExp(
  String.raw`${START}(?:use|require)[ \t]{1,20}(?<name>\w{1,100}(?:::\w{1,100}){0,20})`,
  'g',
);

/** What `import './x'`, `require_relative 'x'`, `include __DIR__ . '/x'` and the like name. */
function* listLoadedPaths(text: string): Generator<string> {
  for (const { groups } of text.matchAll(LOADING)) {
    yield (groups?.['file'] ?? '').replace(/^file:(?:\/\/)?/, '').replaceAll('\\', '/');
  }
  for (const { groups } of text.matchAll(PERL_USE)) {
    yield `${(groups?.['name'] ?? '').replaceAll('::', '/')}.pm`;
  }
}

/** Replaces variables that the script itself sets, twice, because one may be set from another. */
function expandAssignments(text: string): string {
  const values = new Map<string, string>();
  const assignment =
    /(?:^|[\s;])(?<name>[A-Za-z_]\w{0,60})=(?:"(?<double>[^"\n]{0,400})"|'(?<single>[^'\n]{0,400})'|(?<bare>[^\s"';|&]{0,400}))/g;
  for (const { groups } of text.matchAll(assignment)) {
    const value = groups?.['double'] ?? groups?.['single'] ?? groups?.['bare'] ?? '';
    if (values.size < 200) values.set(groups?.['name'] ?? '', value);
  }
  if (values.size === 0) return text;
  return expandVariables(expandVariables(text, values), values);
}

const MAX_EXPANDED = 1024 * 1024;

function expandVariables(text: string, values: ReadonlyMap<string, string>): string {
  const expanded = text.replaceAll(
    /\$(?:\{(?<braced>\w{1,60})\}|(?<bare>\w{1,60}))/g,
    (whole, braced: string | undefined, bare: string | undefined) =>
      values.get(braced ?? bare ?? '') ?? whole,
  );
  return expanded.length > MAX_EXPANDED ? text : expanded;
}

/** Stands for a value that is not known before the script runs. */
const UNKNOWN = '\0';

/** The words of every command, without quotes and with unknown values marked. */
function splitIntoCommands(text: string): readonly (readonly string[])[] {
  const marked = text
    .replaceAll(/\$\([^()\n]{0,200}\)/g, UNKNOWN)
    .replaceAll(/\$\([^()\n]{0,200}\)/g, UNKNOWN)
    .replaceAll(/\$\{[^{}\n]{0,200}\}|\$(?:env:)?\w{1,100}|\$[@*#?!$-]|%\w{1,100}%/g, UNKNOWN);
  const substituted = [...text.matchAll(/[$<>]\((?<inner>[^()\n]{0,400})\)/g)].map(
    ({ groups }) => groups?.['inner'] ?? '',
  );
  return [marked, ...substituted]
    .join('\n')
    .split(/[\n;|&()`]+|\b(?:then|do|else|if|while|until)\s/)
    .map((command) => command.trim())
    .filter((command) => !command.startsWith('#'))
    .map(splitIntoWords);
}

/** Quoted words keep their spaces; one with a whole command in it is read as that command as well. */
function splitIntoWords(command: string): readonly string[] {
  const words = command.match(/(?:"[^"\n]*"|'[^'\n]*'|[^\s"'])+/g) ?? [];
  return words.flatMap((word) => {
    const plain = word.replaceAll(/["'\\]/g, '');
    return /\s/.test(plain) ? [plain, ...plain.split(/\s+/)] : [plain];
  });
}

/** Programs that start the program in their arguments. */
const CARRIERS =
  /^(?:!|\{|-c|command|builtin|exec|eval|env|sudo|doas|nohup|time|timeout|nice|ionice|setsid|stdbuf|chronic|flock|taskset|chrt|xargs|unbuffer|script|watch|parallel|unshare|setpriv|runuser|su|start-stop-daemon|source|\.)$/;

const INTERPRETER =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|bunx|deno|tsx|ts-node|ts-node-esm|npx|pnpx|uv|uvx|poetry|pipenv|hatch|pdm|rye|pixi|ruby|bundle|perl|php|lua|luajit|Rscript|pwsh|powershell|osascript|java|bash|sh|zsh|dash|ksh|fish|ash|busybox)$/;

/** Whether a word names a program that reads its own program from a file. */
export function isInterpreter(word: string): boolean {
  return INTERPRETER.test(word.slice(word.lastIndexOf('/') + 1));
}

/** The program of a command, and every argument of a program that starts its arguments. */
function listStartedPaths(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !/^\w+=/.test(word));
  const program = words[start];
  if (program === undefined) return [];
  const passesOn = words.some((word) => CARRIERS.test(word) || isInterpreter(word));
  const candidates = passesOn ? words : [program];
  return candidates
    .filter((word, index) => !/^\d?>/.test(word) && !isWritten(candidates, index))
    .flatMap((word) => [word.replace(/^<+/, ''), ...splitOption(word)])
    .filter((word) => /[./\w]/.test(word) && !word.startsWith('-'));
}

function isWritten(words: readonly string[], index: number): boolean {
  return /^\d?>{1,2}\|?$/.test(words[index - 1] ?? '');
}

/** `--import=./a.mjs`, `-r./a.js` and `--rcfile=x` name files, too. */
function splitOption(word: string): readonly string[] {
  if (/^--?[\w-]+=/.test(word)) return [word.slice(word.indexOf('=') + 1)];
  return /^-\w[./]/.test(word) ? [word.slice(2)] : [];
}

function listInterpreters(words: readonly string[]): readonly string[] {
  const carriers = words.findIndex(
    (word) => !/^\w+=/.test(word) && !CARRIERS.test(word.slice(word.lastIndexOf('/') + 1)),
  );
  const program = words[carriers];
  return program === undefined || !isInterpreter(program) ? [] : [stripUnknown(program)];
}

/** The part after an unknown value is relative to a directory that is not known. */
export function stripUnknown(word: string): string {
  const at = word.lastIndexOf(UNKNOWN);
  return at === -1 ? word : word.slice(at + 1).replace(/^[/\\]+/, '');
}

const SEARCH_PATH =
  /(?:sys\.path|PYTHONPATH|NODE_PATH|RUBYLIB|PERL5LIB|use lib|LOAD_PATH|\bPATH=)[^\n]{0,400}/g;
/** `PYTHONPATH=lib`, `perl -Mlib=lib`, `ruby -Ilib`: a name without a slash is a directory, too. */
const SEARCH_OPTION =
  /(?:\b(?:PYTHONPATH|NODE_PATH|RUBYLIB|PERL5LIB)=|\s-(?:Mlib=|I[ \t]{0,10}))["']?(?<list>[^\s"';|&]{1,400})/g;

function* listEnteredDirectories(
  text: string,
  commands: readonly (readonly string[])[],
): Generator<string> {
  for (const [program, target] of commands) {
    if ((program === 'cd' || program === 'pushd') && target !== undefined) yield target;
  }
  for (const { groups } of text.matchAll(SEARCH_OPTION)) {
    yield* (groups?.['list'] ?? '').split(/[:,]/).filter((each) => each !== '');
  }
  for (const [line] of text.matchAll(SEARCH_PATH)) {
    yield '.';
    for (const [, , written = ''] of line.matchAll(/(["'])([^"'\n]{1,200})\1/g)) {
      yield* written.split(':').filter((each) => each !== '');
    }
    for (const bare of line.split(/[\s"'=:,()]+/)) if (bare.includes('/')) yield bare;
  }
}
