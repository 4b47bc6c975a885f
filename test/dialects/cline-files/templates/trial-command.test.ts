import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { HOOK_EXAMPLES } from '../../../../src/dialects/cline-files/templates/examples.ts';
import { formatTrialCommand } from '../../../../src/cli/commands/hooks-new.ts';

test('a trial is a command that a shell parses correctly, whatever the path holds', () => {
  const cwd = 'it\'s "a" $HOME `path`\nwith \\ everything';
  const command = formatTrialCommand({ event: 'PreToolUse', ...HOOK_EXAMPLES.PreToolUse }, [
    '--cwd',
    cwd,
  ]);
  const shell = `hookline() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout } = spawnSync('sh', ['-c', shell], { encoding: 'utf8' });
  expect(stdout.split('\0').slice(0, -1)).toEqual([
    'hooks',
    'fire',
    'PreToolUse',
    '--tool',
    'execute_command',
    '--input',
    '{"command":"rm -rf /"}',
    '--cwd',
    cwd,
  ]);
});

test('facts without a flag are passed on stdin, and a file that stays behind is named', () => {
  expect(formatTrialCommand({ event: 'PostToolUse', ...HOOK_EXAMPLES.PostToolUse }, [])).toBe(
    `echo '{"durationMs":6000}' | hookline hooks fire PostToolUse --facts -`,
  );
  expect(formatTrialCommand({ event: 'TaskError', ...HOOK_EXAMPLES.TaskError }, [])).toBe(
    'hookline hooks fire TaskError && tail -n 1 ~/.cline/hook-logs/events.log',
  );
});
