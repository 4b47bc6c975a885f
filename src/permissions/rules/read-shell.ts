import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as unbash from 'unbash';
import { resolveFrom } from '../../base/paths.ts';
import { findCarried, getProgramName, isShell } from './carriers.ts';
import { isOpeningCode } from './foreign-code.ts';
import type { GuardMatch } from './path-pattern.ts';
import { isTooComplex } from './shell-commands.ts';
import { extractRoughWords, UNKNOWN } from './shell-words.ts';
import { joinValues, listArgumentValues, listWordValues, type WordScope } from './word-values.ts';

/** The words of one command; pseudo-commands begin with `>`, `<` or `=`. */
export type CommandWords = readonly string[];

/** A command that a line runs. */
export interface ReadCommand {
  /** Its words without quotes; UNKNOWN stands for what is only known when it runs. */
  readonly words: CommandWords;
  /** Whether its arguments, from some position on, are a command that it runs. */
  readonly runsArguments: GuardMatch;
}

/** Everything that a command line runs, reads and writes, as far as its text says. */
export interface ShellReading {
  readonly commands: readonly ReadCommand[];
  /** Whether it may run commands that the text does not name. */
  readonly mayRunAnything: boolean;
}

export interface ReadingContext {
  readonly cwd: string;
  readonly home: string | null;
}

const MAX_DEPTH = 6;
const MAX_COMMANDS = 3000;

/** Never throws. A redirection is a command `>` or `<`, and a word that no command has is a command `=`. */
export function readShell(line: string, { cwd, home }: ReadingContext): ShellReading {
  const reader = new ShellReader({ home, root: findRoot(cwd), variables: new Map() }, cwd);
  reader.readScript(line, 0);
  return reader;
}

function findRoot(cwd: string): string {
  for (let directory = cwd; ; directory = path.dirname(directory)) {
    if (existsSync(path.join(directory, '.git'))) return directory;
    if (path.dirname(directory) === directory) return cwd;
  }
}

// Everything after the quote is one argument, so none of it runs.
const OPEN_SINGLE_QUOTE = 'unterminated single quote';

const PLAIN_LINE = /^[\w@%+:,./-]+(?: [\w@%+:,./-]+)*$/;
const KEYWORDS =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|in|function|select|time|coproc)$/;

class ShellReader implements ShellReading {
  readonly commands: ReadCommand[] = [];
  mayRunAnything = false;
  readonly #scope: WordScope;
  readonly #aliases = new Map<string, readonly string[]>();
  readonly #writtenFiles = new Set<string>();

  readonly #cwd: string;

  constructor(scope: WordScope, cwd: string) {
    this.#scope = scope;
    this.#cwd = cwd;
  }

  /** `variables` are those of the script that this one is part of. */
  readScript(text: string, depth: number, variables = this.#createVariables()): void {
    if (isTooComplex(text) || depth > MAX_DEPTH || this.commands.length > MAX_COMMANDS) {
      this.mayRunAnything = true;
      this.#add(extractRoughWords(text, ROUGH), 'maybe');
      return;
    }
    const plain = PLAIN_LINE.test(text) ? text.split(' ') : null;
    if (plain !== null && !KEYWORDS.test(plain[0] ?? '')) {
      this.#readWords(plain, [], depth, variables);
      return;
    }
    try {
      this.#readParsed(text, depth, variables);
    } catch {
      this.mayRunAnything = true;
      this.#add(extractRoughWords(text, ROUGH), 'maybe');
    }
  }

