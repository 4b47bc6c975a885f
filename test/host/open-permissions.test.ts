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

function opened(places: TempWorkspace, search: Parameters<typeof openHooks>[0] = {}): OpenedHooks {
  const { surroundings, root } = places;
  return openHooks({ surroundings, roots: [root], ...search });
}

/** The mode, the rulings on some commands, and the notices. */
function state(places: TempWorkspace, flags: PermissionFlags = {}, from = opened(places)) {
  const { permissions, notices, units } = openPermissions(from, flags);
  const judge = (command: string) => permissions.judge(bash(command, places.root)).effect;
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
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    expect(state(places)).toEqual({
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
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(places);
    expect(state(places)).toEqual({
      mode: 'default',
      test: 'allow',
      push: 'deny',
      notices: [],
      units: ['claude:project:permissions ready'],
    });
  });

  test('allow nothing any more once they changed', async () => {
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(places);
    write(path.join(places.base, PROJECT), settings({ allow: ['Bash(npm test)', 'Bash'] }));
    const { test: effect, units, notices } = state(places);
    expect([effect, units, notices]).toEqual([
      'ask',
      ['claude:project:permissions modified'],
      [
        'what .claude/settings.json allows is ignored (modified: its entry changed since it was trusted): review it with `hookline trust`',
      ],
    ]);
  });

  test('keep their trust when only what they forbid, or the layout, changes', async () => {
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(places);
    write(
      path.join(places.base, PROJECT),
      `// more\n${JSON.stringify({ permissions: { ask: ['WebFetch'], allow: LOOSE.allow } })}`,
    );
    expect(state(places)).toMatchObject({
      test: 'allow',
      units: ['claude:project:permissions ready'],
    });
  });

  test('stop to allow while the session runs when the trust is revoked', async () => {
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    await trustWorkspace(places);
    const hooks = opened(places);
    const { permissions } = openPermissions(hooks);
    const effect = () => permissions.judge(bash('npm test', places.root)).effect;
    const before = effect();
    await revokeTrust(hooks.trust.recordFile ?? '', { root: places.root });
    expect([before, effect()]).toEqual(['allow', 'ask']);
  });

  test('are read again on request', async () => {
    const places = createTempWorkspace({ [PROJECT]: settings({}) });
    const hooks = opened(places);
    const { permissions } = openPermissions(hooks);
    const effect = () => permissions.judge(bash('git push', places.root)).effect;
    const before = effect();
    write(path.join(places.base, PROJECT), settings(LOOSE));
    hooks.hookSet.rescan();
    expect([before, effect()]).toEqual(['ask', 'deny']);
  });

  test('choose no looser mode and no further directory before trust', async () => {
    const places = createTempWorkspace({
      [PROJECT]: settings({ defaultMode: 'acceptEdits', additionalDirectories: ['../other'] }),
      'other/x': '',
    });
    const look = () => {
      const { permissions } = openPermissions(opened(places));
      return [permissions.mode(), permissions.directories()];
    };
    const before = look();
    await trustWorkspace(places);
    expect([before, look()]).toEqual([
      ['default', []],
      ['acceptEdits', [path.join(places.base, 'other')]],
    ]);
  });

  test.each(['plan', 'dontAsk'] as const)('choose the stricter mode %s at once', (mode) => {
    const places = createTempWorkspace({ [PROJECT]: settings({ defaultMode: mode }) });
    expect(state(places)).toMatchObject({ mode, notices: [], units: [] });
  });

  test('cannot choose a looser mode than the user did', () => {
    const places = createTempWorkspace({
      [OWN]: settings({ defaultMode: 'plan' }),
      [PROJECT]: settings({ defaultMode: 'default' }),
    });
    expect(state(places).mode).toBe('plan');
  });

  test('allow nothing, trusted or not, when a guard in them is broken', async () => {
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command' }] }] };
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE, { hooks }) });
    await trustWorkspace(places);
    expect(state(places)).toMatchObject({
      test: 'ask',
      push: 'deny',
      units: ['claude:project:permissions broken'],
    });
  });

  test('of .cline and of the local file are units of their own', () => {
    const places = createTempWorkspace({
      'ws/.claude/settings.local.json': settings({ allow: ['Edit'] }),
      'ws/.cline/hooks.json': settings({ allow: ['Bash'] }),
    });
    expect(state(places).units).toEqual([
      'claude:local:permissions untrusted',
      'claude:project-cline:permissions untrusted',
    ]);
  });

  test('count in a caller’s session that trusts everything', () => {
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    expect(state(places, {}, opened(places, { trust: 'all' }))).toMatchObject({
      test: 'allow',
      push: 'deny',
    });
  });

  test('still forbid when hooks are switched off', async () => {
    const places = createTempWorkspace({ [PROJECT]: settings(LOOSE) });
    const off = () => opened(places, { flags: { 'hooks.enabled': false } });
    const before = state(places, {}, off());
    await trustWorkspace(places);
    expect([before, state(places, {}, off())]).toMatchObject([
      { test: 'ask', push: 'deny' },
      { test: 'allow', push: 'deny' },
    ]);
  });
});

