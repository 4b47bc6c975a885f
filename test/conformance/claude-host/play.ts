import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { RunResult } from '../../../src/agent/runtime-event.ts';
import { isRecord } from '../../../src/base/json.ts';
import { runHookline } from '../../cli/hookline.ts';
import { RECORDER } from './hook-programs.ts';
import { type Answering, serveMessages, type WireRequest } from './messages-server.ts';

/** One group of the recording, or what of it shows only in an agent. */
export interface HostGroup {
  readonly name: string;
  readonly cases: readonly HostCase[];
}

export interface HostCase {
  /** A case of the recording, or `its name: a further fact`. */
  readonly name: string;
  readonly run: () => Promise<void>;
}

type Files = Readonly<Record<string, string | object>>;

/** One run of the built program against a scripted model. */
export interface Scene {
  readonly prompt?: string;
  readonly answer: Answering;
  /** `~/.claude/settings.json`: hooks of the user need no trust. */
  readonly settings?: object;
  readonly files?: Files;
  /** Trusts what the workspace brings. */
  readonly isTrusting?: boolean;
  readonly mode?: string;
  readonly model?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Goes on where an earlier run was. */
  readonly place?: TempWorkspace;
}

export interface TempWorkspace {
  readonly directory: string;
  readonly root: string;
  readonly home: string;
}

export interface Played {
  readonly workspace: TempWorkspace;
  readonly code: number | null;
  readonly result: RunResult;
  readonly requests: readonly WireRequest[];
  /** The lines of `--output stream-json`. */
  readonly news: readonly Readonly<Record<string, unknown>>[];
  readonly stderr: string;
  /** What recording hooks wrote down, in the order in which they ran. */
  readonly payloads: readonly RecordedPayload[];
  readonly has: (file: string) => boolean;
  readonly read: (file: string) => string;
}

/** The payload that a hook of `recorder.ts` recorded. */
export interface RecordedPayload {
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** CLAUDE_PLUGIN_ROOT. */
  readonly pluginRoot?: string;
}

const workspaces: string[] = [];

/** Removes what all scenes left behind. */
export async function removeWorkspaces(): Promise<void> {
  const remaining = workspaces.splice(0);
  await Promise.all(remaining.map((each) => rm(each, { recursive: true, force: true, maxRetries: 5 })));
}

export async function play(scene: Scene): Promise<Played> {
  const workspace = scene.place ?? createTempWorkspace();
  writeAll(workspace.root, { 'rec.sh': RECORDER, ...scene.files });
  if (scene.settings !== undefined) {
    writeAll(workspace.home, { '.claude/settings.json': scene.settings });
  }
  const at = { cwd: workspace.root, home: workspace.home, env: scene.env ?? {} };
  if (scene.isTrusting === true) await runHookline(['trust', '--yes'], at);
  const server = await serveMessages(scene.answer);
  try {
    const { code, stdout, stderr } = await runHookline(argumentsOf(scene, server.url), at);
    return {
      ...playedIn(workspace),
      code,
      stderr,
      requests: server.requests,
      ...parseEvents(stdout, stderr),
    };
  } finally {
    await server.close();
  }
}

/** Calls of Bash, one in each turn, and then the last answer. */
export function bashCalls(commands: readonly string[], last = 'final'): Answering {
  return (_request, index) => {
    const command = commands[index];
    if (command === undefined) return { text: last };
    return { calls: [{ name: 'Bash', input: { command } }] };
  };
}

/** A scene that several tests look at is played once. */
export function sharedScene(scene: () => Scene): () => Promise<Played> {
  let played: Promise<Played> | null = null;
  return () => {
    played ??= play(scene());
    return played;
  };
}

export function createTempWorkspace(): TempWorkspace {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-run-')));
  workspaces.push(directory);
  const workspace = {
    directory,
    root: path.join(directory, 'work', 'project'),
    home: path.join(directory, 'home'),
  };
  mkdirSync(path.join(workspace.root, '.git'), { recursive: true });
  mkdirSync(workspace.home);
  return workspace;
}

export function writeAll(directory: string, files: Files = {}): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

function argumentsOf(scene: Scene, url: string): readonly string[] {
  const { mode = 'bypassPermissions', model = 'claude-sonnet-4-5', args = [], prompt } = scene;
  return [
    'run',
    ...['-P', 'anthropic', '--base-url', url, '--key', 'x', '-m', model],
    ...['--permission-mode', mode, '--output', 'stream-json'],
    ...args,
    ...(prompt === undefined ? [] : [prompt]),
  ];
}

function playedIn(workspace: TempWorkspace): Pick<Played, 'workspace' | 'payloads' | 'has' | 'read'> {
  const at = (file: string): string => path.join(workspace.root, file);
  const readText = (file: string): string =>
    existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '';
  const reports = linesOf(readText('told.log')).map((line): RecordedPayload => JSON.parse(line));
  return { workspace, payloads: reports, read: readText, has: (file) => existsSync(at(file)) };
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new TypeError(`expected an object, found ${JSON.stringify(value)}`);
  return value;
}

function parseEvents(stdout: string, stderr: string): Pick<Played, 'news' | 'result'> {
  const streamEvents = linesOf(stdout).map((line) => recordOf(JSON.parse(line)));
  const last = linesOf(stdout).at(-1) ?? '{}';
  const { type, ...result }: RunResult & { readonly type?: string } = JSON.parse(last);
  if (type !== 'result') throw new TypeError(`the run told no result: ${stderr}`);
  return { news: streamEvents, result };
}
