import { describe, expect, it } from 'vitest';
import { findOwner } from '../../../src/plugins/load/module-instances.ts';
import { resolveSourceStack } from '../../../src/plugins/load/explain-load-error.ts';
import { createPluginFiles, packaged } from './plugin-files.ts';

const FAILING = `
  import { fail } from './fail';
  interface Never { used: string }
  export default {
    name: 'a',
    stack: () => { try { return fail() } catch (error) { return (error as Error).stack } },
  };`;

describe('the owner of a stack trace', () => {
  it('is the plugin in whose file the innermost call is', async () => {
    const files = createPluginFiles({
      'a.ts': FAILING,
      'fail.ts': `export function fail(): never {\n  throw new Error('failed');\n}`,
      'b.ts': `export default { name: 'b', call: (other: () => string) => other() };`,
      'old.js': `module.exports = { name: 'old', stack: () => new Error('old').stack };`,
    });
    const a = await files.plugin('a.ts');
    const copy = await files.plugin('a.ts');
    const b = await files.plugin('b.ts');
    const old = await files.plugin('old.js');
    expect(findOwner(a['stack']())).toBe(files.path('a.ts'));
    expect(findOwner(copy['stack']())).toBe(files.path('a.ts'));
    expect(findOwner(b['call'](() => a['stack']()))).toBe(files.path('a.ts'));
    expect(findOwner(b['call'](() => new Error('ours').stack))).toBe(files.path('b.ts'));
    expect(findOwner(old['stack']())).toBe(files.path('old.js'));
  });

  it('is found by the source file, too', async () => {
    const files = createPluginFiles({ 'a.ts': FAILING, 'fail.ts': 'export const fail = () => 1;' });
    await files.plugin('a.ts');
    expect(findOwner(`Error: x\n    at fail (${files.path('fail.ts')}:1:2)`)).toBe(
      files.path('a.ts'),
    );
    expect(findOwner(`Error: x\n    at file://${files.path('a.ts')}:1:2`)).toBe(files.path('a.ts'));
    expect(findOwner(`${files.path('a.ts')}:3\nconst = 5;\nSyntaxError: x`)).toBe(
      files.path('a.ts'),
    );
  });

  it('is the plugin that imported a file as it ran', async () => {
    const files = createPluginFiles({
      'a.ts': `export default { name: 'a', stack: async (name: string) => (await import('./' + name)).stack() };`,
      'late.ts': `export const stack = () => new Error('late').stack;`,
    });
    const plugin = await files.plugin('a.ts');
    const stack: string = await plugin['stack']('late.ts');
    expect(findOwner(stack.split('\n').slice(0, 2).join('\n'))).toBe(files.path('a.ts'));
  });

  it('is the package whose code failed', async () => {
    const files = createPluginFiles({
      'package/a.ts': `import dep from 'dep'; export default { name: 'a', stack: dep };`,
      'package/node_modules/dep/package.json': '{ "main": "main.js" }',
      'package/node_modules/dep/main.js': `module.exports = () => new Error('in dep').stack.split('\\n').slice(0, 2).join('\\n');`,
    });
    const entry = packaged(files, 'package/a.ts', 'package');
    const { stack } = await files.plugin('package/a.ts', { entry });
    expect(findOwner(stack())).toBe(files.path('package/a.ts'));
  });

  it('is null when no plugin takes part', () => {
    expect(findOwner(new Error('ours').stack ?? '')).toBeNull();
    expect(findOwner('')).toBeNull();
    expect(findOwner('Error: x\n    at file:///%zz:1:2')).toBeNull();
  });
});

describe('a stack trace', () => {
  it('has the positions of the source', async () => {
    const files = createPluginFiles({
      'a.ts': FAILING,
      'fail.ts': `\n\nexport function fail(): never {\n  throw new Error('failed');\n}`,
    });
    for (const copy of ['one', 'two']) {
      const { stack } = await files.plugin('a.ts', { copy });
      const lines = resolveSourceStack(stack()).split('\n');
      expect(lines[1]).toBe(`    at fail (${files.path('fail.ts')}:4:9)`);
      expect(lines[2]).toContain(`(${files.path('a.ts')}:6:`);
      expect(lines.at(-1)).not.toContain('.map');
    }
  });
});
