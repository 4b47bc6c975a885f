import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type AgentPlugin, definePlugin, defineTool } from '../../../src/plugin.ts';
import {
  createPluginTestHost,
  type GivenPlugins,
  type PluginTestHost,
  type PluginTestOptions,
} from '../../../src/testing.ts';

async function open(input: GivenPlugins, options?: PluginTestOptions): Promise<PluginTestHost> {
  const host = await createPluginTestHost(input, options);
  onTestFinished(() => host.dispose());
  return host;
}

const GREETER: AgentPlugin = definePlugin({
  name: 'greeter',
  manifest: { capabilities: ['tools', 'hooks', 'rules', 'commands', 'messageBuilders'] },
  setup(api, ctx) {
    api.registerTool(
      defineTool({
        name: 'greet',
        description: 'Greets.',
        inputSchema: z.object({ name: z.string() }),
        execute: ({ name }) => `Hello, ${name}, in ${ctx.workspaceInfo?.hint ?? 'nowhere'}!`,
      }),
    );
    api.registerRule({ id: 'kind', content: 'Be kind.' });
    api.registerCommand({ name: 'hi', description: 'Says hi.', handler: (input) => `hi ${input}` });
    api.registerMessageBuilder({
      name: 'shout',
      build: (messages) =>
        messages.map((message) =>
          typeof message.content === 'string'
            ? message
            : {
                ...message,
                content: message.content.map((block) =>
                  block.type === 'text' ? { ...block, text: block.text.toUpperCase() } : block,
                ),
              },
        ),
    });
  },
  hooks: {
    beforeTool({ toolCall, input }) {
      const isPush = JSON.stringify(input).includes('git push');
      if (toolCall.toolName !== 'run_commands' || !isPush) return undefined;
      return { skip: true, reason: 'no pushes' };
    },
  },
});

