import { expect, it } from 'vitest';
import { createAgentFixture } from '../agent-fixture.ts';
import { createModelRecorder } from '../scripted-session.ts';

it('no model is asked about a call that was aborted', async () => {
  const { model, requests } = createModelRecorder([
    { tools: [{ name: 'Bash', input: { command: 'sleep 60' } }] },
    { text: 'Back.' },
  ]);
  const fixture = createAgentFixture(() => undefined);
  const host = await fixture.open({ model, allow: ['Bash'] });
  const { sessionId } = await host.start({});
  host.subscribe((event) => {
    if (event.type === 'tool-start') setImmediate(() => void host.abort(sessionId));
  });
  expect((await host.send(sessionId, 'wait')).ending).toBe('aborted');
  expect(requests.length).toBe(1);
  expect((await host.send(sessionId, 'go on')).text).toBe('Back.');
});
