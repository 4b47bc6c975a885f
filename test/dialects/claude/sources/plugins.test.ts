import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { write } from '../../../base/directory.ts';
import { createMachine, hook, summarizeSources, type Machine } from './sources-machine.ts';

function withPlugins(files: Readonly<Record<string, unknown>>, ...names: string[]): Machine {
  return createMachine(files, (base) => ({
    pluginDirectories: names.map((name) => path.join(base, name)),
  }));
}

const { hooks: EVENTS } = hook('inline');

describe('a plugin that the caller names', () => {
  test('is named among those of a marketplace, which is none itself', () => {
    const { commands, why } = summarizeSources(
      withPlugins(
        {
          'market/.claude-plugin/marketplace.json': {
            name: 'm',
            plugins: [
              { name: 'a', source: './plugins/a' },
              { name: 'b', source: { url: 'x' } },
            ],
          },
          'market/plugins/a/hooks/hooks.json': hook('a'),
          'empty/README.md': '',
        },
        'market',
        'empty',
      ),
    );
    expect({ commands, why }).toEqual({
      commands: [],
      why: [
        'market: is a marketplace, but was passed with --plugin-dir; pass a plugin in it: ./plugins/a',
        'empty: contains no plugin, but was passed with --plugin-dir',
      ],
    });
  });

  test('brings hooks/hooks.json, files that its manifest names and hooks in the manifest', () => {
    const { commands, from, faults, why } = summarizeSources(
      withPlugins(
        {
          'plug/.claude-plugin/plugin.json': { name: 'my-plug' },
          'plug/hooks/hooks.json': { description: 'x', ...hook('auto') },
          'plug2/.claude-plugin/plugin.json': { name: 'plug-two', hooks: './custom/h.json' },
          'plug2/custom/h.json': hook('custom'),
          'plug3/.claude-plugin/plugin.json': { name: 'plug-three', hooks: EVENTS },
          'plug4/.claude-plugin/plugin.json': {
            hooks: ['./hooks/hooks.json', './a.json', EVENTS],
          },
          'plug4/hooks/hooks.json': hook('once'),
          'plug4/a.json': hook('a'),
        },
        'plug',
        'plug2',
        'plug3',
        'plug4',
      ),
    );
    expect({ commands, from, faults, why }).toEqual({
      commands: ['auto', 'custom', 'inline', 'once', 'a', 'inline'],
      from: [
        'plugin:my-plug given -',
        'plugin:plug-two:custom/h.json given -',
        'plugin:plug-three:plugin.json given -',
        'plugin:plug4 given -',
        'plugin:plug4:a.json given -',
        'plugin:plug4:plugin.json given -',
      ],
      faults: [],
      why: [],
    });
  });

  test('is its own family and has its root, its data and its options', () => {
    const machine = withPlugins(
      {
        'home/.claude/settings.json': {
          pluginConfigs: { 'my-plug@inline': { options: { url: 'u', count: 2, list: [] } } },
        },
        'plug/.claude-plugin/plugin.json': { name: 'my-plug' },
        'plug/hooks/hooks.json': hook('auto'),
      },
      'plug',
    );
    const [entry] = summarizeSources(machine).entries;
    const root = path.join(machine.base, 'plug');
    expect(entry?.source).toMatchObject({
      kind: 'plugin',
      family: `plugin:${root}`,
      plugin: {
        name: 'my-plug',
        root,
        data: path.join(machine.base, 'home/.claude/plugins/data/my-plug-inline'),
        options: { url: 'u', count: '2' },
      },
    });
  });

  test('of the same name as another one has its own label', () => {
    const { from } = summarizeSources(
      withPlugins(
        { 'a/plug/hooks/hooks.json': hook('a'), 'b/plug/hooks/hooks.json': hook('b') },
        'a/plug',
        'b/plug',
        'a/plug',
      ),
    );
    expect(from).toEqual(['plugin:plug given -', 'plugin:plug~2 given -']);
  });

  test('with faults is reported, and its good hooks run', () => {
    const { commands, faults, why, brokenGateFiles, short } = summarizeSources(
      withPlugins(
        {
          'bare/hooks/hooks.json': { PreToolUse: EVENTS['PreToolUse'] },
          'part/hooks/hooks.json': {
            hooks: {
              FooEvent: [],
              PreToolUse: [{ hooks: [{ type: 'command', command: 'ok' }, { type: 'zzz' }] }],
            },
          },
          'out/.claude-plugin/plugin.json': {
            hooks: ['../part/hooks/hooks.json', 5, './gone.json'],
          },
          'bad/.claude-plugin/plugin.json': '{',
        },
        'bare',
        'part',
        'out',
        'bad',
        'nowhere',
      ),
    );
    expect(commands).toEqual(['ok']);
    expect(faults).toEqual([
      'plugin:bare PreToolUse 2: "PreToolUse" is outside the "hooks" object and not read; write {"hooks": {"PreToolUse": [ … ]}}',
      'plugin:part PreToolUse 12: "type": expected "command" or "http" or "mcp_tool" or "prompt" or "agent", found the string "zzz"',
      'plugin:out:plugin.json null 3: "hooks": expected a path inside the plugin, found the string "../part/hooks/hooks.json"',
      'plugin:out:plugin.json null 4: "hooks": expected a path or an object of events, found number 5',
      'plugin:bad:plugin.json null 1: expected JSON, found the end of the file at column 2 (missing } at the end)',
    ]);
    expect(why).toEqual([
      'nowhere: is not a directory, but was passed with --plugin-dir; expected a plugin',
      'out/gone.json: does not exist, but the manifest of out names it',
      'part/hooks/hooks.json: line 3: event "FooEvent" not found, so its entries never run',
    ]);
    expect(brokenGateFiles.map(short)).toEqual([
      'bare/hooks/hooks.json',
      'part/hooks/hooks.json',
      'out/.claude-plugin/plugin.json',
      'bad/.claude-plugin/plugin.json',
    ]);
  });
});

