import { describe, expect, test } from 'vitest';
import {
  BugError,
  getErrorCode,
  HooklineError,
  invariant,
  isHooklineError,
  getErrorMessage,
} from '../../src/base/errors.ts';

describe('an error of ours', () => {
  const cause = new TypeError('why');
  const error = new HooklineError('CONFIG_INVALID', { message: 'what', hint: 'do', cause });

  test('carries code, message, hint and cause', () => {
    expect(error).toMatchObject({
      name: 'HooklineError',
      code: 'CONFIG_INVALID',
      message: 'what',
      hint: 'do',
      cause,
    });
  });

  test('needs neither hint nor cause', () => {
    const bare = new HooklineError('HOOK_UNKNOWN', { message: 'what' });
    expect(bare.hint).toBeUndefined();
    expect('cause' in bare).toBe(false);
  });

  test('is recognised by its brand, also from another copy of the package', () => {
    const foreign = Object.assign(new TypeError('x'), { [Symbol.for('hookline.error')]: true });
    expect([error, foreign].map(isHooklineError)).toEqual([true, true]);
    expect([new TypeError('x'), null, undefined, 'text', {}].map(isHooklineError)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});

test('an invariant that does not hold is a bug', () => {
  expect(() => invariant('something', 'fine')).not.toThrow();
  expect(() => invariant('', 'this cannot be')).toThrow(new BugError('this cannot be'));
});

test('the message of anything that was thrown', () => {
  expect([new TypeError('a'), 'b', 5, null, undefined].map(getErrorMessage)).toEqual([
    'a',
    'b',
    '5',
    'null',
    'undefined',
  ]);
});

test('the system’s code of an error, or null', () => {
  const refused = Object.assign(new TypeError('x'), { code: 'EACCES' });
  expect([refused, { code: 5 }, new TypeError('x'), null, 'ENOENT'].map(getErrorCode)).toEqual([
    'EACCES',
    null,
    null,
    null,
    null,
  ]);
});