describe('createPluginTestHost', () => {
  it('runs a prompt in a real session, with a model that follows the script', async () => {
    const host = await open(GREETER);
    const { text, finishReason, toolCalls, requests, events } = await host.run('greet Ada', [
      { tools: [{ name: 'greet', input: { name: 'Ada' } }] },
      { text: 'Greeted.' },
    ]);
    expect({ text, finishReason }).toEqual({ text: 'Greeted.', finishReason: 'completed' });
    expect(toolCalls.map(({ name, input, output }) => ({ name, input, output }))).toEqual([
      { name: 'greet', input: { name: 'Ada' }, output: 'Hello, Ada, in workspace!' },
    ]);
    expect(requests).toHaveLength(2);
    expect(requests[0]?.system).toContain('Be kind.');
    expect(JSON.stringify(requests[0]?.messages)).toContain('GREET ADA');
    expect(events.map(({ type }) => type)).toContain('tool-finished');
    expect(host.issues()).toEqual([]);
  });

  it('calls one tool, past hooks and schemas', async () => {
    const host = await open(GREETER, { files: { 'a.txt': 'one\n' } });
    expect(await host.callTool('greet', { name: 'Ada' })).toMatchObject({
      output: 'Hello, Ada, in workspace!',
    });
    const { error } = await host.callTool('greet', { nam: 'Ada' });
    expect(error).toContain('The input of greet does not fit its schema');
    expect(await host.callTool('run_commands', { commands: ['git push'] })).toMatchObject({
      error: expect.stringContaining('no pushes'),
    });
    expect(await host.callTool('read_files', { files: [{ path: 'a.txt' }] })).toMatchObject({
      output: [{ success: true, result: expect.stringContaining('one') }],
    });
  });

  it('fires a hook event without a run', async () => {
    const host = await open(GREETER);
    const push = { tool: 'run_commands', input: { commands: ['git push'] } };
    expect(await host.fire('beforeTool', push)).toMatchObject({
      effect: 'deny',
      reasons: [{ text: 'no pushes' }],
    });
    const status = { tool: 'run_commands', input: { commands: ['git status'] } };
    expect(await host.fire('beforeTool', status)).toMatchObject({ effect: 'pass' });
  });

  it('lists what plugins contribute as plain data', async () => {
    const host = await open(GREETER);
    expect(host.contributions()).toMatchInlineSnapshot(`
      [
        {
          "automationEventTypes": [],
          "capabilities": [
            "tools",
            "hooks",
            "rules",
            "commands",
            "messageBuilders",
          ],
          "commands": [
            {
              "description": "Says hi.",
              "handler": "[function]",
              "name": "hi",
            },
          ],
          "hooks": [
            "beforeTool",
          ],
          "mcpServers": [],
          "messageBuilders": [
            {
              "build": "[function]",
              "name": "shout",
            },
          ],
          "name": "greeter",
          "providers": [],
          "rules": [
            {
              "content": "Be kind.",
              "id": "kind",
            },
          ],
          "state": "ready",
          "tools": [
            {
              "description": "Greets.",
              "execute": "[function]",
              "inputSchema": {
                "properties": {
                  "name": {
                    "type": "string",
                  },
                },
                "required": [
                  "name",
                ],
                "type": "object",
              },
              "maxRetries": 3,
              "name": "greet",
              "retryable": true,
              "timeoutMs": 30000,
            },
          ],
        },
      ]
    `);
  });

  it('has every run begin with its own script', async () => {
    const host = await open(GREETER);
    await host.run('one', [{ text: 'first' }, { text: 'never said' }]);
    expect((await host.run('two')).text).toBe('Done.');
    expect((await host.run('three', [])).finishReason).toBe('error');
    expect((await host.run('/hi there')).text).toBe('hi there');
  });

  it('refuses a plugin that breaks rules of its manifest, unless it is not strict', async () => {
    const noHooks: AgentPlugin = { name: 'a', manifest: { capabilities: ['hooks'] } };
    const noCapability: AgentPlugin = {
      name: 'a',
      manifest: { capabilities: ['commands'] },
      setup(api) {
        api.registerTool({ name: 't', description: '', inputSchema: {}, execute: () => 1 });
      },
    };
    const hooks = Object.assign({ beforeRun: () => undefined }, { beforeTol: () => undefined });
    const misspelt: AgentPlugin = { ...noHooks, hooks };
    await expect(open(noHooks)).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: 'the plugin "a": it declares the capability "hooks" and has no hooks',
      hint: 'Fix it; without `strict` the plugin is used, with a warning.',
    });
    await expect(open(misspelt)).rejects.toThrow('did you mean beforeTool?');
    await expect(open(noCapability)).rejects.toThrow('registerTool requires the "tools"');
    const host = await open([noCapability, { ...noHooks, name: 'b' }], { strict: false });
    expect(host.contributions().map(({ name, state }) => [name, state])).toEqual([
      ['a', 'ready'],
      ['b', 'ready'],
    ]);
    const violation =
      'registerTool requires the "tools" capability, which its manifest does not declare';
    expect(host.issues()).toEqual([
      {
        plugin: 'a',
        phase: 'setup',
        level: 'warning',
        message: `${violation}; it is registered anyway`,
        violation,
      },
      expect.objectContaining({ plugin: 'b', phase: 'validate', level: 'warning' }),
    ]);
  });

  it('reports a plugin that cannot be used when it is not strict', async () => {
    const broken: AgentPlugin = {
      name: 'broken',
      manifest: { capabilities: ['tools'] },
      setup(api) {
        api.registerTool({ name: 't', description: '', inputSchema: {}, execute: () => 1 });
        api.registerRule({ id: 'r', content: 'x' });
      },
    };
    const host = await open([broken, GREETER], { strict: false });
    expect(
      host.contributions().map(({ name, state, tools }) => [name, state, tools.length]),
    ).toEqual([
      ['broken', 'failed', 0],
      ['greeter', 'ready', 1],
    ]);
    expect(host.issues()).toEqual([
      {
        plugin: 'broken',
        phase: 'setup',
        level: 'error',
        message:
          'Invalid setup for extension "broken": registerRule requires the "rules" capability',
      },
    ]);
    const throwing = { strict: false, hookErrorMode: 'throw' } as const;
    await expect(open(broken, throwing)).rejects.toThrow('registerRule requires');
    await expect(open({ ...broken, manifest: { capabilities: [] } })).rejects.toThrow(
      'Invalid manifest for extension "broken"',
    );
  });

  it('leaves nothing behind, and reads nothing of the user’s', async () => {
    const host = await createPluginTestHost({
      ...GREETER,
      setup(_api, ctx) {
        expect(ctx.cwd).toBe(ctx.workspaceInfo?.rootPath);
      },
    });
    const { home, workspace } = host;
    expect([home, workspace].every((place) => existsSync(place))).toBe(true);
    expect(path.dirname(path.dirname(workspace))).toBe(path.dirname(home));
    await host.dispose();
    expect([home, workspace].some((place) => existsSync(place))).toBe(false);
  });

  it('reports what is wrong with its files and paths', async () => {
    await expect(open(GREETER, { files: { '../a': '' } })).rejects.toThrow(
      'files should lie in the workspace, found "../a"',
    );
    await expect(open('/nowhere/plugin.ts')).rejects.toThrow('/nowhere/plugin.ts not found');
  });
});
