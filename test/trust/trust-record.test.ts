import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isHooklineError } from '../../src/base/errors.ts';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { computeSha256 } from '../../src/trust/file-map.ts';
import {
  tryReadTrustRecord,
  readTrustRecord,
  getTrustObjectsDirectory,
  grantTrust,
  revokeTrust,
} from '../../src/trust/trust-record.ts';
import { runFixture } from './programs.ts';
import { createChecker, createDirectory, GUARD, HOOKS, unitOf, write } from './workspace.ts';

const NOW = Date.UTC(2026, 0, 2);
const EMPTY = { version: 1, entries: [], changedOutside: false };

function createRecordDirectory(): string {
  return path.join(createDirectory(), '.hookline', 'trust.json');
}

function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

describe('trustUnits', () => {
  it('records exactly what was bound, readable by its owner only', async () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const file = createRecordDirectory();
    const binding = bindUnit(unitOf(root));
    const entry = {
      root,
      id: 'cline:workspace:PreToolUse',
      entry: path.join(root, GUARD),
      digest: binding.digest,
      files: { [GUARD]: computeSha256('exit 0') },
      trustedAt: '2026-01-02T00:00:00.000Z',
    };
    expect(await grantTrust(file, [binding], { now: NOW })).toEqual({ ...EMPTY, entries: [entry] });
    expect(readTrustRecord(file, [root])).toEqual({ ...EMPTY, entries: [entry] });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ version: 1, entries: [entry] });
    const objects = getTrustObjectsDirectory(file);
    const object = path.join(objects, computeSha256('exit 0'));
    const seal = path.join(path.dirname(file), 'trust.seal');
    expect([file, seal, object].map(modeOf)).toEqual(['600', '600', '600']);
    expect([path.dirname(file), objects].map(modeOf)).toEqual(['700', '700']);
  });

  it('trusts what was reviewed, not what was written to the file since', async () => {
    const root = createDirectory({ [GUARD]: 'shown' });
    const file = createRecordDirectory();
    const reviewedBinding = bindUnit(unitOf(root));
    write(root, GUARD, 'swapped');
    const record = await grantTrust(file, [reviewedBinding], { now: NOW });
    const { state } = createChecker({ record, lock: null }).check(unitOf(root));
    expect(state).toBe('modified');
    expect(existsSync(getTrustObjectsDirectory(file))).toBe(false);
  });

  it('replaces the earlier trust in the same hook and keeps all others', async () => {
    const [root, other] = [createDirectory({ [GUARD]: '1' }), createDirectory({ [GUARD]: 'o' })];
    const file = createRecordDirectory();
    await grantTrust(file, [bindUnit(unitOf(root)), bindUnit(unitOf(other))], { now: NOW });
    write(root, GUARD, '2');
    const { entries } = await grantTrust(file, [bindUnit(unitOf(root))], { now: NOW });
    const hashesByRoot = entries.map(({ root, files }) => [root, files[GUARD]]);
    expect(new Map(hashesByRoot.map(([place, hash]) => [place, hash]))).toEqual(
      new Map([
        [root, computeSha256('2')],
        [other, computeSha256('o')],
      ]),
    );
    expect(readdirSync(getTrustObjectsDirectory(file)).toSorted()).toEqual(
      [computeSha256('2'), computeSha256('o')].toSorted(),
    );
  });

  it('keeps two hooks of the same id in one root', async () => {
    const root = createDirectory({ 'a/x': '1', 'b/x': '2' });
    const units = ['a', 'b'].map((name) =>
      unitOf(root, { entry: path.join(root, name, 'x'), directories: [path.join(root, name)] }),
    );
    const record = await grantTrust(createRecordDirectory(), units.map(bindUnit), { now: NOW });
    const checker = createChecker({ record, lock: null });
    expect(units.map((unit) => checker.check(unit).state)).toEqual(['trusted', 'trusted']);
  });

  it('loses nothing when two processes trust at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const root = createDirectory(Object.fromEntries(names.map((name) => [name, name])));
    const file = createRecordDirectory();
    await Promise.all([
      runFixture('trust-one.ts', [file, root, ...names.slice(0, 4)]),
      runFixture('trust-one.ts', [file, root, ...names.slice(4)]),
    ]);
    const record = readTrustRecord(file, [root]);
    expect(record.entries.map(({ id }) => id)).toEqual(names);
    expect(record.changedOutside).toBe(false);
    expect(readdirSync(getTrustObjectsDirectory(file)).toSorted()).toEqual(
      names.map((name) => computeSha256(name)).toSorted(),
    );
  });

  it('changes nothing when the record is malformed', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const home = createDirectory({ 'trust.json': '{ "version": 1' });
    const file = path.join(home, 'trust.json');
    await expect(grantTrust(file, [bindUnit(unitOf(root))], { now: NOW })).rejects.toThrow(
      expect.objectContaining({ code: 'TRUST_RECORD_INVALID' }),
    );
    expect(readFileSync(file, 'utf8')).toBe('{ "version": 1');
    expect(readdirSync(home)).toEqual(['trust.json']);
  });

  it('reports that the record cannot be written', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    // A directory in the way of the seal stops the write for root, too.
    const home = createDirectory({ [`trust.seal.${process.pid}.tmp/in-the-way`]: '' });
    const file = path.join(home, 'trust.json');
    await expect(grantTrust(file, [bindUnit(unitOf(root))], { now: NOW })).rejects.toThrow(
      expect.objectContaining({ code: 'CONFIG_UNWRITABLE' }),
    );
    expect(readTrustRecord(file, [root])).toEqual(EMPTY);
  });

  it('refuses to write a record inside the workspace', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const file = path.join(root, '.hookline', 'trust.json');
    await expect(grantTrust(file, [bindUnit(unitOf(root))], { now: NOW })).rejects.toThrow(
      expect.objectContaining({ code: 'TRUST_RECORD_INVALID' }),
    );
    expect(existsSync(path.dirname(file))).toBe(false);
  });
});

