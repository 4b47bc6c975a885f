import { describe, expect, it } from 'vitest';
import { resolveSessionId } from '../../src/sessions/session-id.ts';
import { createDirectory, write } from '../base/directory.ts';

describe('the beginning of an id', () => {
  it('names a session when only one begins so', () => {
    const state = createDirectory({
      'sessions/abc-1/session.json': '',
      'sessions/abc-12/session.json': '',
      'sessions/def/session.json': '',
      'sessions/a-file': '',
    });
    expect(['abc-12', 'abc-1', 'd', 'def'].map((input) => resolveSessionId(state, input))).toEqual([
      'abc-12',
      'abc-1',
      'def',
      'def',
    ]);
    expect(() => resolveSessionId(state, 'abc')).toThrow(
      expect.objectContaining({
        code: 'SESSION_UNKNOWN',
        message: '2 sessions have ids that begin with "abc": abc-1, abc-12',
        hint: 'Use a longer prefix.',
      }),
    );
  });

  it('names none when none begins so, whatever it looks like', () => {
    const state = createDirectory({ 'sessions/one/session.json': '' });
    for (const input of [
      '',
      '.',
      '..',
      '../sessions/one',
      'one/',
      `${state}/sessions/one`,
      'a-file',
    ]) {
      expect(() => resolveSessionId(state, input)).toThrow(
        expect.objectContaining({
          code: 'SESSION_UNKNOWN',
          message: `session ${JSON.stringify(input)} not found`,
        }),
      );
    }
    expect(() => resolveSessionId(createDirectory(), 'one')).toThrow('session "one" not found');
    expect(() => resolveSessionId(write(`${createDirectory()}/file`, ''), 'one')).toThrow(
      'session "one" not found',
    );
  });
});