describe('a plugin that settings enable', () => {
  const ID = 'fmt@market';
  const CACHE = 'home/.claude/plugins/cache/market/fmt/1.0.0';
  const INSTALLED = 'home/.claude/plugins/installed_plugins.json';
  const enabled = (word: unknown = true) => ({ enabledPlugins: { [ID]: word } });

  function withInstalled(
    files: Readonly<Record<string, unknown>>,
    installed: (at: (name: string) => string) => unknown,
  ) {
    const machine = createMachine({ [`${CACHE}/hooks/hooks.json`]: hook('fmt'), ...files });
    const at = (name: string) => path.join(machine.base, name);
    write(at(INSTALLED), JSON.stringify(installed(at)));
    return summarizeSources(machine);
  }

  const version2 = (at: (name: string) => string) => ({
    version: 2,
    plugins: { [ID]: [{ scope: 'user', installPath: at(CACHE), version: '1.0.0' }] },
  });

  test('is found by either version of the list', () => {
    const version1 = (at: (name: string) => string) => ({
      version: 1,
      plugins: { [ID]: { version: '1.0.0', installPath: at(CACHE) } },
    });
    for (const installed of [version1, version2]) {
      const { commands, from, entries, short } = withInstalled(
        { 'home/.claude/settings.json': enabled() },
        installed,
      );
      expect([commands, from]).toEqual([['fmt'], ['plugin:fmt home -']]);
      expect(short(entries[0]?.source.plugin?.data ?? '')).toBe(
        'home/.claude/plugins/data/fmt-market',
      );
    }
  });

  test('is the installation for this project, then the user’s own, then any', () => {
    const OLD = 'home/.claude/plugins/cache/market/fmt/0.9.0';
    const files = {
      'home/.claude/settings.json': enabled(),
      [`${OLD}/hooks/hooks.json`]: hook('old'),
    };
    const listed = (...list: { scope: string; projectPath?: string; installPath: string }[]) =>
      withInstalled(files, (at) => ({
        version: 2,
        plugins: {
          [ID]: list.map(({ projectPath, ...each }) => ({
            ...each,
            installPath: at(each.installPath),
            ...(projectPath === undefined ? {} : { projectPath: at(projectPath) }),
          })),
        },
      })).commands;
    const elsewhere = { scope: 'project', projectPath: 'other', installPath: OLD };
    expect(listed(elsewhere, { scope: 'user', installPath: CACHE })).toEqual(['fmt']);
    expect(
      listed({ scope: 'user', installPath: CACHE }, { ...elsewhere, projectPath: 'proj' }),
    ).toEqual(['old']);
    expect(listed(elsewhere)).toEqual(['old']);
  });

  test('is found in a marketplace that lies on this machine', () => {
    const machine = createMachine({
      'home/.claude/settings.json': enabled(),
      'market/.claude-plugin/marketplace.json': {
        name: 'market',
        plugins: [{ name: 'fmt', source: './plugins/fmt' }],
      },
      'market/plugins/fmt/hooks/hooks.json': hook('market'),
    });
    write(
      path.join(machine.base, 'home/.claude/plugins/known_marketplaces.json'),
      JSON.stringify({ market: { installLocation: path.join(machine.base, 'market') } }),
    );
    expect(summarizeSources(machine).commands).toEqual(['market']);
  });

  test('only by a workspace is the workspace’s', () => {
    const { from } = withInstalled({ 'proj/.claude/settings.json': enabled() }, version2);
    expect(from).toEqual(['plugin:fmt workspace proj']);
  });

  test('by the user stays the user’s, whatever a workspace sets', () => {
    const off = withInstalled(
      { 'home/.claude/settings.json': enabled(), 'proj/.claude/settings.json': enabled(false) },
      version2,
    );
    expect(off.from).toEqual(['plugin:fmt home -']);
    expect(off.why).toEqual([
      'proj/.claude/settings.json: "enabledPlugins" of a workspace does not change what home/.claude/settings.json says about fmt@market',
    ]);
    const on = withInstalled(
      { 'home/.claude/settings.json': enabled(false), 'proj/.claude/settings.json': enabled() },
      version2,
    );
    expect([on.commands, on.why.length]).toEqual([[], 1]);
  });

  test('by the administrator runs where only managed hooks do', () => {
    const managed = { ...enabled(), allowManagedHooksOnly: true };
    const files = {
      'home/.claude/settings.json': hook('user'),
      'etc/managed-settings.json': managed,
    };
    expect(withInstalled(files, version2).commands).toEqual(['fmt']);
  });

  test.each([
    ['nothing', {}, []],
    [
      'nonsense',
      'x',
      ['home/.claude/plugins/installed_plugins.json: should be a JSON object, found string'],
    ],
    [
      'a place that is gone',
      { version: 2, plugins: { [ID]: [{ installPath: '/nowhere/at/all' }] } },
      [],
    ],
  ])('and that is not installed is reported: the list holds %s', (_name, installed, broken) => {
    const { commands, why } = withInstalled(
      { 'home/.claude/settings.json': enabled() },
      () => installed,
    );
    expect(commands).toEqual([]);
    expect(why).toEqual([
      ...broken,
      'home/.claude/settings.json: the plugin fmt@market is enabled and not installed here, so its hooks do not run',
    ]);
  });
});

