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
import { build, type OutputChunk } from 'rolldown';
import {
  importsThroughStarter,
  lazyRequires,
  onlyAscii,
  withoutSubprograms,
} from './fast-start.ts';
import { joinFiles } from './join-files.ts';
import { describeLicenses } from './third-party-licenses.ts';

// Each becomes a file of dist/bin.
const PROGRAMS: Readonly<Record<string, string>> = {
  hookline: 'src/cli/start.ts',
  main: 'src/cli/main.ts',
};

// jiti is handed to Node by its path, secretlint looks its rules up by name, ripgrep its program and
// pdfjs its parts: they need their own files. The others are loaded rarely, so bundling them would
// only add bytes.
const EXTERNAL = [
  /^jiti(\/|$)/,
  /^@secretlint\//,
  /^@vscode\/ripgrep$/,
  /^pdfjs-dist(\/|$)/,
  /^(?:ai|chokidar|defuddle|es-module-lexer|linkedom|oxc-transform|tinyglobby)(\/|$)/,
  /^@ai-sdk\//,
  /^@clack\/prompts$/,
  /^@modelcontextprotocol\/client$/,
];

// Needed only to run hooks, not to look at them: kept apart so that it is not loaded for that.
const RUNNING = pathPattern(
  'src/(?:hooks|trace)/',
  'src/base/(?:time-limit|network-addresses|http-body)\\.',
  'src/dialects/known-tools\\.',
  'src/process/(?:run|spawn|end-tree|process-table|bounded-output)\\.',
  'src/host/(?:embed/|watch-hook-files)',
  'src/trust/(?:lock|content-store)\\.',
  'node_modules/ulid/',
);

// Needed only to run hooks of one kind.
const RUNNING_CLAUDE = pathPattern(
  'src/dialects/claude/(?:handlers|input|output|codec|entry-handlers|port|write-answer)\\b',
);
const RUNNING_FILES = pathPattern(
  'src/dialects/(?:command-handler|cline-files/(?:codec|output|payload|read-payload|write-answer))\\.',
);

// Needed only where something is configured in Claude's format.
const CLAUDE =
  /src[\\/]dialects[\\/]claude[\\/](?:binding|config|found-hook|identity|match|sources)\b|src[\\/]mcp[\\/](?:parse-servers|edit-servers)\.|src[\\/]base[\\/](?:located-json|edit-json|field-reader|canonical-json)\.|node_modules[\\/]jsonc-parser/;

// Needed only to write, copy and remove hooks.
const WRITING = pathPattern(
  'src/dialects/[a-z-]+/(?:templates/|import-hooks\\.)',
  'src/dialects/(?:hooks-file|write-hook-file)\\.',
);

// Needed only where an MCP server is configured.
const MCP = pathPattern('src/mcp/(?!answer|server-config)');

// Needed only where a plugin lies on disk.
const PLUGINS_FOUND = pathPattern(
  'src/plugins/(?:find/|manifest\\.|contract/(?:plugin|runtime-hooks)\\.)',
  'src/dialects/cline-plugins/(?:binds|disabled)\\.',
);

// Needed only where a session has plugins; what checks schemas only where one of them has any.
const PLUGINS = pathPattern(
  'src/host/plugins/(?!check-plugins|plugin-source|plugin-options|session-plugins|contributions/(?:json-schema|tool-name-conflicts))',
  'src/plugins/(?:api|call-with-timeout|command|health|registry)\\.',
  'src/plugins/contract/',
  'src/dialects/cline-plugins/(?!binds|dialect|disabled|discover|events|machine)',
  'src/plugins/messages/',
  'src/compat/cline/llms/',
);

// Of the agent, what only some runs need.
const AGENT_RARELY = pathPattern(
  'src/agent/models/(?:ai-sdk|sdk-[a-z]+|failures|thoughts)\\.',
  'src/agent/tools/(?:web|toolsets)/',
  'src/agent/tools/files/(?:pdf-text|notebook|image)[a-z-]*\\.',
);

