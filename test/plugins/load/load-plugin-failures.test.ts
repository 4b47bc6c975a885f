import { describe, expect, it } from 'vitest';
import { createPluginFiles } from './plugin-files.ts';

async function messageOf(text: string, more: Readonly<Record<string, string>> = {}) {
  const files = createPluginFiles({ 'a.ts': text, ...more });
  const loading = await files.load('a.ts');
  expect(loading.kind).toBe('failed');
  const message = loading.kind === 'failed' ? loading.message : '';
  return message.replaceAll(`${files.directory}/`, '');
}

describe('a plugin that cannot be imported', () => {
  it.each([
    ['wrong TypeScript', 'const ü = "äöü";\nconst x: = 5;', 'a.ts:2:10: Unexpected token'],
    [
      'what is not closed',
      'export default {\n  name: "a",\n',
      'a.ts:3:1: Expected `}` but found `EOF`',
    ],
    [
      'a name twice',
      'const a = 1;\nconst a = 2;\nexport {};',
      'a.ts:2:7: Identifier `a` has already been declared',
    ],
  ])('names line and column of %s', async (_what, text, expected) => {
    expect(await messageOf(text)).toContain(expected);
  });

  it('names the file that is wrong', async () => {
    const message = await messageOf(`import './lib/b'; export default {};`, {
      'lib/b.ts': 'export const b = 1;\n\nexport const = 5;',
    });
    expect(message).toBe('lib/b.ts:3:14: Unexpected token');
    expect(
      await messageOf(`import d from './d.json'; export default d;`, { 'd.json': '{ "a": }' }),
    ).toMatch(/^d\.json: .*JSON/);
  });

  it('reports the thrown error, and its position in the source', async () => {
    const text = `
      import { createTool } from "@cline/core";
      interface Long { of: string; several: string }

      function build(): never {
        throw new TypeError('cannot be built');
      }
      export default build();`;
    expect(await messageOf(text)).toBe(
      'a.ts:6:15: it threw while it was imported: cannot be built',
    );
  });

  it.each([
    ['a text', `throw 'just text';`, 'it threw while it was imported: just text'],
    ['nothing', `throw undefined;`, 'it threw while it was imported: undefined'],
    [
      'what cannot be read',
      `throw { toString() { throw new Error() } };`,
      'it threw something that cannot be read',
    ],
    [
      'an error that refuses',
      `throw new (class extends Error { get message() { throw 1 } })();`,
      'cannot be read',
    ],
    [
      'a rejected promise',
      `await Promise.reject(new Error('too late'));`,
      'it threw while it was imported: too late',
    ],
  ])('may throw %s', async (_what, text, expected) => {
    expect(await messageOf(`export default {};\n${text}`)).toContain(expected);
  });

  it('names what another file does not export', async () => {
    const message = await messageOf(`\nimport { nothing } from './b';\nexport default nothing;`, {
      'b.ts': 'export const something = 5;',
    });
    expect(message).toContain('a.ts:2');
    expect(message).toContain(`does not provide an export named 'nothing'`);
  });

  it('names the file of its own that is not there', async () => {
    const message = await messageOf(`// first\nimport x from './gone';\nexport default x;`);
    expect(message).toBe(`Cannot find './gone' imported from a.ts:2`);
  });

  it('may be gone itself, or be a directory', async () => {
    const files = createPluginFiles({ 'dir.ts/x': '' });
    expect(await files.load('gone.ts')).toEqual({
      kind: 'failed',
      message: `${files.path('gone.ts')} not found`,
    });
    expect(await files.load('dir.ts')).toMatchObject({ kind: 'failed' });
  });

  it('does not affect other plugins', async () => {
    const files = createPluginFiles({
      'good.ts': `export default { name: 'good' };`,
      'syntax.ts': 'export default {,};',
      'throws.ts': `throw new Error('no'); export default {};`,
      'helper.ts': 'export const add = 1;',
      'types.d.ts': 'export declare const x: number;',
    });
    const names = ['syntax.ts', 'throws.ts', 'helper.ts', 'types.d.ts', 'good.ts'];
    const kinds = (await Promise.all(names.map((name) => files.load(name)))).map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['failed', 'failed', 'helper', 'helper', 'loaded']);
  });
});
