import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { releaseInstances } from '../../../src/plugins/load/load-plugin.ts';
import { createPluginFiles } from './plugin-files.ts';

const counting = (imported = ''): string => `
  ${imported}
  let own = 0;
  export default { name: 'a', manifest: { capabilities: ['tools'] }, count: () => ++own };`;

describe('a copy of a plugin', () => {
  it('has variables of its own', async () => {
    const files = createPluginFiles({ 'a.ts': counting() });
    const one = await files.plugin('a.ts', { copy: 'one' });
    const other = await files.plugin('a.ts', { copy: 'other' });
    const again = await files.plugin('a.ts', { copy: 'one' });
    expect([one['count'](), one['count'](), other['count'](), again['count']()]).toEqual([
      1, 2, 1, 3,
    ]);
  });

  it('has them in all of its files, those that are imported late included', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import { add } from './state';
        export default { name: 'a', manifest: { capabilities: ['tools'] }, count: add, late: async () => (await import('./late')).default() };`,
      'state.ts': 'let count = 0; export const add = () => ++count;',
      'late.ts': `import { add } from './state'; export default () => add() * 100;`,
    });
    const copies = await Promise.all(
      ['one', 'two', 'three'].map((copy) => files.plugin('a.ts', { copy })),
    );
    const counts = [];
    for (const copy of copies) counts.push([copy['count'](), await copy['late']()]);
    expect(counts).toEqual([
      [1, 200],
      [1, 200],
      [1, 200],
    ]);
  });

  it('has them in CommonJS, too', async () => {
    const files = createPluginFiles({
      'a.js': `
        const { add } = require('./state.js');
        module.exports = { name: 'a', manifest: { capabilities: ['tools'] }, count: add };`,
      'state.js': 'let count = 0; exports.add = () => ++count;',
    });
    const one = await files.plugin('a.js', { copy: 'one' });
    const other = await files.plugin('a.js', { copy: 'other' });
    expect([one['count'](), one['count'](), other['count']()]).toEqual([1, 2, 1]);
  });

  it('is made of the file as it is now', async () => {
    const files = createPluginFiles({ 'a.ts': `export default { name: 'before' };` });
    expect(await files.plugin('a.ts', { copy: 'same' })).toEqual({ name: 'before' });
    files.write({ 'a.ts': `export default { name: 'after' };` });
    expect(await files.plugin('a.ts', { copy: 'same' })).toEqual({ name: 'after' });
  });

  it('is new once it was forgotten, and leaves no files behind', async () => {
    const files = createPluginFiles({ 'a.ts': counting(`import './b';`), 'b.ts': 'export {};' });
    const keep = await files.plugin('a.ts', { copy: 'first' });
    const before = temporaryCopies();
    const one = await files.plugin('a.ts', { copy: 'session' });
    expect(temporaryCopies()).toHaveLength(before.length + 1);
    await releaseInstances('session');
    expect(temporaryCopies()).toEqual(before);
    const anew = await files.plugin('a.ts', { copy: 'session' });
    expect([keep['count'](), one['count'](), one['count'](), anew['count']()]).toEqual([
      1, 1, 2, 1,
    ]);
    await releaseInstances('session');
    await releaseInstances('never seen');
  });
});

/** Of this process, which is the only one that makes any here. */
function temporaryCopies(): readonly string[] {
  const directory = os.tmpdir();
  return readdirSync(directory)
    .filter((name) => name.startsWith('hookline-plugins-'))
    .flatMap((name) => readdirSync(path.join(directory, name)).map((copy) => `${name}/${copy}`));
}
