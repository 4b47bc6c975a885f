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
import { expect } from 'vitest';
import { isRecord } from '../../../src/base/json.ts';
import type { Surroundings } from '../../../src/dialects/machine.ts';
import { readSurroundings } from '../../../src/host/surroundings.ts';
import { createHost, type Host, type HostOptions } from '../../../src/host/create-host.ts';
import type { Verdict } from '../../../src/hooks/decision.ts';
import type { EventName, FiredEvent } from '../../../src/hooks/facts.ts';
import { createSampleEvent } from '../../../src/testing/sample-event.ts';

/** One group of the recording and a test for each of its cases. */
export interface Group {
  readonly name: string;
  readonly cases: readonly GroupCase[];
}

export interface GroupCase {
  readonly name: string;
  /** Programs without which its hooks cannot show what is tested: it is skipped without them. */
  readonly needs?: readonly string[];
  readonly run: (stage: OpenFixture) => Promise<void>;
}

/** Builds a home and a workspace and opens a host on them; all of it is gone after the test. */
export type OpenFixture = (setup: Setup) => Promise<Fixture>;

type Texts = Readonly<Record<string, string>>;
/** A file as text, or its content as JSON. */
type Files = Readonly<Record<string, string | object>>;

export interface Setup {
  /** Of the workspace, by their path in it. */
  readonly files?: Files;
  /** Of the home directory. */
  readonly home?: Files;
  /** Beside both: plugins, and what is outside of every workspace. */
  readonly beside?: Files;
  /** `.claude/settings.json` of the workspace. */
  readonly project?: object;
  readonly local?: object;
  readonly user?: object;
  /** Given as `--settings`. */
  readonly flag?: object;
  /** Directories beside the workspace. */
  readonly plugins?: readonly string[];
  /** The directory of the workspace that the session starts in. */
  readonly start?: string;
  readonly env?: Texts;
  readonly host?: HostOptions;
}

export interface Fixture {
  readonly root: string;
  readonly home: string;
  readonly directory: string;
  readonly host: Host;
  readonly fire: (name: EventName, facts?: Readonly<Record<string, unknown>>) => Promise<Verdict>;
  readonly dispatch: (event: FiredEvent) => Promise<Verdict>;
  /** Whether the workspace has this file. */
  readonly has: (file: string) => boolean;
  readonly read: (file: string) => string;
  readonly lines: (file: string) => readonly string[];
  /** The payload that a hook wrote with `cat > file`. */
  readonly payload: (file: string) => Readonly<Record<string, unknown>>;
  /** What hooks of `records` left in this file. */
  readonly recorded: (file: string) => readonly Recorded[];
  readonly write: (file: string, content: string | object) => void;
}

export interface Recorded {
  readonly texts: readonly string[];
  readonly payload: Readonly<Record<string, unknown>>;
}

/** `cleanUp` takes what must happen after the test. */
export function createFixtureOpener(cleanUp: (work: () => Promise<void>) => void): OpenFixture {
  return async (setup) => {
    const workspace = layOut(setup);
    cleanUp(() => rm(workspace.directory, { recursive: true, force: true, maxRetries: 5 }));
    const host = await createHost(hostOptions(setup, workspace));
    cleanUp(() => host.dispose());
    return createWorld(workspace, host);
  };
}

export interface TempWorkspace {
  readonly directory: string;
  readonly root: string;
  readonly home: string;
}

function layOut(setup: Setup): TempWorkspace {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-claude-')));
  const root = path.join(directory, 'work', 'project');
  const home = path.join(directory, 'home');
  mkdirSync(root, { recursive: true });
  mkdirSync(home);
  writeAll(root, setup.files);
  writeAll(home, setup.home);
  writeAll(directory, setup.beside);
  writeAll(root, {
    ...(setup.project === undefined ? {} : { '.claude/settings.json': setup.project }),
    ...(setup.local === undefined ? {} : { '.claude/settings.local.json': setup.local }),
  });
  if (setup.user !== undefined) writeAll(home, { '.claude/settings.json': setup.user });
  return { directory, root, home };
}

function writeAll(directory: string, files: Files = {}): void {
  for (const [name, content] of Object.entries(files)) {
    writeOne(path.join(directory, name), content);
  }
}

function writeOne(file: string, content: string | object): void {
  const isScript = typeof content === 'string' && content.startsWith('#!');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2), {
    mode: isScript ? 0o755 : 0o644,
  });
}

export function hostOptions(setup: Setup, workspace: TempWorkspace): HostOptions {
  const { root, directory } = workspace;
  return {
    cwd: path.join(root, setup.start ?? ''),
    roots: [root],
    trust: 'all',
    dialects: ['claude'],
    surroundings: surroundingsOf(setup, workspace),
    flags: { 'trace.enabled': false },
    ...(setup.flag === undefined ? {} : { claudeSettings: JSON.stringify(setup.flag) }),
    ...(setup.plugins === undefined
      ? {}
      : { pluginDirectories: setup.plugins.map((name) => path.join(directory, name)) }),
    ...setup.host,
  };
}

