import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentPlugin } from '../../../src/plugin.ts';
import { createPluginTestHost } from '../../../src/testing.ts';
import { runHookline } from '../../cli/hookline.ts';
import { at, createTempWorkspace, write } from '../../cli/temp-workspace.ts';

async function open(...plugins: AgentPlugin[]) {
  const host = await createPluginTestHost(plugins);
  onTestFinished(() => host.dispose());
  return host;
}

describe('beforeModel', () => {
  // As two public plugins do, one of them of Cline's own examples; releases of Cline pass over it.
  it('may answer with another system prompt, which reaches the next plugin and the model', async () => {
    const records: (string | undefined)[] = [];
    const adding = (name: string): AgentPlugin => ({
      name,
      manifest: { capabilities: ['hooks'] },
      hooks: {
        beforeModel({ request: { systemPrompt = '' } }) {
          records.push(systemPrompt);
          return { systemPrompt: `${systemPrompt}\n\n${name} SAYS SO` };
        },
      },
    });
    const host = await open(adding('FIRST'), adding('SECOND'));
    const { requests } = await host.run('go', [{ text: 'done' }]);
    expect(records[1]).toBe(`${records[0]}\n\nFIRST SAYS SO`);
    expect(requests[0]?.system).toBe(`${records[1]}\n\nSECOND SAYS SO`);
  });

  it('ignores a system prompt of a wrong type', async () => {
    const plugin: AgentPlugin = {
      name: 'wrong',
      manifest: { capabilities: ['hooks'] },
      hooks: { beforeModel: () => JSON.parse('{ "systemPrompt": 5 }') },
    };
    const host = await open(plugin);
    const { requests, text } = await host.run('go', [{ text: 'done' }]);
    expect(text).toBe('done');
    expect(requests[0]?.system).toBe('');
    expect(host.issues()).toEqual([
      expect.objectContaining({
        plugin: 'wrong',
        message: expect.stringContaining('"systemPrompt"'),
      }),
    ]);
  });
});

describe('a tool', () => {
  // Cline's own plugin for sub-agents steers the session that it finds there.
  it('receives the session in its metadata, too', async () => {
    const reports: unknown[] = [];
    const host = await open({
      name: 'asks',
      manifest: { capabilities: ['tools'] },
      setup(api) {
        api.registerTool({
          name: 'who',
          description: '',
          inputSchema: { type: 'object' },
          execute: (_input, { metadata, sessionId }) => void reports.push([metadata, sessionId]),
        });
      },
    });
    await host.run('go', [{ tools: [{ name: 'who', input: {} }] }, { text: 'done' }]);
    expect(reports).toEqual([
      [{ sessionId: host.sessionId, modelSupportsImages: true }, host.sessionId],
    ]);
  });
});

describe('many plugins, each in a process of its own', () => {
  it('are loaded without a warning of Node.js', async () => {
    const workspace = createTempWorkspace();
    const plugins = path.join(workspace.home, '.cline', 'plugins');
    for (let n = 0; n < 11; n += 1) {
      write(
        plugins,
        `p${n}.mjs`,
        `export default { name: 'p${n}', manifest: { capabilities: ['hooks'] }, hooks: {} };`,
      );
    }
    const script = path.join(workspace.directory, 'turns.json');
    writeFileSync(script, JSON.stringify([{ text: 'done' }]));
    const env = { HOOKLINE_PLUGIN_ISOLATION: 'process' };
    expect(await runHookline(['run', '--script', script, 'go'], at(workspace, { env }))).toEqual({
      code: 0,
      stdout: 'done\n',
      stderr: '',
    });
  });
});

describe('afterModel', () => {
  const CALL = {
    type: 'tool-call',
    toolCallId: 'narrated-1',
    toolName: 'run_commands',
    input: { commands: ['echo ran'] },
  } as const;

  function ran(records: unknown[]): AgentPlugin['hooks'] {
    return { afterTool: ({ result }) => void records.push(result.output) };
  }

  // As one of Cline's own examples does, for models that write their calls as text.
  it('may answer with another message, whose calls are made', async () => {
    const records: unknown[] = [];
    const host = await open({
      name: 'narrated',
      manifest: { capabilities: ['hooks'] },
      hooks: {
        ...ran(records),
        afterModel({ assistantMessage }) {
          if (records.length > 0) return undefined;
          return {
            message: { ...assistantMessage, content: [{ type: 'text', text: 'I run it.' }, CALL] },
          };
        },
      },
    });
    const { requests } = await host.run('go', [{ text: '<run>echo ran</run>' }, { text: 'done' }]);
    expect(records).toEqual([[{ query: 'echo ran', result: 'ran', success: true }]]);
    expect(requests[1]?.messages[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'text', text: 'I run it.' },
        {
          type: 'tool_use',
          id: 'narrated-1',
          name: 'run_commands',
          input: { commands: ['echo ran'] },
        },
      ],
    });
  });

  it('may change the message in place, which the next plugin receives', async () => {
    const records: unknown[] = [];
    const reports: unknown[] = [];
    const host = await open(
      {
        name: 'recovering',
        manifest: { capabilities: ['hooks'] },
        hooks: {
          ...ran(records),
          afterModel({ assistantMessage }) {
            if (records.length === 0) assistantMessage.content.push(CALL);
          },
        },
      },
      {
        name: 'watching',
        manifest: { capabilities: ['hooks'] },
        hooks: {
          afterModel: ({ assistantMessage }) =>
            void reports.push(assistantMessage.content.map(({ type }) => type)),
        },
      },
    );
    await host.run('go', [{ text: 'I would run it' }, { text: 'done' }]);
    expect(records).toHaveLength(1);
    expect(reports).toEqual([['text', 'tool-call'], ['text']]);
  });

  it('ignores a message of a wrong type', async () => {
    const host = await open({
      name: 'wrong',
      manifest: { capabilities: ['hooks'] },
      hooks: { afterModel: () => JSON.parse('{ "message": "done" }') },
    });
    const { text } = await host.run('go', [{ text: 'done' }]);
    expect(text).toBe('done');
  });
});
