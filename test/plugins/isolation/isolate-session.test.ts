import { describe, expect, it } from 'vitest';
import { eventually } from '../../base/directory.ts';
import { BugError } from '../../../src/base/errors.ts';
import type { AgentPlugin } from '../../../src/plugins/contract/plugin.ts';
import { call, createSdkFixture, DONE, answers } from '../../compat/cline/sdk-fixture.ts';
import {
  createIsolationFixture,
  hooksText,
  type More,
  openText,
  type IsolationFixture,
} from './isolated.ts';

/** The plugin as a session gets it, which cannot be distinguished from one in this process. */
async function openPlugin(
  text: string,
  more: More = {},
  fixture: IsolationFixture = createIsolationFixture(),
) {
  const loading = await openText(text, more, fixture);
  if (loading.kind !== 'loaded') throw new BugError(JSON.stringify(loading));
  return loading.plugin as AgentPlugin;
}

describe('a session with a plugin in a process of its own', () => {
  it('runs its tools, rules, hooks and builders as those of any other', async () => {
    const plugin = await openPlugin(`
      const seen = [];
      export default {
        name: 'whole',
        manifest: { capabilities: ['tools', 'rules', 'hooks', 'messageBuilders'] },
        setup(api) {
          api.registerTool({
            name: 'finish', description: 'Ends the run.', lifecycle: { completesRun: true },
            inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
            execute: async ({ n }, context) => {
              context.emitUpdate('half way');
              return { n, at: new Date(0), keys: Object.keys(context).sort(), seen,
                messages: context.snapshot.messages.length > 0, signal: context.signal instanceof AbortSignal };
            },
          });
          api.registerRule({ id: 'a', content: async () => 'RULE A' });
          api.registerRule({ id: 'b', content: 'RULE B', whenToolAvailable: 'absent_tool' });
          api.registerRule({ id: 'c', content: 'RULE C', whenToolAvailable: 'finish' });
          api.registerMessageBuilder({ name: 'adder', build: (messages) => [...messages, { role: 'user', content: 'ADDED' }] });
        },
        hooks: {
          beforeRun() { seen.push('beforeRun'); },
          beforeModel({ request }) { seen.push('beforeModel'); request.systemPrompt += ' MUTATED'; },
          beforeTool({ input }) { seen.push('beforeTool'); return { input: { n: input.n + 1 } }; },
          onEvent({ type }) { if (type === 'turn-started') seen.push(type); },
        },
      };`);
    const fixture = await createSdkFixture([call('finish', { n: 1 }), DONE]);
    const { result } = await fixture.start({ extensions: [plugin] });
    expect(result?.finishReason).toBe('completed');
    expect(fixture.service.requests()).toHaveLength(1);
    expect(JSON.parse(result?.text ?? '')).toEqual({
      n: 2,
      at: '1970-01-01T00:00:00.000Z',
      keys: [
        'agentId',
        'conversationId',
        'cwd',
        'emitUpdate',
        'iteration',
        'metadata',
        'runId',
        'sessionId',
        'signal',
        'snapshot',
        'toolCallId',
      ],
      seen: ['beforeRun', 'turn-started', 'beforeModel', 'beforeTool'],
      messages: true,
      signal: true,
    });
    const [request] = fixture.service.requests();
    expect(JSON.stringify(request)).toMatch(/SYS\\n\\nRULE A\\n\\nRULE C MUTATED/);
    expect(JSON.stringify(request)).toContain('ADDED');
    expect(JSON.stringify(request)).not.toContain('RULE B');
    const updates = fixture.agentEvents().filter((event) => event.type === 'content_update');
    expect(JSON.stringify(updates)).toContain('half way');
  });

  it('checks the input of a tool with the schema of its author, and passes the parsed input', async () => {
    const plugin = await openPlugin(`
      import { z } from 'zod';
      import { createTool } from '@cline/core';
      const inputSchema = z.object({
        path: z.string().refine((path) => !path.includes('..'), 'stays inside'),
        at: z.string().default('1970-01-01').transform((text) => new Date(text)),
      });
      export default {
        name: 'typed',
        manifest: { capabilities: ['tools'] },
        setup(api) {
          api.registerTool(createTool({ name: 'open', description: 'Opens.', inputSchema,
            execute: async ({ path, at }) => [path, at instanceof Date, at.getTime()] }));
        },
      };`);
    const fixture = await createSdkFixture([
      call('open', { path: '../a' }),
      call('open', { path: 'a' }),
      DONE,
    ]);
    await fixture.start({ extensions: [plugin] });
    expect(answers(fixture)).toEqual([expect.stringContaining('stays inside'), '["a",true,0]']);
  });

  it('goes on without a plugin that crashes, and the model gets an error', async () => {
    const where = createIsolationFixture();
    const plugin = await openPlugin(
      `export default {
        name: 'brittle',
        manifest: { capabilities: ['tools', 'hooks'] },
        setup(api) { api.registerTool({ name: 'crash', description: 'Crashes.', inputSchema: { type: 'object' }, execute: () => process.exit(8) }); },
        hooks: { afterTool: () => undefined, afterRun: () => undefined },
      };`,
      {},
      where,
    );
    const fixture = await createSdkFixture([call('crash'), call('crash', { again: true }), DONE]);
    const { result, sessionId } = await fixture.start(
      { extensions: [plugin] },
      { interactive: true },
    );
    expect(result).toMatchObject({ finishReason: 'completed', text: 'Done.' });
    const sentence = 'the process of the plugin "brittle" ended by itself with exit code 8';
    const failure = { error: expect.stringContaining(sentence) };
    expect(answers(fixture).map((answer) => JSON.parse(answer))).toEqual([failure, failure]);
    expect(where.issues).toMatchObject([{ phase: 'uncaught', level: 'error' }]);
    expect(sessionId).not.toBe('');
  });

  it('refuses what a guard that is gone should have checked', async () => {
    const plugin = await openPlugin(
      hooksText(`beforeTool: Object.assign(() => process.exit(1), { failClosed: true })`),
    );
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo hello'] }),
      call('run_commands', { commands: ['echo again'] }),
      DONE,
    ]);
    await fixture.start({ extensions: [plugin] });
    expect(answers(fixture)).toEqual([
      expect.stringContaining('exit code 1'),
      expect.stringContaining('exit code 1'),
    ]);
  });

  it('is aborted while a tool works there', async () => {
    const where = createIsolationFixture();
    const plugin = await openPlugin(
      `
      export default {
        name: 'patient',
        manifest: { capabilities: ['tools'] },
        setup(api) {
          api.registerTool({ name: 'wait', description: 'Waits.', inputSchema: { type: 'object' }, timeoutMs: 60_000,
            execute: (input, { signal, emitUpdate }) => new Promise((resolve) => {
              signal.addEventListener('abort', () => { console.log('aborted there'); resolve('late'); });
              emitUpdate('waiting');
            }) });
        },
      };`,
      {},
      where,
    );
    const fixture = await createSdkFixture([call('wait'), DONE]);
    fixture.core.subscribe((event) => {
      if (event.type !== 'agent_event' || event.payload.event.type !== 'content_update') return;
      void fixture.core.abort(event.payload.sessionId);
    });
    const { result } = await fixture.start({ extensions: [plugin] });
    expect(result?.finishReason).toBe('aborted');
    await eventually(() => expect(where.printed).toEqual(['log aborted there']));
  });

  it('is steered by it', async () => {
    const plugin = await openPlugin(`
      export default {
        name: 'pilot',
        manifest: { capabilities: ['tools'] },
        setup(api, ctx) {
          api.registerTool({ name: 'turn', description: 'Turns.', inputSchema: { type: 'object' },
            execute() { globalThis.__clinePluginHost.emitEvent('steer_message', { prompt: 'TO THE LEFT' }); return 'ok'; } });
        },
      };`);
    const fixture = await createSdkFixture([call('turn'), DONE]);
    await fixture.start({ extensions: [plugin] });
    await eventually(() =>
      expect(JSON.stringify(fixture.service.requests().at(-1))).toContain('TO THE LEFT'),
    );
  });
});
