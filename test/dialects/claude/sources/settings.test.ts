import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { BugError } from '../../../../src/base/errors.ts';
import type { Source } from '../../../../src/dialects/claude/entry.ts';
import { write } from '../../../base/directory.ts';
import { createMachine, hook, summarizeSources } from './sources-machine.ts';

describe('settings files', () => {
  test('are read in declared order, each with its owner', () => {
    const { commands, from, faults, why } = summarizeSources(
      createMachine(
        {
          'home/.claude/settings.json': hook('user'),
          'home/.cline/hooks.json': hook('user-cline'),
          'proj/.claude/settings.json': hook('project'),
          'proj/.claude/settings.local.json': hook('local'),
          'proj/.cline/hooks.json': hook('project-cline'),
          'lib/.cline/hooks.json': hook('lib-cline'),
          'flag.json': hook('flag'),
          'plug/hooks/hooks.json': hook('plugin'),
          'etc/managed-settings.json': hook('managed'),
          'etc/managed-settings.d/20-b.json': hook('managed-b'),
          'etc/managed-settings.d/10-a.json': hook('managed-a'),
        },
        (base) => ({
          workspaceRoots: [path.join(base, 'proj'), path.join(base, 'lib')],
          flagSettings: '../flag.json',
          pluginDirectories: [path.join(base, 'plug')],
        }),
      ),
    );
    expect({ commands, from, faults, why }).toEqual({
      commands: [
        'user',
        'user-cline',
        'project',
        'local',
        'project-cline',
        'lib-cline',
        'flag',
        'plugin',
        'managed',
        'managed-a',
        'managed-b',
      ],
      from: [
        'user home -',
        'user-cline home -',
        'project workspace proj',
        'local workspace proj',
        'project-cline workspace proj',
        'project-cline@lib workspace lib',
        'flag given -',
        'plugin:plug given -',
        'managed home -',
        'managed:10-a home -',
        'managed:20-b home -',
      ],
      faults: [],
      why: [],
    });
  });

  test('may be given as text', () => {
    const { commands, from } = summarizeSources(
      createMachine({}, () => ({ flagSettings: JSON.stringify(hook('flag')) })),
    );
    expect([commands, from]).toEqual([['flag'], ['flag given -']]);
  });

  test('that the caller names and that are missing are reported', () => {
    const { ignored, why } = summarizeSources(
      createMachine({}, () => ({ flagSettings: 'nowhere.json' })),
    );
    expect(why).toEqual([
      'proj/nowhere.json: does not exist, but was passed with --settings; expected a file or JSON that starts with {',
    ]);
    expect(ignored[0]?.mayHideHook).toBe(true);
  });

  test('mark .cline files and keep all in one family', () => {
    const { entries } = summarizeSources(
      createMachine({
        'home/.claude/settings.json': hook('user'),
        'proj/.cline/hooks.json': hook('cline'),
      }),
    );
    expect(entries.map(({ source }) => [source.isCline, source.family])).toEqual([
      [false, 'settings'],
      [true, 'settings'],
    ]);
  });

  test('of the start directory alone count; those of the root above are reported', () => {
    const { commands, from, why } = summarizeSources(
      createMachine(
        {
          'proj/.claude/settings.json': hook('above'),
          'proj/pkg/.claude/settings.json': hook('subproj'),
          'proj/.cline/hooks.json': hook('cline'),
        },
        (base) => ({ startDirectory: path.join(base, 'proj', 'pkg') }),
      ),
    );
    expect([commands, from]).toEqual([
      ['subproj', 'cline'],
      ['project workspace proj', 'project-cline workspace proj'],
    ]);
    expect(why).toEqual([
      expect.stringMatching(
        /^proj\/\.claude\/settings\.json: is not read: settings are read from the start directory only; start in .*proj, or put the hooks into proj\/\.cline\/hooks\.json$/,
      ),
    ]);
  });

  test('are read once when the user starts at home', () => {
    const { commands, from } = summarizeSources(
      createMachine(
        {
          'home/.claude/settings.json': hook('user'),
          'home/.claude/settings.local.json': hook('local'),
          'home/.cline/hooks.json': hook('cline'),
        },
        (base) => ({
          startDirectory: path.join(base, 'home'),
          workspaceRoots: [path.join(base, 'home')],
        }),
      ),
    );
    expect([commands, from]).toEqual([
      ['user', 'cline', 'local'],
      ['user home -', 'user-cline home -', 'local workspace home'],
    ]);
  });

  test('of the user that really lie in the workspace are the workspace’s', () => {
    const machine = createMachine(
      { 'proj/mine/settings.json': hook('linked'), 'proj/cline.json': hook('cline') },
      (base) => ({ claudeDirectory: path.join(base, 'proj', 'mine') }),
    );
    mkdirSync(path.join(machine.base, 'home/.cline'));
    symlinkSync(
      path.join(machine.base, 'proj/cline.json'),
      path.join(machine.base, 'home/.cline/hooks.json'),
    );
    expect(summarizeSources(machine).from).toEqual([
      'user workspace proj',
      'user-cline workspace proj',
    ]);
  });

  test('given by the caller from inside the workspace need its trust', () => {
    const { from } = summarizeSources(
      createMachine(
        { 'proj/flag.json': hook('flag'), 'proj/plug/hooks/hooks.json': hook('plugin') },
        (base) => ({
          flagSettings: 'flag.json',
          pluginDirectories: [path.join(base, 'proj', 'plug')],
        }),
      ),
    );
    expect(from).toEqual(['flag workspace proj', 'plugin:plug workspace proj']);
  });

  test('that are broken JSON or cannot be read do not affect the others', () => {
    const machine = createMachine({
      'home/.claude/settings.json': hook('user'),
      'proj/.claude/settings.json': '{ "hooks": ',
      'proj/.cline/hooks.json/x': 'a directory',
    });
    symlinkSync('nowhere', path.join(machine.base, 'proj/.claude/settings.local.json'));
    const { commands, faults, why, ignored, brokenGateFiles, short } = summarizeSources(machine);
    expect(commands).toEqual(['user']);
    expect(faults).toEqual([
      'project null 1: expected JSON, found the end of the file at column 12 (missing a value and } at the end)',
    ]);
    expect(why).toEqual([
      'proj/.claude/settings.local.json: is a broken link',
      'proj/.cline/hooks.json: cannot be read: it is not a regular file',
    ]);
    expect(ignored.every((each) => each.mayHideHook)).toBe(true);
    expect(brokenGateFiles.map(short)).toEqual(['proj/.claude/settings.json']);
  });

  test('with a broken guard are named, those with another fault are not', () => {
    const { brokenGateFiles, short } = summarizeSources(
      createMachine({
        'home/.claude/settings.json': { hooks: { Stop: [{ hooks: [{ type: 'x' }] }] } },
        'proj/.claude/settings.json': { hooks: { PermissionRequest: 'x' } },
      }),
    );
    expect(brokenGateFiles.map(short)).toEqual(['proj/.claude/settings.json']);
  });

  test('name unknown events with their line', () => {
    const { why } = summarizeSources(
      createMachine({ 'proj/.cline/hooks.json': hook('x', 'PreTooluse') }),
    );
    expect(why).toEqual([
      'proj/.cline/hooks.json: line 3: event "PreTooluse" not found, so its entries never run; did you mean PreToolUse?',
    ]);
  });

  test('are watched, also where there are none yet', () => {
    const { watched, short } = summarizeSources(createMachine({}));
    expect(watched.map(short)).toEqual([
      'home/.claude',
      'home/.cline',
      'proj/.claude',
      'proj/.cline',
      'etc',
    ]);
  });
});

