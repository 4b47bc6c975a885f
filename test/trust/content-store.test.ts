import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import type { TrustUnit } from '../../src/trust/collect-unit.ts';
import { computeSha256 } from '../../src/trust/file-map.ts';
import { computeChangesSince, readBoundBytes } from '../../src/trust/content-store.ts';
import { getTrustObjectsDirectory, grantTrust } from '../../src/trust/trust-record.ts';
import { createDirectory, GUARD, HOOKS, trustFilesOf, unitOf, write } from './workspace.ts';

async function trust(unit: TrustUnit) {
  const files = trustFilesOf(createDirectory());
  const { entries } = await grantTrust(files, [bindUnit(unit)], { now: 0 });
  return { entry: entries[0]!, objects: getTrustObjectsDirectory(files.record) };
}

describe('changesSince', () => {
  it('is empty while nothing changed', async () => {
    const unit = unitOf(createDirectory({ [GUARD]: 'x' }));
    const { entry, objects } = await trust(unit);
    expect(computeChangesSince(entry, bindUnit(unit), objects)).toEqual([]);
  });

  it('lists the texts before and after of what was added, removed and changed', async () => {
    const root = createDirectory({ [GUARD]: '\uFEFFone\n', [`${HOOKS}/gone`]: 'gone' });
    const { entry, objects } = await trust(unitOf(root));
    write(root, GUARD, 'two\r\n');
    rmSync(path.join(root, HOOKS, 'gone'));
    write(root, `${HOOKS}/new`, '');
    expect(computeChangesSince(entry, bindUnit(unitOf(root)), objects)).toEqual([
      { path: GUARD, kind: 'changed', before: '\uFEFFone\n', after: 'two\r\n' },
      { path: `${HOOKS}/gone`, kind: 'removed', before: 'gone', after: null },
      { path: `${HOOKS}/new`, kind: 'added', before: null, after: '' },
    ]);
  });

  it('lists no text of what is compiled or larger than 256 KiB', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    const contents = { compiled: '\u007FELF\0\u0001', large: 'x'.repeat(262_145) };
    for (const [name, text] of Object.entries(contents)) write(root, `${HOOKS}/${name}`, text);
    const { entry, objects } = await trust(unitOf(root));
    for (const name of Object.keys(contents)) write(root, `${HOOKS}/${name}`, 'text');
    expect(computeChangesSince(entry, bindUnit(unitOf(root)), objects)).toEqual(
      Object.keys(contents).map((name) => {
        return { path: `${HOOKS}/${name}`, kind: 'changed', before: null, after: 'text' };
      }),
    );
  });

  it('lists every byte of a script that a NUL or a stray byte should hide', async () => {
    const root = createDirectory({ [GUARD]: 'x' });
    writeFileSync(path.join(root, HOOKS, 'stray'), Buffer.from([0x61, 0xe9]));
    const { entry, objects } = await trust(unitOf(root));
    writeFileSync(path.join(root, HOOKS, 'stray'), Buffer.from([0x61, 0xe8]));
    write(root, GUARD, 'evil\n\0');
    expect(computeChangesSince(entry, bindUnit(unitOf(root)), objects)).toEqual([
      { path: GUARD, kind: 'changed', before: 'x', after: 'evil\n\0' },
      { path: `${HOOKS}/stray`, kind: 'changed', before: 'aé', after: 'aè' },
    ]);
  });

  it('lists no text of a file that was swapped after it was bound', async () => {
    const root = createDirectory({ [GUARD]: 'one' });
    const { entry, objects } = await trust(unitOf(root));
    write(root, GUARD, 'evil');
    const binding = bindUnit(unitOf(root));
    write(root, GUARD, 'harmless');
    expect(computeChangesSince(entry, binding, objects)).toEqual([
      { path: GUARD, kind: 'changed', before: 'one', after: null },
    ]);
    expect(readBoundBytes(binding, path.join(root, GUARD))).toBeNull();
    write(root, GUARD, 'evil');
    expect(readBoundBytes(binding, path.join(root, GUARD))?.toString()).toBe('evil');
  });

  it('lists the old and the new target of a link', async () => {
    const root = createDirectory({ 'one/a': '1', 'two/a': '2' });
    mkdirSync(path.join(root, HOOKS), { recursive: true });
    symlinkSync('../../one/a', path.join(root, GUARD));
    const { entry, objects } = await trust(unitOf(root));
    rmSync(path.join(root, GUARD));
    symlinkSync('../../two/a', path.join(root, GUARD));
    expect(computeChangesSince(entry, bindUnit(unitOf(root)), objects)).toEqual([
      { path: GUARD, kind: 'changed', before: 'link:one/a', after: 'link:two/a' },
      { path: 'one/a', kind: 'removed', before: '1', after: null },
      { path: 'two/a', kind: 'added', before: null, after: '2' },
    ]);
  });

  it('lists the text of a config entry', async () => {
    const root = createDirectory({ 'settings.json': '{}' });
    const unitFields = { entry: path.join(root, 'settings.json'), directories: [] };
    const { entry, objects } = await trust(unitOf(root, { ...unitFields, text: 'npm test' }));
    expect(
      computeChangesSince(entry, bindUnit(unitOf(root, { ...unitFields, text: 'curl' })), objects),
    ).toEqual([{ path: '//entry-text', kind: 'changed', before: 'npm test', after: 'curl' }]);
  });

  it('lists no text rather than a false one when a kept text was tampered with or lost', async () => {
    const root = createDirectory({ [GUARD]: 'one', [`${HOOKS}/lib`]: 'lib' });
    const { entry, objects } = await trust(unitOf(root));
    write(objects, computeSha256('one'), 'harmless');
    rmSync(path.join(objects, computeSha256('lib')));
    write(root, GUARD, 'two');
    write(root, `${HOOKS}/lib`, 'LIB');
    expect(computeChangesSince(entry, bindUnit(unitOf(root)), objects)).toEqual([
      { path: GUARD, kind: 'changed', before: null, after: 'two' },
      { path: `${HOOKS}/lib`, kind: 'changed', before: null, after: 'LIB' },
    ]);
  });
});
