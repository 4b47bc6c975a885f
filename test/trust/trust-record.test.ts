import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isHooklineError } from '../../src/base/errors.ts';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { computeSha256 } from '../../src/trust/file-map.ts';
import type { TrustFiles } from '../../src/trust/record-seal.ts';
import {
  tryReadTrustRecord,
  readTrustRecord,
  getTrustObjectsDirectory,
  grantTrust,
  revokeTrust,
} from '../../src/trust/trust-record.ts';
import { runFixture } from './programs.ts';
import {
  createChecker,
  createDirectory,
  GUARD,
  HOOKS,
  trustFilesOf,
  unitOf,
  write,
} from './workspace.ts';

const NOW = Date.UTC(2026, 0, 2);
const EMPTY = { version: 1, entries: [], unconfirmed: [], sealProblem: null };

function createFiles(): TrustFiles {
  return trustFilesOf(createDirectory());
}

function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

describe('trustUnits', () => {
  it('records exactly what was bound, readable by its owner only', async () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const files = createFiles();
    const binding = bindUnit(unitOf(root));
    const entry = {
      root,
      id: 'cline:workspace:PreToolUse',
      entry: path.join(root, GUARD),
      digest: binding.digest,
      files: { [GUARD]: computeSha256('exit 0') },
      trustedAt: '2026-01-02T00:00:00.000Z',
    };
    expect(await grantTrust(files, [binding], { now: NOW })).toEqual({
      ...EMPTY,
      entries: [entry],
    });
    expect(readTrustRecord(files, [root])).toEqual({ ...EMPTY, entries: [entry] });
    expect(JSON.parse(readFileSync(files.record, 'utf8'))).toEqual({
      version: 1,
      entries: [entry],
    });
    const objects = getTrustObjectsDirectory(files.record);
    const object = path.join(objects, computeSha256('exit 0'));
    const { record, key } = files;
    const seal = key.replace(/key$/, 'seal');
    expect([record, key, seal, object].map(modeOf)).toEqual(['600', '600', '600', '600']);
    expect([record, key, object].map((each) => modeOf(path.dirname(each)))).toEqual([
      '700',
      '700',
      '700',
    ]);
    expect(statSync(key).size).toBe(32);
  });

  it('trusts what was reviewed, not what was written to the file since', async () => {
    const root = createDirectory({ [GUARD]: 'shown' });
    const files = createFiles();
    const reviewedBinding = bindUnit(unitOf(root));
    write(root, GUARD, 'swapped');
    const record = await grantTrust(files, [reviewedBinding], { now: NOW });
    const { state } = createChecker({ record, lock: null }).check(unitOf(root));
    expect(state).toBe('modified');
    expect(existsSync(getTrustObjectsDirectory(files.record))).toBe(false);
  });

  it('replaces the earlier trust in the same hook and keeps all others', async () => {
    const [root, other] = [createDirectory({ [GUARD]: '1' }), createDirectory({ [GUARD]: 'o' })];
    const files = createFiles();
    await grantTrust(files, [bindUnit(unitOf(root)), bindUnit(unitOf(other))], { now: NOW });
    write(root, GUARD, '2');
    const { entries } = await grantTrust(files, [bindUnit(unitOf(root))], { now: NOW });
    const hashesByRoot = entries.map(({ root, files }) => [root, files[GUARD]]);
    expect(new Map(hashesByRoot.map(([place, hash]) => [place, hash]))).toEqual(
      new Map([
        [root, computeSha256('2')],
        [other, computeSha256('o')],
      ]),
    );
    expect(readdirSync(getTrustObjectsDirectory(files.record)).toSorted()).toEqual(
      [computeSha256('2'), computeSha256('o')].toSorted(),
    );
  });

  it('keeps two hooks of the same id in one root', async () => {
    const root = createDirectory({ 'a/x': '1', 'b/x': '2' });
    const units = ['a', 'b'].map((name) =>
      unitOf(root, { entry: path.join(root, name, 'x'), directories: [path.join(root, name)] }),
    );
    const record = await grantTrust(createFiles(), units.map(bindUnit), { now: NOW });
    const checker = createChecker({ record, lock: null });
    expect(units.map((unit) => checker.check(unit).state)).toEqual(['trusted', 'trusted']);
  });

  it('loses nothing when two processes trust at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const root = createDirectory(Object.fromEntries(names.map((name) => [name, name])));
    const files = createFiles();
    await Promise.all([
      runFixture('trust-one.ts', [files.record, files.key, root, ...names.slice(0, 4)]),
      runFixture('trust-one.ts', [files.record, files.key, root, ...names.slice(4)]),
    ]);
    const record = readTrustRecord(files, [root]);
    expect(record.entries.map(({ id }) => id)).toEqual(names);
    expect(record.sealProblem).toBeNull();
    expect(readdirSync(getTrustObjectsDirectory(files.record)).toSorted()).toEqual(
      names.map((name) => computeSha256(name)).toSorted(),
    );
  });

  it('changes nothing when the record is malformed', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const home = createDirectory({ '.hookline/trust.json': '{ "version": 1' });
    const files = trustFilesOf(home);
    await expect(grantTrust(files, [bindUnit(unitOf(root))], { now: NOW })).rejects.toThrow(
      expect.objectContaining({ code: 'TRUST_RECORD_INVALID' }),
    );
    expect(readFileSync(files.record, 'utf8')).toBe('{ "version": 1');
    expect(readdirSync(path.dirname(files.record))).toEqual(['trust.json']);
    expect(existsSync(files.key)).toBe(false);
  });

  it('reports that the record cannot be written', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    // A directory in the way of the seal stops the write for root, too.
    const seal = `.local/state/hookline/trust.seal.${process.pid}.tmp`;
    const files = trustFilesOf(createDirectory({ [`${seal}/in-the-way`]: '' }));
    await expect(grantTrust(files, [bindUnit(unitOf(root))], { now: NOW })).rejects.toThrow(
      expect.objectContaining({ code: 'CONFIG_UNWRITABLE' }),
    );
    expect(readTrustRecord(files, [root])).toEqual(EMPTY);
  });

  it('refuses to write a record inside the workspace', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const files = trustFilesOf(root);
    await expect(grantTrust(files, [bindUnit(unitOf(root))], { now: NOW })).rejects.toThrow(
      expect.objectContaining({ code: 'TRUST_RECORD_INVALID' }),
    );
    expect(readdirSync(root)).toEqual(['.clinerules']);
  });
});

