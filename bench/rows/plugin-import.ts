import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'oxc-transform';
import { spawnBare } from '../bare.ts';
import { PEER } from '../peer.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

const BECAUSE = 'the whole process, against importing the same file already built';

/** How long a session waits for a plugin that is written in TypeScript. */
export const pluginRows: readonly Row[] = [
  {
    name: 'importing a plugin of 300 lines of TypeScript, first time',
    bound: { of: 'ratio', atMost: 2.5, because: BECAUSE },
    open: (options) => openImport(options, { isFirst: true }),
  },
  {
    name: 'importing a plugin of 300 lines of TypeScript, again',
    bound: { of: 'ratio', atMost: 1.3, because: BECAUSE },
    open: (options) => openImport(options, { isFirst: false }),
  },
];

/** The same plugins in both, each with its own `@cline/core`. */
export const peerPluginRows: readonly Row[] = [
  {
    name: `loading 10 plugins that import values from ${PEER}, first time, beside ${PEER}`,
    bound: { of: 'peer', atMost: 0.15, because: 'the whole process' },
    open: openBesidePeer,
  },
];

const LOAD = `
const [loader, provider, cacheDirectory, ...files] = process.argv.slice(1);
const { loadPlugin } = await import(loader);
const provided = provider === '' ? () => null : (await import(provider)).findProvidedModule;
const loadings = await Promise.all(files.map((file) => loadPlugin({
  entry: { file, label: file, package: null, capabilities: null },
  provided, cacheDirectory, copy: 'bench', timeoutMs: 10_000,
})));
process.stdout.write(loadings.map(({ kind }) => kind).join());
`;

const IMPORT = `
const { default: plugin } = await import(process.argv[1]);
process.stdout.write(typeof plugin === 'object' ? 'loaded' : 'no plugin');
`;

interface Kind {
  readonly isFirst: boolean;
}

async function openImport(options: RowOptions, { isFirst }: Kind): Promise<Contest> {
  const place = createTempWorkspace();
  const cache = path.join(place.home, 'cache');
  const source = path.join(place.workspace, 'plugin.ts');
  const built = path.join(place.workspace, 'plugin.mjs');
  const text = createLongPlugin();
  writeFileSync(source, text);
  writeFileSync(built, transformSync(source, text).code);
  const us = node(place, [
    LOAD,
    findLibraryFile(options, 'plugins/load/load-plugin.js'),
    '',
    cache,
    source,
  ]);
  const bare = node(place, [IMPORT, pathToFileURL(built).href]);
  await refuseUnless('loaded', us);
  await refuseUnless('loaded', bare);
  return {
    samples: options.quick ? 30 : 100,
    batch: 1,
    us,
    bare,
    ...(isFirst ? { settle: () => removeCache(cache) } : {}),
    async close() {
      place.remove();
    },
  };
}

const COUNT = 10;

const LOAD_WITH_PEER = `
const { loadAgentPluginsFromPathsWithDiagnostics } = await import(${JSON.stringify(PEER)});
const files = process.argv.slice(1);
const { plugins, failures } = await loadAgentPluginsFromPathsWithDiagnostics(files, {});
process.stdout.write([...plugins.map(() => 'loaded'), ...failures.map(({ message }) => message)].join());
process.exit(0);
`;

async function openBesidePeer(options: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const cache = path.join(place.home, 'cache');
  const files = writePlugins(place);
  const loader = findLibraryFile(options, 'plugins/load/load-plugin.js');
  const provider = findLibraryFile(options, 'compat/cline/provided.js');
  const us = node(place, [LOAD, loader, provider, cache, ...files]);
  const bench = path.resolve(options.project, 'bench');
  const peer = node(place, [LOAD_WITH_PEER, ...files], bench);
  const all = Array.from({ length: COUNT }, () => 'loaded').join();
  await refuseUnless(all, us);
  await refuseUnless(all, peer);
  return {
    samples: options.quick ? 3 : 30,
    batch: 1,
    us,
    bare: node(place, ['0']),
    peer,
    settle: () => removeCache(cache),
    async close() {
      place.remove();
    },
  };
}

/** The URL of a file of the built library. */
function findLibraryFile({ project }: RowOptions, name: string): string {
  const file = path.resolve(project, 'dist', name);
  if (!existsSync(file)) throw new Error(`${file} is missing: run \`npm run build\` first`);
  return pathToFileURL(file).href;
}

function node(
  { workspace, surroundings }: TempWorkspace,
  args: readonly string[],
  cwd = workspace,
): () => Promise<string> {
  const call = { file: process.execPath, cwd, env: surroundings.env, stdin: '' };
  return () => spawnBare({ ...call, args: ['--input-type=module', '-e', ...args] });
}

async function refuseUnless(expected: string, task: () => Promise<string>): Promise<void> {
  const output = await task();
  if (output !== expected) throw new Error(`expected ${expected}, found: ${output}`);
}

async function removeCache(cache: string): Promise<void> {
  rmSync(cache, { recursive: true, force: true });
}

function writePlugins({ workspace }: TempWorkspace): readonly string[] {
  const directory = path.join(workspace, '.cline', 'plugins');
  mkdirSync(directory, { recursive: true });
  return Array.from({ length: COUNT }, (_, number) => {
    const file = path.join(directory, `plugin-${number}.ts`);
    writeFileSync(
      file,
      `import { createTool } from "${PEER}";\n${createPluginText(`plugin-${number}`, 3, 'createTool(')}`,
    );
    return file;
  });
}

const LINES = 300;

function createLongPlugin(): string {
  for (let tools = 1; ; tools++) {
    const text = createPluginText('long-plugin', tools, '(');
    if (text.split('\n').length >= LINES) return text;
  }
}

function createPluginText(name: string, tools: number, before: string): string {
  const all = Array.from({ length: tools }, (_, number) => createToolText(number, before));
  return `import type { AgentPlugin } from "${PEER}";
import path from "node:path";

interface Count { readonly tool: string; calls: number }
const counts = new Map<string, Count>();
let root: string | undefined;

function count(tool: string): number {
  const known: Count = counts.get(tool) ?? { tool, calls: 0 };
  known.calls += 1;
  counts.set(tool, known);
  return known.calls;
}
${all.join('')}
const plugin: AgentPlugin = {
  name: "${name}",
  manifest: { capabilities: ["tools", "hooks"] },
  setup(api, ctx) {
    root = ctx.workspaceInfo?.rootPath;
${all.map((_, number) => `    api.registerTool(tool${number});`).join('\n')}
  },
  hooks: {
    beforeTool({ toolCall }) {
      count(toolCall.toolName);
      return undefined;
    },
  },
};

export default plugin;
`;
}

function createToolText(number: number, before: string): string {
  return `
interface Input${number} { readonly file: string; readonly lines?: number; readonly deep?: boolean }

const tool${number} = ${before}{
  name: "tool_${number}",
  description: "Says where a file is, and how often it was asked for.",
  inputSchema: {
    type: "object",
    properties: { file: { type: "string" }, lines: { type: "number" }, deep: { type: "boolean" } },
    required: ["file"],
  },
  async execute(input: unknown): Promise<Record<string, unknown>> {
    const { file, lines = 10, deep = false } = input as Input${number};
    const where: string = path.join(root ?? "/", file);
    const calls = count("tool_${number}");
    if (deep && calls > lines) return { where, calls, isOften: true };
    return { where, calls, lines };
  },
});
`;
}