describe('files that are not read', () => {
  test('are reported, with what to do', () => {
    const { commands, why } = summarizeSources(
      createMachine({
        'home/.claude/hooks.json': hook('a'),
        'home/.claude/hooks/hooks.json': hook('b'),
        'home/.claude/settings.local.json': hook('c'),
        'proj/.claude/hooks.json': hook('d'),
        'proj/hooks/hooks.json': hook('e'),
      }),
    );
    expect(commands).toEqual([]);
    expect(why).toEqual([
      'home/.claude/hooks.json: is not read: copy its hooks with `hookline hooks import --from claude --global` and remove it, or move them to home/.claude/settings.json',
      'home/.claude/hooks/hooks.json: is not read: move its hooks to home/.claude/settings.json',
      'home/.claude/settings.local.json: is not read: move it to home/.claude/settings.json',
      'proj/.claude/hooks.json: is not read: copy its hooks with `hookline hooks import --from claude` and remove it, or move them to .claude/settings.json',
      'proj/hooks/hooks.json: is not read: it is part of a plugin; name the plugin with --plugin-dir, or move its hooks to .claude/settings.json',
    ]);
  });

  test('are not mentioned when they are', () => {
    const { commands, why } = summarizeSources(
      createMachine({ 'proj/hooks/hooks.json': hook('e') }, (base) => ({
        pluginDirectories: [path.join(base, 'proj')],
      })),
    );
    expect([commands, why]).toEqual([['e'], []]);
  });
});

