import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { resolveFrom } from '../../base/paths.ts';
import { canAccessFiles } from './file-access.ts';
import { type Carried, findCarried, getProgramName, isShell } from './carriers.ts';
import { isOpeningCode } from './foreign-code.ts';
import { isGlob } from './glob-words.ts';
import type { GuardMatch } from './path-pattern.ts';
import { isTooComplex, listDistinctStatements, parseScript } from './shell-commands.ts';
import { extractRoughWords, UNKNOWN } from './shell-words.ts';
import {
  collectVariables,
  type CommandWords,
  RUNNING_VARIABLES,
  ScriptVisitor,
  type VariableValues,
} from './visit-script.ts';
import type { WordScope } from './word-values.ts';

/** A command that a line runs. */
export interface ReadCommand {
  /** Its words without quotes; UNKNOWN stands for what is only known when it runs. */
  readonly words: CommandWords;
  /** Whether its arguments, from some position on, are a command that it runs. */
  readonly runsArguments: GuardMatch;
  /** Whether it is in a file that the line runs, not in the line itself. */
  readonly isInFile: boolean;
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
  const scope = { home, root: findRoot(cwd), variables: new Map(), redefinesCommands: false };
  const reader = new ShellReader(scope, cwd);
  reader.readScript(line, 0);
  reader.finish();
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

/** A function or an alias may have the name of any command. */
const REDEFINING = /\(\s*\)|\bfunction\s|\balias\s/;

class ShellReader implements ShellReading {
  readonly commands: ReadCommand[] = [];
  mayRunAnything = false;
  readonly #scope: WordScope;
  readonly #aliases = new Map<string, readonly string[]>();
  readonly #writtenFiles = new Set<string>();
  readonly #runFiles = new Set<string>();
  readonly #readKeys = new Set<string>();
  #isInFile = false;
  #redefinesCommands = false;

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
    const script = parseScript(text);
    const errors = script.errors ?? [];
    this.mayRunAnything ||= errors.some(({ message }) => message !== OPEN_SINGLE_QUOTE);
    this.#redefinesCommands ||= REDEFINING.test(text);
    const known = { ...this.#scope, redefinesCommands: this.#redefinesCommands };
    const scope = { ...known, variables: collectVariables(script, text, known, outer) };
    const visitor = new ScriptVisitor(scope, {
      command: (words, inputs) => this.#readWords(words, inputs, depth, scope.variables),
      words: (words) => this.#add(words, 'no'),
      openAnything: () => {
        this.mayRunAnything = true;
      },
    });
    // The values of variables are complete by now, so that a repeated statement runs nothing else.
    const statements = this.#redefinesCommands
      ? script.commands
      : listDistinctStatements(script, text);
    for (const each of statements) visitor.visit(each);
  }

