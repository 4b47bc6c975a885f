import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createAgentFixture, loggingScript, loggingSettings } from './agent-fixture.ts';
import { createModelRecorder, named } from './scripted-session.ts';

test('the end of a short run is a notification for hooks, and none for the user', async () => {
  const fixture = createAgentFixture();
  fixture.write('~/Documents/Cline/Hooks/Notification', loggingScript('Notification'));
  const host = await fixture.open({ model: createModelRecorder([{ text: 'Done.' }]).model });
  await host.start({ prompt: 'go' });
  await host.dispose();
  expect(named(fixture, 'Notification')).toMatchObject([{ type: 'task_complete' }]);
  expect(fixture.log()).toEqual(['cline:Notification']);
  expect(fixture.runtimeEvents.filter(({ type }) => type === 'notification')).toEqual([]);
});

test('the end of a long run is a notification for Cline’s hooks, and none for Claude’s', async () => {
  const fixture = createAgentFixture();
  fixture.write('~/.claude/settings.json', loggingSettings(['Notification', 'Stop']));
  fixture.write('~/Documents/Cline/Hooks/Notification', loggingScript('Notification'));
  // Every look at the clock takes eleven seconds.
  let looks = 0;
  const clock = { ...systemClock, elapsed: () => 11_000 * (looks += 1) };
  const host = await fixture.open({ model: createModelRecorder([{ text: 'Done.' }]).model, clock });
  await host.start({ prompt: 'go' });
  await host.dispose();
  expect(named(fixture, 'Notification')).toMatchObject([
    { type: 'task_complete', message: 'The agent is done', waiting: false },
  ]);
  expect(fixture.log()).toEqual(['claude:Stop', 'cline:Notification']);
  const notified = fixture.runtimeEvents.filter(({ type }) => type === 'notification');
  expect(notified).toMatchObject([{ text: 'The agent is done' }]);
});
