import { expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from './temp-workspace.ts';

const command = (text: string, rest: object = {}): object => ({
  hooks: [{ type: 'command', command: text, ...rest }],
});

function setTimeoutMs(workspace: TempWorkspace, commandTimeoutMs: unknown): void {
  write(workspace.home, '.hookline/config.json', JSON.stringify({ hooks: { commandTimeoutMs } }));
}

async function listLimits(workspace: TempWorkspace, args: readonly string[] = []) {
  const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json', ...args], at(workspace)));
  return Object.fromEntries(
    hooks.map(({ id, timeoutMs }: Record<string, unknown>) => [id, timeoutMs]),
  );
}

it('hooks.commandTimeoutMs is the limit of commands without a timeout, wherever they are configured', async () => {
  const workspace = createTempWorkspace({
    '.claude/settings.json': JSON.stringify({
      hooks: {
        PreToolUse: [command('plain'), command('own', { timeout: 3 })],
        UserPromptSubmit: [command('prompt')],
        Stop: [{ hooks: [{ type: 'prompt', prompt: 'done?' }] }],
      },
    }),
    '.cline/hooks.json': JSON.stringify({ hooks: { Stop: [command('cline')] } }),
    'plugin/hooks/hooks.json': JSON.stringify({ hooks: { Stop: [command('plugin')] } }),
    '.claude/agents/helper.md':
      '---\nname: helper\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: agent\n---\n',
  });
  setTimeoutMs(workspace, 45_000);
  expect(await listLimits(workspace, ['--plugin-dir', 'plugin'])).toEqual({
    'claude:project:PreToolUse:plain': 45_000,
    'claude:project:PreToolUse:own': 3000,
    'claude:project:UserPromptSubmit:prompt': 30_000,
    'claude:project:Stop:prompt': 30_000,
    'claude:project-cline:Stop:cline': 45_000,
    'claude:plugin:plugin:Stop:plugin': 45_000,
    'claude:agent:helper:PreToolUse:agent': 45_000,
  });
});

it('a command that runs longer than hooks.commandTimeoutMs is ended', async () => {
  const workspace = createTempWorkspace({
    '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [command('sleep 600')] } }),
  });
  trust(workspace);
  setTimeoutMs(workspace, 300);
  const fired = await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace));
  expect(jsonOf(fired).outcomes).toMatchObject([
    { failure: { kind: 'timeout', message: expect.stringContaining('within 300 ms') } },
  ]);
});

it('a workspace cannot set hooks.commandTimeoutMs, and a value that is no time is reported', async () => {
  const workspace = createTempWorkspace({
    '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [command('plain')] } }),
    '.hookline/config.json': '{"hooks": {"commandTimeoutMs": 1}}',
  });
  setTimeoutMs(workspace, 'long');
  expect(await listLimits(workspace)).toEqual({ 'claude:project:PreToolUse:plain': 600_000 });
  const { stdout } = await runHookline(['doctor'], at(workspace));
  expect(stdout).toContain('"hooks.commandTimeoutMs" should be a number above 0');
});
