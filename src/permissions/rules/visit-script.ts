import * as unbash from 'unbash';
import { getProgramName } from './carriers.ts';
import { UNKNOWN } from './shell-words.ts';
import { joinValues, listArgumentValues, listWordValues, type WordScope } from './word-values.ts';

/** The words of one command; pseudo-commands begin with `>`, `<` or `=`. */
export type CommandWords = readonly string[];

/** Every value that each variable may have. */
export type VariableValues = ReadonlyMap<string, readonly string[]>;

interface Visited {
  readonly command: (words: CommandWords, inputs: readonly string[]) => void;
  readonly words: (words: CommandWords) => void;
  readonly openAnything: () => void;
}

const MAX_COMBINATIONS = 16;

/** Commands that print paths, and commands that choose among the lines that they read. */
const LISTERS = /^(?:find|ls)$/;
const CHOOSERS = /^(?:e?grep|head|tail|sort|uniq|tee)$/;

const FILE_TEST = /^-[a-hkprstuwxGLNOS]$/;

/** Visits the nodes of a parsed script and reports commands, redirections and other words. */
export class ScriptVisitor {
  readonly #scope: WordScope;
  readonly #visited: Visited;
  readonly #listed = new Set<unbash.SyntaxNode>();

  constructor(scope: WordScope, visited: Visited) {
    this.#scope = scope;
    this.#visited = visited;
  }

