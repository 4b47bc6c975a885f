import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, HOOKS, write } from '../cli/temp-workspace.ts';
import { DONE, runScript } from '../e2e/agent-run.ts';

const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls"}'];
const SETTINGS = '.claude/settings.json';
const HANDLER = { type: 'command', command: 'exit 2' };
const GROUP = { matcher: 'Bash', hooks: [HANDLER] };
const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** Each file loses a guard by one slip; what is told names the file and what was meant. */
const MISTAKES: readonly (readonly [about: string, file: string, text: string, says: RegExp])[] = [
  [
    'Hooks',
    SETTINGS,
    json({ Hooks: { PreToolUse: [GROUP] } }),
    /line 2: "Hooks" is not read; did you mean "hooks"\?/,
  ],
  ['hook', SETTINGS, json({ hook: { PreToolUse: [GROUP] } }), /did you mean "hooks"\?/],
  [
    'hooks with a space',
    SETTINGS,
    json({ 'hooks ': { PreToolUse: [GROUP] } }),
    /did you mean "hooks"\?/,
  ],
  [
    'PreToolUsee',
    SETTINGS,
    json({ hooks: { PreToolUsee: [GROUP] } }),
    /line 3: event "PreToolUsee" not found.*did you mean PreToolUse\?/,
  ],
  ['preToolUse', SETTINGS, json({ hooks: { preToolUse: [GROUP] } }), /did you mean PreToolUse\?/],
  ['an event beside hooks', SETTINGS, json({ PreToolUse: [GROUP] }), /outside the "hooks" object/],
  [
    'a misspelt event beside hooks',
    SETTINGS,
    json({ PreToolUes: [GROUP] }),
    /did you mean \{"hooks": \{"PreToolUse"/,
  ],
  [
    'hooks in hooks',
    SETTINGS,
    json({ hooks: { hooks: { PreToolUse: [GROUP] } } }),
    /one level higher/,
  ],
  [
    'hooks as a list',
    SETTINGS,
    json({ hooks: [GROUP] }),
    /expected an object of events, found array/,
  ],
  [
    'a handler without a group',
    SETTINGS,
    json({ hooks: { PreToolUse: [HANDLER] } }),
    /without a group around it/,
  ],
  [
    'a matcher in the handler',
    SETTINGS,
    json({ hooks: { PreToolUse: [{ hooks: [{ ...HANDLER, matcher: 'Edit' }] }] } }),
    /"matcher" is not read here/,
  ],
  [
    'a matcher of a wrong type',
    SETTINGS,
    json({ hooks: { PreToolUse: [{ ...GROUP, matcher: ['Bash'] }] } }),
    /"matcher": expected a string/,
  ],
  [
    'a misspelt tool',
    SETTINGS,
    json({ hooks: { PreToolUse: [{ ...GROUP, matcher: 'Edti|Write' }] } }),
    /"Edti" matches nothing.*did you mean "Edit"\?/,
  ],
  [
    'a misspelt tool in a pattern',
    SETTINGS,
    json({ hooks: { PreToolUse: [{ ...GROUP, matcher: '^(Edti|Write)$' }] } }),
    /did you mean "Edit"\?/,
  ],
  [
    'a condition that is cut off',
    SETTINGS,
    json({ hooks: { PreToolUse: [{ hooks: [{ ...HANDLER, if: 'Bash(rm' }] }] } }),
    /can never be met/,
  ],
  [
    'a misspelt onFailure',
    SETTINGS,
    json({ hooks: { PreToolUse: [{ hooks: [{ ...HANDLER, onFailur: 'block' }] }] } }),
    /did you mean "onFailure"\?/,
  ],
  [
    'a doubled hooks',
    SETTINGS,
    `{"hooks": {"PreToolUse": [${json(GROUP)}]},\n"hooks": {}}`,
    /"hooks" appears more than once/,
  ],
  [
    'a doubled event',
    SETTINGS,
    `{"hooks": {"PreToolUse": [${json(GROUP)}],\n"PreToolUse": []}}`,
    /"PreToolUse" appears more than once/,
  ],
  [
    'permissions.denied',
    SETTINGS,
    json({ permissions: { denied: ['Bash'] } }),
    /line 3: "permissions.denied" is not read; did you mean "permissions.deny"\?/,
  ],
  [
    'permissions.Deny',
    SETTINGS,
    json({ permissions: { Deny: ['Bash'] } }),
    /did you mean "permissions.deny"\?/,
  ],
  [
    'deny with a space',
    SETTINGS,
    json({ permissions: { 'deny ': ['Bash'] } }),
    /did you mean "permissions.deny"\?/,
  ],
  [
    'permissions.blocklist',
    SETTINGS,
    json({ permissions: { blocklist: ['Bash'] } }),
    /did you mean "permissions.deny"\?/,
  ],
  [
    'Permissions',
    SETTINGS,
    json({ Permissions: { deny: ['Bash'] } }),
    /did you mean "permissions"\?/,
  ],
  [
    'deny outside of permissions',
    SETTINGS,
    json({ deny: ['Bash'] }),
    /did you mean "permissions.deny"\?/,
  ],
  [
    'a doubled deny',
    SETTINGS,
    '{"permissions": {"deny": ["Bash"],\n"deny": []}}',
    /"permissions.deny" appears more than once/,
  ],
  [
    'a deny rule that is cut off',
    SETTINGS,
    json({ permissions: { deny: ['Bash(rm -rf'] } }),
    /"Bash\(rm -rf" is not a permission rule/,
  ],
  [
    'a deny rule for a misspelt tool',
    SETTINGS,
    json({ permissions: { deny: ['bash(rm *)'] } }),
    /did you mean "Bash"\?/,
  ],
  [
    'deny as a string',
    SETTINGS,
    json({ permissions: { deny: 'Bash' } }),
    /expected a list of strings, found the string/,
  ],
  [
    'deny of numbers',
    SETTINGS,
    json({ permissions: { deny: [7] } }),
    /expected a string, found number 7/,
  ],
  [
    'permissions as a list',
    SETTINGS,
    json({ permissions: ['Bash'] }),
    /"permissions": expected an object/,
  ],
  [
    'a misspelt mode',
    SETTINGS,
    json({ permissions: { defaultMode: 'plann' } }),
    /"permissions.defaultMode": expected/,
  ],
  [
    '.cline/hooks.json',
    '.cline/hooks.json',
    json({ hooks: { PreToolUsee: [GROUP] } }),
    /did you mean PreToolUse\?/,
  ],
  [
    'a misspelt hook file',
    `${HOOKS}/PreToolUes`,
    '#!/bin/sh\nexit 2\n',
    /did you mean PreToolUse\?/,
  ],
  ['a hook file in Ruby', `${HOOKS}/PreToolUse.rb`, 'exit 2\n', /extension \.rb is not supported/],
  [
    '.hookline/config.json',
    '.hookline/config.json',
    json({ hook: { enabled: true } }),
    /unknown setting "hook.enabled"; did you mean "hooks.enabled"\?/,
  ],
  [
    'a doubled setting',
    '.hookline/config.json',
    '{"hooks": {"onFailure": "block"},\n"hooks": {}}',
    /"hooks" appears more than once/,
  ],
];

describe('a guard that is lost by a slip', () => {
  it.each(MISTAKES)('is told by every command, and an error under --strict: %s', async (...row) => {
    const [, file, text, says] = row;
    const workspace = createTempWorkspace({ [file]: text });
    const [fired, strictlyFired, run, strictlyRun] = await Promise.all([
      runHookline(FIRE, at(workspace)),
      runHookline([...FIRE, '--strict'], at(workspace)),
      runScript(workspace, [DONE], ['go']),
      runScript(workspace, [DONE], ['go', '--strict']),
    ]);
    // A mistake that is the failure of a hook is printed with the verdict, all others as notes.
    expect(fired.stdout + fired.stderr).toMatch(says);
    expect(fired.stdout + fired.stderr).toContain(file);
    expect(run.stderr).toMatch(says);
    expect({ run: run.code, text: run.stdout }).toEqual({ run: 0, text: 'Done.\n' });
    expect({ fire: strictlyFired.code, run: strictlyRun.code, text: strictlyRun.stdout }).toEqual({
      fire: 3,
      run: 3,
      text: '',
    });
    expect(strictlyRun.stderr).toMatch(says);
  });

  it('is told by the list, which exits with 3 under --strict', async () => {
    const workspace = createTempWorkspace({ [SETTINGS]: json({ hook: {} }) });
    const listed = await runHookline(['hooks', 'list', '--strict'], at(workspace));
    expect(listed.code).toBe(3);
    expect(listed.stdout).toMatch(/a guard may be missing: .*did you mean "hooks"\?/);
  });

  it('takes the allow rules of its file with it', async () => {
    const permissions = { allow: ['Bash(echo *)'], denied: ['Bash(rm *)'] };
    const workspace = createTempWorkspace();
    write(workspace.home, SETTINGS, json({ permissions }));
    const turns = [{ tools: [{ name: 'Bash', input: { command: 'touch made' } }] }, DONE];
    const run = await runScript(workspace, turns, ['go']);
    expect(run.stderr).toContain('the allow rules of this file are ignored');
  });
});

describe('settings that are right', () => {
  it.each<readonly [string, unknown]>([
    [
      'other keys of Claude Code',
      {
        model: 'opus',
        env: {},
        statusLine: {},
        outputStyle: 'x',
        enabledMcpjsonServers: [],
        allowedMcpServers: [],
        includeCoAuthoredBy: true,
        spinnerTipsEnabled: false,
        cleanupPeriodDays: 1,
        theme: 'dark',
        apiKeyHelper: 'x',
      },
    ],
    ['commented keys', { _hooks: {}, '//permissions': {}, $schema: 'x' }],
    [
      'tools of servers and plugins',
      {
        hooks: {
          PreToolUse: [{ matcher: 'mcp__github__create|DeployService|my_tool', hooks: [HANDLER] }],
        },
      },
    ],
    [
      'rules for servers',
      { permissions: { deny: ['mcp__github', 'mcp__github__*', 'DeployService'] } },
    ],
  ])('cause no warning: %s', async (_, settings) => {
    const workspace = createTempWorkspace();
    write(workspace.home, SETTINGS, json(settings));
    const run = await runScript(workspace, [DONE], ['go', '--strict']);
    expect(run).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(run.stderr).not.toContain('may be missing');
  });
});
