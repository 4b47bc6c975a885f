import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openHooks, type OpenedHooks } from '../../src/host/open-hooks.ts';
import { openPermissions, type PermissionFlags } from '../../src/host/open-permissions.ts';
import { revokeTrust } from '../../src/trust/trust-record.ts';
import { write } from '../base/directory.ts';
import { bash, call } from '../permissions/session.ts';
import { createTempWorkspace, type TempWorkspace, trustWorkspace } from './temp-workspace.ts';

const PROJECT = 'ws/.claude/settings.json';
const OWN = 'home/.claude/settings.json';

function settings(permissions: object, more: object = {}): string {
  return JSON.stringify({ permissions, ...more }, null, 2);
}

function opened(
  workspace: TempWorkspace,
  search: Parameters<typeof openHooks>[0] = {},
): OpenedHooks {
  const { surroundings, root } = workspace;
  return openHooks({ surroundings, roots: [root], ...search });
}

/** The mode, the rulings on some commands, and the notices. */
function state(workspace: TempWorkspace, flags: PermissionFlags = {}, from = opened(workspace)) {
  const { permissions, notices, units } = openPermissions(from, flags);
  const judge = (command: string) => permissions.judge(bash(command, workspace.root)).effect;
  return {
    mode: permissions.mode(),
    test: judge('npm test'),
    push: judge('git push'),
    notices,
    units: units.map(({ hook, state: each }) => `${hook.id} ${each}`),
  };
}

const LOOSE = { allow: ['Bash(npm test)'], deny: ['Bash(git push:*)'] };

describe('settings of a workspace', () => {
  test('forbid at once and allow nothing before trust', () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    expect(state(workspace)).toEqual({
      mode: 'default',
      test: 'ask',
      push: 'deny',
      notices: [
        'what .claude/settings.json allows is ignored (untrusted: it was never trusted here): review it with `hookline trust`',
      ],
      units: ['claude:project:permissions untrusted'],
    });
  });

  test('allow once they are trusted', async () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(workspace);
    expect(state(workspace)).toEqual({
      mode: 'default',
      test: 'allow',
      push: 'deny',
      notices: [],
      units: ['claude:project:permissions ready'],
    });
  });

  test('allow nothing any more once they changed', async () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(workspace);
    write(path.join(workspace.base, PROJECT), settings({ allow: ['Bash(npm test)', 'Bash'] }));
    const { test: effect, units, notices } = state(workspace);
    expect([effect, units, notices]).toEqual([
      'ask',
      ['claude:project:permissions modified'],
      [
        'what .claude/settings.json allows is ignored (modified: its entry changed since it was trusted): review it with `hookline trust`',
      ],
    ]);
  });

  test('keep their trust when only what they forbid, or the layout, changes', async () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(workspace);
    write(
      path.join(workspace.base, PROJECT),
      `// more\n${JSON.stringify({ permissions: { ask: ['WebFetch'], allow: LOOSE.allow } })}`,
    );
    expect(state(workspace)).toMatchObject({
      test: 'allow',
      units: ['claude:project:permissions ready'],
    });
  });

  test('stop to allow while the session runs when the trust is revoked', async () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(workspace);
    const hooks = opened(workspace);
    const { permissions } = openPermissions(hooks);
    const effect = () => permissions.judge(bash('npm test', workspace.root)).effect;
    const before = effect();
    await revokeTrust(hooks.trust.files!, { root: workspace.root });
    expect([before, effect()]).toEqual(['allow', 'ask']);
  });

  test('are read again on request', async () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings({}) });
    const hooks = opened(workspace);
    const { permissions } = openPermissions(hooks);
    const effect = () => permissions.judge(bash('git push', workspace.root)).effect;
    const before = effect();
    write(path.join(workspace.base, PROJECT), settings(LOOSE));
    hooks.hookSet.rescan();
    expect([before, effect()]).toEqual(['ask', 'deny']);
  });

  test('choose no looser mode and no further directory before trust', async () => {
    const workspace = createTempWorkspace({
      [PROJECT]: settings({ defaultMode: 'acceptEdits', additionalDirectories: ['../other'] }),
      'other/x': '',
    });
    const look = () => {
      const { permissions } = openPermissions(opened(workspace));
      return [permissions.mode(), permissions.directories()];
    };
    const before = look();
    await trustWorkspace(workspace);
    expect([before, look()]).toEqual([
      ['default', []],
      ['acceptEdits', [path.join(workspace.base, 'other')]],
    ]);
  });

  test.each(['plan', 'dontAsk'] as const)('choose the stricter mode %s at once', (mode) => {
    const workspace = createTempWorkspace({ [PROJECT]: settings({ defaultMode: mode }) });
    expect(state(workspace)).toMatchObject({ mode, notices: [], units: [] });
  });

  test('cannot choose a looser mode than the user did', () => {
    const workspace = createTempWorkspace({
      [OWN]: settings({ defaultMode: 'plan' }),
      [PROJECT]: settings({ defaultMode: 'default' }),
    });
    expect(state(workspace).mode).toBe('plan');
  });

  test('allow nothing, trusted or not, when a guard in them is broken', async () => {
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command' }] }] };
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE, { hooks }) });
    await trustWorkspace(workspace);
    expect(state(workspace)).toMatchObject({
      test: 'ask',
      push: 'deny',
      units: ['claude:project:permissions broken'],
    });
  });

  test('of .cline and of the local file are units of their own', () => {
    const workspace = createTempWorkspace({
      'ws/.claude/settings.local.json': settings({ allow: ['Edit'] }),
      'ws/.cline/hooks.json': settings({ allow: ['Bash'] }),
    });
    expect(state(workspace).units).toEqual([
      'claude:local:permissions untrusted',
      'claude:project-cline:permissions untrusted',
    ]);
  });

  test('count in a caller’s session that trusts everything', () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    expect(state(workspace, {}, opened(workspace, { trust: 'all' }))).toMatchObject({
      test: 'allow',
      push: 'deny',
    });
  });

  test('still forbid when hooks are switched off', async () => {
    const workspace = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    const off = () => opened(workspace, { flags: { 'hooks.enabled': false } });
    const before = state(workspace, {}, off());
    await trustWorkspace(workspace);
    expect([before, state(workspace, {}, off())]).toMatchObject([
      { test: 'ask', push: 'deny' },
      { test: 'allow', push: 'deny' },
    ]);
  });
});

