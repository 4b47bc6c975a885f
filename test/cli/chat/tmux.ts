import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { eventually } from '../../base/directory.ts';
import type { ScriptTurn } from '../../../src/agent/models/scripted.ts';
import { isAlive, until } from '../../process/programs.ts';
import { hooklineProgram } from '../hookline.ts';
import { hasProgram, type TempWorkspace, write } from '../temp-workspace.ts';

export const hasTmux = hasProgram('tmux');

export interface ChatOptions {
  readonly turns?: readonly ScriptTurn[];
  readonly args?: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A chat in a real terminal. */
export class ChatInTmux {
  readonly #socket = `hookline-${process.pid}-${(count += 1)}`;
  readonly #place: TempWorkspace;

  constructor(workspace: TempWorkspace, options: ChatOptions) {
    this.#place = workspace;
    const { turns = [], args = [], columns = 80, rows = 24, env = {} } = options;
    const script = write(workspace.directory, 'script.json', JSON.stringify(turns));
    const variables = {
      PATH: process.env['PATH'] ?? '',
      HOME: workspace.home,
      TERM: 'screen',
      // Commands print process ids, which are others in a sandbox.
      HOOKLINE_SANDBOX: 'off',
      ...env,
    };
    const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const chat = [process.execPath, hooklineProgram(), 'chat', '--script', script, ...args];
    const command = ['env', '-i', ...settings, ...chat];
    // The terminal must outlive the chat, so that what it left can be looked at.
    const noted = `echo $$ > ${quoted(this.#pidFile())}; exec "$@"`;
    const chatLine = ['sh', '-c', noted, 'sh', ...command].map(quoted).join(' ');
    const line = `${chatLine}; echo "exit $?"; exec cat`;
    const size = ['-x', String(columns), '-y', String(rows)];
    this.#tmux(['-f', '/dev/null', 'new-session', '-d', ...size, '-c', workspace.repo, line]);
    onTestFinished(() => this.#end());
  }

  /** What it still writes must not get in the way of whoever removes the place. */
  async #end(): Promise<void> {
    this.hangUp();
    const pid = this.pid();
    if (pid > 0) await until(() => !isAlive(pid));
  }

  /** Of the chat itself; 0 when it has not begun. */
  pid(): number {
    const file = this.#pidFile();
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  }

  #pidFile(): string {
    return path.join(this.#place.directory, `${this.#socket}.pid`);
  }

  type(text: string): void {
    this.#tmux(['send-keys', '-l', text]);
  }

  press(...keys: readonly string[]): void {
    this.#tmux(['send-keys', ...keys]);
  }

  /** Types a line and sends it. */
  say(text: string): void {
    this.type(text);
    this.press('Enter');
  }

  paste(text: string): void {
    const file = write(this.#place.directory, 'paste.txt', text);
    this.#tmux(['load-buffer', file]);
    this.#tmux(['paste-buffer', '-p']);
  }

  resize(columns: number, rows: number): void {
    this.#tmux(['resize-window', '-x', String(columns), '-y', String(rows)]);
  }

  /** What is on the screen, without the empty lines below it; with colours when asked for. */
  screen(...flags: readonly string[]): string {
    const output = this.#tmux(['capture-pane', '-p', ...flags]);
    return output
      .trimEnd()
      .replace(TRUST_NOTE, '')
      .replaceAll(this.#place.directory, 'PLACE')
      .replaceAll(TIME, '0 ms');
  }

  /** Everything that was ever printed and is not overwritten. */
  all(): string {
    return this.screen('-S', '-', '-E', '-');
  }

  /** Waits until the screen shows something. */
  async shows(text: string | RegExp): Promise<void> {
    await waitFor(() => expect(this.screen()).toMatch(text));
  }

  /** Waits until the whole screen is this. */
  async is(screen: string): Promise<void> {
    await waitFor(() => expect(this.screen()).toBe(screen));
  }

  /** The terminal is closed, as by its window's button. */
  hangUp(): void {
    spawnSync('tmux', ['-L', this.#socket, 'kill-server']);
  }

  #tmux(args: readonly string[]): string {
    const { stdout } = spawnSync('tmux', ['-L', this.#socket, ...args], {
      encoding: 'utf8',
      cwd: path.resolve('/'),
    });
    return stdout;
  }
}

let count = 0;

/** Tests trust without a terminal, which the chat says once, with the command line of the test. */
const TRUST_NOTE = /^note: \d+ hooks? in [^]*?untrust`\n/mu;
const TIME = /\d+(?:\.\d+)? (?:ms|s)\b/gu;

function waitFor(check: () => void): Promise<void> {
  return eventually(check, 30);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The editor and the line below it, as they are at 80 columns. */
export function editor(status = STATUS, text = ''): string {
  const line = '─'.repeat(80);
  return `${line}\n>${text === '' ? '' : ` ${text}`}\n${line}\n${status}`;
}

export const STATUS = 'scripted · ask first · 0% context · $0.0000 · /help';