const FRONT = `---
name: another-name
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - { type: command, command: greet-check }
---
`;

describe('a skill of a plugin', () => {
  test('has its hooks under the name that the session uses, with the plugin’s variables', () => {
    const machine = withPlugins(
      {
        'home/.claude/settings.json': {
          pluginConfigs: { 'my-plug@inline': { options: { url: 'u' } } },
        },
        'plug/.claude-plugin/plugin.json': { name: 'my-plug' },
        'plug/skills/greet/SKILL.md': FRONT,
        'plug/skills/README.md': '',
      },
      'plug',
    );
    const { commands, entries, faults, why } = summarizeSources(machine);
    const root = path.join(machine.base, 'plug');
    expect({ commands, faults, why }).toEqual({ commands: ['greet-check'], faults: [], why: [] });
    expect(entries[0]?.source).toEqual({
      kind: 'skill',
      label: 'plugin:my-plug:skills/greet',
      file: path.join(root, 'skills/greet/SKILL.md'),
      place: 'given',
      root: null,
      isCline: false,
      family: `skill:${path.join(root, 'skills/greet')}`,
      plugin: {
        name: 'my-plug:greet',
        root,
        data: path.join(machine.base, 'home/.claude/plugins/data/my-plug-inline'),
        options: { url: 'u' },
      },
    });
  });

  test('belongs to the workspace when the plugin does, or when a link leads there', () => {
    const machine = withPlugins(
      {
        'proj/plug/skills/greet/SKILL.md': FRONT,
        'proj/shared/linked/SKILL.md': FRONT,
        'other/skills/own/SKILL.md': FRONT,
      },
      'proj/plug',
      'other',
    );
    const { base } = machine;
    symlinkSync(path.join(base, 'proj/shared/linked'), path.join(base, 'other/skills/linked'));
    expect(summarizeSources(machine).from).toEqual([
      'plugin:plug:skills/greet workspace proj',
      'plugin:other:skills/linked workspace proj',
      'plugin:other:skills/own given -',
    ]);
  });

  test('that is broken guards nothing without a report', () => {
    const { faults } = summarizeSources(
      withPlugins({ 'plug/skills/greet/SKILL.md': '---\nhooks: 5\n---\n' }, 'plug'),
    );
    expect(faults).toEqual([
      'plugin:plug:skills/greet null 2: "hooks": expected an object of events, found number 5',
    ]);
  });
});

test('hooks of a plugin’s sub-agent are ignored, as in Claude Code, and reported', () => {
  const { commands, faults, why } = summarizeSources(
    withPlugins({ 'plug/agents/rev.md': FRONT, 'plug/agents/plain.md': '# Plain' }, 'plug'),
  );
  expect({ commands, faults, why }).toEqual({
    commands: [],
    faults: [],
    why: [
      'plug/agents/rev.md: the PreToolUse hook at line 7 does not run: hooks of a plugin’s sub-agent are not read; move them to hooks/hooks.json, or the sub-agent to .claude/agents',
    ],
  });
});
