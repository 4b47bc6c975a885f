import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const COPIED = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'];
const BUILD_FILES = ['tsconfig.build.json', 'LICENSE', 'README.md', 'schema'];

/** A dialect with one event: a script `.dummy/before.sh`, which answers `no: REASON` to refuse. */
const DIALECT = String.raw`
import { existsSync } from 'node:fs';
import path from 'node:path';
import { TEXT, type SettingTable } from '../../base/setting.ts';
import type { EventName, HookEvent } from '../../hooks/facts.ts';
import { createCommandHandler } from '../command-handler.ts';
import type { Dialect } from '../dialect.ts';
import type { DiscoveredUnit, Discovery, FoundHook } from '../discovery.ts';
import type { DialectMachine } from '../machine.ts';
import { listNamedPaths, readSetting, type PathOption } from '../options.ts';

const EVENT: EventName = 'PreToolUse';

const SETTINGS: SettingTable<{ readonly 'dummy.mark': string }> = {
  'dummy.mark': { ...TEXT, description: 'What follows a reason.', defaultValue: '', variable: 'DUMMY_MARK' },
};

const FILE: PathOption = {
  name: 'extraScript',
  flag: { usage: '--extra-script <file>', about: 'additional script', check: () => undefined },
};

export const dummy = {
  name: 'dummy',
  events: {
    names: ['before'],
    find: (name: string) => (name === 'before' ? { event: EVENT, facts: {} } : null),
    listNames: (event: HookEvent) => (event.name === EVENT ? ['before'] : []),
  },
  vocabulary: 'claude',
  options: { settings: SETTINGS, paths: [FILE], variables: ['DUMMY_DIR'] },
  ownPaths: { protected: ['.dummy/'], inRoots: ['.dummy'] },
  discover: (machine) => ({ discover: () => discover(machine) }),
  readPayload: () => ({
    name: 'PreToolUse',
    tool: { callId: 'c1', name: 'Bash', input: { command: 'from a dummy' } },
  }),
  templates: {
    about: 'a dummy',
    languages: ['sh'],
    load: async () => () => async (machine) => {
      const [within = machine.startDirectory] = machine.workspaceRoots;
      const file = path.join(within, '.dummy', 'before.sh');
      return {
        event: 'before',
        example: {
          runs: 'before a call',
          does: 'refuses it',
          reads: [],
          answers: [],
          trial: { flags: {}, facts: {}, look: null },
        },
        language: 'sh',
        file: { path: file, text: '#!/bin/sh\necho "no: dummy says so"\n', mode: 0o755, within },
        existing: [],
        settings: null,
        isNewHook: (unit: DiscoveredUnit) => unit.path === file,
        notes: [],
        describeUnseen: () => 'it is not seen',
      };
    },
  },
} as const satisfies Dialect;

function discover({ workspaceRoots, settings, search }: DialectMachine): Discovery {
  const files = [
    ...workspaceRoots.map((root) => path.join(root, '.dummy', 'before.sh')),
    ...listNamedPaths(search.paths ?? {}, FILE),
  ];
  const mark = readSetting(SETTINGS['dummy.mark'], settings['dummy.mark']);
  return {
    hooks: files.filter((file) => existsSync(file)).map((file) => createHook(file, mark)),
    ignored: [],
    watched: files.map((file) => path.dirname(file)),
  };
}

/** A dialect with the required parts only. */
export const bare = {
  name: 'bare',
  events: {
    names: ['sooner'],
    find: (name: string) => (name === 'sooner' ? { event: EVENT, facts: {} } : null),
    listNames: (event: HookEvent) => (event.name === EVENT ? ['sooner'] : []),
  },
  vocabulary: 'claude',
} as const satisfies Dialect;

function createHook(file: string, mark: string): FoundHook {
  const root = path.dirname(path.dirname(file));
  return {
    kind: 'hook',
    unit: {
      id: 'dummy:workspace:before',
      ownId: 'dummy:workspace:before',
      dialect: 'dummy',
      eventName: 'before',
      path: file,
      line: null,
      place: 'workspace',
      root,
      binds: { entry: file, files: [], directories: [path.dirname(file)] },
      notes: [],
      problem: null,
      details: {},
    },
    events: [EVENT],
    matcher: null,
    timeoutMs: 30_000,
    onFailure: 'open',
    toHandlers: ({ onFailure, withheld, environment, timeoutMs }) => [
      createCommandHandler({
        id: 'dummy:workspace:before',
        dialect: 'dummy',
        source: file,
        vocabulary: 'claude',
        event: EVENT,
        onFailure,
        withheld,
        program: () => ({ file, args: [], cwd: root, env: environment, timeoutMs, opensStdin: false }),
        codec: {
          encode: () => '{}',
          decode: (_input, { stdout }) => {
            const reason = /^no: (.*)/u.exec(stdout.text)?.[1];
            return reason === undefined ? {} : { decision: { effect: 'deny', reason: reason + mark } };
          },
        },
      }),
    ],
  };
}
`;