  visit(node: unbash.SyntaxNode): void {
    if (node.type === 'Command') this.#visitCommand(node);
    else if (node.type === 'Pipeline') this.#visitPipeline(node);
    else if (node.type === 'Redirect') this.#visitRedirect(node);
    else if (node.type === 'Assignment') this.#visitAssignment(node);
    else if (node.type === 'Remove') this.#listed.add(node.operand);
    // `[[ -f x ]]` opens no file.
    else if (node.type === 'TestUnary' && FILE_TEST.test(node.operator)) {
      this.#listed.add(node.operand);
    }
    // `${x@P}` runs the substitutions in a value.
    else if (node.type === 'Transform' && /P/.test(node.operand.text)) this.#visited.openAnything();
    else if (node.type === 'Word' && !this.#listed.has(node)) {
      listWordValues(node, this.#scope).forEach((value) => this.#visited.words(['=', value]));
    }
    if (node.type === 'Word' && node.parts === undefined) return;
    unbash.forEachChild(node, this.#visitChild);
  }

  readonly #visitChild = (child: unbash.SyntaxNode): void => this.visit(child);

  /** The commands whose output each command of a pipeline reads, the nearest last. */
  readonly #sources = new Map<unbash.SyntaxNode, readonly unbash.SyntaxNode[]>();

  #visitPipeline({ commands }: unbash.Pipeline): void {
    commands.forEach((command, index) => this.#sources.set(command, commands.slice(0, index)));
  }

  /**
   * What `echo` or `printf` prints into a pipe. It is also unknown after a backslash, which may become any
   * character, and with a format that puts words together.
   */
  #listPrinted(node: unbash.SyntaxNode): readonly string[] {
    if (node.type !== 'Command' || node.name === undefined) return [UNKNOWN];
    const program = node.name.value;
    if (!/^(?:echo|printf)$/.test(program)) return [UNKNOWN];
    const texts = joinValues(
      node.args.map((arg) => listArgumentValues(arg, this.#scope).map((value) => `${value} `)),
    );
    const unformatted = texts.map((text) => (program === 'echo' ? text : removeFormat(text)));
    const isCertain =
      !this.#scope.redefinesCommands &&
      unformatted.every((text) => !/\\(?!n)/.test(text) && (program === 'echo' || !/%/.test(text)));
    const printed = unformatted.map((text) => text.replaceAll(String.raw`\n`, '\n'));
    return isCertain ? printed : [...printed, UNKNOWN];
  }

  #visitCommand(node: unbash.Command): void {
    const words = [node.name, ...node.args].flatMap((word) => word ?? []);
    words.forEach((word) => this.#listWord(word));
    if (words.length === 0) return;
    const sources = this.#sources.get(node) ?? [];
    const inputs = [
      ...sources.slice(-1).flatMap((each) => this.#listPrinted(each)),
      ...this.#listInputs(node),
    ];
    for (const list of this.#combine(words)) {
      const isAddingWords = /^(?:xargs|gxargs|parallel)$/.test(getProgramName(list[0] ?? ''));
      const completed = isAddingWords ? this.#addInputWords(list, inputs, sources) : list;
      this.#visited.command(completed, inputs);
    }
  }

  /** `find src | xargs cat` is `find src -exec cat`; any other input is added as words. */
  #addInputWords(
    list: CommandWords,
    inputs: readonly string[],
    sources: readonly unbash.SyntaxNode[],
  ): CommandWords {
    const listed = this.#findListedPaths(sources);
    if (listed !== null) {
      this.#visited.words(['find', ...listed, '-exec', ...list.slice(1)]);
      return list;
    }
    const isFromFile = list.some((word) => /^-\w*a|^--arg/.test(word));
    const texts = inputs.filter((input) => !input.includes(UNKNOWN));
    const isUnknown = isFromFile || inputs.length === 0 || texts.length < inputs.length;
    const added = [
      ...(isUnknown ? [UNKNOWN] : []),
      ...texts.flatMap((input) => input.trim().split(/\s+/)),
    ];
    const [, replaced = '{}'] =
      /(?:^|\0)-I\s*([^\0]+)/.exec(list.join('\0').replaceAll('-I\0', '-I')) ?? [];
    const hasPlace = list.some((word) => !word.startsWith('-I') && word.includes(replaced));
    if (!hasPlace) return [...list, ...added];
    const value = added.length === 1 ? (added[0] ?? UNKNOWN) : UNKNOWN;
    return list.map((word) => (word.startsWith('-I') ? word : word.replaceAll(replaced, value)));
  }

  /** The paths that the first command of a pipeline lists, if the others only choose among them. */
  #findListedPaths([lister, ...filters]: readonly unbash.SyntaxNode[]): readonly string[] | null {
    if (!filters.every((filter) => this.#isProgram(filter, CHOOSERS))) return null;
    if (lister?.type !== 'Command' || !this.#isProgram(lister, LISTERS)) return null;
    const args = lister.args.map((arg) => listArgumentValues(arg, this.#scope)[0] ?? UNKNOWN);
    if (args.some((arg) => arg.includes(UNKNOWN))) return null;
    const paths = args.filter((arg) => !arg.startsWith('-'));
    return lister.name?.value === 'find'
      ? [...args.slice(0, 1), ...args.slice(1)]
      : ['.', ...paths];
  }

  #isProgram(node: unbash.SyntaxNode, names: RegExp): boolean {
    return node.type === 'Command' && names.test(node.name?.value ?? '');
  }

  #listWord(word: unbash.CommandArgument): void {
    this.#listed.add(word);
    if (word.type === 'Assignment' && word.value.type === 'Word') this.#listed.add(word.value);
  }

  #listInputs({ redirects }: unbash.Command): readonly string[] {
    return redirects.flatMap((redirect) => {
      if (redirect.type === 'Redirect') return redirect.operator === '<' ? [UNKNOWN] : [];
      if (redirect.type === 'HereDoc') return listHereDocTexts(redirect);
      if (redirect.target === undefined) return [];
      this.#listed.add(redirect.target);
      return listWordValues(redirect.target, this.#scope);
    });
  }

  /** The command with each value of its variables. */
  #combine(words: readonly unbash.CommandArgument[]): readonly CommandWords[] {
    const values = words.map((word) => listArgumentValues(word, this.#scope));
    const count = values.reduce((product, each) => product * each.length, 1);
    if (count > MAX_COMBINATIONS) {
      const unknown = values.map((each) => (each.length === 1 ? (each[0] ?? '') : UNKNOWN));
      return [unknown, ...values.flatMap((each) => each.map((value) => ['=', value]))];
    }
    const lists = values.reduce<readonly CommandWords[]>(
      (starts, each) => starts.flatMap((start) => each.map((value) => [...start, value])),
      [[]],
    );
    return lists.map(splitUnquotedName);
  }

  #visitRedirect({ operator, target }: unbash.Redirect): void {
    if (target === undefined) return;
    this.#listed.add(target);
    const isDescriptor = /^[<>]&$/.test(operator) && /^\d*-?$/.test(target.value);
    if (isDescriptor) return;
    const access = operator === '<' || operator === '<&' ? '<' : '>';
    for (const value of listWordValues(target, this.#scope)) {
      this.#visited.words([access, value]);
      if (operator === '<>') this.#visited.words(['<', value]);
    }
  }

  #visitAssignment({ name, value }: unbash.Assignment): void {
    if (COMMAND_TABLES.test(name)) this.#visited.openAnything();
    if (value.type !== 'Word') return;
    const values = listWordValues(value, this.#scope);
    if (name === 'IFS' || (RUNNING_VARIABLES.test(name) && !isHarmlessOption(name, values))) {
      this.#visited.openAnything();
    }
    // A program may run what GIT_PAGER, EDITOR or MAKEFLAGS contain.
    this.#listed.add(value);
    values.forEach((each) => this.#visited.words(['=', each]));
    if (SEARCHED_DIRECTORIES.test(name)) {
      const directories = values
        .flatMap((each) => each.split(':'))
        .filter((each) => !each.includes(UNKNOWN));
      directories.forEach((directory) => this.#visited.words(['cd', directory]));
    }
  }
}

/** `printf '%s\\n' a b` prints its words, and so does `echo`. */
function removeFormat(text: string): string {
  return text.replace(/^%s(?:\\n| )/, '').trimStart();
}

/** Without quotes around its delimiter, the shell removes backslashes from the text. */
function listHereDocTexts({ body, delimiter }: unbash.HereDoc): readonly string[] {
  if (delimiter?.quoted === true || !body.text.includes('\\')) return [body.text];
  return [body.text, body.text.replaceAll(/\\(?:\n|([\\$`]))/g, '$1')];
}

/** What bash runs for a name: `BASH_CMDS[x]=/usr/bin/git; x push`. */
const COMMAND_TABLES = /^BASH_(?:ALIASES|CMDS)$/;

/** Relative paths, `~` and names of programs may be meant in them. */
const SEARCHED_DIRECTORIES = /^(?:PATH|CDPATH|HOME)$/;

/** `x='git push'; $x` runs `git` with an argument. */
function splitUnquotedName(words: CommandWords): CommandWords {
  const [name = '', ...args] = words;
  return /\s/.test(name.trim()) ? [...name.trim().split(/\s+/), ...args] : words;
}

/** Variables that make other programs load or run something. */
export const RUNNING_VARIABLES = new RegExp(
  `^(?:${[
    'BASH_ENV|ENV|HOME|XDG_CONFIG_HOME|ZDOTDIR|PROMPT_COMMAND|PS4|SHELL',
    String.raw`LD_\w+|DYLD_\w+`,
    String.raw`GIT_(?:CONFIG|SSH|EXTERNAL|PROXY|EXEC|ASKPASS|EDITOR|SEQUENCE|PAGER|DIR|WORK_TREE|TEMPLATE)\w*`,
    String.raw`NODE_OPTIONS|PERL5\w*|PYTHON(?:STARTUP|PATH|HOME|BREAKPOINT|INSPECT)|RUBY(?:OPT|LIB)|LUA_INIT\w*|PHPRC`,
    'JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS|GRADLE_OPTS',
    String.raw`PAGER|MANPAGER|MANOPT|MANROFFOPT|SYSTEMD_PAGER|LESS\w*|EDITOR|VISUAL|SUDO_EDITOR|FCEDIT|VIMINIT|GVIMINIT|EXINIT|BROWSER`,
    'MAKEFLAGS|GNUMAKEFLAGS|MAKEFILES|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|RUSTC|GOFLAGS',
    'RIPGREP_CONFIG_PATH|SSH_ASKPASS|SUDO_ASKPASS|RSYNC_RSH|TAR_OPTIONS|WGETRC|CURL_HOME|OPENSSL_CONF',
    String.raw`npm_config_(?:script_shell|node_options|shell|editor|git|userconfig|globalconfig)`,
  ].join('|')})$`,
);

function isHarmlessOption(name: string, values: readonly string[]): boolean {
  if (/HOME$|^ZDOTDIR$/.test(name)) return false;
  const harmless = name === 'NODE_OPTIONS' ? HARMLESS_NODE_OPTION : HARMLESS_PROGRAM;
  return values.every((value) => harmless.test(value));
}

const HARMLESS_NODE_OPTION = /^--(?:max|no|trace|enable-source|experimental-vm)[\w=-]*$/;
const HARMLESS_PROGRAM = /^(?:|\/?(?:usr\/)?(?:bin\/)?(?:cat|true|:|less|vi|vim|nano|src|\.))$/;

/** What is run again sees the values that come later in the text. */
const LOOPS: ReadonlySet<string> = new Set(['While', 'ArithmeticFor', 'For', 'Select', 'Function']);

/** Every value that the line itself gives to variables, in the order of its text; twice, for loops. */
export function collectVariables(
  script: unbash.ParsedScript,
  line: string,
  scope: WordScope,
  outer: VariableValues,
): VariableValues {
  const variables = new Map(outer);
  const assigned = new Set<string>();
  let hasHidden = false;
  let changes = 0;
  const assign = (name: string, values: readonly string[]): void => {
    assigned.add(name);
    const before = variables.get(name) ?? [];
    const added = values.filter((value) => !before.includes(value));
    if (added.length === 0 && variables.has(name)) return;
    changes += 1;
    variables.set(name, [...new Set([...before, ...added])]);
  };
  let hasLoop = false;
  const now = { ...scope, variables };
  const visit = (node: unbash.SyntaxNode): void => {
    if (node.type === 'Word' && node.parts === undefined) return;
    hasLoop ||= LOOPS.has(node.type);
    if (node.type === 'Assignment') {
      assign(node.name, listAssignedValues(node, now));
    } else if (node.type === 'For' || node.type === 'Select') {
      const values = node.wordlist?.flatMap((word) => listWordValues(word, now)) ?? [UNKNOWN];
      assign(node.name.value, values.length > MAX_COMBINATIONS ? [UNKNOWN, ...values] : values);
    } else if (node.type === 'Command') {
      hasHidden ||= hasHiddenAssignment(node, now);
    } else if (node.type === 'ParameterExpansion') {
      assignDefault(node, now, assign);
    }
    unbash.forEachChild(node, visit);
  };
  // A repeated statement assigns the same values again, unless a variable changed since it was visited.
  const changesBefore = new Map<string, number>();
  const visitStatements = (): void => {
    for (const statement of script.commands) {
      const text = line.slice(statement.pos, statement.end);
      if (changesBefore.get(text) === changes && !text.includes('<<')) continue;
      changesBefore.set(text, changes);
      visit(statement);
    }
  };
  visitStatements();
  if (assigned.size > 0 && hasLoop) visitStatements();
  if (hasHidden) assigned.forEach((name) => assign(name, [UNKNOWN]));
  return variables;
}

/** `${x:=y}` gives x a value. */
function assignDefault(
  { parameter, operation }: unbash.ParameterExpansionPart,
  scope: WordScope,
  assign: (name: string, values: readonly string[]) => void,
): void {
  if (operation?.type !== 'Default' || !operation.operator.endsWith('=')) return;
  if (scope.variables.has(parameter)) assign(parameter, listWordValues(operation.operand, scope));
}

/** `read x`, `printf -v x` and `declare -n x=y` give variables values that no assignment shows. */
function hasHiddenAssignment({ name, args }: unbash.Command, scope: WordScope): boolean {
  const all = [name, ...args].flatMap((word) => word ?? []);
  const start = all.findIndex(({ text }) => !/^(?:builtin|command|-.*)$/.test(text));
  const [first, ...rest] = all.slice(Math.max(0, start));
  const program = first?.type === 'Word' ? first.value : '';
  if (/^(?:eval|source|\.|read|mapfile|readarray|getopts|let)$/.test(program)) return true;
  const options = rest.map(({ text }) => text).filter((text) => text.startsWith('-'));
  if (program === 'printf') return options.some((option) => option.startsWith('-v'));
  if (program === 'trap') {
    return rest.some((word) => listArgumentValues(word, scope).some(canAssign));
  }
  if (!/^(?:declare|export|local|readonly|typeset)$/.test(program)) return false;
  return (
    options.some((each) => /[niul]/.test(each)) ||
    rest.some((word) => word.type === 'Word' && /=/.test(word.value))
  );
}

function canAssign(script: string): boolean {
  return script.includes(UNKNOWN) || /=|\b(?:read|printf|eval|mapfile|let)\b/.test(script);
}

function listAssignedValues(
  { name, value, append }: unbash.Assignment,
  scope: WordScope,
): readonly string[] {
  const words = value.type === 'Word' ? [value] : value.elements;
  const values = words.flatMap((word) => listWordValues(word, scope));
  if (append !== true) return values;
  return [...joinValues([scope.variables.get(name) ?? [UNKNOWN], values]), UNKNOWN];
}