describe('untrust', () => {
  it('removes the named hooks, or all of a root, with the texts that only they had', async () => {
    const root = createDirectory({ 'a/x': 'a', 'b/x': 'b', 'c/x': 'c' });
    const file = createRecordDirectory();
    const bindings = ['a', 'b', 'c'].map((id) =>
      bindUnit(unitOf(root, { id, entry: path.join(root, id, 'x'), directories: [] })),
    );
    await grantTrust(file, bindings, { now: NOW });
    const some = await revokeTrust(file, { root, ids: ['a', 'c', 'unknown'] });
    expect(some.entries.map(({ id }) => id)).toEqual(['b']);
    expect(readdirSync(getTrustObjectsDirectory(file))).toEqual([computeSha256('b')]);
    expect(await revokeTrust(file, { root })).toEqual(EMPTY);
    expect(readdirSync(getTrustObjectsDirectory(file))).toEqual([]);
    expect(readTrustRecord(file, [root])).toEqual(EMPTY);
  });

  it('finds a root by a link to it, and one that is gone by the path it had', async () => {
    const roots = [createDirectory({ [GUARD]: 'x' }), createDirectory({ [GUARD]: 'x' })];
    const file = createRecordDirectory();
    const link = path.join(createDirectory(), 'link');
    symlinkSync(roots[0]!, link);
    await grantTrust(
      file,
      roots.map((root) => bindUnit(unitOf(root))),
      { now: NOW },
    );
    rmSync(roots[1]!, { recursive: true });
    await revokeTrust(file, { root: link });
    expect(await revokeTrust(file, { root: roots[1]! })).toEqual(EMPTY);
  });
});

describe('readTrustRecord', () => {
  it('is empty when there is no record', () => {
    expect(readTrustRecord(createRecordDirectory(), [])).toEqual(EMPTY);
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
    const file = path.join(createDirectory({ 'trust.json': text }), 'trust.json');
    expect(() => readTrustRecord(file, [])).toThrow(
      expect.objectContaining({
        code: 'TRUST_RECORD_INVALID',
        message: `the trust record ${file} is invalid: ${problem}`,
        hint: 'Move it away and trust your hooks again; until then no workspace hook is trusted.',
      }),
    );
  });

  it('notices a record that was changed, created or removed from outside', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const file = createRecordDirectory();
    await grantTrust(file, [bindUnit(unitOf(root))], { now: NOW });
    const isChanged = (): boolean => readTrustRecord(file, [root]).changedOutside;
    const records = [isChanged()];
    appendFileSync(file, '\n');
    records.push(isChanged());
    const grantedRecord = await grantTrust(file, [bindUnit(unitOf(root))], { now: NOW });
    records.push(grantedRecord.changedOutside, isChanged());
    rmSync(file);
    records.push(isChanged());
    rmSync(path.join(path.dirname(file), 'trust.seal'));
    records.push(isChanged());
    writeFileSync(file, '{"version":1,"entries":[]}', { mode: 0o600 });
    records.push(isChanged());
    expect(records).toEqual([false, true, true, false, true, false, true]);
  });

  it('notices an older record of its own that was put back', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const file = createRecordDirectory();
    await grantTrust(file, [bindUnit(unitOf(root))], { now: NOW });
    const older = readFileSync(file);
    await revokeTrust(file, { root });
    writeFileSync(file, older);
    expect(readTrustRecord(file, [root]).changedOutside).toBe(true);
  });
});

describe('openTrustRecord', () => {
  it('returns the refusal as a value, with which a checker trusts nothing and gives the reason', async () => {
    const root = createDirectory({ [GUARD]: 'x', [`${HOOKS}/lib`]: 'y' });
    const file = createRecordDirectory();
    await grantTrust(file, [bindUnit(unitOf(root))], { now: NOW });
    chmodSync(file, 0o620);
    const record = tryReadTrustRecord(file, [root]);
    expect(isHooklineError(record)).toBe(true);
    expect(createChecker({ record, lock: null }).check(unitOf(root))).toEqual({
      state: 'untrusted',
      why: `the trust record ${file} is ignored: others may write "${file}" (mode 620)`,
      by: null,
    });
  });
});
