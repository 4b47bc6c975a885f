import { systemClock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import type { Host } from '../../host/create-host.ts';
import { readDefaultTarget } from '../../host/agent/open-session-plugins.ts';
import { explainMismatch, importEntry } from '../../host/plugins/load-plugins.ts';
import { listHookNames } from '../../plugins/contract/runtime-hooks.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import type { PluginIssue } from '../../plugins/plugin-issue.ts';
import { readName } from '../../plugins/loaded-plugin.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { type CommandContext, createSilentPluginOptions } from '../context.ts';
import { colors } from '../output/colors.ts';
import { formatPluginOutput } from '../output/format-plugin.ts';
import type { ListedPlugin } from './select-plugins.ts';

/** The result of loading a plugin and setting it up. */
export interface Inspected {
  /** The name in its code; the label of its file when it could not be loaded. */
  readonly name: string;
  /** `helper`: a module without a plugin, which plugins may import. */
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

/**
 * Imports a plugin and sets it up without a session, to find its contributions. This runs its code, so
 * it must be trusted. Its console output goes to the notes.
 */
export async function inspectPlugin(
  { entry, status }: ListedPlugin,
  host: Host,
  context: CommandContext,
): Promise<Inspected> {
  const issues: PluginIssue[] = [];
  const onConsole = (line: string): void => {
    const words = formatPluginOutput(entry.label, line);
    if (words !== null) context.print.note(colors.dim(words));
  };
  const restore = await redirect(onConsole);
  try {
    return await setUpAlone(entry, status, { host, context, issues, onConsole });
  } finally {
    restore();
  }
}

interface Inspection {
  readonly host: Host;
  readonly context: CommandContext;
  readonly issues: PluginIssue[];
  readonly onConsole: (line: string) => void;
}

async function setUpAlone(
  entry: PluginEntry,
  status: ListedPlugin['status'],
  inspection: Inspection,
): Promise<Inspected> {
  const { host, context, issues } = inspection;
  const [{ setUpPlugins, buildSetupContext }, imports] = await Promise.all([
    import('../../host/plugins/set-up-plugins.ts'),
    createImports(inspection),
  ]);
  const start = systemClock.elapsed();
  const imported: unknown[] = [];
  let importMs: number | null = null;
  const describe = async (set: PluginStatus | undefined): Promise<Inspected> => {
    const basics = { name: entry.label, ...NOTHING, issues, importMs };
    if (set === undefined) return { ...basics, state: 'helper', why: NO_PLUGIN };
    if (imported.length === 0) {
      return { ...basics, state: 'failed', why: set.lastError, importMs: null };
    }
    issues.push(...(await findNameIssues(entry, set)));
    return {
      ...basics,
      ...describePlugin(imported[0], entry.label),
      ...toState(imported[0], set, host),
    };
  };
  try {
    const registry = await setUpPlugins({
      ...imports,
      objects: [],
      disk: {
        ...imports,
        // Callers have checked that it may be loaded, and may have asked for trust since it was found.
        found: [{ entry, unit: status.hook, status: { ...status, state: 'ready', why: '' } }],
        target: null,
        requiresAll: false,
        onLoaded({ loaded }) {
          importMs = systemClock.elapsed() - start;
          imported.push(...loaded.map(({ plugin }) => plugin));
          issues.push(...imported.flatMap((plugin) => findCapabilityIssues(entry, plugin)));
        },
      },
      context: { ...buildSetupContext(host, imports.options, null), logger: imports.logger },
    });
    const [set] = registry.list();
    await registry.dispose();
    return await describe(set);
  } catch (error) {
    context.signal.throwIfAborted();
    const lastError = getErrorMessage(error);
    return describe({ name: entry.label, state: 'failed', lastError, contributes: null });
  }
}

function toState(
  plugin: unknown,
  { state, lastError, contributes }: PluginStatus,
  { config: { settings } }: Host,
): Pick<Inspected, 'state' | 'why' | 'contributes'> {
  const mismatch = explainMismatch(plugin, readDefaultTarget(settings));
  if (mismatch !== null) return { contributes, state: 'skipped', why: mismatch };
  const isUsable = state !== 'failed' && state !== 'disabled';
  return { contributes, state: isUsable ? 'ready' : state, why: lastError };
}

/** Reads the name in a plugin's code by importing it; null when it cannot be imported. */
export async function readOwnName(
  { entry }: ListedPlugin,
  host: Host,
  context: CommandContext,
): Promise<string | null> {
  const onConsole = (): void => undefined;
  const restore = await redirect(onConsole);
  try {
    const imports = await createImports({ host, context, issues: [], onConsole });
    const loading = await importEntry(entry, imports);
    if (loading.kind !== 'loaded') return null;
    await loading.process?.end();
    return readName(loading.plugin);
  } finally {
    restore();
  }
}

const NO_PLUGIN =
  'it exports no plugin: a plugin is an object with "name" and "manifest", exported as default or as "plugin"';

const NOTHING = { contributes: null, hooks: [], madeFor: [] } as const;

async function redirect(onLine: (line: string) => void): Promise<() => void> {
  const { redirectConsole } = await import('../../host/plugins/process-ports.ts');
  return redirectConsole(onLine);
}

let generation = 0;

/** Each import gets its own module instances, because a failed plugin may have been fixed since. */
async function createImports({ host, context, issues, onConsole }: Inspection) {
  const { createConsoleLogger } = await import('../../host/plugins/process-ports.ts');
  generation += 1;
  return {
    opened: host,
    options: { ...createSilentPluginOptions(context.flags), onConsole },
    sessionId: 'inspected',
    generation,
    logger: createConsoleLogger(onConsole, { showsLog: context.flags.debug === true }),
    signal: context.signal,
    // A failed import is already part of the plugin's state.
    onIssue: (issue: PluginIssue) => void (issue.phase === 'import' || issues.push(issue)),
  };
}

/** Getters of a foreign object may throw; its setup has reported that. */
function describePlugin(
  plugin: unknown,
  label: string,
): Pick<Inspected, 'name' | 'hooks' | 'madeFor'> {
  try {
    const { name, hooks, manifest } = isRecord(plugin) ? plugin : {};
    const { providerIds, modelIds } = isRecord(manifest) ? manifest : {};
    return {
      name: typeof name === 'string' && name.trim() !== '' ? name : label,
      hooks: isRecord(hooks) ? listHookNames(hooks) : [],
      madeFor: [providerIds, modelIds].flatMap(filterTexts),
    };
  } catch {
    return { name: label, hooks: [], madeFor: [] };
  }
}

function filterTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Tools that no session would offer. */
async function findNameIssues(
  { label: plugin }: PluginEntry,
  { contributes }: PluginStatus,
): Promise<readonly PluginIssue[]> {
  const { explainNeverOffered } =
    await import('../../host/plugins/contributions/tool-name-conflicts.ts');
  return (contributes?.tools ?? []).flatMap((name): readonly PluginIssue[] => {
    const message = explainNeverOffered(name);
    return message === null ? [] : [{ plugin, phase: 'tool', level: 'warning', message }];
  });
}

/** Compares with package.json, because users decide by it before any code of the plugin runs. */
function findCapabilityIssues(entry: PluginEntry, plugin: unknown): readonly PluginIssue[] {
  const { capabilities: promised, label } = entry;
  if (promised === null || !isRecord(plugin)) return [];
  const manifest = isRecord(plugin['manifest']) ? plugin['manifest'] : {};
  const declared = filterTexts(manifest['capabilities']);
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
            `its manifest declares ${hidden.join(', ')}, which its package.json does not declare`,
          ),
        ]),
    ...(empty.length === 0
      ? []
      : [
          warn(
            `its package.json declares ${empty.join(', ')}, which its manifest does not declare`,
          ),
        ]),
  ];
}
