import type { PluginStatus } from '../../plugins/registry.ts';
import { stripVTControlCharacters } from 'node:util';
import { toOneLine, toPrintable, toPrintableLines } from './print.ts';

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
