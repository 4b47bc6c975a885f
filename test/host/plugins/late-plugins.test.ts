import { expect, it } from 'vitest';
import { createScriptedModel } from '../../../src/agent/models/scripted.ts';
import { createAgentFixture } from '../../agent/agent-fixture.ts';

const LATE = `export default { name: 'late', manifest: { capabilities: ['commands'] },
  setup: (api) => api.registerCommand({ name: 'late', handler: (words) => 'heard ' + words }) };`;

it('a plugin that appears while a session is open is used for its next prompt', async () => {
  const stage = createAgentFixture();
  const host = await stage.open({ model: createScriptedModel([{ text: 'One.' }]), watch: true });
  const { sessionId } = await host.start({ prompt: 'one' });
  expect(host.plugins(sessionId)).toBeNull();
  stage.write('~/.cline/plugins/late.mjs', LATE);
  await expect
    .poll(async () => (await host.send(sessionId, '/late and said')).text)
    .toBe('heard and said');
  expect(host.plugins(sessionId)?.list()).toMatchObject([{ name: 'late', state: 'ready' }]);
});

it('a plugin that appears and cannot be loaded is reported, and the session goes on', async () => {
  const stage = createAgentFixture();
  const told: string[] = [];
  const host = await stage.open({
    model: createScriptedModel(Array.from({ length: 1000 }, () => ({ text: 'Done.' }))),
    plugins: { isStrict: true },
    watch: true,
    onNotice: (text) => told.push(text),
  });
  const { sessionId } = await host.start({ prompt: 'one' });
  stage.write('~/.cline/plugins/late.mjs', 'export default { name: ');
  await expect
    .poll(async () => {
      expect((await host.send(sessionId, 'again')).text).toBe('Done.');
      return told.join();
    })
    .toContain('plugins have come, but cannot be loaded: the plugin "late" is not loaded');
});