describe('the user’s own settings', () => {
  test('count as they are, and the workspace’s tighten them', () => {
    const places = createTempWorkspace({
      [OWN]: settings({
        allow: ['Bash(npm test)', 'Bash(git push:*)'],
        defaultMode: 'acceptEdits',
      }),
      [PROJECT]: settings({ ask: ['Bash(git push:*)'] }),
    });
    expect(state(places)).toEqual({
      mode: 'acceptEdits',
      test: 'allow',
      push: 'ask',
      notices: [],
      units: [],
    });
  });

  test('with invalid rules name their position', () => {
    const places = createTempWorkspace({
      [OWN]: settings({ deny: ['Bash(git push', 'Bash(git push:*)'] }),
    });
    expect(state(places)).toMatchObject({
      push: 'deny',
      notices: [
        '~/.claude/settings.json: line 4: "Bash(git push" is not a permission rule: expected for example "Bash(git push:*)", "Read(./secrets/**)" or "mcp__server"',
      ],
    });
  });
});

describe('the caller', () => {
  test('adds rules and chooses the mode', () => {
    const places = createTempWorkspace();
    expect(
      state(places, { allow: ['Bash(npm:*)'], deny: ['Bash(git push)'], mode: 'acceptEdits' }),
    ).toEqual({
      mode: 'acceptEdits',
      test: 'allow',
      push: 'deny',
      notices: [],
      units: [],
    });
  });

  test('learns from the reason which flag a rule came from', () => {
    const places = createTempWorkspace();
    const { permissions } = openPermissions(opened(places), { deny: ['Bash(git push)'] });
    expect(permissions.judge(bash('git push', places.root)).reason).toBe(
      'Permission to use Bash with command git push has been denied by the rule Bash(git push) of --deny.',
    );
  });

  test('gets an error for a flag that is not a rule', () => {
    const places = createTempWorkspace();
    expect(() => openPermissions(opened(places), { allow: ['*'] })).toThrow(
      '--allow: "*" is not an allow rule: expected a tool name, or "mcp__server__*"',
    );
  });

  test('does not override a file that forbids the mode that asks for nothing', () => {
    const places = createTempWorkspace({
      [PROJECT]: settings({ disableBypassPermissionsMode: 'disable' }),
    });
    expect(state(places, { mode: 'bypassPermissions' })).toMatchObject({
      mode: 'default',
      notices: [
        'the mode bypassPermissions is disabled by .claude/settings.json; the session starts in the mode default',
      ],
    });
  });
});

test('hook files and moved settings are protected wherever they lie', () => {
  const places = createTempWorkspace({ 'ws/.clinerules/hooks/PreToolUse': '#!/bin/sh\n' }, {});
  const { permissions } = openPermissions(
    opened({
      ...places,
      surroundings: {
        ...places.surroundings,
        env: {
          ...places.surroundings.env,
          CLAUDE_CONFIG_DIR: path.join(places.base, 'claude'),
          HOOKLINE_HOME: path.join(places.base, 'state'),
        },
      },
    }),
    { mode: 'bypassPermissions' },
  );
  const effects = [
    path.join(places.root, '.clinerules/hooks/new'),
    path.join(places.base, 'claude/settings.json'),
    path.join(places.base, 'state/trust.json'),
    path.join(places.base, 'claude/notes.md'),
  ].map((file) => permissions.judge(call('Write', file, places.root)).effect);
  expect(effects).toEqual(['ask', 'ask', 'ask', 'allow']);
});