/** Prints whether a path is protected, what is reported outside of a root, and what a case inherits. */
const SCRIPT = String.raw`
import path from 'node:path';
import { openHooks } from '../src/host/open-hooks.ts';
import { createHostProtectedPaths } from '../src/host/open-permissions.ts';
import { findPathsOutsideRoots } from '../src/host/workspace.ts';
import { createTempWorkspace } from '../src/testing/temp-workspace.ts';

const [root = '', start = ''] = process.argv.slice(2);
const opened = openHooks({ cwd: root, roots: [root] });
const input = { file_path: path.join(start, '.dummy', 'before.sh') };
const call = { names: ['Write'], kind: 'edit', input, cwd: root } as const;
const outside = findPathsOutsideRoots(start, { workspaceRoots: [root], home: null });
const env = { DUMMY_DIR: '1', DUMMY_MARK: '1', OTHER: '1' };
const place = await createTempWorkspace({ home: null, roots: [] }, { ...opened.surroundings, env });
await place.remove();
console.log(JSON.stringify({
  touched: createHostProtectedPaths(opened).findTouched(call),
  outside: outside.map((each) => each.path),
  inherited: Object.keys(place.surroundings.env),
}));
`;

const tree = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-dialect-')));
const home = path.join(tree, 'home');
const workspace = path.join(tree, 'work');

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], cwd: string): Ran {
  const env = { ...process.env, HOME: home, HOOKLINE_HOME: '' };
  return spawnSync(program, args, { cwd, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

function hookline(...args: readonly string[]): Ran {
  const program = path.join(tree, 'dist', 'bin', 'hookline.js');
  return run(process.execPath, [program, ...args], workspace);
}

beforeAll(() => {
  for (const name of [...COPIED, ...BUILD_FILES]) {
    cpSync(path.join(ROOT, name), path.join(tree, name), { recursive: true });
  }
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(tree, 'node_modules'));
  mkdirSync(home);
  mkdirSync(path.join(workspace, '.git'), { recursive: true });
  const list = path.join(tree, 'src', 'dialects', 'index.ts');
  mkdirSync(path.join(tree, 'src', 'dialects', 'dummy'));
  writeFileSync(path.join(tree, 'src', 'dialects', 'dummy', 'dialect.ts'), DIALECT);
  const before = readFileSync(list, 'utf8');
  const after = before
    .replace('const LIST = [', 'const LIST = [dummy, bare, ')
    .replace(
      'import { claude }',
      "import { bare, dummy } from './dummy/dialect.ts';\nimport { claude }",
    );
  writeFileSync(list, after);
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

describe('a dialect that is one folder and its line in the list', () => {
  test('has types, stays within the layers, and is built', () => {
    const node = (...args: readonly string[]) => run(process.execPath, args, tree);
    const types = node('node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.build.json');
    expect(types).toMatchObject({ status: 0, stdout: '' });
    const layers = node('--import', 'jiti/register', 'scripts/check-layers.ts');
    expect(layers).toMatchObject({ status: 0 });
    expect(node('--import', 'jiti/register', 'scripts/build.ts')).toMatchObject({ status: 0 });
  }, 300_000);

  test('is offered in the help', () => {
    expect(hookline('hooks', 'new', '--help').stdout).toContain('dummy (a dummy)');
    expect(hookline('hooks', 'fire', '--help').stdout).toContain('"dummy"');
    // It has no importer, so that none is offered.
    expect(hookline('hooks', 'import', '--help').stdout).not.toContain('dummy');
  });

  test('has its hooks written, listed, explained, fired and tested', () => {
    const newResult = hookline('hooks', 'new', '--dialect', 'dummy', '--json');
    expect(newResult).toMatchObject({ status: 0 });
    expect(JSON.parse(newResult.stdout)).toMatchObject({
      id: 'dummy:workspace:before',
      trusted: true,
      lang: 'sh',
    });
    const listed = JSON.parse(hookline('hooks', 'list', '--json').stdout);
    expect(listed).toMatchObject({
      hooks: [{ dialect: 'dummy', event: 'before', state: 'ready' }],
    });
    const explained = hookline('hooks', 'explain', 'before', '--json');
    expect(JSON.parse(explained.stdout)).toMatchObject({
      runs: [{ hook: 'dummy:workspace:before' }],
    });
    writeFileSync(path.join(tree, 'payload.json'), '{}');
    const payload = ['--payload', path.join(tree, 'payload.json'), '--as', 'dummy'];
    const fired = hookline('hooks', 'fire', ...payload, '--json');
    expect(JSON.parse(fired.stdout)).toMatchObject({
      effect: 'deny',
      reasons: [{ hook: 'dummy:workspace:before', text: 'dummy says so' }],
    });
    const caseDirectory = path.join(workspace, 'cases', 'refused');
    mkdirSync(caseDirectory, { recursive: true });
    const expected = { effect: 'deny', reasons: ['dummy says so'] };
    const caseContent = { fire: { payload: {}, as: 'dummy' }, expect: expected };
    writeFileSync(path.join(caseDirectory, 'case.json'), JSON.stringify(caseContent));
    const tested = hookline('hooks', 'test', 'cases', '--json');
    expect(JSON.parse(tested.stdout)).toMatchObject({ passed: 1, failed: 0 });
  });

  test('has its files protected and reported, and its variables hidden from cases', () => {
    const start = path.join(workspace, 'sub');
    mkdirSync(path.join(start, '.dummy'), { recursive: true });
    writeFileSync(path.join(tree, 'scripts', 'look.ts'), SCRIPT);
    const script = ['--import', 'jiti/register', 'scripts/look.ts', workspace, start];
    const { stdout, stderr } = run(process.execPath, script, tree);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      touched: path.join(start, '.dummy', 'before.sh'),
      outside: [path.join(start, '.dummy')],
      inherited: ['OTHER', 'HOME', 'USERPROFILE'],
    });
  });

  test('needs only events for their names to be known', () => {
    const explained = hookline('hooks', 'explain', 'sooner', '--json');
    expect(explained).toMatchObject({ status: 0 });
    expect(JSON.parse(explained.stdout)).toMatchObject({ event: 'PreToolUse' });
  });

  test('reads its setting from the configuration and its place from its flag', () => {
    expect(hookline('--help').stdout).toContain('--extra-script <file>');
    const script = path.join(tree, 'named', '.dummy', 'before.sh');
    mkdirSync(path.dirname(script), { recursive: true });
    writeFileSync(script, '#!/bin/sh\necho "no: named"\n', { mode: 0o755 });
    const listed = hookline('hooks', 'list', '--extra-script', script, '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({
      hooks: expect.arrayContaining([expect.objectContaining({ path: script })]),
    });
    mkdirSync(path.join(home, '.hookline'), { recursive: true });
    const config = path.join(home, '.hookline', 'config.json');
    writeFileSync(config, JSON.stringify({ dummy: { mark: '?' } }));
    const fired = hookline('hooks', 'fire', 'before', '--json');
    expect(JSON.parse(fired.stdout)).toMatchObject({ reasons: [{ text: 'dummy says so?' }] });
    writeFileSync(config, JSON.stringify({ dummy: { mark: 5 } }));
    expect(hookline('doctor').stdout).toContain('"dummy.mark" should be text, found 5');
  });
});