describe('the user’s own settings', () => {
  test('count as they are, and the workspace’s tighten them', () => {
    const workspace = createTempWorkspace({
      [OWN]: settings({
        allow: ['Bash(npm test)', 'Bash(git push:*)'],
        defaultMode: 'acceptEdits',
      }),
      [PROJECT]: settings({ ask: ['Bash(git push:*)'] }),
    });
    expect(state(workspace)).toEqual({
      mode: 'acceptEdits',
      test: 'allow',
      push: 'ask',
      notices: [],
      units: [],
    });
  });

  test('with a deny rule that is cut off deny what it seems to mean', () => {
    const workspace = createTempWorkspace({
      [OWN]: settings({ deny: ['Bash(git push'] }),
    });
    expect(state(workspace)).toMatchObject({ push: 'deny' });
  });
});

describe('the caller', () => {
  test('adds rules and chooses the mode', () => {
    const workspace = createTempWorkspace();
    expect(
      state(workspace, { allow: ['Bash(npm:*)'], deny: ['Bash(git push)'], mode: 'acceptEdits' }),
    ).toEqual({
      mode: 'acceptEdits',
      test: 'allow',
      push: 'deny',
      notices: [],
      units: [],
    });
  });

  test('learns from the reason which flag a rule came from', () => {
    const workspace = createTempWorkspace();
    const { permissions } = openPermissions(opened(workspace), { deny: ['Bash(git push)'] });
    expect(permissions.judge(bash('git push', workspace.root)).reason).toBe(
      'Permission to use Bash with command git push has been denied by the rule Bash(git push) of --deny.',
    );
  });

  test('gets an error for a flag that is not a rule', () => {
    const workspace = createTempWorkspace();
    expect(() => openPermissions(opened(workspace), { allow: ['*'] })).toThrow(
      '--allow: "*" is not an allow rule: expected a tool name, or "mcp__server__*"',
    );
  });

  test('does not override a file that forbids the mode that asks for nothing', () => {
    const workspace = createTempWorkspace({
      [PROJECT]: settings({ disableBypassPermissionsMode: 'disable' }),
    });
    expect(state(workspace, { mode: 'bypassPermissions' })).toMatchObject({
      mode: 'default',
      notices: [
        'the mode bypassPermissions is disabled by .claude/settings.json; the session starts in the mode default',
      ],
    });
  });
});

test('hook files and moved settings are protected wherever they lie', () => {
  const workspace = createTempWorkspace({ 'ws/.clinerules/hooks/PreToolUse': '#!/bin/sh\n' }, {});
  const { permissions } = openPermissions(
    opened({
      ...workspace,
      surroundings: {
        ...workspace.surroundings,
        env: {
          ...workspace.surroundings.env,
          CLAUDE_CONFIG_DIR: path.join(workspace.base, 'claude'),
          HOOKLINE_HOME: path.join(workspace.base, 'state'),
        },
      },
    }),
    { mode: 'bypassPermissions' },
  );
  const effects = [
    path.join(workspace.root, '.clinerules/hooks/new'),
    path.join(workspace.base, 'claude/settings.json'),
    path.join(workspace.base, 'state/trust.json'),
    path.join(workspace.base, 'state.key'),
    path.join(workspace.base, 'state.seal'),
    path.join(workspace.base, 'claude/notes.md'),
  ].map((file) => permissions.judge(call('Write', file, workspace.root)).effect);
  expect(effects).toEqual(['ask', 'ask', 'ask', 'ask', 'ask', 'allow']);
});

test('the key of the trust record is protected in every mode, also from commands', () => {
  const workspace = createTempWorkspace({});
  const { permissions } = openPermissions(opened(workspace), { mode: 'bypassPermissions' });
  const key = path.join(workspace.home, '.local/state/hookline/trust.key');
  const effects = [
    permissions.judge(call('Write', key, workspace.root)).effect,
    permissions.judge(bash(`cat ${key}`, workspace.root)).effect,
    permissions.judge(bash(`rm -r ${path.dirname(key)}`, workspace.root)).effect,
    permissions.judge(bash(`mv ${path.dirname(path.dirname(key))} x`, workspace.root)).effect,
  ];
  expect(effects).toEqual(['ask', 'ask', 'ask', 'ask']);
});
