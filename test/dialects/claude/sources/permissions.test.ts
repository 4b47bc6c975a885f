import { expect, test } from 'vitest';
import { createMachine, summarizeSources } from './sources-machine.ts';

function permissionsOf(files: Readonly<Record<string, unknown>>) {
  const { permissions, short, why } = summarizeSources(createMachine(files));
  return {
    texts: permissions.map(({ settings: said }) => ({
      ...said,
      file: short(said.file),
      root: said.root === null ? null : short(said.root),
      whyNothingAllowed: said.whyNothingAllowed === null ? null : short(said.whyNothingAllowed),
    })),
    why,
  };
}

const NOTHING = {
  allow: [],
  ask: [],
  deny: [],
  defaultMode: null,
  additionalDirectories: [],
  forbidsBypass: false,
  whyNothingAllowed: null,
  problems: [],
};

test('every settings file may have permission rules, with the line', () => {
  const { texts, why } = permissionsOf({
    'home/.claude/settings.json': { permissions: { allow: ['Read', 'Bash(ls:*)'] } },
    'proj/.claude/settings.json': {
      permissions: {
        ask: ['Bash(git push:*)'],
        defaultMode: 'acceptEdits',
        additionalDirectories: ['../lib'],
      },
    },
    'proj/.claude/settings.local.json': { permissions: { defaultMode: 'manual' } },
    'proj/.cline/hooks.json': { permissions: { deny: ['WebFetch'] } },
    'etc/managed-settings.json': {
      permissions: { deny: ['Bash(curl:*)'], disableBypassPermissionsMode: 'disable' },
    },
  });
  const createRuleSource = (
    file: string,
    line: number,
    origin: string,
    root: string | null = null,
  ) => ({
    ...NOTHING,
    file,
    line,
    origin,
    root,
  });
  expect(texts).toEqual([
    {
      ...createRuleSource('home/.claude/settings.json', 2, 'own'),
      allow: [
        { text: 'Read', line: 4 },
        { text: 'Bash(ls:*)', line: 5 },
      ],
    },
    {
      ...createRuleSource('proj/.claude/settings.json', 2, 'workspace', texts[1]?.root),
      ask: [{ text: 'Bash(git push:*)', line: 4 }],
      defaultMode: 'acceptEdits',
      additionalDirectories: ['../lib'],
    },
    {
      ...createRuleSource('proj/.claude/settings.local.json', 2, 'workspace', texts[1]?.root),
      defaultMode: 'default',
    },
    {
      ...createRuleSource('proj/.cline/hooks.json', 2, 'workspace', texts[1]?.root),
      deny: [{ text: 'WebFetch', line: 4 }],
    },
    {
      ...createRuleSource('etc/managed-settings.json', 2, 'managed'),
      deny: [{ text: 'Bash(curl:*)', line: 4 }],
      forbidsBypass: true,
    },
  ]);
  expect([texts[1]?.root?.endsWith('proj'), why]).toEqual([true, []]);
});

test('malformed rules are reported with their line, and the rest counts', () => {
  const { texts, why } = permissionsOf({
    'proj/.claude/settings.json': `{
  "permissions": {
    "allow": "Bash",
    "deny": ["Read(./.env)", 7,
      null],
    "defaultMode": "yolo",
    "disableBypassPermissionsMode": "maybe"
  }
}`,
    'proj/.claude/settings.local.json': '{ "permissions": ["Bash"] }',
  });
  expect(
    texts.map(({ allow, deny, defaultMode, forbidsBypass }) => [
      allow,
      deny,
      defaultMode,
      forbidsBypass,
    ]),
  ).toEqual([
    [[], [{ text: 'Read(./.env)', line: 4 }], null, false],
    [[], [], null, false],
  ]);
  expect(why).toEqual([
    'proj/.claude/settings.json: line 3: "permissions.allow": expected a list of strings, found the string "Bash"',
    'proj/.claude/settings.json: line 4: "permissions.deny": expected a string, found number 7',
    'proj/.claude/settings.json: line 5: "permissions.deny": expected a string, found null',
    'proj/.claude/settings.json: line 6: "permissions.defaultMode": expected default, acceptEdits, plan, bypassPermissions, dontAsk, found the string "yolo"',
    'proj/.claude/settings.json: line 7: "permissions.disableBypassPermissionsMode": expected "disable", found the string "maybe"',
    'proj/.claude/settings.local.json: line 1: "permissions": expected an object, found array',
  ]);
});

test('a file with a broken guard allows nothing', () => {
  const { texts } = permissionsOf({
    'proj/.claude/settings.json': {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command' }] }] },
      permissions: { allow: ['Bash'], deny: ['Read(./.env)'] },
    },
    'proj/.claude/settings.local.json': { permissions: { allow: ['Edit'] } },
  });
  expect(texts.map(({ whyNothingAllowed, deny }) => [whyNothingAllowed, deny.length])).toEqual([
    [
      'a guard in proj/.claude/settings.json is broken, so the allow rules of this file are ignored',
      1,
    ],
    [null, 0],
  ]);
});

test('a switch for hooks does not affect permission rules', () => {
  const { texts } = permissionsOf({
    'home/.claude/settings.json': { disableAllHooks: true, permissions: { deny: ['Bash'] } },
  });
  expect(texts.map(({ deny }) => deny)).toEqual([[{ text: 'Bash', line: 5 }]]);
});
