import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createPluginFiles, type PluginFiles } from './plugin-files.ts';

/** The value that a TypeScript file of a plugin exports about itself. */
async function factsOf(text: string, more: Readonly<Record<string, string>> = {}) {
  const files = createPluginFiles({ 'a.ts': text, ...more });
  const { facts } = await files.plugin('a.ts');
  return { files, facts };
}

const plugin = (facts: string): string =>
  `export default { name: 'a', manifest: { capabilities: ['tools'] }, facts: ${facts} };`;

describe('TypeScript', () => {
  it('has enums, namespaces, parameter properties and other syntax beyond types', async () => {
    const { facts } = await factsOf(`
      enum Colour { Red, Green = 'green' }
      const enum Size { Small = 3 }
      namespace Shapes { export const sides = 4; export namespace Inner { export const deep = true } }
      class Point { constructor(readonly x: number, private y = 2) {} sum() { return this.x + this.y } }
      abstract class Base<T> { declare never: string; kept?: T; abstract name(): string }
      class Child extends Base<number> { override name() { return 'child' } }
      function both(a: string): string; function both(a: number): number; function both(a: any) { return a }
      const narrowed = { a: 1 } satisfies Record<string, number>;
      let definite!: number; definite = narrowed.a!;
      ${plugin(`[Colour.Red, Colour[0], Colour.Green, Size.Small, Shapes.sides, Shapes.Inner.deep,
        new Point(1).sum(), new Child().name(), 'never' in new Child(), both(5), <number>definite]`)}
    `);
    expect(facts).toEqual([0, 'Red', 'green', 3, 4, true, 3, 'child', false, 5, 1]);
  });

  it('may await at the top', async () => {
    const { facts } = await factsOf(`const five = await Promise.resolve(5); ${plugin('five')}`);
    expect(facts).toBe(5);
  });

  it('need not have the packages whose types it imports', async () => {
    const { facts } = await factsOf(`
      import type { One } from 'not-installed-1';
      import { type Two } from 'not-installed-2';
      import { Three } from 'not-installed-3';
      export type { Four } from 'not-installed-4';
      import type Five = require('not-installed-5');
      const value: One & Two & Three = 5 as never;
      type Six = import('not-installed-6').Six;
      ${plugin('value')}
    `);
    expect(facts).toBe(5);
  });

  it('may have type errors', async () => {
    const { facts } = await factsOf(`const text: string = 5; ${plugin('text')}`);
    expect(facts).toBe(5);
  });

  it('has decorators, as with experimentalDecorators', async () => {
    const { facts } = await factsOf(`
      const seen: string[] = [];
      const mark = (_target: unknown, name: string) => { seen.push(name) };
      const twice = (_target: unknown, _name: string, own: PropertyDescriptor) =>
        ({ ...own, value: () => own.value() * 2 });
      const plusOne = (_target: unknown, _name: string, own: PropertyDescriptor) =>
        ({ ...own, value: () => own.value() + 1 });
      const which = (_target: unknown, name: string, index: number) => { seen.push(name + index) };
      const named = (name: string) => (own: new () => object) => class extends own { static called = name };
      @named('outer') @named('inner')
      class Marked { @mark field = 1; @twice @plusOne method() { return 5 } own(_a: string, @which _b: string) {} }
      ${plugin('[seen, new Marked().field, new Marked().method(), (Marked as any).called]')}
    `);
    expect(facts).toEqual([['field', 'own1'], 1, 12, 'outer']);
  });

  it('has `using`', async () => {
    const { facts } = await factsOf(`
      const seen: string[] = [];
      { using one = { [Symbol.dispose ?? Symbol.for('Symbol.dispose')]: () => { seen.push('closed') } }; seen.push('open') }
      ${plugin('seen')}
    `);
    expect(facts).toEqual(['open', 'closed']);
  });

  it('may begin with a byte-order mark, or with the program that runs it', async () => {
    const files = createPluginFiles({
      'bom.ts': `\uFEFF${plugin('1')}`,
      'bang.ts': `#!/usr/bin/env bun\n${plugin('2')}`,
    });
    expect((await files.plugin('bom.ts'))['facts']).toBe(1);
    expect((await files.plugin('bang.ts'))['facts']).toBe(2);
  });
});

describe('the module variables of a plugin', () => {
  const expected = (files: PluginFiles, name: string) => ({
    url: pathToFileURL(files.path(name)).href,
    dirname: files.directory,
    filename: files.path(name),
  });

  it('are about the source file', async () => {
    const { facts, files } = await factsOf(
      plugin(
        `{ url: import.meta.url, dirname: import.meta.dirname, filename: import.meta.filename }`,
      ),
    );
    expect(facts).toEqual(expected(files, 'a.ts'));
  });

  it('include those of CommonJS, where it asks for them', async () => {
    const { facts, files } = await factsOf(
      plugin(
        `{ dirname: __dirname, filename: __filename, five: require('./five.cjs'), sep: require('node:path').sep }`,
      ),
      { 'five.cjs': 'module.exports = 5;' },
    );
    expect(facts).toEqual({
      dirname: files.directory,
      filename: files.path('a.ts'),
      five: 5,
      sep: path.sep,
    });
  });

  it('leaves names alone that the module has itself', async () => {
    const { facts } = await factsOf(
      `
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      const __dirname = 'mine';
      ${plugin(`[require('./five.json'), __dirname]`)}
    `,
      { 'five.json': '5' },
    );
    expect(facts).toEqual([5, 'mine']);
  });

  it('never say that it is the main program', async () => {
    const { facts } = await factsOf(`
      let hasRun = false;
      if (import.meta.main) hasRun = true;
      ${plugin('hasRun')}
    `);
    expect(facts).toBe(false);
  });

  it('includes where other modules are', async () => {
    const { facts, files } = await factsOf(
      plugin(
        `[import.meta.resolve('./asset.md'), import.meta.resolve('fs'), import.meta.resolve('dependency')]`,
      ),
      {
        'node_modules/dependency/package.json': '{ "main": "main.js" }',
        'node_modules/dependency/main.js': '',
      },
    );
    const url = (name: string) => pathToFileURL(files.path(name)).href;
    expect(facts).toEqual([url('asset.md'), 'node:fs', url('node_modules/dependency/main.js')]);
  });
});