// Needed only where an agent runs.
const AGENT =
  /src[\\/](?:agent|sessions|permissions[\\/](?!permissions\.)|mcp[\\/]answer|host[\\/](?:agent[\\/](?!agents)|mcp|open-permissions|git-worktrees|plugins[\\/](?:check-plugins|session-plugins|contributions[\\/]tool-name-conflicts))|process[\\/]env-files)\b/;

// What `hooks list` needs, in one file: looking a file up and reading it costs half a millisecond.
const LOOKING =
  /src[\\/](?:base|dialects|host(?![\\/]plugins[\\/]contributions[\\/]json-schema)|mcp[\\/]server-config|process|trust|cli[\\/](?:context|plugin-options|words[\\/](?:found|unbound)|commands[\\/]hooks-list))\b/;

const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.build.json'];

const isOptional = process.argv.includes('--if-stale');
if (!isOptional || isStale()) {
  rmSync('dist', { recursive: true, force: true });
  compileLibrary();
  await joinFiles();
  await bundlePrograms();
}

/** One pattern for paths on every system. */
function pathPattern(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|').replaceAll('/', '[\\\\/]'));
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

async function bundlePrograms(): Promise<void> {
  const { output } = await build({
    input: { ...PROGRAMS },
    platform: 'node',
    external: EXTERNAL,
    // The CommonJS build of jsonc-parser asks for its parts in a way that no bundler follows.
    resolve: { mainFields: ['module', 'main'] },
    plugins: [lazyRequires, importsThroughStarter, onlyAscii, withoutSubprograms],
    // The program exports nothing that anybody but its own chunks would look for.
    preserveEntrySignatures: 'allow-extension',
    transform: { target: 'node20.19' },
    output: {
      dir: 'dist/bin',
      // Node starts CommonJS a third faster than ES modules.
      format: 'cjs',
      // What V8 made of a file is found by the file's name, so that every part but the first has a hash.
      entryFileNames: ({ name }) => (name === 'hookline' ? '[name].js' : '[name]-[hash].js'),
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          // Most command lines are so plain that nobody needs it.
          { name: 'shell-parser', test: /node_modules[\\/]unbash/ },
          { name: 'running', test: RUNNING },
          { name: 'running-claude', test: RUNNING_CLAUDE },
          { name: 'running-files', test: RUNNING_FILES },
          { name: 'writing', test: WRITING },
          { name: 'claude', test: CLAUDE },
          { name: 'mcp', test: MCP },
          { name: 'plugins-found', test: PLUGINS_FOUND },
          { name: 'plugins', test: PLUGINS },
          { name: 'agent-rarely', test: AGENT_RARELY },
          { name: 'agent', test: AGENT },
          { name: 'looking', test: LOOKING },
        ],
      },
      banner: (chunk) => (chunk.name === 'hookline' ? '#!/usr/bin/env node' : ''),
      minify: false,
    },
  });
  writeFileSync('dist/bin/package.json', '{ "type": "commonjs" }\n');
  const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk');
  nameMainPart(chunks);
  chmodSync('dist/bin/hookline.js', 0o755);
  writeFileSync(
    'dist/bin/THIRD-PARTY-LICENSES.txt',
    describeLicenses(chunks.flatMap((chunk) => chunk.moduleIds)),
  );
}

/** Tells the starter what the part is called that it loads first. */
function nameMainPart(chunks: readonly OutputChunk[]): void {
  const main = chunks.find(({ name, isEntry }) => isEntry && name === 'main');
  const starter = readFileSync('dist/bin/hookline.js', 'utf8');
  const named = starter.replace('"./main.js"', JSON.stringify(`./${main?.fileName}`));
  if (main === undefined || named === starter) throw new Error('the starter names no main part');
  writeFileSync('dist/bin/hookline.js', named);
}
