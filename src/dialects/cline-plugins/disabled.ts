import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { findOwningRoot } from '../place.ts';
import type { NamedPlugin, PluginPlaces } from './discover.ts';

/** Returns why a plugin is disabled in Cline, or null. */
export type WhyOff = (plugin: NamedPlugin) => string | null;

/** Reads which plugins Cline's settings disable; the settings are never written. */
export function readSwitchedOff(places: PluginPlaces): WhyOff {
  const { clineSettings: file } = places;
  const disabled = file === null ? [] : readDisabled(file);
  if (file === null || disabled.length === 0) return () => null;
  // A settings file in a repository affects only plugins of that repository.
  const owner = findOwningRoot(file, places);
  return ({ entry, root }) => {
    const isNamed = disabled.includes(entry.path) || disabled.includes(entry.file);
    const isReached = owner === null || owner === root;
    return isNamed && isReached ? `switched off in Cline: "disabledPlugins" of ${file}` : null;
  };
}

function readDisabled(file: string): readonly unknown[] {
  const parsed = parseJson(readQuietly(file));
  const listed = parsed.ok && isRecord(parsed.value) ? parsed.value['disabledPlugins'] : null;
  return Array.isArray(listed) ? listed : [];
}

function readQuietly(file: string): string {
  try {
    return readTextIfPresent(file) ?? '';
  } catch {
    // Cline itself reports a broken settings file.
    return '';
  }
}
