import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type HooklineResult, runHookline } from './hookline.ts';
import { at, createTempWorkspace, write } from './temp-workspace.ts';

const good = (before = ''): string => `${before}
export default { name: 'good', manifest: { capabilities: ['tools'] }, setup: (api) => api.registerTool({
  name: 'greet', description: '', inputSchema: { type: 'object' }, execute: () => 'hello' }) };`;

/** A run whose model asks for the good plugin's tool. */
async function runWith(plugins: Readonly<Record<string, string>>): Promise<HooklineResult> {
  const workspace = createTempWorkspace();
  for (const [name, text] of Object.entries(plugins)) {
    write(workspace.home, `.cline/plugins/${name}`, text);
  }
  const script = path.join(workspace.directory, 'turns.json');
  const turns = [{ tools: [{ name: 'greet', input: {} }] }, { text: 'greeted' }];
  writeFileSync(script, JSON.stringify(turns));
  return runHookline(['run', '--script', script, '--allow', 'greet', 'greet'], at(workspace));
}

it('F8: a plugin whose import takes longer than Cline waits is not lost', async () => {
  const slow = 'await new Promise((done) => setTimeout(done, 5000));';
  const { code, stdout, stderr } = await runWith({ 'good.mjs': good(slow) });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'greeted\n' });
  expect(stderr).not.toContain('denied');
});

it('F9: hooks without their capability are reported, and the session starts', async () => {
  const { code, stdout, stderr } = await runWith({
    'good.mjs': good(),
    'lax.mjs': `export default { name: 'lax', manifest: { capabilities: ['tools'] }, setup() {}, hooks: { beforeRun() {} } };`,
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'greeted\n' });
  expect(stderr).toMatch(/lax.*hooks/u);
});

it('F10: a setup that throws is reported, and the other plugins are used', async () => {
  const { code, stdout, stderr } = await runWith({
    'good.mjs': good(),
    'bad.mjs': `export default { name: 'bad', manifest: { capabilities: ['tools'] }, setup() { throw new Error('no luck'); } };`,
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'greeted\n' });
  expect(stderr).toMatch(/bad.*no luck/u);
});
