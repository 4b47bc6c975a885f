import * as unbash from 'unbash';
import { getProgramName } from './carriers.ts';
import { UNKNOWN } from './shell-words.ts';
import { joinValues, listArgumentValues, listWordValues, type WordScope } from './word-values.ts';

/** The words of one command; pseudo-commands begin with `>`, `<` or `=`. */
export type CommandWords = readonly string[];

/** Every value that each variable may have. */
export type VariableValues = ReadonlyMap<string, readonly string[]>;

/** Whether the shell may replace the word by others. */
export function isGlob(word: string): boolean {
  return /[*?]|\[[^\]]+\]|\{[^}]*(?:,|\.\.)[^}]*\}/.test(word);
}

interface Visited {
  readonly command: (words: CommandWords, inputs: readonly string[]) => void;
  readonly words: (words: CommandWords) => void;
  readonly openAnything: () => void;
}

const MAX_COMBINATIONS = 16;

/** Commands that print paths, and commands that choose among the lines that they read. */
const LISTERS = /^(?:find|ls)$/;
const CHOOSERS = /^(?:e?grep|head|tail|sort|uniq|tee)$/;

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

  /** What `echo` prints into a pipe; unknown for any other command. */
  #listPrinted(node: unbash.SyntaxNode): readonly string[] {
    if (node.type !== 'Command' || node.name === undefined) return [UNKNOWN];
    if (!/^(?:echo|printf)$/.test(node.name.value)) return [UNKNOWN];
    return joinValues(
      node.args.map((arg) => listArgumentValues(arg, this.#scope).map((value) => `${value} `)),
    ).map((text) => text.replaceAll(String.raw`\n`, '\n'));
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
    const added =
      inputs.length === 0 ? [UNKNOWN] : inputs.flatMap((input) => input.trim().split(/\s+/));
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
      if (redirect.type === 'HereDoc') return [redirect.body.text];
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
    if (value.type !== 'Word') return;
    const values = listWordValues(value, this.#scope);
    if (name === 'IFS' || (RUNNING_VARIABLES.test(name) && !isHarmlessOption(name, values))) {
      this.#visited.openAnything();
    }
    // A program may run what GIT_PAGER, EDITOR or MAKEFLAGS contain.
    this.#listed.add(value);
    values.forEach((each) => this.#visited.words(['=', each]));
    if (name === 'PATH') {
      const directories = values
        .flatMap((each) => each.split(':'))
        .filter((each) => !each.includes(UNKNOWN));
      directories.forEach((directory) => this.#visited.words(['cd', directory]));
    }
  }
}

/** `x='git push'; $x` runs `git` with an argument. */
function splitUnquotedName(words: CommandWords): CommandWords {
  const [name = '', ...args] = words;
  return /\s/.test(name.trim()) ? [...name.trim().split(/\s+/), ...args] : words;
}

/** Variables that make other programs load or run something. */
export const RUNNING_VARIABLES =
  /^(?:BASH_ENV|ENV|LD_\w+|DYLD_\w+|PROMPT_COMMAND|PS4|GIT_(?:CONFIG|SSH|EXTERNAL|PROXY|EXEC|ASKPASS|EDITOR|SEQUENCE|PAGER|DIR|WORK_TREE|TEMPLATE)\w*|NODE_OPTIONS|PERL5\w*|PYTHON(?:STARTUP|PATH|HOME)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|SHELL|MAKEFLAGS|RIPGREP_CONFIG_PATH|SSH_ASKPASS|SUDO_ASKPASS|TAR_OPTIONS)$/;

function isHarmlessOption(name: string, values: readonly string[]): boolean {
  const harmless = name === 'NODE_OPTIONS' ? HARMLESS_NODE_OPTION : HARMLESS_PROGRAM;
  return values.every((value) => harmless.test(value));
}

const HARMLESS_NODE_OPTION = /^--(?:max|no|trace|enable-source|experimental-vm)[\w=-]*$/;
const HARMLESS_PROGRAM = /^(?:|\/?(?:usr\/)?(?:bin\/)?(?:cat|true|:|less|vi|vim|nano|src|\.))$/;

/** What is run again sees the values that come later in the text. */
const LOOPS: ReadonlySet<string> = new Set(['While', 'ArithmeticFor', 'For', 'Select', 'Function']);

/** Every value that the line itself gives to variables, in the order of its text; twice, for loops. */
export function collectVariables(
  script: unbash.SyntaxNode,
  scope: WordScope,
  outer: VariableValues,
): VariableValues {
  const variables = new Map(outer);
  const assigned = new Set<string>();
  let hasHidden = false;
  const assign = (name: string, values: readonly string[]): void => {
    assigned.add(name);
    variables.set(name, [...new Set([...(variables.get(name) ?? []), ...values])]);
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
      hasHidden ||= hasHiddenAssignment(node);
    }
    unbash.forEachChild(node, visit);
  };
  visit(script);
  if (assigned.size > 0 && hasLoop) visit(script);
  if (hasHidden) assigned.forEach((name) => assign(name, [UNKNOWN]));
  return variables;
}

/** `read x`, `printf -v x` and `declare -n x=y` give variables values that no assignment shows. */
function hasHiddenAssignment({ name, args }: unbash.Command): boolean {
  const program = name?.value ?? '';
  if (/^(?:eval|source|\.|read|mapfile|readarray|getopts|let)$/.test(program)) return true;
  const options = args.map(({ text }) => text).filter((text) => text.startsWith('-'));
  if (program === 'printf') return options.some((option) => option.startsWith('-v'));
  return /^(?:declare|local|typeset)$/.test(program) && options.some((each) => /[niul]/.test(each));
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
