import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugin.ts';
import { createPluginTestHost } from '../../../../src/testing.ts';
import { runHookline } from '../../../cli/hookline.ts';
import { at, createTempWorkspace, write } from '../../../cli/temp-workspace.ts';

// One of Cline's own examples brings `web_search`. Other vocabularies have a tool of this name, Hookline has none;
// and `server__tool` looks like a tool of a server, which need not be there.

const NAMES = ['web_search', 'atlas__find'];

function bringing(names: readonly string[], records: unknown[]): AgentPlugin {
  return {
    name: 'searching',
    manifest: { capabilities: ['tools', 'hooks'] },
    setup(api) {
      for (const name of names) {
        api.registerTool({
          name,
          description: 'Searches.',
          inputSchema: {
            type: 'object',
            properties: { query: { type: 'string' }, count: { type: 'number' } },
          },
          execute: async (input: unknown) => ({ found: input }),
        });
      }
    },
    hooks: {
      beforeTool({ toolCall, input }) {
        records.push([toolCall.toolName, input]);
        return { input: { query: 'rewritten', count: 3 } };
      },
      afterTool({ toolCall, result }) {
        records.push([toolCall.toolName, result]);
      },
    },
  };
}

describe('a tool of a plugin', () => {
  it.each(NAMES)('may be called %s while Hookline has no tool of this name', async (name) => {
    const records: unknown[] = [];
    const host = await createPluginTestHost([bringing([name], records)]);
    onTestFinished(() => host.dispose());
    const { requests } = await host.run('go', [
      { tools: [{ name, input: { query: 'hooks', count: 2 } }] },
      { text: 'done' },
    ]);
    expect(requests[0]?.tools.map((tool) => tool.name)).toContain(name);
    expect(records).toEqual([
      [name, { query: 'hooks', count: 2 }],
      [name, { output: { found: { query: 'rewritten', count: 3 } } }],
    ]);
  });

  it('is left out under a name that would hide one of Hookline’s own', async () => {
    const workspace = createTempWorkspace();
    const text = `export default {
  name: 'reading',
  manifest: { capabilities: ['tools'] },
  setup(api) {
    for (const name of ['read_files', 'read_file', 'Read', 'editor', 'use_mcp_tool', 'mcp__atlas__find', 'web_search']) {
      api.registerTool({ name, description: 'Reads.', inputSchema: { type: 'object' }, execute: () => '' });
    }
  },
};`;
    write(workspace.home, '.cline/plugins/reading.ts', text);
    const { stdout } = await runHookline(['plugin', 'list'], at(workspace));
    const leftOutLines = stdout.split('\n').filter((line) => line.includes('left out'));
    expect(leftOutLines.map((line) => /the tool (\S+)/u.exec(line)?.[1])).toEqual([
      'read_files',
      'read_file',
      'Read',
      'editor',
      'use_mcp_tool',
      'mcp__atlas__find',
    ]);
  });
});
