import { isRecord, getTypeName } from '../../../base/json.ts';
import type { Ignored } from '../../discovery.ts';
import type { ParsedEvents } from '../config/parse-events.ts';
import type { Part } from '../../../base/located-json.ts';
import { readHooksText } from '../config/read-hooks-text.ts';
import type { Source } from '../entry.ts';
import type { HttpRules } from '../handlers/http-rules.ts';
import type { ReadConfigText } from '../../read-config-text.ts';
import type { SettingsFile } from './settings-files.ts';

/** The content of one settings file. */
export interface SettingsReading {
  readonly source: Source;
  readonly hooks: ParsedEvents;
  readonly settings: ReadonlyMap<string, Part>;
}

/** Reads a settings file; null when there is none. */
export function readSettingsFile(
  { source, text }: SettingsFile,
  readText: ReadConfigText,
): SettingsReading | Ignored | null {
  const content = text ?? readText(source.file);
  if (content === null) return source.kind === 'flag' ? describeMissing(source) : null;
  if (typeof content !== 'string') return content;
  const { settings, ...hooks } = readHooksText(content, source, 'settings');
  return { source, hooks, settings };
}

function describeMissing({ file }: Source): Ignored {
  return {
    path: file,
    why: 'is not there, and was named with --settings; expected a file or JSON that starts with {',
    mayHideHook: true,
  };
}

/** Reads the rules for HTTP hooks from settings of the user, the caller and the administrator. */
export function readHttpRules(settings: readonly SettingsReading[]): HttpRules {
  const trusted = settings.filter(isTrusted);
  const allowedUrls = joinLists(trusted, 'allowedHttpHookUrls');
  return {
    allowedUrls,
    ownUrls: allowedUrls ?? [],
    allowedEnvVars: joinLists(trusted, 'httpHookAllowedEnvVars'),
  };
}

/** Settings of a workspace need the user's trust first. */
export function isTrusted({ source }: SettingsReading): boolean {
  return source.place !== 'workspace';
}

function joinLists(settings: readonly SettingsReading[], name: string): readonly string[] | null {
  const lists = settings.flatMap((each) => {
    const items = each.settings.get(name)?.items ?? null;
    return items === null ? [] : [items.map(({ value }) => value).filter(isText)];
  });
  return lists.length === 0 ? null : [...new Set(lists.flat())];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Reads the variables for hooks; later files override earlier ones. */
export function readEnvironment(settings: readonly SettingsReading[]): Record<string, string> {
  return collectVariables(settings.filter(isTrusted));
}

/** Reads the variables that a workspace's settings set for its own hooks. */
export function readWorkspaceEnvironment(
  settings: readonly SettingsReading[],
  root: string,
): Record<string, string> {
  return collectVariables(
    settings.filter(({ source }) => source.place === 'workspace' && source.root === root),
  );
}

function collectVariables(settings: readonly SettingsReading[]): Record<string, string> {
  const variables = settings.flatMap((each) =>
    Object.entries(selectScalars(each.settings.get('env')?.value)),
  );
  return Object.fromEntries(variables);
}

/** Selects the values that an environment variable can have, as text. */
export function selectScalars(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  const scalars = Object.entries(value).filter(([, each]) =>
    ['string', 'number', 'boolean'].includes(typeof each),
  );
  return Object.fromEntries(scalars.map(([name, each]) => [name, String(each)]));
}

const WORKSPACE_MAY_NOT = {
  allowedHttpHookUrls:
    'it is not used: a workspace does not say where the hooks of others may send to',
  httpHookAllowedEnvVars: 'it is not used: a workspace does not say what hooks may send',
  pluginConfigs: 'its options are not used: only the person sets options of plugins',
} as const;

const MANAGED_ONLY = ['allowManagedHooksOnly', 'strictPluginOnlyCustomization'] as const;

/** Finds settings that have no effect in this file, and malformed ones. */
export function findIneffectiveSettings(reading: SettingsReading): Ignored[] {
  const { source, settings } = reading;
  const describe = (name: string, why: string): Ignored[] => {
    const part = settings.get(name);
    if (part === undefined) return [];
    return [{ path: source.file, why: `"${name}" at line ${part.line}: ${why}` }];
  };
  const notHere = isTrusted(reading)
    ? []
    : Object.entries(WORKSPACE_MAY_NOT).flatMap(([name, why]) =>
        describe(name, `${why}; put it into your own settings`),
      );
  const notManaged = source.kind === 'managed' ? [] : MANAGED_ONLY;
  const disable = settings.get('disableAllHooks');
  return [
    ...notHere,
    ...notManaged.flatMap((name) => describe(name, 'it counts only in managed settings')),
    ...(disable === undefined || typeof disable.value === 'boolean'
      ? []
      : describe('disableAllHooks', `expected true or false, found ${getTypeName(disable.value)}`)),
  ];
}
