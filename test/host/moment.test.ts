import { describe, expect, test } from 'vitest';
import { VERSION } from '../../src/base/version.ts';
import { createMoment } from '../../src/host/moment.ts';

const surroundings = { cwd: '/w', env: {}, platform: 'linux', home: null, nodePath: '/n' } as const;

function clockFrom(start: number) {
  let now = start;
  return { now: () => now++, elapsed: () => 0 };
}

describe('a session’s moment', () => {
  test('is built once, except for the time', () => {
    const moment = createMoment(surroundings, clockFrom(1000), {});
    const [first, second] = [moment(), moment()];
    expect(first).toEqual({
      sessionId: expect.stringMatching(/^[\da-f-]{36}$/),
      taskId: '1000',
      ulid: expect.stringMatching(/^[\dA-Z]{26}$/),
      at: 1001,
      cwd: '/w',
      workspaceRoots: [],
      permissionMode: 'default',
      model: { provider: 'unknown', id: 'unknown' },
      agent: { id: first.sessionId, parentId: null, type: null },
      iteration: 0,
      userId: 'unknown',
      version: VERSION,
      transcriptPath: null,
      promptId: null,
    });
    expect(second).toEqual({ ...first, at: 1002 });
  });

  test('has the caller’s fields', () => {
    const knownFields = { sessionId: 's', cwd: '/elsewhere', iteration: 7 };
    expect(createMoment(surroundings, clockFrom(0), knownFields)()).toMatchObject({
      ...knownFields,
      agent: { id: 's', parentId: null, type: null },
    });
  });

  test.each([
    [{ CLINE_USER_ID: 'c', USER: 'u' }, 'c'],
    [{ USER: 'u', USERNAME: 'w' }, 'u'],
    [{ USERNAME: 'w' }, 'w'],
    [{ USER: '' }, 'unknown'],
  ])('knows the user from %j', (env, userId) => {
    const around = { ...surroundings, env };
    expect(createMoment(around, clockFrom(0), {})().userId).toBe(userId);
  });

  test('has the version of the environment', () => {
    const around = { ...surroundings, env: { CLINE_VERSION: ' 3.2.1 ' } };
    expect(createMoment(around, clockFrom(0), {})().version).toBe('3.2.1');
  });
});