  #add(written: CommandWords, runsArguments: GuardMatch): void {
    const words = written.map(resolveProcessPath);
    this.commands.push({ words, runsArguments, isInFile: this.#isInFile });
    if (words[0] === '>') this.#writtenFiles.add(words[1] ?? '');
    // The shell evaluates a subscript where it expects a number or a name, also one in quotes.
    if (words.some((word) => /\[\s*(?:\$\(|`)/.test(word))) this.mayRunAnything = true;
  }

  #readWords(
    words: CommandWords,
    inputs: readonly string[],
    depth: number,
    variables: VariableValues,
  ): void {
    // Long lines repeat commands, and what a repeated one runs is known.
    const key = `${this.#isInFile} ${this.#aliases.size} ${words.join('\0\0')}`;
    if (inputs.length === 0 && this.#readKeys.has(key)) return;
    this.#readKeys.add(key);
    const [name = ''] = words;
    const carried = findCarried(words);
    this.#add(words, carried.runsArguments);
    this.mayRunAnything ||= carried.mayRunAnything || name.includes(UNKNOWN) || isGlob(name);
    // Where a program should be, `<(…)` follows a variable that gets its path, and `{}` is any file.
    if (/^\/dev\/fd\/|^\{\}$/.test(name)) this.mayRunAnything = true;
    if (words.some((word) => RUNNING_VARIABLES.test(/^(\w+)=./.exec(word)?.[1] ?? ''))) {
      this.mayRunAnything = true;
    }
    if (depth > MAX_DEPTH || this.commands.length > MAX_COMMANDS) {
      this.mayRunAnything = true;
      return;
    }
    this.#readAlias(words, depth, variables);
    this.#readFromPath(words, depth, variables);
    for (const script of carried.scripts) {
      this.mayRunAnything ||= script.includes(UNKNOWN) && carried.runsArguments === 'no';
      this.readScript(script, depth + 1, variables);
    }
    carried.scriptFiles.forEach((file) => this.#readScriptFile(file, depth));
    if (carried.stdin !== null) this.#readInputs(carried, inputs, depth, variables);
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
    { stdin: kind, language }: Carried,
    inputs: readonly string[],
    depth: number,
    variables: VariableValues,
  ): void {
    // Without a pipe or a here-document the text comes from around the command.
    if (inputs.length === 0 && kind !== 'piped code') this.mayRunAnything = true;
    for (const input of inputs) {
      if (kind === 'shell') this.readScript(input, depth + 1, variables);
      else this.#add(['=', input], 'maybe');
      const isOpen = kind !== 'shell' && isOpeningCode(input, language);
      this.mayRunAnything ||= input.includes(UNKNOWN) || isOpen;
    }
  }

  #readAlias(words: CommandWords, depth: number, variables: VariableValues): void {
    const [name = '', ...args] = words;
    if (name === 'alias') {
      for (const arg of args) {
        const [, alias, value] = /^([^=]+)=(.*)$/s.exec(arg) ?? [];
        if (alias === undefined || value === undefined) continue;
        this.#aliases.set(alias, value.split(/\s+/));
      }
    }
    // After an alias that ends in a blank, the next word may be one, too.
    if (this.#aliases.get(name)?.at(-1) === '') this.mayRunAnything = true;
    const replaced = this.#aliases.get(name);
    if (replaced === undefined || replaced[0] === name) return;
    this.#readWords([...replaced, ...args], [], depth + 1, variables);
  }

  /** `PATH=./bin:$PATH tool` runs a program of that directory. */
  #readFromPath(words: CommandWords, depth: number, variables: VariableValues): void {
    const [name = '', ...args] = words;
    if (name.includes('/') || name.includes(UNKNOWN)) return;
    const directories = (variables.get('PATH') ?? []).flatMap((value) => value.split(':'));
    for (const directory of directories.filter((each) => !each.includes(UNKNOWN))) {
      const program = `${directory === '' ? '.' : directory}/${name}`;
      if (!existsSync(resolveFrom(this.#cwd, program))) continue;
      this.#readWords([program, ...args], [], depth + 1, variables);
    }
  }

  /** Reads a file of shell code; one that is missing may contain anything. */
  #readScriptFile(file: string, depth: number): void {
    const text = file.includes(UNKNOWN) || isGlob(file) ? null : this.#readText(file);
    this.#runFiles.add(file);
    if (text === null) this.mayRunAnything = true;
    if (text !== null && depth < MAX_FILE_DEPTH) this.#readFileText(text, depth);
  }

  /** Must be called when all is read: a file that the line both writes and runs may contain anything. */
  finish(): void {
    this.mayRunAnything ||= [...this.#runFiles].some((file) => this.#isWritten(file));
  }

  /** By a redirection, or by a command that names it. */
  #isWritten(file: string): boolean {
    const isSame = (other: string): boolean =>
      other.includes(UNKNOWN) || isGlob(other) || path.basename(other) === path.basename(file);
    if ([...this.#writtenFiles].some(isSame)) return true;
    return this.commands.some(
      ({ words, isInFile }) =>
        !isInFile &&
        !KEEPS_TEXT.test(getProgramName(words[0] ?? '')) &&
        words.slice(1).some(isSame) &&
        canAccessFiles(words, 'write'),
    );
  }

  /** Of a script that the user may keep only what it names is read: most use variables somewhere. */
  #readFileText(text: string, depth: number): void {
    const { mayRunAnything } = this;
    const isInFile = this.#isInFile;
    this.#isInFile = true;
    this.readScript(text, depth + 1);
    this.#isInFile = isInFile;
    this.mayRunAnything = mayRunAnything;
  }

  #readProgramFile(name: string, depth: number): void {
    if (name.includes(UNKNOWN)) return;
    this.#runFiles.add(name);
    const text = this.#readText(name);
    if (text === null || depth >= MAX_FILE_DEPTH) return;
    const [, interpreter = ''] = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(\S+)/.exec(text) ?? [];
    if (isShell(getProgramName(interpreter))) this.#readFileText(text, depth);
  }

  #readText(file: string): string | null {
    return readSmallFile(resolveFrom(this.#cwd, file.replace(/^~(?=\/)/, this.#scope.home ?? '~')));
  }
}

/** Programs that change a file without giving it another text. */
const KEEPS_TEXT = /^(?:chattr|chgrp|chmod|chown|mkdir|rm|setfacl|touch)$/;

/**
 * The directory of a process is that of the command itself, or not known, and so is what is behind a
 * descriptor: `exec 3< secrets; cat /dev/fd/3/key`.
 */
function resolveProcessPath(word: string): string {
  if (!/\/(?:proc|fd)\//.test(word)) return word;
  return word
    .replace(/^\/+proc\/+(?:thread-)?self\/+(?:task\/[^/]+\/+)?cwd(?=\/|$)/, '.')
    .replace(
      /^\/+(?:proc\/[^/]+(?:\/+task\/[^/]+)?\/+(?:cwd|fd\/+[^/]+)|dev\/+fd\/+[^/]+)(?=\/)/,
      UNKNOWN,
    )
    .replace(/^\/+proc\/[^/]+\/+root(?=\/|$)/, '');
}

const MAX_FILE_DEPTH = 2;
const ROUGH = { root: '', cwd: '', variables: {} };

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
