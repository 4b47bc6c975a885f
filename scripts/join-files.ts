import { build, type Plugin } from 'rolldown';

// Every plugin waits for these: finding and reading ten files takes longer than what they do.
const JOINED = ['dist/plugins/load/load-plugin.js', 'dist/plugins/load/transpile/transpile.js'];

/** What is imported as it runs stays a file of its own. */
const laterStaysApart: Plugin = {
  name: 'later-stays-apart',
  resolveId: (id, _importer, { kind }) =>
    kind === 'dynamic-import' ? { id, external: true } : null,
};

/** Writes what some built files always import into them. Nothing of it may keep a state of its own. */
export async function joinFiles(): Promise<void> {
  for (const file of JOINED) {
    await build({
      input: file,
      platform: 'node',
      external: /^node:/,
      plugins: [laterStaysApart],
      output: { file, format: 'esm', minify: false },
    });
  }
}
