import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMachine, hook, summarizeSources } from './sources-machine.ts';

type Settings = Record<string, unknown>;

interface Layers {
  readonly user?: Settings;
  readonly project?: Settings;
  readonly local?: Settings;
  readonly flag?: Settings;
  readonly managed?: Settings;
}

/** Which of the hooks of every layer run. */
function running(layers: Layers) {
  const machine = createMachine(
    {
      'home/.claude/settings.json': { ...hook('user'), ...layers.user },
      'proj/.claude/settings.json': { ...hook('proj'), ...layers.project },
      'proj/.claude/settings.local.json': { ...hook('local'), ...layers.local },
      'plug/hooks/hooks.json': hook('plugin'),
      ...(layers.managed === undefined
        ? {}
        : { 'etc/managed-settings.json': { ...hook('managed'), ...layers.managed } }),
    },
    (base) => ({
      pluginDirectories: [path.join(base, 'plug')],
      flagSettings: layers.flag === undefined ? null : JSON.stringify(layers.flag),
    }),
  );
  return summarizeSources(machine).commands.toSorted().join(' ');
}

const OFF = { disableAllHooks: true };
const ON = { disableAllHooks: false };

describe('which sources run', () => {
  test.each<[string, Layers, string]>([
    ['base', {}, 'local plugin proj user'],
    ['disable_user', { user: OFF }, ''],
    ['flag', { flag: OFF }, ''],
    ['m_base', { managed: {} }, 'local managed plugin proj user'],
    ['m_user_disable', { managed: {}, user: OFF }, 'managed'],
    ['m_disable', { managed: OFF }, ''],
    ['m_only', { managed: { allowManagedHooksOnly: true } }, 'managed'],
    ['m_pluginonly', { managed: { strictPluginOnlyCustomization: true } }, 'managed plugin'],
    [
      'm_pluginonly as list',
      { managed: { strictPluginOnlyCustomization: ['skills', 'hooks'] } },
      'managed plugin',
    ],
    [
      'm_pluginonly of others',
      { managed: { strictPluginOnlyCustomization: ['skills'] } },
      'local managed plugin proj user',
    ],
    ['only_in_user', { user: { allowManagedHooksOnly: true } }, 'local plugin proj user'],
    ['flag_on over user', { user: OFF, flag: ON }, 'local plugin proj user'],
    ['managed_on over flag', { flag: OFF, managed: ON }, 'local managed plugin proj user'],
  ])('%s', (_name, layers, expected) => {
    expect(running(layers)).toBe(expected);
  });

  test.each<[string, Layers, string]>([
    ['disable_proj', { project: OFF }, 'plugin user'],
    ['disable_local', { local: OFF }, 'plugin user'],
    ['user_true_proj_false', { user: OFF, project: ON }, ''],
    ['local over project', { project: OFF, local: ON }, 'local plugin proj user'],
    ['user_false_proj_true', { user: ON, project: OFF }, 'plugin user'],
    ['flag_on over project', { project: OFF, flag: ON }, 'local plugin proj user'],
  ])('%s: a workspace reaches its own hooks only', (_name, layers, expected) => {
    expect(running(layers)).toBe(expected);
  });
});

const FRONT = '---\nhooks:\n  Stop:\n    - hooks: [{ type: command, command: NAME }]\n---\n';

test('plugins only means their skills, too', () => {
  const { commands } = summarizeSources(
    createMachine(
      {
        'etc/managed-settings.json': { strictPluginOnlyCustomization: true },
        'home/.claude/skills/mine/SKILL.md': FRONT.replace('NAME', 'mine'),
        'plug/skills/theirs/SKILL.md': FRONT.replace('NAME', 'theirs'),
      },
      (base) => ({ pluginDirectories: [path.join(base, 'plug')] }),
    ),
  );
  expect(commands).toEqual(['theirs']);
});

test('skills of a plugin that the administrator demands run where only managed hooks do', () => {
  const { commands } = summarizeSources(
    createMachine({
      'etc/managed-settings.json': {
        allowManagedHooksOnly: true,
        enabledPlugins: { 'forced@shop': true },
      },
      'home/.claude/settings.json': { enabledPlugins: { 'chosen@shop': true } },
      'home/.claude/plugins/installed_plugins.json': {
        plugins: {
          'forced@shop': { installPath: 'forced' },
          'chosen@shop': { installPath: 'chosen' },
        },
      },
      'home/.claude/plugins/forced/skills/one/SKILL.md': FRONT.replace('NAME', 'forced'),
      'home/.claude/plugins/chosen/skills/two/SKILL.md': FRONT.replace('NAME', 'chosen'),
    }),
  );
  expect(commands).toEqual(['forced']);
});

test('a workspace does not switch off the hooks of another root', () => {
  const { commands } = summarizeSources(
    createMachine(
      {
        'proj/.cline/hooks.json': { ...hook('proj'), ...OFF },
        'lib/.cline/hooks.json': hook('lib'),
      },
      (base) => ({ workspaceRoots: [path.join(base, 'proj'), path.join(base, 'lib')] }),
    ),
  );
  expect(commands).toEqual(['lib']);
});

test('hooks that are switched off are reported, broken entries too, and these fail nothing', () => {
  const { commands, faults, why } = summarizeSources(
    createMachine({
      'home/.claude/settings.json': {
        hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'x' }, { type: 'y' }] }] },
        ...OFF,
      },
    }),
  );
  expect({ commands, faults }).toEqual({ commands: [], faults: [] });
  expect(why).toEqual([
    'home/.claude/settings.json: the PreToolUse hook at line 6 does not run: "disableAllHooks" in home/.claude/settings.json switches it off',
    'home/.claude/settings.json: the PreToolUse hook at line 11 does not run: "disableAllHooks" in home/.claude/settings.json switches it off',
  ]);
});

test('a switch that is neither true nor false is reported and switches nothing', () => {
  const { commands, why } = summarizeSources(
    createMachine({ 'home/.claude/settings.json': { ...hook('user'), disableAllHooks: 'yes' } }),
  );
  expect(commands).toEqual(['user']);
  expect(why).toEqual([
    'home/.claude/settings.json: "disableAllHooks" at line 14: expected true or false, found string',
  ]);
});
