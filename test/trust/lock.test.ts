import { chmodSync, cpSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { computeDigest, computeSha256 } from '../../src/trust/file-map.ts';
import {
  checkLock,
  createLock,
  findLockedEntry,
  formatLock,
  parseLock,
  verifyLockSha256,
} from '../../src/trust/lock.ts';
import { createDirectory, GUARD, HOOKS, unitOf, write } from './workspace.ts';

function twoUnits(root: string) {
  const stop = unitOf(root, { id: 'a:first', entry: path.join(root, HOOKS, 'Stop') });
  return [unitOf(root), stop];
}

function createRoot(): string {
  return createDirectory({ [GUARD]: 'exit 0', [`${HOOKS}/Stop`]: 'exit 0' });
}

describe('createLock', () => {
  it('lists hooks sorted by id, with paths relative to the workspace', () => {
    const root = createRoot();
    const { digest, files } = bindUnit(unitOf(root));
    expect(createLock(twoUnits(root))).toEqual({
      version: 2,
      hooks: [
        { id: 'a:first', entry: `${HOOKS}/Stop`, digest, files },
        { id: 'cline:workspace:PreToolUse', entry: GUARD, digest, files },
      ],
    });
  });

  it('gives the same bytes in another place and in another order, ending in a newline', () => {
    const [here, there] = [createRoot(), createDirectory()];
    cpSync(here, there, { recursive: true });
    const text = formatLock(createLock(twoUnits(here)));
    expect(formatLock(createLock(twoUnits(there).toReversed()))).toBe(text);
    expect(text.endsWith('}\n')).toBe(true);
    expect(text).not.toContain(here);
  });

  it('refuses to lock a hook that cannot be read whole', () => {
    const unit = unitOf(createDirectory());
    expect(() => createLock([unit])).toThrow(
      expect.objectContaining({ code: 'CONFIG_UNREADABLE' }),
    );
  });
});

describe('parseLock', () => {
  it('reads what formatLock wrote, odd file names included', () => {
    const root = createRoot();
    write(root, `${HOOKS}/odd\n"name"`, 'x');
    write(root, `${HOOKS}/__proto__`, 'x');
    const lock = createLock(twoUnits(root));
    expect(parseLock(formatLock(lock), 'hookline.lock')).toEqual(lock);
  });

  it.each([
    ['[]', 'it must be an object, found array'],
    ['{"version":3}', 'version must be 1 or 2, found 3'],
    ['{"version":"1"}', 'version must be 1 or 2, found string'],
    ['{"version":1,"hooks":{}}', 'hooks must be an array, found object'],
    ['{"version":1,"hooks":[{"id":"a"}]}', 'hooks[0].entry must be a string, found nothing'],
    [
      '{"version":1,"hooks":[{"id":"a","entry":"b","digest":"c","files":{}}]}',
      'hooks[0].digest is not the digest of hooks[0].files',
    ],
  ])('names the file and the position in %s', (text, problem) => {
    expect(() => parseLock(text, 'base/hookline.lock')).toThrow(
      expect.objectContaining({
        code: 'LOCK_INVALID',
        message: `base/hookline.lock is not a valid lock: ${problem}`,
      }),
    );
  });

  it('reports that a text is not JSON', () => {
    expect(() => parseLock('{"version":', 'x')).toThrow(/^x is not a valid lock: it is not J/);
  });
});

describe('a lock of version 1', () => {
  /** As the version before wrote it: no modes, and nothing that a script loads. */
  function writeFirstLock(root: string) {
    const files = { [GUARD]: computeSha256('. ./lib/x.sh\n') };
    const entry = { id: unitOf(root).id, entry: GUARD, digest: computeDigest(files), files };
    return parseLock(JSON.stringify({ version: 1, hooks: [entry] }), 'lock');
  }

  it('counts as it did', () => {
    const root = createDirectory({ [GUARD]: '. ./lib/x.sh\n', 'lib/x.sh': '1' });
    chmodSync(path.join(root, GUARD), 0o755);
    const lock = writeFirstLock(root);
    expect(checkLock(lock, [unitOf(root)])).toEqual({ added: [], removed: [], changed: [] });
    expect(findLockedEntry(lock, bindUnit(unitOf(root)))).toEqual(lock.hooks[0]);
    write(root, GUARD, 'other');
    expect(findLockedEntry(lock, bindUnit(unitOf(root)))).toBe(null);
    expect(checkLock(lock, [unitOf(root)]).changed).toHaveLength(1);
  });

  it('is not enough for what a new lock covers', () => {
    const root = createDirectory({ [GUARD]: '. ./lib/x.sh\n', 'lib/x.sh': '1' });
    const lock = createLock([unitOf(root)]);
    write(root, 'lib/x.sh', '2');
    expect(findLockedEntry(lock, bindUnit(unitOf(root)))).toBe(null);
    expect(checkLock(lock, [unitOf(root)]).changed).toEqual([
      { id: unitOf(root).id, entry: GUARD, paths: ['lib/x.sh'] },
    ]);
  });
});

describe('checkLock', () => {
  it('finds nothing when nothing changed', () => {
    const root = createRoot();
    const lock = createLock(twoUnits(root));
    expect(checkLock(lock, twoUnits(root))).toEqual({ added: [], removed: [], changed: [] });
  });

  it('names hooks that were added, removed and changed, with their paths', () => {
    const root = createDirectory({ 'a/x': '1', 'b/x': '1', 'c/x': '1' });
    const [a, b, c] = ['a', 'b', 'c'].map((id) => {
      const directory = path.join(root, id);
      return unitOf(root, { id, entry: path.join(directory, 'x'), directories: [directory] });
    });
    const lock = createLock([a!, b!]);
    write(root, 'b/x', '2');
    write(root, 'b/y', '2');
    expect(checkLock(lock, [b!, c!])).toEqual({
      added: [{ id: 'c', entry: 'c/x', paths: ['c/x'] }],
      removed: [{ id: 'a', entry: 'a/x', paths: ['a/x'] }],
      changed: [{ id: 'b', entry: 'b/x', paths: ['b/x', 'b/y'] }],
    });
  });

  it('distinguishes hooks of the same id in two roots', () => {
    const roots = [createDirectory({ [GUARD]: 'one' }), createDirectory({ [GUARD]: 'two' })];
    const units = roots.map((root) => unitOf(root));
    const lock = createLock(units);
    expect(checkLock(lock, units)).toEqual({ added: [], removed: [], changed: [] });
    write(roots[1]!, GUARD, 'three');
    expect(checkLock(lock, units).changed).toEqual([
      { id: 'cline:workspace:PreToolUse', entry: GUARD, paths: [GUARD] },
    ]);
  });
});

describe('verifyLockSha256', () => {
  const bytes = Buffer.from('{}\n');

  it('accepts the lock that was named, in either case of letters', () => {
    for (const expectedHash of [computeSha256(bytes), ` ${computeSha256(bytes).toUpperCase()}\n`]) {
      expect(() => verifyLockSha256(bytes, expectedHash)).not.toThrow();
    }
  });

  it('refuses another lock, with both hashes', () => {
    const expectedHash = computeSha256('other');
    expect(() => verifyLockSha256(bytes, expectedHash)).toThrow(
      expect.objectContaining({
        code: 'LOCK_INVALID',
        message: `the lock must have the SHA-256 ${expectedHash}, found ${computeSha256(bytes)}`,
      }),
    );
  });

  it.each(['', 'abc', 'g'.repeat(64), '0'.repeat(65)])('refuses %j as a hash', (expected) => {
    expect(() => verifyLockSha256(bytes, expected)).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID' }),
    );
  });
});
