import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HooklineOptions, type HooklineResult, jsonOf, runHookline } from '../hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  PRE_TOOL_USE,
  type TempWorkspace,
  trust,
  write,
} from '../temp-workspace.ts';
import { hasTerminal, runInTerminal } from '../terminal.ts';

const GUARD = `${HOOKS}/PreToolUse`;
const PASSING = answering({});

/** What a terminal without colours shows; both streams are in `stdout`. */
async function runOnTerminal(
  args: readonly string[],
  { env, ...options }: HooklineOptions,
): Promise<HooklineResult> {
  const result = await runInTerminal(args, { ...options, env: { NO_COLOR: '1', ...env } });
  return { ...result, stdout: result.stdout.replaceAll('\r\n', '\n') };
}

function recordOf({ home }: TempWorkspace): string {
  return path.join(home, '.hookline/trust.json');
}

function keyOf({ home }: TempWorkspace): string {
  return path.join(home, '.local/state/hookline/trust.key');
}

/** How each entry of the record was confirmed. */
function readConfirmations(workspace: TempWorkspace): readonly unknown[] {
  const { entries } = JSON.parse(readFileSync(recordOf(workspace), 'utf8'));
  return entries.map(({ confirmed }: { confirmed: unknown }) => confirmed);
}

async function stateIn(workspace: TempWorkspace): Promise<string> {
  const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
  return hooks[0].state;
}

function createStrictWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace({ [GUARD]: PASSING });
  write(workspace.home, '.hookline/config.json', '{"trust": {"requireTerminal": true}}');
  chmodSync(path.join(workspace.home, '.hookline'), 0o700);
  return workspace;
}

describe('trust without a terminal', () => {
  it('is recorded with how it was confirmed, when, and by which command', async () => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    const before = Date.now();
    trust(workspace);
    const parent = expect.stringContaining('node');
    expect(readConfirmations(workspace)).toEqual([{ how: 'yes', hasTerminal: false, parent }]);
    const { entries } = JSON.parse(readFileSync(recordOf(workspace), 'utf8'));
    expect(Date.parse(entries[0].trustedAt)).toBeGreaterThanOrEqual(before);
  });

  it('is not announced by a command that has none either', async () => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    trust(workspace);
    const { stderr } = await runHookline(['hooks', 'list'], at(workspace));
    expect(stderr).toBe('');
  });

  it.runIf(hasTerminal)('is announced once by the next command that has one', async () => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    trust(workspace);
    const announcement = new RegExp(
      `^note: 1 hook in ${workspace.repo} trusted without a terminal at 20\\S+Z by .*: ${PRE_TOOL_USE}\\. If that was not you: .hookline untrust.$`,
      'm',
    );
    const first = await runOnTerminal(['hooks', 'list'], at(workspace));
    const second = await runOnTerminal(['hooks', 'list'], at(workspace));
    expect(first.stdout).toMatch(announcement);
    expect(second.stdout).not.toContain('without a terminal');
    expect(readConfirmations(workspace)).toMatchObject([{ how: 'yes', isAnnounced: true }]);
    expect(await stateIn(workspace)).toBe('ready');
  });

  it.runIf(hasTerminal)('is still announced when a session had a terminal meanwhile', async () => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    trust(workspace);
    const env = { HOOKLINE_SESSION: 'some' };
    const inside = await runOnTerminal(['hooks', 'list'], at(workspace, { env }));
    const outside = await runOnTerminal(['hooks', 'list'], at(workspace));
    expect(inside.stdout).not.toContain('without a terminal');
    expect(outside.stdout).toContain('trusted without a terminal at');
  });

  it.runIf(hasTerminal)('is not announced when it was confirmed on one', async () => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    await runOnTerminal(['trust', '--yes'], at(workspace));
    expect(readConfirmations(workspace)).toMatchObject([{ how: 'yes', hasTerminal: true }]);
    const { stdout } = await runOnTerminal(['hooks', 'list'], at(workspace));
    expect(stdout).not.toContain('without a terminal');
  });
});

describe('trust.requireTerminal', () => {
  it('refuses what would be trusted without one', async () => {
    const workspace = createStrictWorkspace();
    const result = await runHookline(['trust', '--yes'], at(workspace));
    expect(result.code).toBe(1);
    expect(result.stderr).toBe(
      `hookline: nothing can be trusted without a terminal: trust.requireTerminal is set in ${workspace.home}/.hookline/config.json
  Run \`hookline trust --token\` on a terminal, then pass \`--yes --token TOKEN\` within ten minutes.
`,
    );
    expect(await stateIn(workspace)).toBe('untrusted');
  });

  it('leaves a new hook untrusted that was written without one', async () => {
    const workspace = createStrictWorkspace();
    rmSync(path.join(workspace.repo, HOOKS), { recursive: true });
    const result = await runHookline(['hooks', 'new', 'PreToolUse', '--json'], at(workspace));
    expect(jsonOf(result)).toMatchObject({ trusted: false });
    expect(result.stderr).toContain('nothing can be trusted without a terminal');
  });

  it('cannot be set or unset by a workspace', async () => {
    const workspace = createStrictWorkspace();
    write(workspace.repo, '.hookline/config.json', '{"trust": {"requireTerminal": false}}');
    const result = await runHookline(['trust', '--yes'], at(workspace));
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('"trust.requireTerminal" cannot be set by a workspace');
  });

  it.runIf(hasTerminal)('lets a terminal confirm, with --yes as well', async () => {
    const workspace = createStrictWorkspace();
    expect((await runOnTerminal(['trust', '--yes'], at(workspace))).code).toBe(0);
    expect(await stateIn(workspace)).toBe('ready');
  });
});

