import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import {
  createTrustToken,
  ensureKey,
  findTokenProblem,
  type TrustFiles,
} from '../../src/trust/record-seal.ts';
import {
  grantTrust,
  readTrustRecord,
  revokeTrust,
  sealRecord,
} from '../../src/trust/trust-record.ts';
import { createDirectory, GUARD, trustFilesOf, unitOf } from './workspace.ts';

const NOW = Date.UTC(2026, 0, 2);

async function createTrusted() {
  const root = createDirectory({ [GUARD]: 'x' });
  const home = createDirectory();
  const files = trustFilesOf(home);
  await grantTrust(files, [bindUnit(unitOf(root))], { now: NOW });
  return { root, home, files };
}

/** What a record trusts, what it holds to be confirmed again, and the start of the reason. */
function summarize(files: TrustFiles, roots: readonly string[] = []) {
  const { entries, unconfirmed, sealProblem } = readTrustRecord(files, roots);
  return [entries.length, unconfirmed.length, sealProblem?.replace(/[:(].*/s, '') ?? null];
}

function sealFileOf({ key }: TrustFiles): string {
  return key.replace(/key$/, 'seal');
}

const MISMATCH = 'its seal does not match';

describe('a record without a valid seal counts as empty', () => {
  it.each<[string, (files: TrustFiles) => void, string]>([
    ['one byte was added', ({ record }) => writeFileSync(record, ' ', { flag: 'a' }), MISMATCH],
    [
      'an entry was edited',
      ({ record }) =>
        writeFileSync(record, readFileSync(record, 'utf8').replace('PreToolUse', 'PostToolUse')),
      MISMATCH,
    ],
    ['its seal is gone', (files) => rmSync(sealFileOf(files)), 'it has no seal'],
    ['its seal is a directory', (files) => replaceByDirectory(sealFileOf(files)), MISMATCH],
    ['its seal is empty', (files) => writeFileSync(sealFileOf(files), ''), MISMATCH],
    ['its key is another', ({ key }) => writeFileSync(key, Buffer.alloc(32, 1)), MISMATCH],
    ['its key is too short', ({ key }) => writeFileSync(key, 'short'), 'its key KEY is ignored'],
    ['its key is empty', ({ key }) => writeFileSync(key, ''), 'its key KEY is ignored'],
    ['others may read its key', ({ key }) => chmodSync(key, 0o640), 'its key KEY is ignored'],
    ['its key is a directory', ({ key }) => replaceByDirectory(key), 'its key KEY is ignored'],
    ['its key is lost', ({ key }) => rmSync(key), 'its key KEY is missing'],
  ])('when %s', async (_, change, reason) => {
    const { files } = await createTrusted();
    expect(summarize(files)).toEqual([1, 0, null]);
    change(files);
    expect(summarize(files)).toEqual([0, 1, reason.replace('KEY', files.key)]);
  });

  it('when it is of an older version, which sealed without a key', async () => {
    const { files, home } = await createTrusted();
    rmSync(path.dirname(files.key), { recursive: true });
    writeFileSync(path.join(home, '.hookline/trust.seal'), 'a'.repeat(64));
    expect(summarize(files)).toEqual([0, 1, 'it has no seal']);
  });

  it('when it was copied from another home with its key and its seal', async () => {
    const { home } = await createTrusted();
    const other = createDirectory();
    for (const name of ['.hookline', '.local']) {
      cpSync(path.join(home, name), path.join(other, name), { recursive: true });
    }
    expect(summarize(trustFilesOf(other))).toEqual([0, 1, MISMATCH]);
  });

  it('when an older one of its own is put back', async () => {
    const { files, root, home } = await createTrusted();
    const older = createDirectory();
    cpSync(path.dirname(files.record), older, { recursive: true });
    await revokeTrust(files, { root });
    cpSync(older, path.join(home, '.hookline'), { recursive: true });
    expect(summarize(files)).toEqual([0, 1, MISMATCH]);
  });

  it('when it was removed, and says so', async () => {
    const { files } = await createTrusted();
    rmSync(files.record);
    expect(readTrustRecord(files, []).sealProblem).toBe('it was removed by another program');
  });

  it('when its key lies inside a workspace', async () => {
    const { files, home } = await createTrusted();
    const state = path.join(home, '.local');
    expect(summarize(files, [state])).toEqual([0, 1, `its key ${files.key} is ignored`]);
  });
});

describe('a valid seal', () => {
  it('holds where the state directory is reached by a link', async () => {
    const { files, home } = await createTrusted();
    const link = path.join(createDirectory(), 'link');
    symlinkSync(path.join(home, '.hookline'), link);
    expect(summarize({ ...files, record: path.join(link, 'trust.json') })).toEqual([1, 0, null]);
  });

  it('never covers what an unsealed record held: it stays to be confirmed, one by one', async () => {
    const { files, root } = await createTrusted();
    const other = createDirectory({ [GUARD]: 'y' });
    await grantTrust(files, [bindUnit(unitOf(other))], { now: NOW });
    writeFileSync(files.record, ' ', { flag: 'a' });
    await grantTrust(files, [bindUnit(unitOf(root))], { now: NOW });
    expect(summarize(files)).toEqual([1, 1, null]);
    expect(readTrustRecord(files, []).unconfirmed.map((entry) => entry.root)).toEqual([other]);
    await revokeTrust(files, { root: other });
    expect(summarize(files)).toEqual([1, 0, null]);
  });

  it('is given to an unsealed record with nothing trusted', async () => {
    const { files } = await createTrusted();
    chmodSync(files.key, 0o644);
    expect(await sealRecord(files, [])).toMatchObject({ entries: [], sealProblem: null });
    expect(summarize(files)).toEqual([0, 1, null]);
  });

  it('survives a crash between the seal and the record, with what was trusted before', async () => {
    const { files, root } = await createTrusted();
    const [record, seal] = [readFileSync(files.record), readFileSync(sealFileOf(files), 'utf8')];
    await revokeTrust(files, { root });
    // What the disk holds when the process is killed after the first of three writes.
    writeFileSync(sealFileOf(files), `${readFileSync(sealFileOf(files), 'utf8')}${seal}`);
    expect(summarize(files)).toEqual([0, 0, null]);
    writeFileSync(files.record, record);
    expect(summarize(files)).toEqual([1, 0, null]);
  });
});

describe('a trust token', () => {
  const digests = ['b', 'a'];

  function createToken() {
    const files = trustFilesOf(createDirectory());
    return { files, token: createTrustToken(files, ensureKey(files), { digests, now: NOW }) };
  }

  it('confirms the digests it was made for, for ten minutes', () => {
    const { files, token } = createToken();
    const explain = (ms: number): string | null =>
      findTokenProblem(files, token, { digests: ['a', 'b'], now: NOW + ms });
    expect([0, 600_000, 600_001].map(explain)).toEqual([null, null, 'it has expired']);
  });

  it('confirms nothing else, and nowhere else', () => {
    const { files, token } = createToken();
    const later = `${(NOW + 999_999_999).toString(36)}.${token.split('.')[1]}`;
    const other = createToken();
    const problems = [
      findTokenProblem(files, token, { digests: ['a'], now: NOW }),
      findTokenProblem(files, later, { digests, now: NOW }),
      findTokenProblem(other.files, token, { digests, now: NOW }),
      findTokenProblem({ ...files, record: '/else/trust.json' }, token, { digests, now: NOW }),
    ];
    expect(problems).toEqual(Array(4).fill('it was printed for other hooks or other bytes'));
    expect(findTokenProblem(files, 'yes', { digests, now: NOW })).toBe('it is not a token');
  });
});

function replaceByDirectory(file: string): void {
  rmSync(file);
  mkdirSync(file);
}
