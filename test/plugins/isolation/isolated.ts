import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'rolldown';
import { onTestFinished } from 'vitest';
import { BugError } from '../../../src/base/errors.ts';
import type { PluginSetupContext } from '../../../src/plugins/contract/plugin.ts';
import type { HookName } from '../../../src/plugins/contract/runtime-hooks.ts';
import type { Loading } from '../../../src/plugins/load/loading.ts';
import type { ActivePlugin } from '../../../src/plugins/loaded-plugin.ts';
import type { PluginIssue } from '../../../src/plugins/plugin-issue.ts';
import { type IsolationRequest, loadIsolated } from '../../../src/plugins/isolation/isolate.ts';
import type { ChildProgram } from '../../../src/plugins/isolation/plugin-process.ts';
import { createPluginRegistry, type PluginRegistry } from '../../../src/plugins/registry.ts';
import { buildChildEnvironment, PROVIDER_KEYS } from '../../../src/process/environment.ts';
import { readProcessTable } from '../../../src/process/end-tree.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../..');
let built: Promise<ChildProgram> | null = null;

/** The child's program in one file, which starts faster than from its sources. */
export function builtChild(): Promise<ChildProgram> {
  built ??= buildChild();
  return built;
}

async function buildChild(): Promise<ChildProgram> {
  // Inside the project, where it finds the packages that it imports.
  const cache = path.join(PROJECT, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  removeLeftPrograms(cache);
  const directory = mkdtempSync(path.join(cache, `plugin-child-${process.pid}-`));
  // Test files that share a process share the program.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  await build({
    input: { 'plugin-child': path.join(PROJECT, 'src', 'plugin-child.ts') },
    platform: 'node',
    external: /^[@a-z]/,
    logLevel: 'silent',
    output: { dir: directory, format: 'esm', entryFileNames: '[name].mjs' },
  });
  return { file: path.join(directory, 'plugin-child.mjs'), nodeFlags: [] };
}

/** Those of test processes that were killed. */
function removeLeftPrograms(cache: string): void {
  for (const name of readdirSync(cache)) {
    const pid = /^plugin-child-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(path.join(cache, name), { recursive: true, force: true });
  }
}

export interface IsolationFixture {
  readonly directory: string;
  readonly issues: PluginIssue[];
  /** What the plugin printed: `log imported`, `error oh no`. */
  readonly printed: string[];
}

export function createIsolationFixture(): IsolationFixture {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-isolation-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, issues: [], printed: [] };
}

export type More = Partial<IsolationRequest> & { readonly fileName?: string };

/** Opens a plugin that is written down as the text of a module, in a real process. */
export async function openText(
  text: string,
  more: More = {},
  fixture: IsolationFixture = createIsolationFixture(),
): Promise<Loading> {
  const { fileName = 'own-plugin.mjs', ...request } = more;
  const file = path.join(fixture.directory, fileName);
  writeFileSync(file, text);
  const loading = await loadIsolated({
    entry: { file, label: path.parse(fileName).name, package: null, capabilities: null },
    cwd: fixture.directory,
    environment: buildChildEnvironment({
      base: process.env,
      withhold: PROVIDER_KEYS,
      pass: [],
      add: {},
      platform: process.platform,
    }),
    cacheDirectory: path.join(fixture.directory, 'cache'),
    importTimeoutMs: 200_000,
    setupTimeoutMs: 200_000,
    hookTimeoutMs: 200_000,
    disposeTimeoutMs: 5000,
    isStrict: false,
    logger: {
      debug: (line) => fixture.printed.push(`debug ${line}`),
      log: (line) => fixture.printed.push(`log ${line}`),
      error: (line) => fixture.printed.push(`error ${line}`),
    },
    onIssue: (issue) => fixture.issues.push(issue),
    program: await builtChild(),
    ...request,
  });
  if (loading.kind === 'loaded') onTestFinished(() => loading.process?.end());
  return loading;
}

export interface OpenedPlugin {
  readonly stage: IsolationFixture;
  readonly registry: PluginRegistry;
  readonly active: ActivePlugin;
  /** Calls a hook as the handlers do. */
  hook(name: HookName, context: object): Promise<unknown>;
  end(): Promise<void>;
}

/** A plugin that was set up in a registry, as in a session. */
export async function openActive(
  text: string,
  more: More = {},
  context: PluginSetupContext = {},
): Promise<OpenedPlugin> {
  const fixture = createIsolationFixture();
  const loading = await openText(text, more, fixture);
  if (loading.kind !== 'loaded') throw new BugError(JSON.stringify(loading));
  const registry = await createPluginRegistry(
    { loaded: [loading] },
    {
      context,
      isStrict: more.isStrict ?? false,
      failsClosed: false,
      setupTimeoutMs: more.setupTimeoutMs ?? 200_000,
      disposeTimeoutMs: 10_000,
      onIssue: (issue) => fixture.issues.push(issue),
    },
  );
  onTestFinished(() => registry.dispose());
  const [active] = registry.active;
  if (active === undefined) throw new BugError(JSON.stringify(registry.list()));
  return {
    stage: fixture,
    registry,
    active,
    hook: async (name, input) => callHook(active, name, input),
    end: async () => loading.process?.end(),
  };
}

async function callHook({ plugin }: ActivePlugin, name: HookName, input: object): Promise<unknown> {
  const hooks = plugin.hooks ?? {};
  const hook: unknown = hooks[name];
  if (typeof hook !== 'function') throw new BugError(`there is no ${name}`);
  return Reflect.apply(hook, hooks, [input]);
}

/** A plugin with hooks, as the text of a module. */
export function hooksText(hooks: string, before = ''): string {
  return `${before}
    export default {
      name: 'guard',
      manifest: { capabilities: ['hooks'] },
      hooks: { ${hooks} },
    };`;
}

/** A plugin with one tool, as the text of a module. */
export function toolText(tool: string, before = ''): string {
  return `${before}
    export default {
      name: 'kit',
      manifest: { capabilities: ['tools'] },
      setup(api) {
        api.registerTool({ name: 'work', description: 'Works.', inputSchema: {}, ${tool} });
      },
    };`;
}

/** A zombie is not alive. */
export function isAlive(pid: number): boolean {
  const row = readProcessTable()?.find((each) => each.pid === pid);
  if (row !== undefined) return !row.isZombie;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
