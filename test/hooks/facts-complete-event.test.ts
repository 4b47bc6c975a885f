import { describe, expect, test } from 'vitest';
import { completeEvent, type Moment } from '../../src/hooks/facts.ts';
import { bash, engineOf, handler, MOMENT } from './handlers.ts';

const FULL: Required<Moment> = {
  ...MOMENT,
  startDirectory: '/ws/start',
  effort: 'high',
  skills: ['review'],
};

describe('an event', () => {
  test('has all fields of its moment', () => {
    expect(completeEvent(bash('ls'), FULL)).toEqual({ ...FULL, ...bash('ls') });
  });

  test('has no field that its moment lacks', () => {
    expect(completeEvent(bash('ls'), MOMENT)).toStrictEqual({ ...MOMENT, ...bash('ls') });
  });

  test('has the fields that the caller overrides', () => {
    const knownMoment: Required<Moment> = {
      sessionId: 'own',
      taskId: 'own task',
      ulid: '01K',
      at: 7,
      cwd: '/ws/deep',
      startDirectory: '/elsewhere',
      workspaceRoots: ['/elsewhere'],
      permissionMode: 'plan',
      model: { provider: 'other', id: 'other' },
      effort: 'low',
      agent: { id: 'b', parentId: 'a', type: 'Explore' },
      iteration: 0,
      userId: 'other',
      version: '2',
      transcriptPath: '/ws/transcript.jsonl',
      promptId: 'prompt',
      skills: [],
    };
    expect(completeEvent(bash('ls'), FULL, knownMoment)).toEqual({ ...knownMoment, ...bash('ls') });
  });

  test('has fields that are known to be null', () => {
    const moment = { ...FULL, transcriptPath: '/t', promptId: 'p' };
    const knownMoment = { transcriptPath: null, promptId: null };
    expect(completeEvent(bash('ls'), moment, knownMoment)).toMatchObject(knownMoment);
  });

  test('overrides the moment with its own fields', () => {
    const fired = { ...bash('ls'), cwd: '/said', startDirectory: '/said' };
    expect(completeEvent(fired, FULL, { cwd: '/known', effort: 'low' })).toEqual({
      ...FULL,
      ...fired,
      effort: 'low',
    });
  });
});

test('a dispatch passes handlers what its caller knows of the moment', async () => {
  const records: unknown[] = [];
  const engine = engineOf([
    handler('a', ({ event }) => {
      records.push(event);
      return undefined;
    }),
  ]);
  await engine.dispatch(bash('ls'), { moment: { iteration: 9, promptId: 'p' } });
  expect(records).toEqual([{ ...MOMENT, ...bash('ls'), iteration: 9, promptId: 'p' }]);
});
