import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  environmentOf,
  hooklineProgram,
  type HooklineResult,
  jsonOf,
  resultOf,
  runHookline,
} from '../hookline.ts';
import { at, createTempWorkspace, HOOKS, write } from '../temp-workspace.ts';

interface Report {
  readonly problems: number;
  readonly warnings: number;
  readonly findings: readonly { readonly about: string; level: string; readonly text: string }[];
}

const KEY = { ANTHROPIC_API_KEY: 'key' };
const settings = (command: string): string =>
  JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });

describe('hookline doctor', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, RegExp]>([
    [
      'a command that is not installed',
      { '.claude/settings.json': settings('no-such-guard --check') },
      /starts no-such-guard, which is not on the PATH/,
    ],
    [
      'a script that does not exist',
      { '.claude/settings.json': settings('./guards/none.sh') },
      /starts .*guards\/none\.sh, which does not exist/,
    ],
    ['an untrusted hook', { [`${HOOKS}/PreToolUse`]: '#!/bin/sh\n' }, /untrusted/],
    [
      'an unknown event',
      { '.claude/settings.json': '{"hooks": {"PreToolUsee": []}}' },
      /did you mean PreToolUse\?/,
    ],
  ])('counts %s, and does not say that nothing is wrong', async (_, files, says) => {
    const workspace = createTempWorkspace(files);
    const { stdout } = await runHookline(['doctor'], at(workspace, { env: KEY }));
    expect(stdout).toMatch(says);
    expect(stdout.trimEnd()).toMatch(
      /\n(?:\d+ problems?, )?(?:\d+ (?:warnings?|problems?)) found\.$/,
    );
    expect(stdout).not.toContain('No problems found');
  });

  it('names a script that is not executable', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': settings('./guard.sh') });
    chmodSync(write(workspace.repo, 'guard.sh', '#!/bin/sh\n'), 0o644);
    const { stdout } = await runHookline(['doctor'], at(workspace, { env: KEY }));
    expect(stdout).toMatch(/starts .*guard\.sh, which is not executable: run chmod \+x/);
  });

  it('checks that a sandbox works that Claude’s settings require', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': JSON.stringify({ sandbox: { enabled: true } }),
    });
    const readSandbox = (result: HooklineResult) => {
      const { findings }: Report = jsonOf(result);
      return { code: result.code, found: findings.find(({ about }) => about === 'sandbox') };
    };
    const env = { ...KEY, HOOKLINE_SANDBOX: 'off' };
    expect(readSandbox(await runHookline(['doctor', '--json'], at(workspace, { env })))).toEqual({
      code: 0,
      found: {
        about: 'sandbox',
        level: 'fine',
        text: 'bubblewrap at /usr/bin/bwrap (mode on, required by .claude/settings.json)',
      },
    });
    const hidden = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', '/usr/bin/bwrap'];
    const program = [process.execPath, hooklineProgram(), 'doctor', '--json'];
    const { cwd, home } = at(workspace);
    const child = spawn('bwrap', [...hidden, ...program], {
      cwd,
      env: environmentOf({ home, env: KEY }),
    });
    expect(readSandbox(await resultOf(child))).toEqual({
      code: 1,
      found: {
        about: 'sandbox',
        level: 'problem',
        text: expect.stringMatching(
          /^"sandbox\.enabled" in \.claude\/settings\.json is true, and none works: \S/,
        ),
      },
    });
  });

  it('looks at the provider and its key', async () => {
    const workspace = createTempWorkspace();
    const without: Report = jsonOf(await runHookline(['doctor', '--json'], at(workspace)));
    expect(without.findings).toContainEqual({
      about: 'model',
      level: 'hint',
      text: expect.stringContaining('no API key found'),
    });
    const env = { ...KEY, HOOKLINE_MODEL_PROVIDER: 'anthropic' };
    const withKey: Report = jsonOf(await runHookline(['doctor', '--json'], at(workspace, { env })));
    expect(withKey.findings.find(({ about }) => about === 'model')?.level).toBe('fine');
    expect(without.warnings - withKey.warnings).toBe(1);
  });
});
