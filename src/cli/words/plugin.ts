import type { InstallRecord } from '../../plugins/install/record.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { stripVTControlCharacters } from 'node:util';
import { oneLine, plural, printable, printableLines } from './print.ts';

/** `my-plugin 1.0.0` */
export function namedVersion({ name, version }: { name: string; version: string | null }): string {
  return oneLine(version === null ? name : `${name} ${version}`);
}

/** What tells one install of a plugin from the next. */
export function markOf({ version, commit, sha256 }: InstallRecord): string {
  const marks = [version, commit === null ? null : commit.slice(0, 12)].filter(
    (each) => each !== null,
  );
  return oneLine(marks.length === 0 ? `sha256 ${sha256.slice(0, 12)}` : marks.join(' at '));
}

/** `1.0.0 → 1.1.0`; what has the same number has other bytes. */
export function changeOf(before: InstallRecord, after: InstallRecord): string {
  const [old, now] = [markOf(before), markOf(after)];
  if (old !== now) return `${old} → ${now}`;
  return `${now}, with other bytes: sha256 ${before.sha256.slice(0, 12)} → ${after.sha256.slice(0, 12)}`;
}

export function sizeOf(bytes: number): string {
  if (bytes < 1000) return plural(bytes, 'byte');
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

const KINDS: Readonly<Record<string, string>> = {
  tools: 'tools',
  commands: 'commands',
  rules: 'rules',
  messageBuilders: 'message builders',
  providers: 'providers',
  automationEventTypes: 'automation events',
  mcpServers: 'MCP servers',
};

/** `tools: say_hello; commands: greet`; empty when nothing was registered. */
export function contributionWords(contributes: PluginStatus['contributes']): string {
  return Object.entries(contributes ?? {})
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${KINDS[kind] ?? kind}: ${names.map(oneLine).join(', ')}`)
    .join('; ');
}

/** What a plugin wrote with `console`, line by line, without its colours; null when nothing can be seen of it. */
export function pluginWords(text: string): string | null {
  const words = plainText(text);
  return words === '' ? null : words.split(/\r?\n/u).map(printable).join('\n');
}

/** The same where several plugins may be heard. */
export function pluginSays(label: string, text: string): string | null {
  const words = plainText(text);
  return words === '' ? null : `${oneLine(label)} says: ${printableLines(words)}`;
}

function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/^(?:[^\S\n]*\n)+/u, '')
    .trimEnd();
}
