import { readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageJson, PLUGIN } from '../../plugins/find/plugin-sources.ts';
import { jsonOf, runHookline } from '../hookline.ts';
import { answering, at, createTempWorkspace, HOOKS, trust, write } from '../temp-workspace.ts';

const DIRECTORY = '.cline/plugins';
const GUARD = 'plugin:workspace:guard';

function createWorkspaceWithPlugins() {
  return createTempWorkspace({
    [`${DIRECTORY}/guard.ts`]: `import { z } from 'zod'\nimport { createTool } from '@cline/core'\nimport './words.ts'\n${PLUGIN}`,
    [`${DIRECTORY}/words.ts`]: 'export const words = []\n',
    [`${DIRECTORY}/pkg/package.json`]: packageJson([
      { paths: ['index.ts'], capabilities: ['tools', 'rules'] },
    ]),
    [`${DIRECTORY}/pkg/index.ts`]: `import 'yaml'\nimport 'left-pad'\n${PLUGIN}`,
    [`${DIRECTORY}/pkg/node_modules/yaml/index.js`]: '',
  });
}

it('names modules that lie in the workspace as not bound, and those beside a plugin not', async () => {
  const workspace = createTempWorkspace({
    'package.json': packageJson([`./${DIRECTORY}/guard.ts`]),
    [`${DIRECTORY}/guard.ts`]: `import 'zod/v4'\nimport '@far/away/x'\nimport '@near/by'\n${PLUGIN}`,
    [`${DIRECTORY}/node_modules/zod/index.js`]: '',
    [`${DIRECTORY}/node_modules/@near/by/index.js`]: '',
    'node_modules/@far/away/index.js': '',
  });
  const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
  expect(hooks).toMatchObject([{ id: 'plugin:workspace:pkg', notBound: ['@far/away/x'] }]);
});

it.each(['json', 'stream-json'])(
  'is named to a program that runs the agent: %s',
  async (output) => {
    const workspace = createTempWorkspace({
      'turns.json': '[{ "text": "Done." }]',
      [`${DIRECTORY}/guard.ts`]: PLUGIN,
    });
    const args = ['run', '--script', 'turns.json', '--output', output, 'go'];
    const { stdout } = await runHookline(args, at(workspace));
    const result: unknown = JSON.parse(
      output === 'json' ? stdout : (stdout.trim().split('\n').at(-1) ?? ''),
    );
    expect(result).toMatchObject({
      text: 'Done.',
      pluginIssues: [
        { plugin: 'guard', level: 'error', message: expect.stringContaining('never trusted') },
      ],
    });
  },
);

describe('hooks list', () => {
  it('lists plugins by themselves, and says what they wait for', async () => {
    const workspace = createWorkspaceWithPlugins();
    write(workspace.repo, `${DIRECTORY}/view.tsx`, PLUGIN);
    write(workspace.home, '.cline/plugins/own.ts', PLUGIN);
    const { stdout, stderr, code } = await runHookline(['hooks', 'list'], at(workspace));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`No hooks found for ${workspace.repo}.
Create one with \`hookline hooks new PreToolUse\`.

PLUGIN                  STATE      FILE
plugin:home:own         ready      ~/.cline/plugins/own.ts
plugin:workspace:guard  untrusted  .cline/plugins/guard.ts
  it was never trusted here
  trust does not cover: zod, .cline/plugins/pkg
plugin:workspace:pkg    untrusted  .cline/plugins/pkg/index.ts
  it was never trusted here
  trust does not cover: left-pad

Ignored:
  .cline/plugins/view.tsx  .tsx files are not loaded as plugins; use one of .ts, .mts, .js, .mjs

2 plugins need review: run \`hookline trust\`
`);
  });

  it('prints every field of a plugin with --json', async () => {
    const workspace = createWorkspaceWithPlugins();
    const { hooks, ignored } = jsonOf(
      await runHookline(['hooks', 'list', '--json'], at(workspace)),
    );
    expect(hooks[1]).toEqual({
      id: 'plugin:workspace:pkg',
      dialect: 'plugin',
      event: 'plugin',
      events: [],
      matcher: null,
      path: path.join(workspace.repo, DIRECTORY, 'pkg/index.ts'),
      line: null,
      place: 'workspace',
      root: workspace.repo,
      state: 'untrusted',
      why: 'it was never trusted here',
      trusted: false,
      trustedBy: null,
      enabled: true,
      timeoutMs: 0,
      onFailure: 'open',
      notes: [],
      problem: null,
      environment: expect.any(Object),
      notBound: ['left-pad'],
      source: 'workspace',
      name: 'pkg',
      package: 'pkg@1.2.3',
      capabilities: 'tools, rules',
    });
    expect(ignored).toEqual([
      {
        path: path.join(workspace.repo, DIRECTORY, 'words.ts'),
        why: 'no plugin in it',
        isQuiet: true,
      },
    ]);
  });
});