describe.runIf(hasTerminal)('a token', () => {
  async function printToken(workspace: TempWorkspace): Promise<string> {
    const { stdout } = await runOnTerminal(['trust', '--token'], at(workspace));
    expect(stdout).toContain(`${PRE_TOOL_USE}  untrusted`);
    const [, token] = /hookline trust --yes --token (\S+)\n/.exec(stdout) ?? [];
    return token ?? stdout;
  }

  it('printed on a terminal trusts what was shown there', async () => {
    const workspace = createStrictWorkspace();
    const token = await printToken(workspace);
    expect(await stateIn(workspace)).toBe('untrusted');
    const result = await runHookline(['trust', '--yes', '--token', token], at(workspace));
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(await stateIn(workspace)).toBe('ready');
    expect(readConfirmations(workspace)).toMatchObject([{ how: 'token', hasTerminal: false }]);
    const listed = await runOnTerminal(['hooks', 'list'], at(workspace));
    expect(listed.stdout).not.toContain('without a terminal');
  });

  it('does not trust other bytes, nor in another home', async () => {
    const workspace = createStrictWorkspace();
    const token = await printToken(workspace);
    write(workspace.repo, GUARD, answering({ cancel: true }));
    const changed = await runHookline(['trust', '--yes', '--token', token], at(workspace));
    write(workspace.repo, GUARD, PASSING);
    const elsewhere = await runHookline(['trust', '--yes', '--token', token], {
      ...at(workspace),
      home: workspace.directory,
    });
    expect([changed.code, elsewhere.code]).toEqual([1, 1]);
    expect(changed.stderr).toContain('it was printed for other hooks or other bytes');
    expect(elsewhere.stderr).toContain('the token does not confirm this: its key');
    expect(await stateIn(workspace)).toBe('untrusted');
  });
});

describe('a token on the command line', () => {
  it.each([
    [['--token'], 1, '`hookline trust --token` prints a token on a terminal only'],
    [['--token', 'abc'], 2, '--token TOKEN needs --yes'],
    [['--yes', '--token'], 2, '--yes needs the token'],
    [['--yes', '--token', 'abc'], 1, 'the token does not confirm this: it is not a token'],
    [['--yes', '--token', ''], 1, 'the token does not confirm this: it is not a token'],
  ])('%j is refused with the reason', async (args, code, reason) => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    const result = await runHookline(['trust', ...args], at(workspace));
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(reason);
    expect(await stateIn(workspace)).toBe('untrusted');
  });
});

describe('a record without a valid seal', () => {
  it.each<[string, (workspace: TempWorkspace) => void, string]>([
    [
      'changed',
      (workspace) => writeFileSync(recordOf(workspace), '\n', { flag: 'a' }),
      'its seal does not match',
    ],
    ['whose key is lost', (workspace) => rmSync(keyOf(workspace)), 'is missing'],
    [
      'whose key others may read',
      (workspace) => chmodSync(keyOf(workspace), 0o644),
      'others may read it (mode 644)',
    ],
    [
      'of an older version',
      (workspace) => rmSync(path.dirname(keyOf(workspace)), { recursive: true }),
      'it has no seal',
    ],
  ])('%s is reported, shown by trust, and confirmed again', async (_, change, reason) => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    trust(workspace);
    change(workspace);
    const listed = await runHookline(['hooks', 'list'], at(workspace));
    expect(listed.stderr).toContain(
      `note: the trust record ${recordOf(workspace)} counts as empty: `,
    );
    expect(listed.stderr).toContain(reason);
    expect(listed.stdout).toContain('in a record without a valid seal: confirm it again');
    const confirmed = await runHookline(['trust', '--yes'], at(workspace));
    expect(confirmed.stderr).toMatch(
      new RegExp(`It held these, .*\n  ${workspace.repo}  ${PRE_TOOL_USE}  20\\S+\n`),
    );
    expect(confirmed.stdout).toContain('#!/bin/sh');
    expect(await stateIn(workspace)).toBe('ready');
    const again = await runHookline(['hooks', 'list'], at(workspace));
    expect(again.stderr).toBe('');
  });

  it('does not make a lock count less', async () => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    await runHookline(['lock'], at(workspace));
    trust(workspace);
    rmSync(keyOf(workspace));
    const args = ['--lock', 'hookline.lock.json', 'hooks', 'list', '--json'];
    const { hooks } = jsonOf(await runHookline(args, at(workspace)));
    expect(hooks[0].state).toBe('ready');
  });
});

describe('the key', () => {
  it.each<[string, (workspace: TempWorkspace) => Readonly<Record<string, string>>, string]>([
    ['in the home by default', () => ({}), 'home/.local/state/hookline/trust.key'],
    [
      'in XDG_STATE_HOME',
      ({ directory }) => ({ XDG_STATE_HOME: `${directory}/xdg` }),
      'xdg/hookline/trust.key',
    ],
    [
      'in the home for a relative XDG_STATE_HOME',
      () => ({ XDG_STATE_HOME: 'xdg' }),
      'home/.local/state/hookline/trust.key',
    ],
    [
      'beside HOOKLINE_HOME',
      ({ directory }) => ({ HOOKLINE_HOME: `${directory}/state/`, XDG_STATE_HOME: '/else' }),
      'state.key',
    ],
  ])('lies %s', async (_, chooseEnv, key) => {
    const workspace = createTempWorkspace({ [GUARD]: PASSING });
    const options = at(workspace, { env: chooseEnv(workspace) });
    expect((await runHookline(['trust', '--yes'], options)).code).toBe(0);
    expect(readFileSync(path.join(workspace.directory, key))).toHaveLength(32);
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], options));
    expect(hooks[0].state).toBe('ready');
  });
});
