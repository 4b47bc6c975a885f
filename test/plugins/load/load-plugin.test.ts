import { describe, expect, it } from 'vitest';
import { createPluginFiles, packaged } from './plugin-files.ts';

const FINE = `{ name: 'fine', manifest: { capabilities: ['tools'] } }`;

describe('the plugin of a file', () => {
  it('is its default export', async () => {
    const files = createPluginFiles({ 'a.ts': `export default ${FINE}; export const other = 5;` });
    const loading = await files.load('a.ts');
    expect(loading).toMatchObject({ kind: 'loaded', name: 'fine', entry: files.entry('a.ts') });
    expect(loading.kind === 'loaded' && loading.plugin).toEqual({
      name: 'fine',
      manifest: { capabilities: ['tools'] },
    });
  });

  it('is otherwise what it exports as "plugin"', async () => {
    const files = createPluginFiles({ 'a.ts': `export const plugin = ${FINE};` });
    expect(await files.plugin('a.ts')).toMatchObject({ name: 'fine' });
  });

  it.each(['.ts', '.mts', '.js', '.mjs'])('may be in a file that ends in %s', async (ending) => {
    const files = createPluginFiles({ [`a${ending}`]: `export default ${FINE};` });
    expect(await files.plugin(`a${ending}`)).toMatchObject({ name: 'fine' });
  });

  it('may be one level deeper, as tools write it that make CommonJS into ES modules', async () => {
    const files = createPluginFiles({
      'a.mjs': `export default { __esModule: true, default: ${FINE} };`,
    });
    expect(await files.plugin('a.mjs')).toMatchObject({ name: 'fine' });
  });

  it('is returned when it is broken, and checked elsewhere', async () => {
    const files = createPluginFiles({
      'a.ts': `export default { name: 'no-manifest' };`,
      'b.ts': `export default { setup() {} };`,
      'c.ts': `export default { get manifest() { throw new Error('never looked at') } };`,
    });
    expect(await files.plugin('a.ts')).toEqual({ name: 'no-manifest' });
    expect(Object.keys(await files.plugin('b.ts'))).toEqual(['setup']);
    expect(Object.keys(await files.plugin('c.ts'))).toEqual(['manifest']);
  });
});

describe('a file without a plugin', () => {
  it.each([
    ['a helper', 'export const add = (a: number, b: number) => a + b;'],
    ['types', 'export interface Shape { sides: number }'],
    ['nothing', ''],
    ['an object of another kind', 'export default { colour: "red" };'],
    ['a text', 'export default "text";'],
  ])('is a helper: %s', async (_what, text) => {
    const files = createPluginFiles({ 'a.ts': text });
    expect(await files.load('a.ts')).toEqual({ kind: 'helper' });
  });

  it('is not even read when it only declares types', async () => {
    const files = createPluginFiles({ 'a.d.ts': 'export {{{' });
    expect(await files.load('a.d.ts')).toEqual({ kind: 'helper' });
  });

  it('is reported when its package lists it', async () => {
    const files = createPluginFiles({ 'a.ts': 'export const add = 5;' });
    expect(await files.load('a.ts', { entry: packaged(files, 'a.ts') })).toEqual({
      kind: 'failed',
      message: `${files.path('a.ts')} exports no plugin, and its package my-package lists it as one; export an object with "name" and "manifest" as default`,
    });
  });

  it.each([
    [
      'a function',
      `export default () => (${FINE});`,
      'exports a function, and a plugin is an object',
    ],
    ['a class', 'export default class Plugin {}', 'exports a function, and a plugin is an object'],
    ['a promise', `export default Promise.resolve(${FINE});`, 'exports a promise'],
    ['a list', `export default [${FINE}];`, 'exports a list, and a file has one plugin'],
    [
      'another name',
      `export const mine = ${FINE};`,
      'exports a plugin as "mine"; export it as default',
    ],
  ])('gets a hint instead of %s', async (_what, text, message) => {
    const files = createPluginFiles({ 'a.ts': text });
    expect(await files.load('a.ts')).toEqual({
      kind: 'failed',
      message: expect.stringContaining(`${files.path('a.ts')} ${message}`),
    });
  });
});

describe('the time for an import', () => {
  it('ends an import that never does', async () => {
    const files = createPluginFiles({
      'a.ts': 'await new Promise(() => undefined); export default {};',
    });
    expect(await files.load('a.ts', { timeoutMs: 50 })).toEqual({
      kind: 'failed',
      message: `importing ${files.path('a.ts')} took longer than 50 ms; do what takes long in its setup, a hook or a tool, not while the file is imported`,
    });
  });

  it('is not waited for after its caller gave up', async () => {
    const files = createPluginFiles({ 'a.ts': 'await new Promise(() => undefined);' });
    const input = new AbortController();
    const loading = files.load('a.ts', { signal: input.signal });
    input.abort();
    expect(await loading).toEqual({
      kind: 'failed',
      message: `importing ${files.path('a.ts')} was given up`,
    });
  });

  it('does not start when its caller has aborted before', async () => {
    const files = createPluginFiles({ 'a.ts': `(globalThis as any).begunInTest = true;` });
    const loading = await files.load('a.ts', { signal: AbortSignal.abort() });
    expect(loading).toMatchObject({ kind: 'failed' });
    await files.load('a.ts', { timeoutMs: 20_000, signal: AbortSignal.abort() });
    expect(Reflect.get(globalThis, 'begunInTest')).toBeUndefined();
  });

  it('may be aborted for many plugins at once, without a warning of Node.js', async () => {
    const names = Array.from({ length: 15 }, (_, at) => `p${at}.ts`);
    const text = 'await new Promise(() => undefined);';
    const files = createPluginFiles(Object.fromEntries(names.map((name) => [name, text])));
    const warnings: string[] = [];
    const hear = ({ message }: Error): number => warnings.push(message);
    process.on('warning', hear);
    const input = new AbortController();
    const loadings = Promise.all(names.map((name) => files.load(name, { signal: input.signal })));
    input.abort();
    expect((await loadings).map(({ kind }) => kind)).toEqual(names.map(() => 'failed'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });

  it('is each plugin’s own', async () => {
    const files = createPluginFiles({
      'endless.ts': 'await new Promise(() => undefined);',
      'a.ts': `export default ${FINE};`,
      'b.ts': `await Promise.resolve(); export default ${FINE};`,
    });
    const loadings = await Promise.all([
      files.load('a.ts'),
      files.load('endless.ts', { timeoutMs: 50 }),
      files.load('b.ts'),
    ]);
    expect(loadings.map(({ kind }) => kind)).toEqual(['loaded', 'failed', 'loaded']);
  });
});
