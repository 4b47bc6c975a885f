import { HooklineError } from '../base/errors.ts';
import type { Setting } from '../base/setting.ts';
import type { FiredEvent, HookEvent } from '../hooks/facts.ts';
import type { Handler } from '../hooks/handler.ts';
import type { ActivePlugin } from '../plugins/loaded-plugin.ts';
import { claude } from './claude/dialect.ts';
import { clineFiles } from './cline-files/dialect.ts';
import { clinePlugins } from './cline-plugins/dialect.ts';
import { codex } from './codex/dialect.ts';
import { copilot } from './copilot/dialect.ts';
import { cursor } from './cursor/dialect.ts';
import type { Dialect, Discoverer, ForeignEvent } from './dialect.ts';
import { droid } from './droid/dialect.ts';
import { gemini } from './gemini/dialect.ts';
import type { DialectMachine } from './machine.ts';
import { opencode } from './opencode/dialect.ts';
import type { PathOption } from './options.ts';
import type { PluginHooksOptions } from './ports.ts';
import { qwen } from './qwen/dialect.ts';
import type { Failure, Outcome } from '../hooks/decision.ts';
import { NO_SERVERS } from '../mcp/server-config.ts';

/** Every dialect there is, in the order in which their hooks are declared. */
const LIST = [
  clineFiles,
  claude,
  clinePlugins,
  codex,
  gemini,
  copilot,
  qwen,
  cursor,
  droid,
  opencode,
] as const satisfies readonly Dialect[];

export const DIALECTS: readonly Dialect[] = LIST;

export type DialectName = (typeof LIST)[number]['name'];

/** The settings of a dialect. */
type SettingsIn<Each> = Each extends { readonly options: { readonly settings: infer Table } }
  ? Table
  : never;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type DialectSettingTable = Intersection<SettingsIn<(typeof LIST)[number]>>;

/** The values of the dialects' settings, by their names in the configuration file. */
export type DialectSettings = {
  readonly [Name in keyof DialectSettingTable]: DialectSettingTable[Name] extends Setting<
    infer Value
  >
    ? Value
    : never;
};

/** The settings of all dialects. */
export const DIALECT_SETTINGS: Readonly<Record<string, Setting>> = Object.fromEntries(
  DIALECTS.flatMap(({ options }) => Object.entries(options?.settings ?? {})),
);

/** The paths that a caller may name, of all dialects. */
export const PATH_OPTIONS: readonly PathOption[] = DIALECTS.flatMap(
  ({ options }) => options?.paths ?? [],
);

/** Lists the names of the dialects that have a part, for the choices of an option. */
export function listDialectsWith(part: keyof Dialect): readonly string[] {
  return DIALECTS.filter((dialect) => dialect[part] !== undefined).map(({ name }) => name);
}

export function findDialect(name: string): Dialect | null {
  return DIALECTS.find((dialect) => dialect.name === name) ?? null;
}

/** Prepares the discovery of the wanted dialects, or of all. */
export function openDialects(
  machine: DialectMachine,
  dialectIds?: readonly string[],
): readonly Discoverer[] {
  return DIALECTS.flatMap(({ name, discover }) => {
    if (discover === undefined) return [];
    const isWanted = dialectIds?.includes(name) ?? true;
    return isWanted ? discover(machine) : limitToUserServers(() => discover(machine));
  });
}

/** The caller chooses whose hooks run; the user's own MCP servers are found in any case. */
function limitToUserServers(open: () => Discoverer): Discoverer {
  return {
    discover: () => ({ hooks: [], ignored: [], watched: [] }),
    readUserServers: () => open().readUserServers?.() ?? NO_SERVERS,
  };
}

/** The events of all dialects that can be fired under their foreign names. */
const FIRED_BY_NAME = DIALECTS.map(({ events }) => events).filter(
  ({ areFunctions }) => areFunctions !== true,
);

export const FOREIGN_EVENT_NAMES: readonly string[] = FIRED_BY_NAME.flatMap(({ names }) => names);

export function findForeignEvent(name: string): ForeignEvent | null {
  for (const events of FIRED_BY_NAME) {
    const event = events.find(name);
    if (event !== null) return event;
  }
  return null;
}

