import { expect, test } from 'vitest';
import { MutableInput } from '../../src/agent/loop/mutable-input.ts';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import type { Handler, HandlerInput } from '../../src/hooks/handler.ts';
import { bash, engineOf, handler } from './handlers.ts';

/** The object that a hook of this process receives. */
function getMutableInput({ event, tool }: HandlerInput): Record<string, unknown> {
  const mutableInput = event.name === 'PreToolUse' ? event.handed : undefined;
  return Object(tool === null ? null : mutableInput?.of(tool, 'claude'));
}

function changing(id: string, change: (input: Record<string, unknown>) => void): Handler {
  const run = (input: HandlerInput): undefined => {
    change(getMutableInput(input));
    return undefined;
  };
  return handler(id, run, { inOrder: true, isHanded: true });
}

function watching(id: string, records: unknown[]): Handler {
  return handler(id, ({ tool }) => void records.push(tool?.input));
}

function handing(event: FiredEvent<'PreToolUse'>): FiredEvent<'PreToolUse'> {
  return { ...event, handed: new MutableInput() };
}

test('a change in place is the verdict’s input, and the event stays as it was', async () => {
  const event = handing(bash('ls'));
  const engine = engineOf([changing('a', (input) => (input['command'] = 'ls -l'))]);
  expect((await engine.dispatch(event)).input).toEqual({ command: 'ls -l' });
  expect(event.tool.input).toEqual(bash('ls').tool.input);
});

test('handlers that have not seen the change look again, and their changes then do not count', async () => {
  const records: unknown[] = [];
  const add = (input: Record<string, unknown>): void => {
    input['command'] = `${String(input['command'])}!`;
  };
  const engine = engineOf([watching('guard', records), changing('a', add), changing('b', add)]);
  const { input, outcomes } = await engine.dispatch(handing(bash('ls')));
  expect(records).toEqual([{ command: 'ls' }, { command: 'ls!!' }]);
  expect(input).toEqual({ command: 'ls!!' });
  expect(outcomes.map(({ hook, pass }) => `${hook} ${pass}`)).toEqual([
    'guard 1',
    'a 1',
    'b 1',
    'guard 2',
    'a 2',
  ]);
});

test('also the last handler looks again after one that failed, which may have gone on changing the input', async () => {
  const records: unknown[] = [];
  let goOn = (): void => undefined;
  const failing = changing('failing', (input) => {
    goOn = () => (input['command'] = 'unseen');
    throw new Error('gave no answer in time');
  });
  const guard = changing('guard', (input) => {
    records.push(input['command']);
    goOn();
  });
  const { input } = await engineOf([failing, guard]).dispatch(handing(bash('ls')));
  expect(input).toEqual({ command: 'unseen' });
  expect(records).toEqual(['ls', 'unseen']);
});

test('nothing is looked at twice when nothing was changed', async () => {
  const records: unknown[] = [];
  const engine = engineOf([watching('guard', records), changing('a', () => undefined)]);
  expect((await engine.dispatch(handing(bash('ls')))).input).toBeNull();
  expect(records).toHaveLength(1);
});

test('a mutable input is no part of the serialized event', () => {
  expect(JSON.parse(JSON.stringify(handing(bash('ls'))))).not.toHaveProperty('handed');
});
