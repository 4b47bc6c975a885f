import { chmodSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ConfigSources, loadConfig } from '../../src/host/config.ts';
import { readSurroundings, getStateDirectory } from '../../src/host/surroundings.ts';
import { SETTINGS } from '../../src/host/settings.ts';
import { createDirectory, write } from '../base/directory.ts';

const STANDARD = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { defaultValue: standard }]) => [name, standard]),
);

function load(sources: Partial<ConfigSources>) {
  return loadConfig({ homeFile: null, workspaceFiles: [], env: {}, flags: {}, ...sources });
}

function fileWith(config: unknown): string {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  return write(path.join(createDirectory(), 'config.json'), text);
}

describe('layers', () => {
  test('without any layer the defaults hold', () => {
    expect(load({})).toEqual({ settings: STANDARD, origins: {}, problems: [] });
  });

  test('a file that is not there is no problem', () => {
    expect(load({ homeFile: '/nowhere/config.json', workspaceFiles: ['/nowhere'] })).toEqual({
      settings: STANDARD,
      origins: {},
      problems: [],
    });
  });

  test('home < environment < flags, and each value has its source', () => {
    const homeFile = fileWith({
      hooks: { enabled: false, timeoutMs: 1000 },
      cline: { maxContextChars: 100 },
    });
    const env = { HOOK_EXECUTION_TIMEOUT_MS: '2000', MAX_CONTEXT_MODIFICATION_SIZE: '200' };
    const flags = { 'cline.maxContextChars': 300 };
    expect(load({ homeFile, env, flags })).toEqual({
      settings: {
        ...STANDARD,
        'hooks.enabled': false,
        'hooks.timeoutMs': 2000,
        'cline.maxContextChars': 300,
      },
      origins: {
        'hooks.enabled': homeFile,
        'hooks.timeoutMs': 'HOOK_EXECUTION_TIMEOUT_MS',
        'cline.maxContextChars': 'a flag',
      },
      problems: [],
    });
  });

  test.each(['off', 'false', '0', 'no', 'OFF', ' off '])(
    'HOOKLINE_HOOKS=%s switches hooks off',
    (value) => {
      const { settings } = load({ env: { HOOKLINE_HOOKS: value } });
      expect(settings['hooks.enabled']).toBe(false);
    },
  );

  test('an empty variable has no effect', () => {
    expect(load({ env: { HOOKLINE_HOOKS: '' } })).toMatchObject({ origins: {}, problems: [] });
  });

  test('a variable that cannot be understood is reported, and the layer below holds', () => {
    const env = { HOOK_EXECUTION_TIMEOUT_MS: 'soon', HOOKLINE_HOOKS: 'maybe' };
    const { settings, problems } = load({ env });
    expect(settings).toEqual(STANDARD);
    expect(problems).toEqual([
      'the environment variable HOOKLINE_HOOKS should be true or false, found "maybe"',
      'the environment variable HOOK_EXECUTION_TIMEOUT_MS should be a number above 0, found "soon"',
    ]);
  });
});

describe('a workspace', () => {
  test('may tighten', () => {
    const file = fileWith({
      hooks: { onFailure: 'block' },
      cline: { cancel: 'stop', maxContextChars: 10 },
    });
    const { settings, origins, problems } = load({ workspaceFiles: [file] });
    expect(settings).toEqual({
      ...STANDARD,
      'hooks.onFailure': 'block',
      'cline.cancel': 'stop',
      'cline.maxContextChars': 10,
    });
    expect(new Set(Object.values(origins))).toEqual(new Set([file]));
    expect(problems).toEqual([]);
  });

  test('may not loosen what the user set', () => {
    const homeFile = fileWith({
      hooks: { onFailure: 'block' },
      cline: { cancel: 'stop', maxContextChars: 10 },
    });
    const file = fileWith({
      hooks: { onFailure: 'open' },
      cline: { cancel: 'deny', maxContextChars: 11 },
    });
    const alone = load({ homeFile });
    const { settings, problems } = load({ homeFile, workspaceFiles: [file] });
    expect(settings).toEqual(alone.settings);
    expect(problems).toEqual(
      ['hooks.onFailure', 'cline.cancel', 'cline.maxContextChars'].map(
        (name) => `${file}: "${name}" may only be tightened by a workspace, so it was ignored`,
      ),
    );
  });

  test('may not touch anything else', () => {
    const file = fileWith({
      hooks: { enabled: false, disabled: ['x'], timeoutMs: 1, overrides: {} },
      env: { pass: ['OPENAI_API_KEY'] },
      trace: { enabled: false, maxBytes: 1, maxDays: 1 },
    });
    const { settings, problems } = load({ workspaceFiles: [file] });
    expect(settings).toEqual(STANDARD);
    expect(problems).toHaveLength(8);
    expect(problems[0]).toBe(
      `${file}: "hooks.enabled" cannot be set by a workspace, so it was ignored`,
    );
  });

  test('of several the tightest wins, in any order', () => {
    const files = [5, 3, 4].map((chars) => fileWith({ cline: { maxContextChars: chars } }));
    for (const workspaceFiles of [files, files.toReversed()]) {
      expect(load({ workspaceFiles }).settings['cline.maxContextChars']).toBe(3);
    }
  });

  test('names no endpoint, key or trust', () => {
    const model = { provider: 'evil', id: 'x', baseUrl: 'http://evil', key: 'k' };
    const file = fileWith({ trust: { all: true }, model, web: { allowPrivate: true } });
    const { settings, problems } = load({ workspaceFiles: [file] });
    expect(settings).toEqual(STANDARD);
    expect(problems).toEqual([
      `${file}: unknown setting "trust.all"`,
      ...['model.provider', 'model.id', 'model.baseUrl', 'model.key', 'web.allowPrivate'].map(
        (name) => expect.stringContaining(name),
      ),
    ]);
  });
});