describe('the time that SessionEnd handlers share', () => {
  const limits = (files: Record<string, unknown>, env: Record<string, string> = {}) => {
    const machine = createMachine(files, (base) => ({
      env,
      pluginDirectories: [path.join(base, 'plug')],
    }));
    mkdirSync(path.join(machine.base, 'plug'), { recursive: true });
    const { entries, sessionEndMs } = summarizeSources(machine);
    return [sessionEndMs, entries.map((entry) => entry.timeoutMs)];
  };

  test('is raised by a workspace for its own hooks only', () => {
    expect(
      limits({
        'home/.claude/settings.json': hook('mine', 'SessionEnd'),
        'proj/.claude/settings.json': hook('theirs', 'SessionEnd', { timeout: 20 }),
      }),
    ).toEqual([1500, [1500, 20_000]]);
  });

  test('is short, and settings raise it for all', () => {
    const plain = hook('a', 'SessionEnd');
    expect(limits({ 'proj/.claude/settings.json': plain })).toEqual([1500, [1500]]);
    expect(
      limits({
        'home/.claude/settings.json': hook('b', 'SessionEnd', { timeout: 5 }),
        'proj/.claude/settings.json': plain,
        'proj/.claude/settings.local.json': hook('c', 'SessionEnd', { timeout: 1 }),
      }),
    ).toEqual([5000, [5000, 5000, 1000]]);
    expect(
      limits({ 'home/.claude/settings.json': hook('a', 'SessionEnd', { timeout: 90 }) }),
    ).toEqual([60_000, [60_000]]);
  });

  test('is not raised by plugins, and set by the environment', () => {
    const files = { 'plug/hooks/hooks.json': hook('a', 'SessionEnd', { timeout: 30 }) };
    expect(limits(files)).toEqual([1500, [1500]]);
    const env = { CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: '4000' };
    expect(limits(files, env)).toEqual([4000, [4000]]);
  });
});

const USER: Source = {
  kind: 'user',
  label: 'user',
  file: '/home/.claude/settings.json',
  place: 'home',
  root: null,
  isCline: false,
  family: 'settings',
  plugin: null,
};

