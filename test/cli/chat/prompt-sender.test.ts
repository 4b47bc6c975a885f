import { expect, it } from 'vitest';
import { QueuedPrompts } from '../../../src/cli/chat/prompt-sender.ts';
import { openScreen } from './fixture.ts';

const NOBODY = { sessionId: 's', agentId: 'a', parentAgentId: null };

function unheard(text: string) {
  const message = `the run ended before the agent could be told: ${text}`;
  return { ...NOBODY, type: 'notice', level: 'warning', text: message } as const;
}

function openQueue(): QueuedPrompts {
  return new QueuedPrompts(openScreen().screen);
}

it('absorbs only notices about its own prompts', () => {
  const queued = openQueue();
  queued.addSteered('gap');
  const other = { ...unheard(''), text: 'a hook found a gap' };
  expect([queued.absorbNotice(other), queued.absorbNotice(unheard('mind the gap'))]).toEqual([
    false,
    false,
  ]);
  expect(queued.absorbNotice(unheard('gap'))).toBe(true);
});

it('keeps the prompts for which a run ended too early, as the next ones', () => {
  const queued = openQueue();
  queued.addSteered('one');
  queued.addSteered('two');
  expect(queued.hasWaiting).toBe(false);
  expect(queued.takeNext()).toBe('one');
  expect([queued.absorbNotice(unheard('one')), queued.absorbNotice(unheard('two'))]).toEqual([
    true,
    true,
  ]);
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
