import { expect, test } from 'vitest';
import { addServer, removeServer } from '../../src/mcp/edit-servers.ts';

const FILE = `{
  // ours
  "mcpServers": {
    "files": { "command": "npx" }, // for everybody
    "docs": { "url": "https://example.org" }
  },
  "other": [1, 2]
}
`;
const ENTRY = { command: 'x' };

test('a server is added, and comments and all else stay', () => {
  expect([
    addServer('', 'new', ENTRY),
    addServer('{ "other": 1 }', 'new', ENTRY),
    addServer(FILE, 'new', ENTRY),
  ]).toEqual([
    '{\n  "mcpServers": {\n    "new": {\n      "command": "x"\n    }\n  }\n}\n',
    '{ "other": 1, "mcpServers": { "new": { "command": "x" } } }',
    FILE.replace('.org" }', '.org" },\n    "new": { "command": "x" }'),
  ]);
});

test('a server is removed, and comments and all else stay', () => {
  expect([
    removeServer(FILE, 'docs'),
    removeServer(FILE, 'nope'),
    removeServer('', 'docs'),
  ]).toEqual([
    FILE.replace(
      ', // for everybody\n    "docs": { "url": "https://example.org" }',
      ' // for everybody',
    ),
    null,
    null,
  ]);
});

test.each([
  [FILE.replace('"docs"', '"new"'), 'MCP server "new" already exists'],
  ['[]', 'expected an object with "mcpServers", found array'],
  ['{ "mcpServers": [] }', '"mcpServers": expected an object, found array'],
  ['{\n  nope', 'line 2: expected JSON, found "n" at column 3 (missing quotes around nope)'],
])('a file that cannot be edited is left: %j', (text, message) => {
  expect(() => addServer(text, 'new', ENTRY)).toThrow(message);
});
