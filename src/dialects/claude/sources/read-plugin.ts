import path from 'node:path';
import { findRealPath, isInside } from '../../../base/paths.ts';
import type { Ignored } from '../../discovery.ts';
import { describePart, type Part, parseLocatedJson } from '../../../base/located-json.ts';
import { NO_EVENTS, type ParsedEvents, parseEvents } from '../config/parse-events.ts';
import { readHooksText } from '../config/read-hooks-text.ts';
import type { Source } from '../entry.ts';
import type { Plugin } from './find-plugins.ts';
import { readConfigText } from '../../read-config-text.ts';

/** The hooks of one file of a plugin. */
export interface PluginReading {
  readonly source: Source;
  readonly hooks: ParsedEvents;
}

export interface PluginHooks {
  readonly readings: readonly PluginReading[];
  readonly ignored: readonly Ignored[];
}

/** Reads `hooks/hooks.json` of a plugin and what its manifest adds. */
export function readPlugin(plugin: Plugin): PluginHooks {
  const usual = path.join(plugin.facts.root, 'hooks', 'hooks.json');
  const manifest = readManifest(plugin);
  const seen = new Set([resolveRealPath(usual)]);
  const files = manifest.files.filter(({ file }) => {
    const isNew = !seen.has(resolveRealPath(file));
    seen.add(resolveRealPath(file));
    return isNew;
  });
  const read = [
    readHooksFile(usual, { plugin, label: plugin.label, isNamed: false }),
    ...files.map(({ file, label }) => readHooksFile(file, { plugin, label, isNamed: true })),
  ];
  return {
    readings: [...read.filter((each) => each !== null && 'hooks' in each), ...manifest.readings],
    ignored: [...read.filter((each) => each !== null && 'why' in each), ...manifest.ignored],
  };
}

function resolveRealPath(file: string): string {
  return findRealPath(file) ?? file;
}

interface HooksFile {
  readonly plugin: Plugin;
  readonly label: string;
  /** Whether the manifest names the file, so that it must exist. */
  readonly isNamed: boolean;
}

function readHooksFile(
  file: string,
  { plugin, label, isNamed }: HooksFile,
): PluginReading | Ignored | null {
  const text = readConfigText(file);
  if (text === null) {
    const why = `is not there, and the manifest of ${plugin.facts.name} names it`;
    return isNamed ? { path: file, why, mayHideHook: true } : null;
  }
  if (typeof text !== 'string') return text;
  const source = createSource(plugin, file, label);
  return { source, hooks: readHooksText(text, source, 'plugin') };
}

function createSource(plugin: Plugin, file: string, label: string): Source {
  const { facts, place, root } = plugin;
  const family = `plugin:${facts.root}`;
  return { kind: 'plugin', label, file, place, root, isCline: false, family, plugin: facts };
}

interface Manifest extends PluginHooks {
  readonly files: readonly { readonly file: string; readonly label: string }[];
}

const EMPTY: Manifest = { readings: [], ignored: [], files: [] };

/** Reads `hooks` of the manifest: a path, an object, or a list of these. */
function readManifest(plugin: Plugin): Manifest {
  const file = path.join(plugin.facts.root, '.claude-plugin', 'plugin.json');
  const text = readConfigText(file);
  if (text === null) return EMPTY;
  if (typeof text !== 'string') return { ...EMPTY, ignored: [text] };
  const source = createSource(plugin, file, `${plugin.label}:plugin.json`);
  const root = parseLocatedJson(text);
  if ('why' in root) return { ...EMPTY, readings: [createBrokenReading(source, root)] };
  const hooks = root.fields?.get('hooks');
  if (hooks === undefined) return EMPTY;
  const parts = (hooks.items ?? [hooks]).map((part) => readManifestPart(part, { plugin, source }));
  return {
    readings: parts.flatMap((each) => each.readings),
    ignored: [],
    files: parts.flatMap((each) => each.files),
  };
}

function createBrokenReading(
  source: Source,
  { line, why }: { readonly line: number; readonly why: string },
): PluginReading {
  return { source, hooks: { ...NO_EVENTS, broken: [{ source, line, event: null, why }] } };
}

function readManifestPart(
  part: Part,
  { plugin, source }: { readonly plugin: Plugin; readonly source: Source },
): Manifest {
  const { line, value } = part;
  if (part.fields !== null) {
    return { ...EMPTY, readings: [{ source, hooks: parseEvents(part, { source }) }] };
  }
  if (typeof value !== 'string') {
    const why = `"hooks": expected a path or an object of events, found ${describePart(part)}`;
    return { ...EMPTY, readings: [createBrokenReading(source, { line, why })] };
  }
  const file = path.resolve(plugin.facts.root, value);
  if (
    !isInside(resolveRealPath(plugin.facts.root), resolveRealPath(file)) &&
    !isInside(plugin.facts.root, resolveRealPath(file))
  ) {
    const why = `"hooks": expected a path inside the plugin, found ${describePart(part)}`;
    return { ...EMPTY, readings: [createBrokenReading(source, { line, why })] };
  }
  const inside = path.relative(plugin.facts.root, file).replaceAll(path.sep, '/');
  return { ...EMPTY, files: [{ file, label: `${plugin.label}:${inside}` }] };
}