describe('untrust', () => {
  it('removes the named hooks, or all of a root, with the texts that only they had', async () => {
    const root = createDirectory({ 'a/x': 'a', 'b/x': 'b', 'c/x': 'c' });
    const files = createFiles();
    const bindings = ['a', 'b', 'c'].map((id) =>
      bindUnit(unitOf(root, { id, entry: path.join(root, id, 'x'), directories: [] })),
    );
    await grantTrust(files, bindings, { now: NOW });
    const some = await revokeTrust(files, { root, ids: ['a', 'c', 'unknown'] });
    expect(some.entries.map(({ id }) => id)).toEqual(['b']);
    expect(readdirSync(getTrustObjectsDirectory(files.record))).toEqual([computeSha256('b')]);
    expect(await revokeTrust(files, { root })).toEqual(EMPTY);
    expect(readdirSync(getTrustObjectsDirectory(files.record))).toEqual([]);
    expect(readTrustRecord(files, [root])).toEqual(EMPTY);
  });

  it('finds a root by a link to it, and one that is gone by the path it had', async () => {
    const roots = [createDirectory({ [GUARD]: 'x' }), createDirectory({ [GUARD]: 'x' })];
    const files = createFiles();
    const link = path.join(createDirectory(), 'link');
    symlinkSync(roots[0]!, link);
    await grantTrust(
      files,
      roots.map((root) => bindUnit(unitOf(root))),
      { now: NOW },
    );
    rmSync(roots[1]!, { recursive: true });
    await revokeTrust(files, { root: link });
    expect(await revokeTrust(files, { root: roots[1]! })).toEqual(EMPTY);
  });
});

describe('readTrustRecord', () => {
  it('is empty when there is no record', () => {
    expect(readTrustRecord(createFiles(), [])).toEqual(EMPTY);
  });

  it.each([
    ['[]', 'it must be an object, found array'],
    ['{}', 'version must be 1, found undefined'],
    ['{"version":1}', 'entries must be an array, found undefined'],
    ['{"version":1,"entries":[7]}', 'entries[0] must be an object, found number'],
    [
      `{"version":1,"entries":[{"id":"a","entry":"b","files":{},"digest":"${computeSha256('[]')}"}]}`,
      'entries[0].root and entries[0].trustedAt must be strings',
    ],
  ])('refuses %s with the reason', (text, problem) => {
    const files = trustFilesOf(createDirectory({ '.hookline/trust.json': text }));
    expect(() => readTrustRecord(files, [])).toThrow(
      expect.objectContaining({
        code: 'TRUST_RECORD_INVALID',
        message: `the trust record ${files.record} is invalid: ${problem}`,
        hint: 'Move it away and trust your hooks again; until then no workspace hook is trusted.',
      }),
    );
  });
});

describe('openTrustRecord', () => {
  it('returns the refusal as a value, with which a checker trusts nothing and gives the reason', async () => {
    const root = createDirectory({ [GUARD]: 'x', [`${HOOKS}/lib`]: 'y' });
    const files = createFiles();
    await grantTrust(files, [bindUnit(unitOf(root))], { now: NOW });
    chmodSync(files.record, 0o620);
    const record = tryReadTrustRecord(files, [root]);
    expect(isHooklineError(record)).toBe(true);
    expect(createChecker({ record, lock: null }).check(unitOf(root))).toEqual({
      state: 'untrusted',
      why: `the trust record ${files.record} is ignored: others may write "${files.record}" (mode 620)`,
      by: null,
    });
  });
});