describe('settings beside hooks', () => {
  test('count from the user, the caller and the administrator', () => {
    const {
      env,
      httpRules: getRules,
      why,
    } = summarizeSources(
      createMachine(
        {
          'home/.claude/settings.json': {
            env: { A: 'user', B: 1, C: {} },
            allowedHttpHookUrls: ['https://a/*'],
          },
          'etc/managed-settings.json': {
            env: { A: 'managed' },
            allowedHttpHookUrls: ['https://b/*'],
            httpHookAllowedEnvVars: [],
          },
        },
        () => ({ flagSettings: '{"env": {"A": "flag", "D": true}}' }),
      ),
    );
    const httpRules = getRules(USER);
    expect({ env, httpRules, why }).toEqual({
      env: { A: 'managed', B: '1', D: 'true' },
      httpRules: {
        allowedUrls: ['https://a/*', 'https://b/*'],
        ownUrls: ['https://a/*', 'https://b/*'],
        allowedEnvVars: [],
      },
      why: [],
    });
  });

  test('of a workspace set variables for its own hooks only', () => {
    const { entries, env } = summarizeSources(
      createMachine({
        'home/.claude/settings.json': hook('mine'),
        'proj/.claude/settings.json': { ...hook('theirs'), env: { MODE: 'a', LEVEL: 1 } },
        'proj/.claude/settings.local.json': { env: { MODE: 'b' } },
      }),
    );
    expect(env).toEqual({});
    expect(entries.map(({ environment }) => environment)).toEqual([
      undefined,
      { MODE: 'b', LEVEL: '1' },
    ]);
  });

  test('of a workspace change nothing else, but for what its own hooks may send, which is reported', () => {
    const { entries, env, httpRules, why } = summarizeSources(
      createMachine({
        'home/.claude/settings.json': { httpHookAllowedEnvVars: ['MINE', 'BOTH'] },
        'proj/.claude/settings.json': {
          ...hook('theirs'),
          env: { PATH: '/evil' },
          allowedHttpHookUrls: ['*'],
          httpHookAllowedEnvVars: ['SECRET', 'BOTH'],
          pluginConfigs: {},
          allowManagedHooksOnly: true,
        },
      }),
    );
    const [theirs] = entries;
    if (theirs === undefined) throw new BugError('no entry');
    const ofUser = { allowedUrls: null, ownUrls: [], allowedEnvVars: ['MINE', 'BOTH'] };
    expect({ env, mine: httpRules(USER), theirs: httpRules(theirs.source) }).toEqual({
      env: {},
      mine: ofUser,
      theirs: { ...ofUser, workspaceUrls: ['*'], allowedEnvVars: ['BOTH'] },
    });
    expect(why.map((each) => each.split(';')[0])).toEqual([
      expect.stringMatching(
        /"allowedHttpHookUrls" at line \d+: it restricts hooks of this workspace only$/,
      ),
      expect.stringMatching(
        /"httpHookAllowedEnvVars" at line \d+: it restricts hooks of this workspace only$/,
      ),
      expect.stringMatching(
        /"pluginConfigs" at line \d+: its options are not used: only the user sets options of plugins$/,
      ),
      expect.stringMatching(
        /"allowManagedHooksOnly" at line \d+: it applies only in managed settings$/,
      ),
    ]);
  });
});

describe('a malformed restriction', () => {
  const EXPECTED = 'expected a list of strings, found';

  test.each([
    ['"https://x.y/*"', 'the string "https://x.y/*"'],
    ['{"a": 1}', 'object'],
    ['null', 'null'],
    ['[5]', 'number 5'],
  ])('%s of HTTP hooks allows nothing, and is reported', (text, found) => {
    const value: unknown = JSON.parse(text);
    const lists = { allowedHttpHookUrls: value, httpHookAllowedEnvVars: value };
    const { httpRules, why, entries } = summarizeSources(
      createMachine({
        'home/.claude/settings.json': lists,
        'proj/.claude/settings.json': { ...hook('theirs'), ...lists },
      }),
    );
    const [theirs] = entries;
    if (theirs === undefined) throw new BugError('no entry');
    const nothing = { allowedUrls: [], ownUrls: [], allowedEnvVars: [] };
    expect(httpRules(USER)).toEqual(nothing);
    expect(httpRules(theirs.source)).toEqual({ ...nothing, workspaceUrls: [] });
    const reported = why.filter((each) => each.includes(`${EXPECTED} ${found}`));
    expect(reported).toHaveLength(4);
  });

  test.each([
    ['allowManagedHooksOnly', 'yes'],
    ['strictPluginOnlyCustomization', 'hooks'],
  ])('%s of the administrator counts as true, and is reported', (name, value) => {
    const { commands, why } = summarizeSources(
      createMachine({
        'home/.claude/settings.json': hook('mine'),
        'etc/managed-settings.json': { ...hook('theirs'), [name]: value },
      }),
    );
    expect(commands).toEqual(['theirs']);
    expect(why.filter((each) => each.includes('expected true or false'))).toHaveLength(1);
  });
});

test('a file that changes is read as it then is', () => {
  const machine = createMachine({ 'proj/.claude/settings.json': hook('old') });
  expect(summarizeSources(machine).commands).toEqual(['old']);
  write(path.join(machine.base, 'proj/.claude/settings.json'), JSON.stringify(hook('new')));
  expect(summarizeSources(machine).commands).toEqual(['new']);
});