describe('a file that is wrong', () => {
  test.each([
    ['no JSON', '{oops', /should be a JSON object, found .*; the file is ignored$/],
    ['an array', '[]', /should be a JSON object, found array; the file is ignored$/],
    ['empty', '', /should be a JSON object, found .*; the file is ignored$/],
  ])('because it is %s is reported', (_, text, problem) => {
    const homeFile = fileWith(text);
    const { settings, problems } = load({ homeFile });
    expect(settings).toEqual(STANDARD);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems[0]).toContain(homeFile);
  });

  test('a byte-order mark is no mistake', () => {
    const homeFile = fileWith('\uFEFF{"hooks":{"enabled":false}}');
    expect(load({ homeFile })).toMatchObject({
      settings: { 'hooks.enabled': false },
      problems: [],
    });
  });

  test('because it cannot be read is reported', () => {
    const directory = createDirectory({ other: '' });
    expect(load({ homeFile: directory }).problems).toEqual([
      expect.stringMatching(/cannot be read: .*; the file is ignored$/),
    ]);
  });

  test('because it is a link to an endless device is reported', () => {
    const file = path.join(createDirectory(), 'config.json');
    symlinkSync('/dev/zero', file);
    expect(load({ workspaceFiles: [file] }).problems).toHaveLength(1);
  });

  test('one bad setting does not affect the others', () => {
    const homeFile = fileWith({
      hooks: { timeoutMs: 'x', enabled: false },
      trace: { maxDays: 0 },
    });
    expect(load({ homeFile })).toMatchObject({
      settings: { 'hooks.enabled': false, 'hooks.timeoutMs': 30_000, 'trace.maxDays': 30 },
      problems: [
        `${homeFile}: "hooks.timeoutMs" should be a number above 0, found "x"; the default is used`,
        `${homeFile}: "trace.maxDays" should be a number above 0, found 0; the default is used`,
      ],
    });
  });

  test('unknown and misspelt settings are reported with a suggestion', () => {
    const homeFile = fileWith({ hooks: { timeoutMS: 5, bogus: 1 }, nonsense: 1 });
    expect(load({ homeFile }).problems).toEqual([
      `${homeFile}: unknown setting "hooks.timeoutMS"; did you mean "hooks.timeoutMs"?`,
      `${homeFile}: unknown setting "hooks.bogus"`,
      `${homeFile}: unknown setting "nonsense"`,
    ]);
  });

  test('a setting with a dot in its name gets a hint how to write it', () => {
    const homeFile = fileWith({ 'hooks.enabled': false });
    expect(load({ homeFile }).problems).toEqual([
      `${homeFile}: "hooks.enabled" should be written as {"hooks": {"enabled": …}}; as written, it is ignored`,
    ]);
  });
});

describe('surroundings', () => {
  test('are those of this process', () => {
    expect(readSurroundings()).toMatchObject({
      cwd: process.cwd(),
      env: process.env,
      platform: process.platform,
      nodePath: process.execPath,
    });
  });

  const around = {
    cwd: '/w',
    env: {},
    platform: 'linux',
    home: '/home/me',
    nodePath: '/n',
  } as const;

  test.each([
    [around, '/home/me/.hookline'],
    [{ ...around, env: { HOOKLINE_HOME: '/state' } }, '/state'],
    [{ ...around, env: { HOOKLINE_HOME: '' } }, '/home/me/.hookline'],
    [{ ...around, home: null }, null],
  ])('state lives in the state directory', (surroundings, expected) => {
    expect(getStateDirectory(surroundings)).toBe(expected);
  });
});

test('settings of a file that only its owner may read are read', () => {
  const homeFile = fileWith({ hooks: { enabled: false } });
  chmodSync(homeFile, 0o600);
  expect(load({ homeFile }).settings['hooks.enabled']).toBe(false);
});
