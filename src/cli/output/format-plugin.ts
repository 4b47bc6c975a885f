import type { InstallRecord } from '../../plugins/install/record.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { stripVTControlCharacters } from 'node:util';
import { toOneLine, formatCount, toPrintable, toPrintableLines } from './print.ts';

/** `my-plugin 1.0.0` */
export function formatNameAndVersion({
  name,
  version,
}: {
  name: string;
  version: string | null;
}): string {
  return toOneLine(version === null ? name : `${name} ${version}`);
}

/** Identifies an installed version. */
export function formatInstallVersion({ version, commit, sha256 }: InstallRecord): string {
  const marks = [version, commit === null ? null : commit.slice(0, 12)].filter(
    (each) => each !== null,
  );
  return toOneLine(marks.length === 0 ? `sha256 ${sha256.slice(0, 12)}` : marks.join(' at '));
}

/** `1.0.0 → 1.1.0`; for an equal version, the hashes. */
export function formatVersionChange(before: InstallRecord, after: InstallRecord): string {
  const [old, now] = [formatInstallVersion(before), formatInstallVersion(after)];
  if (old !== now) return `${old} → ${now}`;
  return `${now}, content changed: sha256 ${before.sha256.slice(0, 12)} → ${after.sha256.slice(0, 12)}`;
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return formatCount(bytes, 'byte');
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
export function formatContributions(contributes: PluginStatus['contributes']): string {
  return Object.entries(contributes ?? {})
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${KINDS[kind] ?? kind}: ${names.map(toOneLine).join(', ')}`)
    .join('; ');
}

/** A plugin's console output without colors; null when it is blank. */
export function formatConsoleOutput(text: string): string | null {
  const plain = toPlainText(text);
  return plain === '' ? null : plain.split(/\r?\n/u).map(toPrintable).join('\n');
}

/** The same with the plugin's name, where several plugins may print. */
export function formatPluginOutput(label: string, text: string): string | null {
  const plain = toPlainText(text);
  return plain === '' ? null : `${toOneLine(label)} says: ${toPrintableLines(plain)}`;
}

function toPlainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/^(?:[^\S\n]*\n)+/u, '')
    .trimEnd();
}
