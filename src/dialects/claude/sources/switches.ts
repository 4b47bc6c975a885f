import type { Ignored } from '../../discovery.ts';
import type { BrokenEntry, Entry, Source } from '../entry.ts';
import type { Plugin } from './plugins.ts';
import type { SettingsReading } from './settings.ts';

/** Returns why the hooks of a source, which may belong to a plugin, are disabled, or null. */
export type WhyOff = (source: Source, plugin: Plugin | null) => string | null;

/**
 * Collects the settings that disable hooks. Settings of a workspace affect only its own hooks, and
 * enable nothing that the user disabled.
 */
export function createSwitches(settings: readonly SettingsReading[]): WhyOff {
  const managed = settings.filter(({ source }) => source.kind === 'managed');
  const managedOnly = managed.find((each) => isSwitchedOn(getValue(each, 'allowManagedHooksOnly')));
  const pluginsOnly = managed.find((each) =>
    isForHooks(getValue(each, 'strictPluginOnlyCustomization')),
  );
  return (source, plugin) => {
    if (source.kind === 'managed') return explainDisabled(findLast(managed));
    if (managedOnly !== undefined && plugin?.isForced !== true) {
      return explainSwitch('allowManagedHooksOnly', managedOnly);
    }
    if (pluginsOnly !== undefined && plugin === null) {
      return explainSwitch('strictPluginOnlyCustomization', pluginsOnly);
    }
    return explainDisabled(findDisabling(settings, source));
  };
}

function getValue({ settings }: SettingsReading, name: string): unknown {
  return settings.get(name)?.value;
}

/** An administrator's switch that is neither true nor false was meant to restrict. */
function isSwitchedOn(value: unknown): boolean {
  return value !== undefined && value !== false;
}

function isForHooks(value: unknown): boolean {
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isList ? value.includes('hooks') : isSwitchedOn(value);
}

function explainSwitch(name: string, { source }: SettingsReading): string {
  return `"${name}" in ${source.file} switches it off`;
}

function explainDisabled(setting: SettingsReading | undefined): string | null {
  if (setting === undefined || getValue(setting, DISABLE) !== true) return null;
  return explainSwitch(DISABLE, setting);
}

const DISABLE = 'disableAllHooks';

function findLast(settings: readonly SettingsReading[]): SettingsReading | undefined {
  return settings.findLast((each) => typeof getValue(each, DISABLE) === 'boolean');
}

/** Finds the setting that decides for hooks of this source. */
function findDisabling(
  settings: readonly SettingsReading[],
  { place, root }: Source,
): SettingsReading | undefined {
  const personal = findLast(settings.filter(({ source }) => source.place !== 'workspace'));
  const isSettled = personal !== undefined && (personal.source.kind !== 'user' || isOn(personal));
  if (place !== 'workspace' || isSettled) return personal;
  const itsOwn = settings.filter(
    ({ source }) => source.place === 'workspace' && source.root === root,
  );
  return findLast(itsOwn) ?? personal;
}

function isOn(setting: SettingsReading): boolean {
  return getValue(setting, DISABLE) === true;
}

/** Describes a disabled hook as ignored. */
export function describeSwitchedOff(hook: Entry | BrokenEntry, why: string): Ignored {
  const name = hook.event === null ? 'the entry' : `the ${hook.event} hook`;
  return { path: hook.source.file, why: `${name} at line ${hook.line} does not run: ${why}` };
}
