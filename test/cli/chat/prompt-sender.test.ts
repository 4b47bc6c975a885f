import { expect, it } from 'vitest';
import { QueuedPrompts } from '../../../src/cli/chat/prompt-sender.ts';
import { openScreen } from './fixture.ts';

function openQueue(): QueuedPrompts {
  return new QueuedPrompts(openScreen().screen);
}

it('keeps the prompts for which a run ended too early, as the next ones', () => {
  const queued = openQueue();
  const callbacks = [queued.addSteered('one'), queued.addSteered('two')];
  expect(queued.hasWaiting).toBe(false);
  expect(queued.takeNext()).toBe('one');
  for (const onUnread of callbacks) onUnread();
  expect({ isWaiting: queued.hasWaiting, heard: queued.takeSteered() }).toEqual({
    isWaiting: true,
    heard: [],
  });
  expect([queued.takeNext(), queued.takeNext()]).toEqual(['two', null]);
});

it('gives the steered prompts to the agent, and leaves the rest', () => {
  const queued = openQueue();
  queued.addSteered('one');
  queued.add('/review');
  expect(queued.takeSteered()).toEqual(['one']);
  expect(queued.takeAll()).toEqual(['/review']);
});