// Whoever runs the tests may do so inside an agent, whose variables are not meant for these hooks.
const FOREIGN = /^(?:CLAUDE|CLINE|HOOKLINE|AI_AGENT|OTEL_)/u;

function surroundingsOf({ env = {} }: Setup, { root, home }: TempWorkspace): Surroundings {
  const rest = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  return {
    ...readSurroundings(),
    cwd: root,
    home,
    env: { ...Object.fromEntries(rest), HOME: home, ...env },
  };
}

function createWorld({ directory, root, home }: TempWorkspace, host: Host): Fixture {
  const at = (file: string): string => path.join(root, file);
  const readText = (file: string): string => readFileSync(at(file), 'utf8');
  const lines = (file: string): readonly string[] =>
    existsSync(at(file))
      ? readText(file)
          .split('\n')
          .filter((line) => line !== '')
      : [];
  return {
    directory,
    root,
    home,
    host,
    fire: (name, facts = {}) => host.engine.dispatch(createSampleEvent(name, facts)),
    dispatch: (event) => host.engine.dispatch(event),
    has: (file) => existsSync(at(file)),
    read: readText,
    lines,
    payload: (file) => {
      const payload: Readonly<Record<string, unknown>> = JSON.parse(readText(file));
      return payload;
    },
    recorded: (file) => lines(file).map((line): Recorded => JSON.parse(line)),
    write: (file, content) => writeOne(at(file), content),
  };
}

/** Facts of a call of Bash. */
export function bash(command: string): { readonly tool: object } {
  return { tool: { callId: 'toolu_mock0001', name: 'Bash', input: { command } } };
}

/** Facts of any call. */
export function call(name: string, input: object): { readonly tool: object } {
  return { tool: { callId: 'toolu_mock0001', name, input } };
}

/** The result of a Bash call, as the tool gives it. */
export function answered(stdout: string): { readonly result: object } {
  const response = {
    stdout,
    stderr: '',
    interrupted: false,
    isImage: false,
    noOutputExpected: false,
  };
  return { result: { response, text: stdout, success: true } };
}

/** A settings file with these handlers under one event. */
export function hooks(event: string, handlers: readonly object[], matcher?: string): object {
  return { hooks: { [event]: [group(handlers, matcher)] } };
}

export function group(handlers: readonly object[], matcher?: string): object {
  return { ...(matcher === undefined ? {} : { matcher }), hooks: handlers };
}

export function command(text: string, more: object = {}): object {
  return { type: 'command', command: text, ...more };
}

/** A command line that adds a line to a file: texts as the shell expands them, and its payload. */
export function records(file: string, ...texts: readonly string[]): string {
  const form = `{"texts":[${texts.map(() => '"%s"').join(',')}],"payload":%s}`;
  const quotedTexts = [...texts, '$(cat)'].map((text) => `"${text}"`);
  return `printf '${form}\\n' ${quotedTexts.join(' ')} >> "${file}"`;
}

/** A verdict without the names of its hooks; fields that are left out have their empty values. */
export interface VerdictSummary {
  readonly effect?: string;
  readonly stop?: { readonly reason: string; readonly pending: string };
  readonly reasons?: readonly string[];
  readonly input?: unknown;
  readonly output?: unknown;
  readonly changes?: Readonly<Record<string, unknown>>;
  readonly context?: readonly string[];
  readonly messages?: readonly string[];
  /** The kinds of all failures. */
  readonly failures?: readonly string[];
}

export function summarizeVerdict(verdict: Verdict): VerdictSummary {
  const { effect, stop, input, output, changes } = verdict;
  const texts = (list: readonly { readonly text: string }[]) => list.map(({ text }) => text);
  const failures = verdict.outcomes.flatMap(({ failure }) => failure?.kind ?? []);
  const all: Record<string, unknown> = {
    effect: effect === 'pass' ? null : effect,
    stop,
    input,
    output,
    changes: plainChanges(changes),
    reasons: texts(verdict.reasons),
    context: texts(verdict.context),
    messages: texts(verdict.messages),
    failures,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => hasContent(value)));
}

/** Changes that are joined come with the hook that made each, which other tests check. */
function plainChanges(changes: Verdict['changes']): Record<string, unknown> {
  const values = Object.entries(changes).map(([field, value]): [string, unknown] => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    const isJoined = list.length > 0 && list.every((each) => isRecord(each) && 'hook' in each);
    return [field, isJoined ? list.map((each) => isRecord(each) && each['value']) : value];
  });
  return Object.fromEntries(values);
}

function hasContent(value: unknown): boolean {
  if (value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isRecord(value) || Object.keys(value).length > 0;
}

export function expectVerdict(verdict: Verdict, expected: VerdictSummary): void {
  expect(summarizeVerdict(verdict)).toEqual(expected);
}
