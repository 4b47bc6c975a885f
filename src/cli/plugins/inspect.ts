import { systemClock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { VERSION } from '../../base/version.ts';
import type { Host } from '../../host/create-host.ts';
import { usualTarget } from '../../host/agent/session-plugins.ts';
import { loadEntry, whyNotMeant } from '../../host/plugins/load-plugins.ts';
import { readWorkspaceInfo } from '../../host/plugins/news/workspace-info.ts';
import { consoleLogger } from '../../host/plugins/process/console-logger.ts';
import type { BasicLogger, PluginSetupContext } from '../../plugins/contract/plugin.ts';
import { hookNamesIn } from '../../plugins/contract/runtime-hooks.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { PluginIssue } from '../../plugins/issue.ts';
import { readName } from '../../plugins/manifest.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { type CommandContext, createSilentPluginOptions } from '../context.ts';
import { colors } from '../output/colors.ts';
import { formatPluginOutput } from '../output/format-plugin.ts';
import type { FoundPlugin } from './found.ts';

/** What became of a plugin that was loaded and set up, to see what it is. */
export interface Inspected {
  /** What it calls itself; what people call it when it could not say. */
  readonly name: string;
  /** `helper`: no plugin is in it, and others may import it. */
  readonly state: 'ready' | 'failed' | 'disabled' | 'skipped' | 'helper';
  readonly why: string | null;
  readonly contributes: PluginStatus['contributes'];
  /** The hooks that it has. */
  readonly hooks: readonly string[];
  /** Which providers and models it is made for; empty when for all. */
  readonly madeFor: readonly string[];
  readonly issues: readonly PluginIssue[];
  /** Null when it could not be imported. */
  readonly importMs: number | null;
}

const SETUP_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 3_000;

/**
 * Imports a plugin and sets it up in no session, so that it shows what it contributes. Runs its code:
 * only for those that may be loaded. What it says with `console` goes to the notes.
 */
export async function inspectPlugin(
  { entry }: FoundPlugin,
  host: Host,
  context: CommandContext,
): Promise<Inspected> {
  const issues: PluginIssue[] = [];
  const onConsole = (line: string): void => {
    const words = formatPluginOutput(entry.label, line);
    if (words !== null) context.print.note(colors.dim(words));
  };
  await surviveErrors(entry, issues);
  const restore = await redirect(onConsole);
  const start = systemClock.elapsed();
  const loading = await load(entry, { host, context, issues, onConsole });
  try {
    const importMs = systemClock.elapsed() - start;
    const found = { name: entry.label, ...NOTHING, issues, importMs };
    if (loading.kind === 'helper') return { ...found, state: 'helper', why: NO_PLUGIN };
    if (loading.kind === 'failed') {
      return { ...found, state: 'failed', why: loading.message, importMs: null };
    }
    return {
      ...found,
      ...(await lookAt(loading.plugin, entry, { host, context, issues, onConsole })),
    };
  } finally {
    restore();
    if ('end' in loading) await loading.end();
  }
}

/** What a plugin calls itself, which only its code can say; null when it cannot be imported. Runs its code. */
export async function ownName(
  { entry }: FoundPlugin,
  host: Host,
  context: CommandContext,
): Promise<string | null> {
  const onConsole = (): void => undefined;
  const restore = await redirect(onConsole);
  try {
    const loading = await load(entry, { host, context, issues: [], onConsole });
    if ('end' in loading) await loading.end();
    return loading.kind === 'loaded' ? readName(loading.plugin) : null;
  } finally {
    restore();
  }
}

const NO_PLUGIN =
  'no plugin is in it: a plugin is an object with "name" and "manifest", exported as default or as "plugin"';

const NOTHING = { contributes: null, hooks: [], madeFor: [] } as const;

/** For good: what the plugin has begun may go wrong while others are looked at. */
async function surviveErrors(entry: PluginEntry, issues: PluginIssue[]): Promise<void> {
  const { watchUncaught } = await import('../../host/plugins/process/uncaught.ts');
  watchUncaught([{ name: entry.label, entry }], (issue) => issues.push(issue));
}

async function redirect(onLine: (line: string) => void): Promise<() => void> {
  const { redirectConsole } = await import('../../host/plugins/process/redirect-console.ts');
  return redirectConsole(onLine);
}

let copies = 0;

/** Each time a module of its own: one that failed may have been mended meanwhile. */
function load(
  entry: PluginEntry,
  { host, context, issues, onConsole }: SettingUp,
): ReturnType<typeof loadEntry> {
  copies += 1;
  return loadEntry(entry, {
    opened: host,
    options: { ...createSilentPluginOptions(context.flags), onConsole },
    sessionId: 'inspected',
    round: copies,
    context: neutralContext(
      host,
      consoleLogger(onConsole, { showsLog: context.flags.debug === true }),
    ),
    signal: context.signal,
    onIssue: (issue) => issues.push(issue),
  });
}

async function lookAt(
  plugin: unknown,
  entry: PluginEntry,
  setting: SettingUp,
): Promise<Omit<Inspected, 'issues' | 'importMs'>> {
  setting.issues.push(...capabilityIssues(entry, plugin));
  const skipped = whyNotMeant(plugin, usualTarget(setting.host.config.settings));
  const set = await setUp(plugin, entry.label, setting);
  setting.issues.push(...(await nameIssues(entry, set)));
  const described = { ...describePlugin(plugin, entry.label), ...set };
  return skipped === null ? described : { ...described, state: 'skipped', why: skipped };
}

interface SettingUp {
  readonly host: Host;
  readonly context: CommandContext;
  readonly issues: PluginIssue[];
  readonly onConsole: (line: string) => void;
}

type SetUp = Pick<Inspected, 'state' | 'why' | 'contributes'>;

async function setUp(
  plugin: unknown,
  label: string,
  { host, context, issues, onConsole }: SettingUp,
): Promise<SetUp> {
  const { openRegistry } = await import('../../plugins/registry.ts');
  try {
    const registry = await openRegistry({
      plugins: [plugin],
      labels: [label],
      context: neutralContext(
        host,
        consoleLogger(onConsole, { showsLog: context.flags.debug === true }),
      ),
      isStrict: context.flags.strict === true,
      failsClosed: false,
      setupTimeoutMs: SETUP_TIMEOUT_MS,
      disposeTimeoutMs: DISPOSE_TIMEOUT_MS,
      signal: context.signal,
      onIssue: (issue) => issues.push(issue),
    });
    const [status] = registry.list();
    await registry.dispose();
    const state =
      status?.state === 'failed' || status?.state === 'disabled' ? status.state : 'ready';
    return { state, why: status?.lastError ?? null, contributes: status?.contributes ?? null };
  } catch (error) {
    context.signal.throwIfAborted();
    return { state: 'failed', why: getErrorMessage(error), contributes: null };
  }
}

/** As in a session, but that there is none. */
function neutralContext(
  { workspaceRoots, startDirectory }: Host,
  logger: BasicLogger,
): PluginSetupContext {
  return {
    session: undefined,
    client: { name: 'hookline', version: VERSION },
    user: undefined,
    workspaceInfo: readWorkspaceInfo(workspaceRoots[0] ?? startDirectory),
    cwd: startDirectory,
    automation: undefined,
    logger,
    telemetry: undefined,
    emitEvent: () => undefined,
  };
}

/** A foreign object may refuse to be looked at; whoever set it up has said so. */
function describePlugin(
  plugin: unknown,
  label: string,
): Pick<Inspected, 'name' | 'hooks' | 'madeFor'> {
  try {
    const { name, hooks, manifest } = isRecord(plugin) ? plugin : {};
    const { providerIds, modelIds } = isRecord(manifest) ? manifest : {};
    return {
      name: typeof name === 'string' && name.trim() !== '' ? name : label,
      hooks: isRecord(hooks) ? hookNamesIn(hooks) : [],
      madeFor: [providerIds, modelIds].flatMap(textsIn),
    };
  } catch {
    return { name: label, hooks: [], madeFor: [] };
  }
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Tools that no session would offer. */
async function nameIssues(
  { label: plugin }: PluginEntry,
  { contributes }: SetUp,
): Promise<readonly PluginIssue[]> {
  const { whyNeverOffered } = await import('../../host/plugins/contributions/free-names.ts');
  return (contributes?.tools ?? []).flatMap((name): readonly PluginIssue[] => {
    const message = whyNeverOffered(name);
    return message === null ? [] : [{ plugin, phase: 'tool', level: 'warning', message }];
  });
}

/** What a package promises is what people decide by before anything of it runs. */
function capabilityIssues(entry: PluginEntry, plugin: unknown): readonly PluginIssue[] {
  const { capabilities: promised, label } = entry;
  if (promised === null || !isRecord(plugin)) return [];
  const manifest = isRecord(plugin['manifest']) ? plugin['manifest'] : {};
  const declared = textsIn(manifest['capabilities']);
  const hidden = declared.filter((each) => !promised.includes(each));
  const empty = promised.filter((each) => !declared.includes(each));
  const warn = (message: string): PluginIssue => {
    return { plugin: label, phase: 'validate', level: 'warning', message };
  };
  return [
    ...(hidden.length === 0
      ? []
      : [
          warn(
            `its manifest declares ${hidden.join(', ')}, of which its package.json says nothing`,
          ),
        ]),
    ...(empty.length === 0
      ? []
      : [
          warn(`its package.json declares ${empty.join(', ')}, of which its manifest says nothing`),
        ]),
  ];
}
