import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  HOOKS,
  type TempWorkspace,
  PRE_TOOL_USE,
  trust,
  write,
} from '../temp-workspace.ts';

const OWN_ID = 'cline:global:PreToolUse';

/** A workspace of a user with a personal hook that denies. */
function createWorkspaceWithOwnHook(): TempWorkspace {
  const workspace = createTempWorkspace();
  write(
    workspace.home,
    `${GLOBAL_HOOKS}/PreToolUse`,
    answering({ cancel: true, errorMessage: 'no' }),
  );
  return workspace;
}

describe('hooks disable and enable', () => {
  it('switches a hook off and on in the configuration, which keeps its other settings', async () => {
    const workspace = createWorkspaceWithOwnHook();
    const config = write(workspace.home, '.hookline/config.json', '{"hooks": {"timeoutMs": 5000}}');
    const off = await runHookline(['hooks', 'disable', OWN_ID], at(workspace));
    expect(off).toMatchObject({ code: 0, stdout: `Disabled ${OWN_ID} (in ${config}).\n` });
    expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({
      hooks: { timeoutMs: 5000, disabled: [OWN_ID] },
    });
    const fired = jsonOf(
      await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace)),
    );
    expect(fired).toMatchObject({ effect: 'pass', skipped: [{ hook: OWN_ID, why: 'disabled' }] });

    const on = await runHookline(['hooks', 'enable', OWN_ID, '--json'], at(workspace));
    expect(jsonOf(on)).toEqual({ id: OWN_ID, enabled: true, file: config });
    const again = await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    expect(again.code).toBe(1);
  });
});

describe('an unknown hook id', () => {
  it.each([
    ['PreToolUse', `Did you mean ${OWN_ID}?`],
    ['cline:global:PreTolUse', `Did you mean ${OWN_ID}?`],
    ['nonsense', `Hooks: ${OWN_ID}.`],
  ])('%s: %s', async (id, hint) => {
    const { code, stderr } = await runHookline(
      ['hooks', 'disable', id],
      at(createWorkspaceWithOwnHook()),
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `hookline: hook ${JSON.stringify(id)} not found\n  ${hint}\n`,
    });
  });
});

describe('hooks rm', () => {
  it('deletes nothing without a yes, and the file with it', async () => {
    const workspace = createWorkspaceWithOwnHook();
    const file = path.join(workspace.home, GLOBAL_HOOKS, 'PreToolUse');
    const refused = await runHookline(['hooks', 'rm', OWN_ID], at(workspace));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(existsSync(file)).toBe(true);
    const deleted = await runHookline(['hooks', 'rm', OWN_ID, '--yes', '--json'], at(workspace));
    expect(jsonOf(deleted)).toMatchObject({ id: OWN_ID, deleted: file });
    expect(existsSync(file)).toBe(false);
  });
});

describe('hooks stats', () => {
  it('counts runs, failures and refusals of what was fired', async () => {
    const workspace = createWorkspaceWithOwnHook();
    write(workspace.home, '.cline/hooks/PreToolUse', '#!/bin/sh\nexit 1\n');
    const before = await runHookline(['hooks', 'stats'], at(workspace));
    expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining('No hook has run') });
    await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    const [readable, json] = await Promise.all([
      runHookline(['hooks', 'stats'], at(workspace)),
      runHookline(['hooks', 'stats', '--json'], at(workspace)),
    ]);
    const { hooks, ...rest } = jsonOf(json);
    const times = {
      p50Ms: expect.any(Number),
      p95Ms: expect.any(Number),
      maxMs: expect.any(Number),
    };
    expect(rest).toEqual({
      roots: [workspace.repo],
      dispatches: 2,
      elsewhere: 0,
      unreadable: 0,
    });
    expect(new Map(hooks.map((each: { hook: string }) => [each.hook, each]))).toEqual(
      new Map([
        [OWN_ID, { hook: OWN_ID, runs: 2, failures: 0, refusals: 2, ...times }],
        [
          'cline:home:PreToolUse',
          { hook: 'cline:home:PreToolUse', runs: 2, failures: 2, refusals: 0, ...times },
        ],
      ]),
    );
    expect(readable.stdout).toMatch(/^HOOK +RUNS +FAILED +REFUSED +P50 +P95 +MAX\n/);
    expect(readable.stdout).toContain(`2 events in ${workspace.repo}`);
  });

  it('counts this workspace only, unless --all is given', async () => {
    const workspace = createWorkspaceWithOwnHook();
    mkdirSync(path.join(workspace.directory, 'other', '.git'), { recursive: true });
    const other = { ...at(workspace), cwd: path.join(workspace.directory, 'other') };
    await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    const run = (...args: string[]) => runHookline(['hooks', ...args], other);
    expect((await run('stats')).stdout).toBe(
      `No hook has run in ${other.cwd} yet; 1 event elsewhere: --all. Fire one with \`hookline hooks fire EVENT\`.\n`,
    );
    expect((await run('stats', '--all')).stdout).toContain('1 event in all workspaces');
    const recorded = await run('test', 'case', '--record-trace', 'last');
    expect(recorded).toMatchObject({ code: 2, stdout: '' });
    expect(recorded.stderr).toContain(`for ${other.cwd}`);
    expect(recorded.stderr).toContain('With --all the last event of any workspace is taken.');
    const taken = await run('test', 'case', '--record-trace', 'last', '--all');
    expect(taken.code).toBe(0);
    expect(taken.stderr).toMatch(/^note: recorded from PreToolUse of \S+ in /);
    expect(taken.stderr).toContain(workspace.repo);
  });
});

