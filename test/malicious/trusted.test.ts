import { cpSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { computeSha256 } from '../../src/trust/file-map.ts';
import { type HooklineOptions, hooklineProgram, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  HOOKS,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { continueAttack, homeOf, prepareAttack } from './attack.ts';

const GUARD = `${HOOKS}/PreToolUse`;
const GUARD_ID = 'cline:workspace:PreToolUse';

interface Fired {
  readonly code: number | null;
  /** The hooks that ran, with their reasons. */
  readonly ran: Readonly<Record<string, string>>;
  /** The hooks that did not run, with the first word of the reason. */
  readonly skipped: Readonly<Record<string, string>>;
}

async function fire(
  options: HooklineOptions,
  event = 'PreToolUse',
  flags: readonly string[] = [],
): Promise<Fired> {
  const result = await runHookline(
    ['hooks', 'fire', event, '--json', '--strict', ...flags],
    options,
  );
  const { outcomes, skipped }: Verdict = jsonOf(result);
  return {
    code: result.code,
    ran: Object.fromEntries(outcomes.map((each) => [each.hook, each.failure?.kind ?? each.effect])),
    skipped: Object.fromEntries(skipped.map(({ hook, why }) => [hook, why.replace(/:.*/s, '')])),
  };
}

const RAN = { code: 0, ran: { [GUARD_ID]: 'pass' }, skipped: {} };
const MODIFIED = { code: 3, ran: {}, skipped: { [GUARD_ID]: 'modified' } };
const UNTRUSTED = { code: 3, ran: {}, skipped: { [GUARD_ID]: 'untrusted' } };

it('does not run a hook whose bytes were swapped although size and times are as before', async () => {
  const attackWorkspace = prepareAttack('swapped-bytes');
  const file = path.join(attackWorkspace.repo, GUARD);
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(RAN);

  const { size, atime, mtime } = statSync(file);
  continueAttack('swapped-bytes', attackWorkspace);
  utimesSync(file, atime, mtime);
  expect(statSync(file)).toMatchObject({ size, mtime });

  expect(await fire(attackWorkspace.options)).toEqual(MODIFIED);
  const result = await runHookline(['trust'], attackWorkspace.options);
  expect(result.code).toBe(1);
  expect(result.stdout).toContain('  -cat > /dev/null\n');
  expect(result.stdout).toContain('  +: > "$HOME/pwned"\n');
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('does not run a hook whose helper was swapped', async () => {
  const attackWorkspace = prepareAttack('swapped-helper');
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(RAN);
  continueAttack('swapped-helper', attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(MODIFIED);
  const result = await runHookline(['trust'], attackWorkspace.options);
  expect(result.stdout).toContain(`changed: ${HOOKS}/lib/decide.sh`);
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('does not run a hook when a module that its first line loads was swapped', async () => {
  const attackWorkspace = prepareAttack('swapped-loader');
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(RAN);
  continueAttack('swapped-loader', attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(MODIFIED);
  const result = await runHookline(['trust'], attackWorkspace.options);
  expect(result.stdout).toContain('changed: scripts/setup.mjs');
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('does not run a trusted link that leads elsewhere now, even to the same bytes', async () => {
  const attackWorkspace = prepareAttack('symlinked-hook');
  const link = path.join(attackWorkspace.repo, GUARD);
  trust(attackWorkspace);
  rmSync(link);
  symlinkSync('../../../outside/other', link);
  expect(await fire(attackWorkspace.options)).toEqual(MODIFIED);

  rmSync(link);
  symlinkSync('../../../outside/program', link);
  write(attackWorkspace.directory, 'outside/program', '#!/bin/sh\n: > "$HOME/pwned"; exit 0\n');
  expect(await fire(attackWorkspace.options)).toEqual(MODIFIED);
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('does not believe a true trust record that was moved into the repository', async () => {
  const attackWorkspace = prepareAttack('self-trusting-config');
  const state = path.join(attackWorkspace.home, '.hookline');
  trust(attackWorkspace);
  cpSync(state, path.join(attackWorkspace.repo, '.hookline'), { recursive: true });
  rmSync(state, { recursive: true });
  expect(await fire(attackWorkspace.options)).toEqual(UNTRUSTED);
  const env = { HOOKLINE_HOME: path.join(attackWorkspace.repo, '.hookline') };
  expect(await fire({ ...attackWorkspace.options, env })).toEqual(UNTRUSTED);
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('accepts a lock only if the caller names it and its hash is the one that was named', async () => {
  const attackWorkspace = prepareAttack('own-lock');
  const lock = path.join(attackWorkspace.repo, 'hookline.lock.json');
  const lockFlags = ['--lock', lock, '--lock-sha256'];

  const refused = await runHookline(
    ['hooks', 'fire', 'PreToolUse', ...lockFlags, '0'.repeat(64)],
    attackWorkspace.options,
  );
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('the lock must have the SHA-256 000000');
  expect(homeOf(attackWorkspace)).toEqual({});

  const right = computeSha256(readFileSync(lock));
  const fired = await fire(attackWorkspace.options, 'PreToolUse', [...lockFlags, right]);
  // The setting that the repository made up is an error under --strict.
  expect(fired).toEqual({ ...RAN, code: 3 });
  expect(homeOf(attackWorkspace)).toEqual({ pwned: '' });
});

it('does not run what a trusted hook wrote, and no longer runs that hook', async () => {
  const attackWorkspace = prepareAttack('hook-plants-hook');
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(RAN);
  expect(await fire(attackWorkspace.options, 'PostToolUse')).toEqual({
    code: 3,
    ran: {},
    skipped: { 'cline:workspace:PostToolUse': 'untrusted' },
  });
  expect(await fire(attackWorkspace.options)).toEqual(MODIFIED);
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('refuses every trust command that a hook runs', async () => {
  const attackWorkspace = prepareAttack('hook-trusts-itself');
  trust(attackWorkspace);
  continueAttack('hook-trusts-itself', attackWorkspace);
  const env = { HOOKLINE_NODE: process.execPath, HOOKLINE_PROGRAM: hooklineProgram() };
  const both = {
    code: 3,
    ran: { [GUARD_ID]: 'pass' },
    skipped: { 'cline:workspace-cline:PreToolUse': 'untrusted' },
  };
  expect(await fire({ ...attackWorkspace.options, env })).toEqual(both);
  const { refusals, marker, ...rest } = homeOf(attackWorkspace);
  expect(rest).toEqual({});
  expect(marker).toMatch(/^marker [0-9a-f-]{36}\n$/);
  const refusal = (command: string): string =>
    `hookline: \`hookline ${command}\` cannot run inside an agent session or a hook: HOOKLINE_SESSION is set\n  Run it in your own terminal.\nexit 1\n`;
  const commands = ['trust', 'untrust', 'lock', 'hooks disable', 'hooks rm'];
  expect(refusals).toBe(commands.map(refusal).join(''));
  expect(await fire({ ...attackWorkspace.options, env })).toEqual(both);
});

it('announces a trust record that a hook has edited', async () => {
  const attackWorkspace = prepareAttack('hook-edits-trust-record');
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(RAN);
  const [list, doctor] = await Promise.all([
    runHookline(['hooks', 'list'], attackWorkspace.options),
    runHookline(['doctor'], attackWorkspace.options),
  ]);
  const announcement =
    'counts as empty: its seal does not match: it was changed by another program';
  expect(list.stderr).toContain(announcement);
  expect(doctor.stdout).toContain(announcement);
  expect(doctor.code).toBe(1);
});

it('keeps the user’s own guard as strict as it was, whatever the workspace configures', async () => {
  const attackWorkspace = prepareAttack('loosening-config');
  expect(await fire(attackWorkspace.options)).toEqual({
    code: 1,
    ran: { 'cline:global:PreToolUse': 'exit' },
    skipped: { [GUARD_ID]: 'untrusted' },
  });
});

it('lets a workspace tighten the failure policy', async () => {
  const workspace = createTempWorkspace({
    '.hookline/config.json': '{"hooks": {"onFailure": "block"}, "cline": {"maxContextChars": 4}}',
  });
  write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/bin/sh\nexit 1\n');
  write(workspace.home, `${GLOBAL_HOOKS}/UserPromptSubmit`, answering({ context: 'a long text' }));
  const [tool, prompt] = await Promise.all([
    runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace)),
    runHookline(['hooks', 'fire', 'UserPromptSubmit', '--json'], at(workspace)),
  ]);
  expect({ code: tool.code, effect: jsonOf(tool).effect }).toEqual({ code: 1, effect: 'deny' });
  expect(jsonOf(prompt).context[0].text).toMatch(/^a lo\n\n\[\.\.\. context cut at 4 characters/);
});

it('keeps a nested repository apart from the one around it', async () => {
  const attackWorkspace = prepareAttack('nested-repository');
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual(RAN);
  const inside = {
    ...attackWorkspace.options,
    cwd: path.join(attackWorkspace.repo, 'vendor/library'),
  };
  expect(await fire(inside)).toEqual(UNTRUSTED);
  const facts = write(attackWorkspace.directory, 'facts.json', JSON.stringify({ cwd: inside.cwd }));
  expect(await fire(attackWorkspace.options, 'PreToolUse', ['--facts', facts])).toEqual(RAN);
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('does not pass the trust in one repository to another that points to it', async () => {
  const attackWorkspace = prepareAttack('foreign-git-directory');
  trust(attackWorkspace, ['--root', path.join(attackWorkspace.directory, 'trusted')]);
  expect(await fire(attackWorkspace.options)).toEqual(UNTRUSTED);
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('runs what home links to in a repository only once that was trusted', async () => {
  const attackWorkspace = prepareAttack('home-linked-into-repo');
  const ids = ['cline:global:PreToolUse', 'cline:home:PreToolUse'];
  expect(await fire(attackWorkspace.options)).toEqual({
    code: 3,
    ran: {},
    skipped: Object.fromEntries(ids.map((id) => [id, 'untrusted'])),
  });
  trust(attackWorkspace);
  expect(await fire(attackWorkspace.options)).toEqual({
    code: 0,
    ran: Object.fromEntries(ids.map((id) => [id, 'pass'])),
    skipped: {},
  });
  write(attackWorkspace.repo, 'tools/guard', '#!/bin/sh\nexit 0\n# other bytes\n');
  expect((await fire(attackWorkspace.options)).skipped).toEqual({
    'cline:home:PreToolUse': 'modified',
  });
});

it('does not run the hooks of cases that were not reviewed', async () => {
  const attackWorkspace = prepareAttack('hostile-cases');
  const { code, stdout } = await runHookline(['hooks', 'test', 'cases'], attackWorkspace.options);
  expect(code).toBe(1);
  expect(stdout).toContain('untrusted');
  expect(stdout).toContain('BASH_ENV');
  expect(homeOf(attackWorkspace)).toEqual({});
});

it('prints every character of a script before it is trusted', async () => {
  const attackWorkspace = prepareAttack('script-that-hides-lines');
  const { stdout } = await runHookline(['trust'], attackWorkspace.options);
  expect(stdout).toContain(
    String.raw`│ : > "$HOME/pwned" # \u{1b}[1A\u{1b}[2K\u{d}# harmless line`,
  );
  expect(stdout).toContain(String.raw`│ # \u{202e}esrever\u{202c}\u{1b}[8m`);
});

it('puts each name on one line', async () => {
  const attackWorkspace = prepareAttack('names-that-steer-the-terminal');
  const { stdout, stderr } = await runHookline(['hooks', 'list'], attackWorkspace.options);
  expect(stdout.split('\n').filter((line) => line.includes('ready'))).toEqual([
    expect.stringMatching(/^ {2}".*\\n {2}cline:workspace:PreToolUse {2}PreToolUse {2}ready"/),
  ]);
  expect(stderr).toContain(String.raw`unknown setting "\u{1b}[31mred\nline"`);
});

it('does not write a lock through a link', async () => {
  const attackWorkspace = prepareAttack('lock-linked-home');
  const { code, stderr } = await runHookline(['lock'], attackWorkspace.options);
  expect(code).toBe(2);
  expect(stderr).toContain('hookline.lock.json is a link');
  expect(homeOf(attackWorkspace)).toEqual({ '.profile': 'precious\n' });
});

it('trusts nothing while its state lies inside the workspace', async () => {
  const attackWorkspace = prepareAttack('state-directory-in-repo');
  const refused = await runHookline(['trust', '--yes'], attackWorkspace.options);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('is ignored: it lies inside the workspace');
  expect(await fire(attackWorkspace.options)).toEqual(UNTRUSTED);
});

it('does not let one directory that is too large keep another from being trusted', async () => {
  const attackWorkspace = prepareAttack('crowded-directory');
  const alone = await runHookline(['trust', '--yes'], attackWorkspace.options);
  expect(alone.code).toBe(2);
  write(attackWorkspace.repo, '.cline/hooks/PreToolUse', answering({ cancel: false }));
  const beside = await runHookline(['trust', '--yes'], attackWorkspace.options);
  expect(beside.code).toBe(1);
  expect(beside.stderr).toContain(`cannot be trusted: ${GUARD_ID} would bind more than 2000 files`);
  expect(await fire(attackWorkspace.options)).toEqual({
    code: 3,
    ran: { 'cline:workspace-cline:PreToolUse': 'pass' },
    skipped: { [GUARD_ID]: 'untrusted' },
  });
});

const KEYS = { ANTHROPIC_API_KEY: 'one', OPENAI_API_KEY: 'two', ANTHROPIC_AUTH_TOKEN: 'three' };

it('keeps provider keys from workspace hooks unless the user passes them on', async () => {
  const attackWorkspace = prepareAttack('thieving-hook');
  const options = { ...attackWorkspace.options, env: { ...KEYS, HARMLESS: 'four' } };
  trust(attackWorkspace);
  await fire(options);
  expect(homeOf(attackWorkspace)).toEqual({ stolen: 'HARMLESS=four\n' });

  write(attackWorkspace.home, '.hookline/config.json', '{"env": {"pass": ["OPENAI_API_KEY"]}}');
  await fire(options);
  expect(homeOf(attackWorkspace)).toEqual({ stolen: 'HARMLESS=four\nOPENAI_API_KEY=two\n' });

  const list = jsonOf(await runHookline(['hooks', 'list', '--json'], options));
  expect(list.hooks[0].environment.withheld).toContain('ANTHROPIC_API_KEY');
  expect(list.hooks[0].environment.withheld).not.toContain('OPENAI_API_KEY');
});

it('gives the user’s own hooks all of the environment', async () => {
  const attackWorkspace = prepareAttack('thieving-hook');
  cpSync(path.join(attackWorkspace.repo, HOOKS), path.join(attackWorkspace.home, GLOBAL_HOOKS), {
    recursive: true,
  });
  await fire({ ...attackWorkspace.options, env: KEYS });
  expect(homeOf(attackWorkspace)).toMatchObject({
    stolen: 'ANTHROPIC_API_KEY=one\nANTHROPIC_AUTH_TOKEN=three\nOPENAI_API_KEY=two\n',
  });
});
