import { describe, expect, it } from 'vitest';
import { createPluginFiles } from './plugin-files.ts';

const plugin = (facts: string): string =>
  `export default { name: 'a', manifest: { capabilities: ['tools'] }, facts: ${facts} };`;

describe('a plugin of several files', () => {
  it('imports them with their ending, with the one they will have, without any, and by directory', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import { one } from './one.ts';
        import { two } from './two.js';
        import { three } from './three';
        import { four } from './four/index.mjs';
        import { five } from './five';
        import six from './lib/six.jsx';
        import { seven } from '../plugins/seven.mjs';
        import './effect';
        export { eight } from './eight.js';
        ${plugin(`[one, two, three, four, five, six, seven, (globalThis as any).effectOfTest]`)}`,
      'one.ts': 'export const one: number = 1;',
      'two.ts': 'export const two: number = 2;',
      'three.mts': 'export const three: number = 3;',
      'four/index.mts': 'export const four: number = 4;',
      'five/index.ts': 'export const five: number = 5;',
      'lib/six.tsx': 'export default 6 as number;',
      'seven.mjs': 'export const seven = 7;',
      'effect.ts': '(globalThis as any).effectOfTest = 8;',
      'eight.js': 'export const eight = 9;',
    });
    expect((await files.plugin('a.ts'))['facts']).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('takes TypeScript before what was made of it, unless it says which', async () => {
    const files = createPluginFiles({
      'a.ts': `import meant from './meant'; import exact from './meant.js'; ${plugin('[meant, exact]')}`,
      'meant.ts': 'export default "source";',
      'meant.js': 'export default "built";',
    });
    expect((await files.plugin('a.ts'))['facts']).toEqual(['source', 'built']);
  });

  it('imports JSON, as a whole and by its keys', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import whole from './data.json' with { type: 'json' };
        import plain, { version } from './data.json';
        import list from './list.json';
        ${plugin(`[whole, plain === whole, version, list]`)}`,
      'data.json': '{ "version": "1.2.3", "default": 5, "class": 1, "__proto__": 2 }',
      'list.json': '\uFEFF[1, 2]',
    });
    const [whole, isSame, version, list] = (await files.plugin('a.ts'))['facts'];
    expect(JSON.stringify(whole)).toBe('{"version":"1.2.3","default":5,"class":1,"__proto__":2}');
    expect([isSame, version, list]).toEqual([true, '1.2.3', [1, 2]]);
  });

  it('may import each other in a circle', async () => {
    const files = createPluginFiles({
      'a.ts': `import { depth } from './b'; export const base = () => 1; ${plugin('depth()')}`,
      'b.ts': `import { base } from './a'; export const depth = () => base() + 1;`,
    });
    expect((await files.plugin('a.ts'))['facts']).toBe(2);
  });

  it('sees one variable in all of them', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import { count, add } from './state';
        import { addTwo } from './other/adder';
        addTwo(); add(1);
        ${plugin('{ count, late: async () => (await import("./late")).later() }')}`,
      'state.ts': 'export let count = 0; export const add = (more: number) => { count += more; };',
      'other/adder.ts': `import { add } from '../state.js'; export const addTwo = () => add(2);`,
      'late.ts': `import { count } from './state'; export const later = () => count + 100;`,
    });
    const { facts } = await files.plugin('a.ts');
    expect([facts.count, await facts.late()]).toEqual([3, 103]);
  });

  it('imports a path that is computed at run time', async () => {
    const files = createPluginFiles({
      'a.ts': plugin(`{
        byName: async (name: string) => (await import(\`./locales/\${name}.ts\`)).default,
        any: (what: string) => import(what),
      }`),
      'locales/de.ts': 'const hello: string = "Hallo"; export default hello;',
      'locales/fr.ts': 'import { hello } from "./words/fr"; export default hello;',
      'locales/words/fr.ts': 'export const hello: string = "Bonjour";',
      'broken.ts': 'export default {,};',
    });
    const { facts } = await files.plugin('a.ts');
    expect(await facts.byName('de')).toBe('Hallo');
    expect(await facts.byName('fr')).toBe('Bonjour');
    expect(await facts.any('node:path')).toHaveProperty('join');
    await expect(facts.any('./nowhere.ts')).rejects.toMatchObject({
      code: 'ERR_MODULE_NOT_FOUND',
      message: `Cannot find './nowhere.ts' imported from ${files.path('a.ts')}`,
    });
    await expect(facts.any('./broken.ts')).rejects.toThrow(
      `${files.path('broken.ts')}:1:17: Unexpected token`,
    );
  });

  it('may try files that do not exist, as long as it does not need them', async () => {
    const files = createPluginFiles({
      'a.ts': `
        const optional = await import('./optional.ts').catch((error) => error.code);
        ${plugin('optional')}`,
    });
    expect((await files.plugin('a.ts'))['facts']).toBe('ERR_MODULE_NOT_FOUND');
  });

  it('may have broken files, as long as it does not need them', async () => {
    const files = createPluginFiles({
      'a.ts': plugin(`{
        broken: () => import('./broken'), fine: async () => (await import('./fine')).default,
        old: async () => (await import('./old.cjs')).default,
      }`),
      'broken.ts': `import './worse'; export {};`,
      'worse.ts': 'export const = 5;',
      'fine.ts': `export default 'fine' as string;`,
      'old.cjs': `module.exports = 'old';`,
    });
    const { facts } = await files.plugin('a.ts');
    expect([await facts.fine(), await facts.old()]).toEqual(['fine', 'old']);
    await expect(facts.broken()).rejects.toThrow(
      `${files.path('worse.ts')}:1:14: Unexpected token`,
    );
  });

  it('may have names that need escaping', async () => {
    const files = createPluginFiles({
      "it's a #1 plügin.ts": `import { x } from "./my%20helper's file.ts"; ${plugin('[x, import.meta.filename]')}`,
      "my helper's file.ts": 'export const x = 5;',
    });
    const name = "it's a #1 plügin.ts";
    expect((await files.plugin(name))['facts']).toEqual([5, files.path(name)]);
  });
});
