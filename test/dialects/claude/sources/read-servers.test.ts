import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readSources } from '../../../../src/dialects/claude/sources/read-sources.ts';
import { createMachine, type Machine } from './sources-machine.ts';

function readingOf(machine: Machine) {
  const { mcpServers, ignored } = readSources(machine.places);
  const within = (file: string): string => file.replace(`${machine.base}/`, '');
  return {
    servers: mcpServers.servers.map(({ name, source, file, line, place, whyOff }) => ({
      name,
      source,
      at: `${within(file)}:${line}`,
      place,
      ...(whyOff === null ? {} : { whyOff: whyOff.replaceAll(`${machine.base}/`, '') }),
    })),
    broken: mcpServers.broken.map(({ file, line, why }) => `${within(file)}:${line}: ${why}`),
    ignored: ignored.map(
      ({ path, why }) => `${within(path)}: ${why.replaceAll(`${machine.base}/`, '')}`,
    ),
  };
}

/** Each file on one line, so that everything in it stands at line 1. */
function inOneLine(files: Readonly<Record<string, object>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

test('servers are read from .mcp.json with its comments, and a wrong entry does not affect its neighbours', () => {
  const machine = createMachine({
    'proj/.mcp.json': `{
  // what this team uses
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files"] },
    "docs": { "type": "http", "url": "https://example.org/mcp" },
    "later": { "type": "streamable-http", "url": "\${DOCS_URL}" },
    "old": { "type": "sse", "url": "https://example.org/sse" },
    "none": { "args": [] },
    "odd": { "type": "carrier-pigeon" },
    "list": [],
    "where": { "url": "ftp://example.org" },
    "off": { "command": "x", "disabled": true },
  },
}`,
  });
  expect(readingOf(machine)).toEqual({
    servers: [
      { name: 'files', source: 'project', at: 'proj/.mcp.json:4', place: 'workspace' },
      { name: 'docs', source: 'project', at: 'proj/.mcp.json:5', place: 'workspace' },
      { name: 'later', source: 'project', at: 'proj/.mcp.json:6', place: 'workspace' },
      {
        name: 'off',
        source: 'project',
        at: 'proj/.mcp.json:12',
        place: 'workspace',
        whyOff: 'its entry says "disabled"',
      },
    ],
    broken: [
      'proj/.mcp.json:7: the MCP server "old": "type": expected "stdio" or "http", found "sse", which "http" has replaced',
      'proj/.mcp.json:8: the MCP server "none": "command": expected a program, found nothing',
      'proj/.mcp.json:9: the MCP server "odd": "type": expected "stdio" or "http", found "carrier-pigeon"',
      'proj/.mcp.json:10: the MCP server "list": expected an object, found array',
      'proj/.mcp.json:11: the MCP server "where": "url": expected an http or https address, found the string "ftp://example.org"',
    ],
    ignored: [
      'proj/.mcp.json: line 7: the MCP server "old": "type": expected "stdio" or "http", found "sse", which "http" has replaced',
      'proj/.mcp.json: line 8: the MCP server "none": "command": expected a program, found nothing',
      'proj/.mcp.json: line 9: the MCP server "odd": "type": expected "stdio" or "http", found "carrier-pigeon"',
      'proj/.mcp.json: line 10: the MCP server "list": expected an object, found array',
      'proj/.mcp.json: line 11: the MCP server "where": "url": expected an http or https address, found the string "ftp://example.org"',
      'proj/.mcp.json: line 12: the MCP server "off" is not used: its entry says "disabled"',
    ],
  });
});

test('settings and plugins bring servers, and settings switch those of .mcp.json off but never on', () => {
  const machine = createMachine(
    inOneLine({
      'home/.claude/settings.json': {
        mcpServers: { own: { command: 'own' } },
        enableAllProjectMcpServers: true,
      },
      'proj/.claude/settings.json': {
        mcpServers: { team: { command: 'team' } },
        disabledMcpjsonServers: ['unwanted'],
      },
      'proj/.mcp.json': { mcpServers: { unwanted: { command: 'x' }, wanted: { command: 'y' } } },
      'plug/.claude-plugin/plugin.json': {
        name: 'fmt',
        mcpServers: { inline: { command: '${CLAUDE_PLUGIN_ROOT}/serve' } },
      },
      'plug/.mcp.json': { bare: { command: 'bare' } },
    }),
    (base) => ({ pluginDirectories: [`${base}/plug`] }),
  );
  expect(readingOf(machine)).toEqual({
    servers: [
      { name: 'own', source: 'user', at: 'home/.claude/settings.json:1', place: 'home' },
      { name: 'team', source: 'project', at: 'proj/.claude/settings.json:1', place: 'workspace' },
      {
        name: 'unwanted',
        source: 'project',
        at: 'proj/.mcp.json:1',
        place: 'workspace',
        whyOff: '"disabledMcpjsonServers" in proj/.claude/settings.json names it',
      },
      { name: 'wanted', source: 'project', at: 'proj/.mcp.json:1', place: 'workspace' },
      { name: 'plugin:fmt:bare', source: 'plugin', at: 'plug/.mcp.json:1', place: 'given' },
      {
        name: 'plugin:fmt:inline',
        source: 'plugin',
        at: 'plug/.claude-plugin/plugin.json:1',
        place: 'given',
      },
    ],
    broken: [],
    ignored: [
      'home/.claude/settings.json: line 1: "enableAllProjectMcpServers" starts no server here: run `hookline trust` to review them',
      'proj/.mcp.json: line 1: the MCP server "unwanted" is not used: "disabledMcpjsonServers" in proj/.claude/settings.json names it',
    ],
  });
});

test('a .mcp.json that is not JSON is reported with its line', () => {
  const machine = createMachine({ 'proj/.mcp.json': '{\n  "mcpServers": {,}\n}' });
  const why = 'expected JSON, found "," at column 18 (one comma too many)';
  expect(readingOf(machine)).toEqual({
    servers: [],
    broken: [`proj/.mcp.json:2: ${why}`],
    ignored: [`proj/.mcp.json: line 2: ${why}`],
  });
});

test('a .mcp.json that is not an object is reported', () => {
  const machine = createMachine({ 'proj/.mcp.json': '[]' });
  expect(readingOf(machine)).toEqual({
    servers: [],
    broken: ['proj/.mcp.json:1: expected an object, found array'],
    ignored: ['proj/.mcp.json: line 1: expected an object, found array'],
  });
});

test('a .mcp.json that cannot be read is reported, once in each listing', () => {
  const machine = createMachine({ 'proj/a': '' });
  execFileSync('mkfifo', [path.join(machine.base, 'proj/.mcp.json')]);
  expect(readingOf(machine)).toEqual({
    servers: [],
    broken: ['proj/.mcp.json:1: cannot be read: it is not a regular file'],
    ignored: ['proj/.mcp.json: cannot be read: it is not a regular file'],
  });
});
