import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { build, type LogLevel, type OutputChunk, type RolldownLog } from 'rolldown';
import { findChunkGroup, listStalePaths } from './chunk-groups.ts';
import {
  compactPackages,
  importsThroughStarter,
  lazyRequires,
  onlyAscii,
  plainExports,
  withoutSubprograms,
  wrapped,
} from './fast-start.ts';
import { joinFiles } from './join-files.ts';
import { bundlePackages, bundleUsers, copyPdfjs } from './own-copies.ts';
import { pruneDeclarations } from './prune-declarations.ts';
import { describeLicenses } from './third-party-licenses.ts';

// Each becomes a file of dist/bin.
const PROGRAMS: Readonly<Record<string, string>> = {
  hookline: 'src/cli/start.ts',
  main: 'src/cli/main.ts',
};

const FORWARDER = 'src/cli/forward.ts';
/** It knows the agent from its own name; `agent-hook.js` is passed one. */
const FORWARDER_FILES = ['claude-hook.js', 'cline-hook.js', 'agent-hook.js'];

// jiti is handed to Node by its path, and ripgrep looks its program up by name: they need their own
// files. The others are loaded rarely, so bundling them would only add bytes.
const EXTERNAL = [
  /^jiti(\/|$)/,
  /^@vscode\/ripgrep$/,
  /^(?:chokidar|es-module-lexer|libsql|oxc-transform|tinyglobby)(\/|$)/,
  /^@modelcontextprotocol\/client$/,
];

const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.build.json'];

const isOptional = process.argv.includes('--if-stale');
if (!isOptional || isStale()) {
  rmSync('dist', { recursive: true, force: true });
  compileLibrary();
  await joinFiles();
  pruneDeclarations('dist', listTypeEntries());
  const ownCopies = [...(await bundleUsers()), ...(await bundlePackages()), ...copyPdfjs()];
  await bundlePrograms(ownCopies);
  await bundleForwarder();
}

function isStale(): boolean {
  const newestInput = Math.max(...INPUTS.filter((file) => existsSync(file)).flatMap(modifiedTimes));
  const product = 'dist/bin/hookline.js';
  return !existsSync(product) || statSync(product).mtimeMs < newestInput;
}

function modifiedTimes(file: string): number[] {
  const stats = statSync(file);
  if (!stats.isDirectory()) return [stats.mtimeMs];
  const inside = readdirSync(file).flatMap((name) => modifiedTimes(path.join(file, name)));
  return [stats.mtimeMs, ...inside];
}

function compileLibrary(): void {
  const compiler = [path.join('node_modules', 'typescript', 'bin', 'tsc'), '-p'];
  const { status } = spawnSync(process.execPath, [...compiler, 'tsconfig.build.json'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}

function listTypeEntries(): readonly string[] {
  const manifest: { exports: Record<string, string | { types: string }> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  return Object.values(manifest.exports).flatMap((each) =>
    typeof each === 'string' ? [] : [path.relative('dist', each.types)],
  );
}

async function bundlePrograms(ownCopies: readonly string[]): Promise<void> {
  const { output } = await build({
    input: { ...PROGRAMS },
    platform: 'node',
    external: EXTERNAL,
    // The CommonJS build of jsonc-parser asks for its parts in a way that no bundler follows.
    resolve: { mainFields: ['module', 'main'] },
    plugins: [
      plainExports,
      lazyRequires,
      importsThroughStarter,
      compactPackages,
      onlyAscii,
      withoutSubprograms,
      wrapped,
    ],
    // The program exports nothing that anybody but its own chunks would look for.
    preserveEntrySignatures: 'allow-extension',
    transform: { target: 'node20.19' },
    onLog: failOnWarning,
    // A slow machine is no reason to fail.
    checks: { bundlerTimings: false },
    output: {
      dir: 'dist/bin',
      // Node starts CommonJS a third faster than ES modules.
      format: 'cjs',
      // What V8 made of a file is found by the file's name, so that every part but the first has a hash.
      entryFileNames: ({ name }) => (name === 'hookline' ? '[name].js' : '[name]-[hash].js'),
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ name: findChunkGroup, debugName: 'chunk-groups' }],
      },
      banner: (chunk) => (chunk.name === 'hookline' ? '#!/usr/bin/env node' : ''),
      minify: false,
    },
  });
  writeFileSync('dist/bin/package.json', '{ "type": "commonjs" }\n');
  const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk');
  checkGroups(chunks);
  nameMainPart(chunks);
  chmodSync('dist/bin/hookline.js', 0o755);
  writeFileSync(
    'dist/THIRD-PARTY-LICENSES.txt',
    describeLicenses([...chunks.flatMap((chunk) => chunk.moduleIds), ...ownCopies]),
  );
}

/** Writes the forwarder of events whole into each of its files, because every further file takes time to find and read. */
async function bundleForwarder(): Promise<void> {
  const { output } = await build({
    input: FORWARDER,
    platform: 'node',
    external: /^node:/,
    plugins: [lazyRequires, onlyAscii],
    transform: { target: 'node20.19' },
    onLog: failOnWarning,
    checks: { bundlerTimings: false },
    write: false,
    output: { format: 'cjs', banner: '#!/usr/bin/env node', minify: false, codeSplitting: false },
  });
  const [chunk] = output;
  for (const name of FORWARDER_FILES) {
    writeFileSync(path.join('dist/bin', name), chunk.code, { mode: 0o755 });
  }
}

/** A warning that a build may print is read by nobody. */
function failOnWarning(level: LogLevel, { message }: RolldownLog): void {
  if (level === 'warn') throw new Error(`the bundler warns: ${message}`);
}

/** A path that fits no module of the program would silently put its files in other parts. */
function checkGroups(chunks: readonly OutputChunk[]): void {
  const stale = listStalePaths(chunks.flatMap((chunk) => chunk.moduleIds));
  if (stale.length > 0) throw new Error(`chunk-groups.ts names no module: ${stale.join(', ')}`);
}

/** Tells the starter what the part is called that it loads first. */
function nameMainPart(chunks: readonly OutputChunk[]): void {
  const main = chunks.find(({ name, isEntry }) => isEntry && name === 'main');
  const starter = readFileSync('dist/bin/hookline.js', 'utf8');
  const named = starter.replace('"./main.js"', JSON.stringify(`./${main?.fileName}`));
  if (main === undefined || named === starter) throw new Error('the starter names no main part');
  writeFileSync('dist/bin/hookline.js', named);
}
