import { expect, test } from 'vitest';
import { createTempWorkspace, answering, HOOKS, hostIn } from '../host/temp-workspace.ts';
import { PLUGIN } from '../plugins/find/plugin-sources.ts';

const SETTINGS = {
  hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] },
  permissions: { allow: ['Bash(ls)'] },
};
const SERVERS = { mcpServers: { files: { command: 'true' } } };

const HOOK_KEYS = [
  'binds',
  'details',
  'dialect',
  'eventName',
  'events',
  'id',
  'line',
  'matcher',
  'notes',
  'onFailure',
  'ownId',
  'path',
  'place',
  'problem',
  'root',
  'timeoutMs',
  'toHandlers',
];
const STATUS_KEYS = [
  'hook',
  'isEnabled',
  'onFailure',
  'state',
  'timeoutMs',
  'trustedBy',
  'wasDisabled',
  'why',
];

test('hosts list hooks with the fields that programs read', async () => {
  const workspace = createTempWorkspace({
    [`ws/${HOOKS}/PreToolUse.mjs`]: answering({}),
    'ws/.claude/settings.json': JSON.stringify(SETTINGS),
    'ws/.mcp.json': JSON.stringify(SERVERS),
    'ws/.cline/plugins/one.mjs': PLUGIN,
  });
  const host = await hostIn(workspace, { trust: 'all' });
  const listed = host.hooks();
  const hooksWithHandlers = host.madeHooks();
  expect(
    listed.map(({ hook: { eventName, events, permissions, mcpServer, plugin } }) => [
      eventName,
      events,
      { permissions, mcpServer, plugin },
    ]),
  ).toEqual([
    ['PreToolUse', ['PreToolUse'], {}],
    ['PreToolUse', ['PreToolUse'], {}],
    ['permissions', [], { permissions: expect.objectContaining({ allow: expect.anything() }) }],
    ['mcpServers', [], { mcpServer: expect.objectContaining({ name: 'files' }) }],
    ['plugin', [], { plugin: expect.objectContaining({ path: expect.any(String) }) }],
  ]);
  for (const status of listed) {
    expect(Object.keys(status)).toEqual(expect.arrayContaining(STATUS_KEYS));
    expect(Object.keys(status.hook)).toEqual(expect.arrayContaining(HOOK_KEYS));
  }
  expect(hooksWithHandlers.map(({ hook }) => hook)).toEqual(
    listed.slice(0, 2).map(({ hook }) => hook),
  );
  await host.dispose();
});
