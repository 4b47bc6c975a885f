import { build, type Plugin } from 'rolldown';

// Every plugin waits for these: finding and reading ten files takes longer than what they do.
const JOINED = ['dist/plugins/load/load-plugin.js', 'dist/plugins/load/transpile/transpile.js'];

/** Dynamic imports stay files of their own, and so does the module whose AsyncLocalStorage others read. */
const keepApart: Plugin = {
  name: 'keep-apart',
  resolveId: (id, _importer, { kind }) =>
    kind === 'dynamic-import' || id.endsWith('/plugin-ownership.js')
      ? { id, external: true }
      : null,
};

/** Writes what some built files always import into them. Nothing of it may keep a state of its own. */
export async function joinFiles(): Promise<void> {
  for (const file of JOINED) {
    await build({
      input: file,
      platform: 'node',
      external: /^node:/,
      plugins: [keepApart],
      output: { file, format: 'esm', minify: false },
    });
  }
}
