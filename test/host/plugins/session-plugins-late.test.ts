import { expect, it } from 'vitest';
import { createScriptedModel } from '../../../src/agent/models/scripted.ts';
import { createAgentFixture } from '../../agent/agent-fixture.ts';

const LATE = `export default { name: 'late', manifest: { capabilities: ['commands'] },
  setup: (api) => api.registerCommand({ name: 'late', handler: (words) => 'heard ' + words }) };`;

it('a plugin that appears while a session is open is used for its next prompt', async () => {
  const fixture = createAgentFixture();
  const host = await fixture.open({ model: createScriptedModel([{ text: 'One.' }]), watch: true });
  const { sessionId } = await host.start({ prompt: 'one' });
  expect(host.plugins(sessionId)).toBeNull();
  fixture.write('~/.cline/plugins/late.mjs', LATE);
  await expect
    .poll(async () => (await host.send(sessionId, '/late and said')).text)
    .toBe('heard and said');
  expect(host.plugins(sessionId)?.list()).toMatchObject([{ name: 'late', state: 'ready' }]);
});

it('a plugin that appears and cannot be loaded is reported, and the session goes on', async () => {
  const fixture = createAgentFixture();
  const reports: string[] = [];
  const host = await fixture.open({
    model: createScriptedModel(Array.from({ length: 1000 }, () => ({ text: 'Done.' }))),
    plugins: { isStrict: true },
    watch: true,
    onNotice: (text) => reports.push(text),
  });
  const { sessionId } = await host.start({ prompt: 'one' });
  fixture.write('~/.cline/plugins/late.mjs', 'export default { name: ');
  await expect
    .poll(async () => {
      expect((await host.send(sessionId, 'again')).text).toBe('Done.');
      return reports.join();
    })
    .toContain('new plugins were found, but cannot be loaded: the plugin "late" is not loaded');
});
