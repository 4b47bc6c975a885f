import { expect, it } from 'vitest';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, trust, write } from '../cli/temp-workspace.ts';

const DENY = `sleep 0.2; echo '{"decision":"block","reason":"no"}'`;

function settings(fields: object, matcher = 'Bash', group: object = {}): string {
  const handler = { type: 'command', command: DENY, ...fields };
  return JSON.stringify({ hooks: { PreToolUse: [{ matcher, ...group, hooks: [handler] }] } });
}

/** Copies of the user's guard with which it would not decide. */
const COPIES: readonly (readonly [string, string])[] = [
  ['in the background', settings({ async: true })],
  ['with a tiny time limit', settings({ timeout: 0.01 })],
  ['with failures that do not block', settings({ timeout: 0.01, onFailure: 'continue' })],
  ['with another matcher', settings({ async: true }, '*')],
  ['with a condition', settings({ async: true, if: 'Bash(ls *)' })],
];

it.each(COPIES)('a trusted copy %s does not replace the user’s guard', async (_, copy) => {
  const workspace = createTempWorkspace({ '.claude/settings.json': copy });
  write(workspace.home, '.claude/settings.json', settings({ onFailure: 'block' }));
  trust(workspace);
  const args = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--json'];
  const result = await runHookline([...args, '--input', '{"command":"ls -l"}'], at(workspace));
  expect(jsonOf(result)).toMatchObject({ effect: 'deny' });
});