describe('trust', () => {
  it('says what a plugin is, which files it binds and which not, and then remembers them', async () => {
    const workspace = createWorkspaceWithPlugins();
    const result = await runHookline(['trust', '--yes'], at(workspace));
    expect(result.code).toBe(0);
    expect(result.stdout).toContain(`plugin:workspace:pkg  untrusted: it was never trusted here
  file      ${workspace.repo}/.cline/plugins/pkg/index.ts
  plugin    is loaded into the agent with every session
  declares  tools, rules
  binds     .cline/plugins/pkg/index.ts, .cline/plugins/pkg/node_modules/yaml/index.js, .cline/plugins/pkg/package.json
  not bound left-pad
  │ import 'yaml'
`);
    expect(result.stdout).toContain(
      '  binds     .cline/plugins/guard.ts, .cline/plugins/words.ts\n',
    );
    expect(result.stdout).toContain('Trusted 2 plugins. Any change requires a new review.\n');
    const again = await runHookline(['trust'], at(workspace));
    expect(again.stdout).toBe('2 plugins already trusted.\n');
  });

  it('asks for hooks and plugins in separate questions', async () => {
    const workspace = createWorkspaceWithPlugins();
    write(workspace.repo, `${HOOKS}/PreToolUse`, answering({}));
    const { stderr, code } = await runHookline(['trust'], at(workspace));
    expect(code).toBe(1);
    expect(stderr).toContain('1 hook to run with your permissions');
    expect(stderr).toContain('2 plugins to be loaded into the agent with every session');
  });

  it('of one plugin is for that one, and is taken back', async () => {
    const workspace = createWorkspaceWithPlugins();
    trust(workspace, [GUARD]);
    expect(await statesIn(workspace)).toEqual({
      [GUARD]: 'ready',
      'plugin:workspace:pkg': 'untrusted',
    });
    const forgot = await runHookline(['untrust', GUARD], at(workspace));
    expect(forgot).toMatchObject({ code: 0, stdout: 'Revoked trust in 1 hook.\n' });
    expect((await statesIn(workspace))[GUARD]).toBe('untrusted');
  });

  it('shows what changed', async () => {
    const workspace = createWorkspaceWithPlugins();
    trust(workspace);
    write(workspace.repo, `${DIRECTORY}/pkg/index.ts`, `${PLUGIN}// more\n`);
    expect(await statesIn(workspace)).toEqual({
      [GUARD]: 'ready',
      'plugin:workspace:pkg': 'modified',
    });
    const { stdout } = await runHookline(['trust'], at(workspace));
    expect(stdout).toContain('changed: .cline/plugins/pkg/index.ts');
    expect(stdout).toContain('  +// more');
  });

  it('leaves out what is broken, and names the rest of a large package', async () => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/bad/package.json`]: packageJson(['none.ts'], { name: 'bad' }),
      [`${DIRECTORY}/pkg/package.json`]: packageJson(['index.ts']),
      [`${DIRECTORY}/pkg/index.ts`]: PLUGIN,
    });
    for (let number = 0; number < 60; number++) {
      write(workspace.repo, `${DIRECTORY}/pkg/data/${number}.txt`, '');
    }
    const { stdout, code } = await runHookline(['trust', '--yes'], at(workspace));
    expect(code).toBe(0);
    expect(stdout).toContain('and 22 more files\n');
    expect(stdout).toContain('Trusted 1 plugin.');
    const listed = await runHookline(['hooks', 'list'], at(workspace));
    expect(listed.stdout).toMatch(
      /plugin:workspace:bad +broken +\.cline\/plugins\/bad\/package\.json/,
    );
    expect(listed.stdout).toContain('"none.ts" in');
  });
});

describe('lock', () => {
  it('holds plugins, and sees when one differs', async () => {
    const workspace = createWorkspaceWithPlugins();
    write(workspace.repo, `${DIRECTORY}/bad/package.json`, packageJson(['none.ts']));
    const locked = await runHookline(['lock'], at(workspace));
    expect(locked).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Locked 2 plugins in'),
    });
    const lock = path.join(workspace.repo, 'hookline.lock.json');
    expect(
      JSON.parse(readFileSync(lock, 'utf8')).hooks.map(({ id }: { id: string }) => id),
    ).toEqual([GUARD, 'plugin:workspace:pkg']);
    expect(await runHookline(['lock', '--check'], at(workspace))).toMatchObject({ code: 0 });
    expect(await statesIn(workspace, ['--lock', lock])).toMatchObject({ [GUARD]: 'ready' });
    write(workspace.repo, `${DIRECTORY}/words.ts`, '// other\n');
    const checked = await runHookline(['lock', '--check'], at(workspace));
    expect(checked.code).toBe(1);
    expect(checked.stdout).toContain(`changed ${GUARD} .cline/plugins/words.ts`);
  });
});

describe('switches', () => {
  it('turn plugins off and on by their ids', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.cline/plugins/own.ts', PLUGIN);
    const id = 'plugin:home:own';
    expect(await runHookline(['hooks', 'disable', id], at(workspace))).toMatchObject({ code: 0 });
    expect(await statesIn(workspace)).toEqual({ [id]: 'disabled' });
    expect(await runHookline(['hooks', 'enable', id], at(workspace))).toMatchObject({
      code: 0,
      stdout: `Enabled ${id}.\n`,
    });
    expect(await statesIn(workspace)).toEqual({ [id]: 'ready' });
  });

  it('say when Cline itself keeps one off', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.home, '.cline/plugins/own.ts', PLUGIN);
    const settings = write(
      workspace.home,
      '.cline/data/settings/global-settings.json',
      JSON.stringify({ disabledPlugins: [file] }),
    );
    const why = `disabled in Cline: "disabledPlugins" of ${settings}`;
    const listed = await runHookline(['hooks', 'list'], at(workspace));
    expect(listed.stdout).toContain(why);
    const { stdout } = await runHookline(['hooks', 'enable', 'plugin:home:own'], at(workspace));
    expect(stdout).toBe(`Enabled plugin:home:own. It is still off, because it is ${why}.\n`);
  });
});

describe('other commands', () => {
  it('delete a plugin of one file, and no part of a package', async () => {
    const workspace = createWorkspaceWithPlugins();
    const refused = await runHookline(
      ['hooks', 'rm', 'plugin:workspace:pkg', '--yes'],
      at(workspace),
    );
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('consists of several files');
    const deleted = await runHookline(['hooks', 'rm', GUARD, '--yes'], at(workspace));
    expect(deleted).toMatchObject({ code: 0 });
    expect(await statesIn(workspace)).toEqual({ 'plugin:workspace:pkg': 'untrusted' });
  });

  it('that fire or explain events load no untrusted plugin', async () => {
    const workspace = createWorkspaceWithPlugins();
    const fired = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--strict', '--json'],
      at(workspace),
    );
    expect(fired.code).toBe(3);
    const why = 'untrusted: it was never trusted here';
    const skipped = [
      { hook: GUARD, kind: 'withheld', why },
      { hook: 'plugin:workspace:pkg', kind: 'withheld', why },
    ];
    expect(jsonOf(fired)).toMatchObject({ outcomes: [], skipped });
    const explained = await runHookline(
      ['hooks', 'explain', 'PreToolUse', '--json'],
      at(workspace),
    );
    expect(jsonOf(explained)).toMatchObject({ runs: [], skipped });
  });

  it('that test cases ignore untrusted plugins', async () => {
    const workspace = createTempWorkspace({
      'hook-tests/own/case.json': JSON.stringify({
        fire: { event: 'PreToolUse', tool: 'Bash', input: { command: 'ls' } },
        expect: { effect: 'pass' },
      }),
      [`hook-tests/own/workspace/${DIRECTORY}/guard.ts`]: PLUGIN,
      [`${DIRECTORY}/guard.ts`]: PLUGIN,
    });
    const result = await runHookline(['hooks', 'test'], at(workspace));
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    expect(result.stdout).toContain('1 passed, 0 failed');
  });

  it.each(['fire', 'explain'])('hooks %s says whose hooks --no-load leaves out', async (verb) => {
    const workspace = createWorkspaceWithPlugins();
    trust(workspace);
    const { stderr } = await runHookline(['hooks', verb, 'PreToolUse', '--no-load'], at(workspace));
    expect(stderr).toBe('note: hooks of 2 plugins are left out (--no-load)\n');
    const other = await runHookline(['hooks', verb, 'Notification', '--no-load'], at(workspace));
    expect(other.stderr).toBe('');
  });

  it('examine plugins', async () => {
    const workspace = createWorkspaceWithPlugins();
    write(
      workspace.repo,
      `${DIRECTORY}/bad/package.json`,
      packageJson(['none.ts'], { name: 'bad' }),
    );
    symlinkSync('nowhere', path.join(workspace.repo, DIRECTORY, 'lost.ts'));
    const result = await runHookline(['doctor', '--json'], at(workspace));
    expect(result.code).toBe(1);
    expect(jsonOf(result).findings).toEqual(
      expect.arrayContaining([
        { about: 'found', level: 'fine', text: '3 plugins found, 0 ready, 2 files ignored' },
        { about: GUARD, level: 'hint', text: 'untrusted: it was never trusted here' },
        {
          about: 'trust',
          level: 'hint',
          text: '2 plugins need review: run `hookline trust`',
        },
        {
          about: 'plugin:workspace:bad',
          level: 'problem',
          text: expect.stringContaining('broken: "none.ts" in'),
        },
        {
          about: path.join(workspace.repo, DIRECTORY, 'lost.ts'),
          level: 'problem',
          text: 'is a broken link',
        },
      ]),
    );
  });
});

/** Every plugin with its state. */
async function statesIn(
  workspace: Parameters<typeof at>[0],
  flags: readonly string[] = [],
): Promise<Record<string, string>> {
  const { hooks } = jsonOf(await runHookline([...flags, 'hooks', 'list', '--json'], at(workspace)));
  return Object.fromEntries(hooks.map(({ id, state }: Record<string, string>) => [id, state]));
}