/** Reads the payload that another agent writes to a hook's stdin. */
export function readForeignPayload(agent: string, payload: unknown): FiredEvent {
  const read = findDialect(agent)?.readPayload;
  if (read !== undefined) return read(payload);
  const agents = listDialectsWith('readPayload');
  throw new HooklineError('USAGE_INVALID', {
    message: `payloads of ${JSON.stringify(agent)} cannot be read; known are: ${agents.join(', ')}`,
    hint: `Say ${agents.map((name) => `--as ${name}`).join(' or ')}.`,
  });
}

/** Lists files and directories of agents that were moved from their default place and must not be written. */
export function listProtectedPlaces(
  machine: Pick<DialectMachine, 'surroundings' | 'workspaceRoots'>,
): readonly string[] {
  return DIALECTS.flatMap(({ protectedPlaces }) => protectedPlaces?.(machine) ?? []);
}

/** Creates handlers for hooks of plugins; `getDialect` returns the name of a plugin's dialect. */
export async function createPluginHandlers(
  plugins: readonly ActivePlugin[],
  getDialect: (plugin: ActivePlugin) => string,
  options: PluginHooksOptions,
): Promise<readonly Handler[]> {
  const handlers = await Promise.all(
    DIALECTS.map(async (dialect) => {
      const own = plugins.filter((plugin) => getDialect(plugin) === dialect.name);
      if (own.length === 0) return [];
      const create = await dialect.createPluginHandlers?.();
      return create?.(own, options) ?? [];
    }),
  );
  return handlers.flat();
}

/** Whether plugins of any dialect can have hooks for this event. */
export function hasPluginHooks(event: HookEvent): boolean {
  return DIALECTS.some(
    ({ createPluginHandlers: load, events }) =>
      load !== undefined && events.listNames(event).length > 0,
  );
}

/** Finds a failure that the handlers of its dialect have not reported themselves. */
export function findUnreportedFailure({
  dialect,
  failure,
}: Pick<Outcome, 'dialect' | 'failure'>): Failure | null {
  if (failure === null) return null;
  const isReported = findDialect(dialect)?.reportedFailures?.includes(failure.kind) ?? false;
  return isReported ? null : failure;
}

/** What the user of a session should know about the run of a hook. */
export interface HookProblem {
  readonly hook: string;
  readonly kind: 'failed' | 'warning';
  readonly message: string;
  readonly hint: string | null;
}

/** Of a late outcome nothing else is known. */
type ReportedOutcome = Pick<Outcome, 'hook' | 'dialect' | 'failure' | 'warnings'> &
  Partial<Pick<Outcome, 'effect'>>;

/** Lists failures that nothing else reports, and mistakes in answers. */
export function listHookProblems(outcomes: readonly ReportedOutcome[]): readonly HookProblem[] {
  return outcomes.flatMap((outcome): readonly HookProblem[] => {
    const { hook, warnings = [] } = outcome;
    const failure = findUnreportedFailure(outcome);
    // Files that cannot be read are named once, when the session starts.
    const isNew = failure !== null && failure.kind !== 'config';
    return [
      ...(isNew ? [createFailedProblem(outcome, failure)] : []),
      ...warnings.map((message) => ({ hook, kind: 'warning' as const, message, hint: null })),
    ];
  });
}

/** A failure that refuses is the reason of the refusal, which is reported with its text. */
function createFailedProblem(
  { hook, effect }: ReportedOutcome,
  { message, hint }: Failure,
): HookProblem {
  return {
    hook,
    kind: 'failed',
    message: effect === 'deny' ? REFUSES : message,
    hint: hint ?? null,
  };
}

const REFUSES = 'it refuses because it failed';

/** Whose payloads are read and whose hooks are written unless the user names another dialect. */
export const DEFAULT_DIALECT: string = clineFiles.name;

/** The dialect of plugin objects that a program passes, which have no file to be discovered. */
export const EMBEDDED_PLUGIN_DIALECT: string = clinePlugins.name;

// Public functions are about one format: `claudeHooks` about Claude's, hook runners about Cline's files.
export { claude, clineFiles };
export { type FileHookData, readEventFromData } from './cline-files/read-payload.ts';
export {
  FILE_HOOK_NAMES,
  FILE_HOOKS,
  type FileHookName,
  findFileHookName,
} from './cline-files/events.ts';
