import { getOwnValue, isRecord, parseJson } from '../base/json.ts';

/**
 * Lists the files that a package.json maps an import to, relative to its directory: by `imports` what starts with
 * `#`, by `exports` the package's own name. Conditions are not weighed: each target may be the one that is taken.
 */
export function listMappedTargets(manifestText: string, written: string): readonly string[] {
  const parsed = parseJson(manifestText);
  if (!parsed.ok || !isRecord(parsed.value)) return [];
  const { name, imports, exports } = parsed.value;
  if (written.startsWith('#')) return listTargets(imports, written);
  if (typeof name !== 'string' || (written !== name && !written.startsWith(`${name}/`))) return [];
  const subpath = `.${written.slice(name.length)}`;
  const hasSubpaths = isRecord(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  return listTargets(hasSubpaths ? exports : { '.': exports }, subpath);
}

function listTargets(map: unknown, written: string): readonly string[] {
  if (!isRecord(map)) return [];
  const exact = getOwnValue(map, written);
  if (exact !== undefined) return listStrings(exact);
  return Object.entries(map).flatMap(([key, value]) => {
    const [prefix = '', suffix] = key.split('*', 2);
    const isMatch =
      suffix !== undefined &&
      written.length >= prefix.length + suffix.length &&
      written.startsWith(prefix) &&
      written.endsWith(suffix);
    if (!isMatch) return [];
    const middle = written.slice(prefix.length, written.length - suffix.length);
    return listStrings(value).map((target) => target.replaceAll('*', () => middle));
  });
}

/** A target may be a list, or depend on conditions. */
function listStrings(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('./') ? [value] : [];
  if (Array.isArray(value)) return value.flatMap(listStrings);
  return isRecord(value) ? Object.values(value).flatMap(listStrings) : [];
}
