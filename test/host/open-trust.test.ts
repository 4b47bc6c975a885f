import { createHash } from 'node:crypto';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { isHooklineError } from '../../src/base/errors.ts';
import { openTrust, type TrustRequest } from '../../src/host/open-trust.ts';
import { createLock, formatLock } from '../../src/trust/lock.ts';
import { createDirectory, write } from '../base/directory.ts';

function request(input: Partial<TrustRequest> = {}): TrustRequest {
  const base = createDirectory({ 'home/x': '', 'ws/x': '' });
  return {
    stateDirectory: path.join(base, 'home/.hookline'),
    keyFile: path.join(base, 'home/.local/state/hookline/trust.key'),
    workspaceRoots: [path.join(base, 'ws')],
    home: path.join(base, 'home'),
    lock: undefined,
    clock: systemClock,
    ...input,
  };
}

describe('opening trust', () => {
  test('without a record trusts nothing and has no notice', () => {
    const { record, files, notices } = openTrust(request());
    expect(isHooklineError(record)).toBe(false);
    expect(files?.record).toMatch(/home\/\.hookline\/trust\.json$/);
    expect(notices).toEqual([]);
  });

  test('without a home has the reason', () => {
    const { record, files, notices } = openTrust(request({ stateDirectory: null }));
    expect(isHooklineError(record) && record.code).toBe('TRUST_RECORD_INVALID');
    expect(files).toBeNull();
    expect(notices).toEqual(['no home directory, so there is no trust record']);
  });

  test('a record inside a workspace is not believed', () => {
    const root = createDirectory({ 'state/trust.json': '{"version":1,"entries":[]}' });
    const { record } = openTrust(
      request({ stateDirectory: path.join(root, 'state'), workspaceRoots: [root] }),
    );
    expect(isHooklineError(record)).toBe(true);
  });

  test('a record in a home that lies inside the workspace is the user’s own', () => {
    const root = createDirectory({ 'home/me/x': '' });
    const home = path.join(root, 'home/me');
    const { record } = openTrust(
      request({ stateDirectory: path.join(home, '.hookline'), home, workspaceRoots: [root] }),
    );
    expect(isHooklineError(record)).toBe(false);
  });
});

describe('a named lock', () => {
  const text = formatLock(createLock([]));
  const sha256 = createHash('sha256').update(text).digest('hex');

  test('is read, and its bytes may be named, too', () => {
    const file = write(path.join(createDirectory(), 'lock'), text);
    expect(() => openTrust(request({ lock: { file } }))).not.toThrow();
    expect(() => openTrust(request({ lock: { file, sha256 } }))).not.toThrow();
  });

  test.each([
    ['is not there', null, undefined],
    ['is no lock', '{}', undefined],
    ['is another than the one that was meant', text, 'a'.repeat(64)],
  ])('that %s is refused', (_, content, expected) => {
    const file = path.join(createDirectory(), 'lock');
    if (content !== null) write(file, content);
    const lock = expected === undefined ? { file } : { file, sha256: expected };
    expect(() => openTrust(request({ lock }))).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID' }),
    );
  });
});