  #createVariables(): VariableValues {
    const { home } = this.#scope;
    // Relative, so that it is right after `cd`, too.
    return new Map([['PWD', ['.']], ...(home === null ? [] : [['HOME', [home]] as const])]);
  }

  #readParsed(text: string, depth: number, outer: VariableValues): void {
    const script = unbash.parse(text);
    const errors = script.errors ?? [];
    this.mayRunAnything ||= errors.some(({ message }) => message !== OPEN_SINGLE_QUOTE);
    const scope = { ...this.#scope, variables: collectVariables(script, this.#scope, outer) };
    const visitor = new NodeVisitor(scope, {
      command: (words, inputs) => this.#readWords(words, inputs, depth, scope.variables),
      words: (words) => this.#add(words, 'no'),
      openAnything: () => {
        this.mayRunAnything = true;
      },
    });
    visitor.visit(script);
  }

  #add(words: CommandWords, runsArguments: GuardMatch): void {
    this.commands.push({ words, runsArguments });
    if (words[0] === '>') this.#writtenFiles.add(words[1] ?? '');
  }

  #readWords(
    words: CommandWords,
    inputs: readonly string[],
    depth: number,
    variables: VariableValues,
  ): void {
    const [name = ''] = words;
    const carried = findCarried(words);
    this.#add(words, carried.runsArguments);
    this.mayRunAnything ||= carried.mayRunAnything || name.includes(UNKNOWN) || isGlob(name);
    if (words.some((word) => /\[\s*(?:\$\(|`)/.test(word))) this.mayRunAnything = true;
    if (depth > MAX_DEPTH || this.commands.length > MAX_COMMANDS) {
      this.mayRunAnything = true;
      return;
    }
    this.#readAlias(words, depth, variables);
    for (const script of carried.scripts) {
      this.mayRunAnything ||= script.includes(UNKNOWN) && carried.runsArguments === 'no';
      this.readScript(script, depth + 1, variables);
    }
    carried.scriptFiles.forEach((file) => this.#readScriptFile(file, depth));
    if (carried.stdin !== null) this.#readInputs(carried.stdin, inputs, depth, variables);
    if (carried.runsArguments === 'yes') this.#readCarried(words, inputs, depth, variables);
    if (name.includes('/') && !isShell(getProgramName(name))) this.#readProgramFile(name, depth);
  }

  /** The command after a carrier's own options is read like any other. */
  #readCarried(
    words: CommandWords,
    inputs: readonly string[],
    depth: number,
    variables: VariableValues,
  ): void {
    for (const [index, word] of words.entries()) {
      if (index === 0) continue;
      if (word === UNKNOWN && canBeProgram(words, index)) this.mayRunAnything = true;
      const program = getProgramName(word);
      const isCommand =
        findCarried([program]).runsArguments === 'yes' || hasScripts(program, words[index - 1]);
      if (isCommand) {
        this.#readWords(words.slice(index), inputs, depth + 1, variables);
        return;
      }
    }
  }

  #readInputs(
    kind: 'shell' | 'code',
    inputs: readonly string[],
    depth: number,
    variables: VariableValues,
  ): void {
    // Without a here-document the text comes from a pipe, a file or a terminal.
    if (inputs.length === 0) this.mayRunAnything = true;
    for (const input of inputs) {
      if (kind === 'shell') this.readScript(input, depth + 1, variables);
      else this.#add(['=', input], 'maybe');
      this.mayRunAnything ||= input.includes(UNKNOWN) || (kind === 'code' && isOpeningCode(input));
    }
  }

  #readAlias(words: CommandWords, depth: number, variables: VariableValues): void {
    const [name = '', ...args] = words;
    if (name === 'alias') {
      for (const arg of args) {
        const [, alias, value] = /^([^=]+)=(.*)$/s.exec(arg) ?? [];
        if (alias !== undefined && value !== undefined)
          this.#aliases.set(alias, value.split(/\s+/));
      }
    }
    const replaced = this.#aliases.get(name);
    if (replaced === undefined || replaced[0] === name) return;
    this.#readWords([...replaced, ...args], [], depth + 1, variables);
  }

  /** Reads a file of shell code; one that is missing or written by the same line may contain anything. */
  #readScriptFile(file: string, depth: number): void {
    const text = file.includes(UNKNOWN) || isGlob(file) ? null : this.#readText(file);
    if (text === null || this.#writtenFiles.size > 0) this.mayRunAnything = true;
    if (text !== null && depth < MAX_FILE_DEPTH) this.#readFileText(text, depth);
  }

  /** Of a script that the user may keep only what it names is read: most use variables somewhere. */
  #readFileText(text: string, depth: number): void {
    const { mayRunAnything } = this;
    this.readScript(text, depth + 1);
    this.mayRunAnything = mayRunAnything;
  }

  #readProgramFile(name: string, depth: number): void {
    if (name.includes(UNKNOWN)) return;
    const text = this.#readText(name);
    if (text === null || depth >= MAX_FILE_DEPTH) return;
    const [, interpreter = ''] = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(\S+)/.exec(text) ?? [];
    if (isShell(getProgramName(interpreter))) this.#readFileText(text, depth);
  }

  #readText(file: string): string | null {
    return readSmallFile(resolveFrom(this.#cwd, file.replace(/^~(?=\/)/, this.#scope.home ?? '~')));
  }
}

const MAX_FILE_DEPTH = 2;
const ROUGH = { root: '', cwd: '', variables: {} };

type VariableValues = ReadonlyMap<string, readonly string[]>;

/** `.` is the name of a directory, too, but not after `command`. */
function hasScripts(program: string, carrier = ''): boolean {
  if (program === '.') return /^(?:command|builtin)$/.test(carrier);
  return isShell(program) || /^(?:eval|source|trap)$/.test(program);
}

/** `sudo "$X"`, but not `sudo apt install "$X"`: a word after the program is an argument. */
function canBeProgram(words: CommandWords, index: number): boolean {
  return words
    .slice(1, index)
    .every(
      (word) => /^-|=|^[\d.]+[smhd]?$/.test(word) || findCarried([word]).runsArguments === 'yes',
    );
}

/** Whether the shell may replace the word by others. */
export function isGlob(word: string): boolean {
  return /[*?]|\[[^\]]+\]|\{[^}]*(?:,|\.\.)[^}]*\}/.test(word);
}

const MAX_SCRIPT = 64 * 1024;

/** The text of a regular file; null when there is none or it is too long. */
function readSmallFile(file: string): string | null {
  try {
    if (file.includes('\0')) return null;
    // Opening a FIFO would wait for a writer.
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_SCRIPT) return null;
    return readFileSync(file, 'utf8');
  } catch {
    // A script that cannot be read may contain anything, which the caller assumes for null.
    return null;
  }
}

interface Visited {
  readonly command: (words: CommandWords, inputs: readonly string[]) => void;
  readonly words: (words: CommandWords) => void;
  readonly openAnything: () => void;
}

const MAX_COMBINATIONS = 16;

/** Visits the nodes of a parsed script and reports commands, redirections and other words. */
class NodeVisitor {
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
    unbash.forEachChild(node, (child) => this.visit(child));
  }

  readonly #piped = new Map<unbash.SyntaxNode, readonly string[]>();

  #visitPipeline({ commands }: unbash.Pipeline): void {
    for (const [index, command] of commands.entries()) {
      const source = commands[index - 1];
      if (source !== undefined) this.#piped.set(command, this.#listPrinted(source));
    }
  }

  /** What `echo` prints into a pipe; nothing when that is not known. */
  #listPrinted(node: unbash.SyntaxNode): readonly string[] {
    if (node.type !== 'Command' || node.name === undefined) return [];
    if (!/^(?:echo|printf)$/.test(node.name.value)) return [];
    return joinValues(
      node.args.map((arg) => listArgumentValues(arg, this.#scope).map((value) => `${value} `)),
    ).map((text) => text.replaceAll(String.raw`\n`, '\n'));
  }

  #visitCommand(node: unbash.Command): void {
    const words = [node.name, ...node.args].flatMap((word) => word ?? []);
    words.forEach((word) => this.#listWord(word));
    if (words.length === 0) return;
    const inputs = [...(this.#piped.get(node) ?? []), ...this.#listInputs(node)];
    for (const list of this.#combine(words)) this.#visited.command(list, inputs);
  }

  #listWord(word: unbash.CommandArgument): void {
    this.#listed.add(word);
    if (word.type === 'Assignment' && word.value.type === 'Word') this.#listed.add(word.value);
  }

  #listInputs({ redirects }: unbash.Command): readonly string[] {
    return redirects.flatMap((redirect) => {
      if (redirect.type === 'HereDoc') return [redirect.body.text];
      if (redirect.type !== 'HereString' || redirect.target === undefined) return [];
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
      const directories = values.flatMap((each) => each.split(':'));
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
const RUNNING_VARIABLES =
  /^(?:BASH_ENV|ENV|LD_\w+|DYLD_\w+|PROMPT_COMMAND|PS4|GIT_(?:CONFIG|SSH|EXTERNAL|PROXY|EXEC|ASKPASS|EDITOR|SEQUENCE|PAGER|DIR|WORK_TREE|TEMPLATE)\w*|NODE_OPTIONS|PERL5\w*|PYTHON(?:STARTUP|PATH|HOME)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|SHELL|MAKEFLAGS|RIPGREP_CONFIG_PATH|SSH_ASKPASS|SUDO_ASKPASS|TAR_OPTIONS)$/;

function isHarmlessOption(name: string, values: readonly string[]): boolean {
  if (name === 'NODE_OPTIONS')
    return values.every((value) =>
      /^--(?:max|no|trace|enable-source|experimental-vm)[\w=-]*$/.test(value),
    );
  return values.every((value) =>
    /^(?:|\/?(?:usr\/)?(?:bin\/)?(?:cat|true|:|less|vi|vim|nano|src|\.))$/.test(value),
  );
}

/** Every value that the line itself gives to variables, in the order of its text; twice, for loops. */
function collectVariables(
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
  const visit = (node: unbash.SyntaxNode): void => {
    const now = { ...scope, variables };
    if (node.type === 'Assignment') {
      assign(node.name, listAssignedValues(node, now));
    } else if (node.type === 'For' || node.type === 'Select') {
      const values = node.wordlist?.flatMap((word) => listWordValues(word, now)) ?? [UNKNOWN];
      assign(node.name.value, values.length > MAX_COMBINATIONS ? [UNKNOWN, ...values] : values);
    } else if (node.type === 'Command' && HIDDEN_ASSIGNMENTS.test(node.name?.value ?? '')) {
      hasHidden = true;
    }
    unbash.forEachChild(node, visit);
  };
  visit(script);
  if (assigned.size > 0) visit(script);
  if (hasHidden) assigned.forEach((name) => assign(name, [UNKNOWN]));
  return variables;
}

const HIDDEN_ASSIGNMENTS = /^(?:eval|source|\.|read|mapfile|readarray|getopts|let)$/;

function listAssignedValues(
  { name, value, append }: unbash.Assignment,
  scope: WordScope,
): readonly string[] {
  const words = value.type === 'Word' ? [value] : value.elements;
  const values = words.flatMap((word) => listWordValues(word, scope));
  if (append !== true) return values;
  return [...joinValues([scope.variables.get(name) ?? [UNKNOWN], values]), UNKNOWN];
}
