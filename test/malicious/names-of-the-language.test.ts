import { expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace } from '../cli/temp-workspace.ts';

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

it('reads keys that every object of the language has as unknown ones', async () => {
  const settings = Object.fromEntries(NAMES.map((name) => [name, {}]));
  const workspace = createTempWorkspace({
    '.claude/settings.json': JSON.stringify({ ...settings, permissions: settings }),
  });
  const { code, stdout, stderr } = await runHookline(['hooks', 'list'], at(workspace));
  expect(code).toBe(0);
  expect(stdout + stderr).not.toMatch(/native code|\[object/);
});

it.each(NAMES)('knows no provider named %s', async (name) => {
  const { code, stderr } = await runHookline(['run', '-P', name, 'hi'], at(createTempWorkspace()));
  expect(stderr).toContain(`provider "${name}"`);
  expect(stderr).not.toContain('internal error');
  expect(code).toBe(2);
});