describe('doctor', () => {
  it('finds nothing wrong with a plain machine', async () => {
    const env = { ANTHROPIC_API_KEY: 'a-key' };
    const [readable, json] = await Promise.all([
      runHookline(['doctor'], at(createTempWorkspace(), { env })),
      runHookline(['doctor', '--json'], at(createTempWorkspace(), { env })),
    ]);
    expect(readable).toMatchObject({ code: 0, stderr: '' });
    expect(readable.stdout).toMatch(/\nNo problems found\.\n$/);
    expect(jsonOf(json)).toMatchObject({ problems: 0 });
  });

  it('reports a personal hook that changed since the last run', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.home, `${GLOBAL_HOOKS}/TaskStart`, answering({}));
    await runHookline(['hooks', 'list'], at(workspace));
    write(workspace.home, `${GLOBAL_HOOKS}/TaskStart`, answering({ cancel: true }));
    const result = await runHookline(['doctor', '--json'], at(workspace));
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(jsonOf(result).findings).toContainEqual({
      about: 'own hooks',
      level: 'hint',
      text: `your own hook changed since the last run: ${file}`,
    });
  });

  it('fails when something keeps hooks from working', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/no/such/interpreter\n');
    write(workspace.home, '.hookline/config.json', '{"hoks": {"enabled": true}}');
    const { code, stdout } = await runHookline(['doctor'], at(workspace));
    expect(code).toBe(1);
    expect(stdout).toContain('unknown setting "hoks.enabled"; did you mean "hooks.enabled"?');
    expect(stdout).toContain('broken: The first line of');
    expect(stdout).toMatch(/\n2 problems, 2 warnings found\.\n$/);
  });
});

describe('demo', () => {
  it('holds every claim it makes, and leaves nothing behind', async () => {
    const workspace = createTempWorkspace();
    const [readable, json] = await Promise.all([
      runHookline(['demo'], at(workspace, { env: { TMPDIR: workspace.directory } })),
      runHookline(['demo', '--json'], at(workspace)),
    ]);
    expect(readable).toMatchObject({ code: 0, stderr: '' });
    expect(readable.stdout).toMatch(/\nAll 9 checks passed\.\n$/);
    const texts = [
      /Cline file, PreToolUse: deny: This project is written in TypeScript.* \(\d/,
      /file {2}app\.ts: " {2}export default 42" became "export default 42;\\n"/,
      /Claude settings, PreToolUse: deny: A forced push .* \(\d/,
      /Cline plugin, PreToolUse: deny: Pushing to main is not allowed here \(\d/,
      /count_words .*\{"words":4\}/,
      /Claude settings, Stop: deny: Run node check\.js before you stop \(\d/,
    ];
    expect(texts.filter((line) => !line.test(readable.stdout))).toEqual([]);
    const { claims } = jsonOf(json);
    expect(claims.map(({ holds }: { holds: boolean }) => holds)).toEqual(Array(9).fill(true));
    expect(existsSync(path.join(workspace.home, '.hookline'))).toBe(false);
  });
});

describe('hooks test', () => {
  const CASE = `{"fire": {"event": "PreToolUse"}, "expect": {"effect": "deny"}}`;

  it('runs cases against the hooks of the workspace, and fails when one does not hold', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({ cancel: true, errorMessage: 'no' }),
      'hook-tests/denies/case.json': CASE,
      'other/passes/case.json': CASE.replace('deny', 'pass'),
    });
    trust(workspace);
    const [good, json, bad] = await Promise.all([
      runHookline(['hooks', 'test'], at(workspace)),
      runHookline(['hooks', 'test', '--json'], at(workspace)),
      runHookline(['hooks', 'test', 'other'], at(workspace)),
    ]);
    expect([good.code, json.code, bad.code]).toEqual([0, 0, 1]);
    expect(good.stdout).toContain('denies');
    expect(() => jsonOf(json)).not.toThrow();
    expect(bad.stdout).toContain('passes');
  });

  it('does not count a case that passes because its hooks did not run', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({}),
      'hook-tests/passes/case.json': CASE.replace('deny', 'pass'),
    });
    const { code, stdout } = await runHookline(['hooks', 'test'], at(workspace));
    expect(code).toBe(1);
    expect(stdout).toContain(PRE_TOOL_USE);
    expect(stdout).toContain('untrusted');
  });
});
