import path from 'node:path';
import type { CommandEntry, Entry } from './entry.ts';
import { formatUrl } from './handlers/http-rules.ts';

/** Computes a key that equal hooks share: of those that match an event, only the last one runs. */
export function computeIdentity(entry: Entry, projectDirectory: string): string {
  const { family } = entry.source;
  const where = [family, projectDirectory];
  return JSON.stringify([
    ...where,
    entry.type,
    entry.condition ?? null,
    ...listIdentityParts(entry),
  ]);
}

function listIdentityParts(entry: Entry): readonly unknown[] {
  switch (entry.type) {
    case 'command':
      return [entry.command, entry.args, entry.shell ?? 'bash'];
    case 'http':
      return [entry.url, entry.headers];
    case 'mcp_tool':
      return [entry.server, entry.tool, entry.input];
    case 'prompt':
    case 'agent':
      return [entry.prompt, entry.model];
  }
}

/** Formats the command, URL, tool or prompt of an entry. */
export function formatLabel(entry: Entry): string {
  switch (entry.type) {
    case 'command':
      return [entry.command, ...(entry.args ?? [])].join(' ');
    case 'http':
      return URL.canParse(entry.url) ? formatUrl(new URL(entry.url)) : entry.url;
    case 'mcp_tool':
      return `${entry.server} ${entry.tool}`;
    case 'prompt':
    case 'agent':
      return entry.prompt;
  }
}

/** Formats a short name for ids: `format.sh` for a command that runs it, `example.org` for a URL. */
export function formatNickname(entry: Entry): string {
  const name = pickNickname(entry)
    .replaceAll(/[^\w.@+-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name.slice(0, MAX_NICKNAME) || entry.type;
}

const MAX_NICKNAME = 40;

function pickNickname(entry: Entry): string {
  switch (entry.type) {
    case 'command':
      return findScriptName(entry);
    case 'http':
      return getHost(entry.url);
    case 'mcp_tool':
      return `${entry.server}-${entry.tool}`;
    case 'prompt':
    case 'agent':
      return entry.type;
  }
}

const SCRIPT = /[\w-]\.(?:sh|bash|zsh|py|m?js|cjs|m?ts|cts|rb|pl|php|lua|ps1|bat|cmd|exe)$/i;

/** Prefers the script of a command to its interpreter. */
function findScriptName({ command, args }: CommandEntry): string {
  const words = [...command.split(/[\s;|&()]+/), ...(args ?? [])]
    .map((word) => word.replaceAll(/["']/g, ''))
    .filter((word) => word !== '' && !/^\w+=/.test(word));
  const script = words.find((word) => SCRIPT.test(word) && !word.startsWith('-'));
  return path.posix.basename((script ?? words[0] ?? '').replaceAll('\\', '/'));
}

function getHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'http';
}
