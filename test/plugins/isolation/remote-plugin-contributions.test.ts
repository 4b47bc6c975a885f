import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../base/directory.ts';
import type {
  AutomationEventEnvelope,
  PluginSetupContext,
} from '../../../src/plugins/contract/plugin.ts';
import { createIsolationFixture, openActive, openText } from './isolated.ts';

const EVERYTHING = `
  const { createTool } = await import('@cline/core');
  export default {
    name: 'everything',
    type: 'demo',
    manifest: {
      capabilities: ['hooks', 'tools', 'commands', 'rules', 'messageBuilders', 'providers', 'automationEvents', 'mcp'],
      providerIds: [' anthropic '],
    },
    hooks: {
      beforeTool: Object.assign(() => undefined, { failClosed: true }),
      afterTool() {},
      beforetool() {},
      onEvent: 5,
    },
    setup(api) {
      api.registerTool(createTool({
        name: 'finish', description: 'Ends it.', inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
        lifecycle: { completesRun: true }, executionMode: 'parallel', timeoutMs: 1234, retryable: false, maxRetries: 2,
        execute: async () => 'done',
      }));
      api.registerTool({ name: 'plain', description: 'No more.', inputSchema: { properties: {} }, execute: () => 1 });
      api.registerCommand({ name: 'greet', description: 'Greets.', prefix: 'Hello, ',
        handler(input) { return { reply: this.prefix + input, submitPrompt: 'go on' }; } });
      api.registerCommand({ name: 'silent' });
      api.registerRule({ id: 'static', content: 'Be brief.', source: 'demo' });
      api.registerRule({ id: 'asked', suffix: '!', whenToolAvailable: 'editor',
        async content() { return 'Use the editor' + this.suffix; } });
      api.registerMessageBuilder({ name: 'shorten', most: 1,
        build(messages) { return messages.slice(-this.most); } });
      api.registerProvider({ name: 'own', description: 'A service.', metadata: { baseUrl: 'http://127.0.0.1:9', since: new Date(0) } });
      api.registerAutomationEventType({ eventType: ' pr.opened ', source: ' github ', payloadSchema: { type: 'object' }, examples: [{ n: 1 }] });
      api.registerMcpServer({ name: 'files', transport: { type: 'stdio', command: 'files' }, env: { A: 'b' } });
    },
  };`;

describe('what a plugin registers with Llms in a process of its own', () => {
  const collection = {
    provider: {
      id: 'router',
      name: 'Router',
      client: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
    },
    models: { great: { id: 'great' } },
  };
  const registering = (setup: string): string => `
    import { Llms } from '@cline/core';
    export default { name: 'router', manifest: { capabilities: ['providers'] }, setup(api) { ${setup} } };`;

  it('is passed to its host where it describes a service', async () => {
    const text = `Llms.registerProvider(${JSON.stringify(collection)});
      Llms.registerModel('router', 'late', { name: 'Late' });`;
    const { active, stage: fixture } = await openActive(registering(text));
    const late = { id: 'late', name: 'Late' };
    const fullCollection = { ...collection, models: { ...collection.models, late } };
    expect(active.contributions.providers).toEqual([
      { name: 'router', metadata: { clineModelCollection: fullCollection } },
    ]);
    expect(fixture.issues).toEqual([]);
  });

  it('is one provider with what it announced itself', async () => {
    const text = `Llms.registerProvider(${JSON.stringify(collection)});
      api.registerProvider({ name: 'router', description: 'A router.', metadata: { apiKeyEnv: 'KEY' } });`;
    const { active } = await openActive(registering(text));
    expect(active.contributions.providers).toEqual([
      {
        name: 'router',
        description: 'A router.',
        metadata: { apiKeyEnv: 'KEY', clineModelCollection: collection },
      },
    ]);
  });

  it('is reported as unusable where a function makes its answers', async () => {
    const text = `Llms.registerHandler('coded', () => ({}));`;
    const { active, stage: fixture } = await openActive(registering(text));
    expect(active.contributions.providers).toEqual([]);
    expect(fixture.issues).toMatchObject([
      {
        level: 'warning',
        message: expect.stringMatching(/^the provider "coded" serves nothing: /u),
      },
    ]);
  });
});

describe('a plugin in a process of its own', () => {
  it('may be an object of a class, and so may its hooks', async () => {
    const loading = await openText(`
      class Hooks { beforeTool() {} }
      class Made {
        hooks = new Hooks();
        get name() { return 'made'; }
        get manifest() { return { capabilities: ['hooks'] }; }
        setup() {}
      }
      export default new Made();`);
    expect(loading).toMatchObject({
      kind: 'loaded',
      plugin: {
        name: 'made',
        manifest: { capabilities: ['hooks'] },
        hooks: { beforeTool: expect.any(Function) },
        setup: expect.any(Function),
      },
    });
  });

  it('looks like the plugin itself', async () => {
    const loading = await openText(EVERYTHING);
    expect(loading).toMatchObject({
      kind: 'loaded',
      plugin: {
        name: 'everything',
        type: 'demo',
        manifest: { providerIds: [' anthropic '] },
        hooks: {
          beforeTool: expect.any(Function),
          afterTool: expect.any(Function),
          beforetool: expect.any(Function),
          onEvent: 5,
        },
        setup: expect.any(Function),
      },
    });
  });

  it('contributes everything that it registers, whole', async () => {
    const { active, stage: fixture, registry } = await openActive(EVERYTHING);
    const { tools, commands, rules, messageBuilders, ...data } = active.contributions;
    const execute = expect.any(Function);
    expect(tools).toEqual([
      {
        name: 'finish',
        description: 'Ends it.',
        inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
        lifecycle: { completesRun: true },
        executionMode: 'parallel',
        timeoutMs: 1234,
        retryable: false,
        maxRetries: 2,
        execute,
      },
      {
        name: 'plain',
        description: 'No more.',
        inputSchema: { type: 'object', properties: {} },
        execute,
      },
    ]);
    expect(commands).toEqual([
      { name: 'greet', description: 'Greets.', prefix: 'Hello, ', handler: execute },
      { name: 'silent' },
    ]);
    expect(await commands[0]?.handler?.('you')).toEqual({
      reply: 'Hello, you',
      submitPrompt: 'go on',
    });
    expect(rules).toEqual([
      { id: 'static', content: 'Be brief.', source: 'demo' },
      { id: 'asked', suffix: '!', whenToolAvailable: 'editor', content: execute },
    ]);
    const getContent = rules[1]?.content;
    expect(typeof getContent === 'function' && (await getContent())).toBe('Use the editor!');
    const inputs = [
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
    ] as const;
    expect(await messageBuilders[0]?.build([...inputs])).toEqual([inputs[1]]);
    expect(data).toEqual({
      providers: [
        {
          name: 'own',
          description: 'A service.',
          metadata: { baseUrl: 'http://127.0.0.1:9', since: new Date(0) },
        },
      ],
      automationEventTypes: [
        {
          eventType: 'pr.opened',
          source: 'github',
          payloadSchema: { type: 'object' },
          examples: [{ n: 1 }],
        },
      ],
      mcpServers: [
        {
          name: 'files',
          transport: { type: 'stdio', command: 'files' },
          env: { A: 'b' },
          metadata: { source: 'plugin', plugin: 'everything' },
        },
      ],
    });
    expect(Reflect.get(active.plugin.hooks?.beforeTool ?? {}, 'failClosed')).toBe(true);
    expect(fixture.issues.map(({ message }) => message)).toEqual([
      expect.stringContaining('did you mean beforeTool?'),
      expect.stringContaining('onEvent'),
    ]);
    expect(registry.list()).toMatchObject([{ name: 'everything', state: 'ready' }]);
  });

  it('has the hooks that its setup left it with', async () => {
    const { active, hook } = await openActive(`
      const plugin = {
        name: 'late-hooks',
        manifest: { capabilities: ['hooks'] },
        setup() {
          plugin.hooks = { beforeTool: () => ({ skip: true, reason: 'set up' }) };
        },
      };
      export default plugin;`);
    expect(Object.keys(active.plugin.hooks ?? {})).toEqual(['beforeTool']);
    expect(await hook('beforeTool', {})).toEqual({ skip: true, reason: 'set up' });
  });

  it('registers by the rules of its host: what needs a capability is refused there and then', async () => {
    const text = `
      export default {
        name: 'sly',
        manifest: { capabilities: ['tools'] },
        setup(api) {
          try { api.registerRule({ id: 'a', content: 'b' }); } catch (error) { console.log(error.code, error.message); }
          api.registerCommand({ name: 'c' });
          setTimeout(() => { try { api.registerTool({ name: 't', execute() {} }); } catch (error) { console.log(error.code); } });
        },
      };`;
    const { stage: fixture, active } = await openActive(text);
    expect(active.contributions.rules).toEqual([]);
    expect(active.contributions.commands).toEqual([{ name: 'c' }]);
    await eventually(() =>
      expect(fixture.printed).toEqual([
        'log PLUGIN_INVALID Invalid setup for extension "sly": registerRule requires the "rules" capability',
        'log PLUGIN_LATE',
      ]),
    );
    expect(fixture.issues.map(({ phase, level }) => [phase, level])).toEqual([
      ['setup', 'warning'],
    ]);
    await expect(openActive(text, { isStrict: true })).rejects.toThrow(
      'registerCommand requires the "commands" capability',
    );
  });

  it('is refused by its manifest like any other', async () => {
    const flying = `export default { name: 'odd', manifest: { capabilities: ['flying'] } };`;
    await expect(openActive(flying)).rejects.toThrow(String.raw`capability \"flying\" not found`);
    const setup = `export default { name: 'odd', manifest: { capabilities: ['tools'] }, setup: 3 };`;
    await expect(openActive(setup)).rejects.toThrow('to be a function, found number');
  });

  it.each([
    ['export const helper = 1;', { kind: 'helper' }],
    ['export default () => 1;', { kind: 'failed', message: expect.stringContaining('a function') }],
    ['export default {', { kind: 'failed', message: expect.stringContaining('own-plugin.mjs') }],
    [
      `export default { get name() { throw new Error('shy'); }, manifest: {} };`,
      { kind: 'failed', message: 'it cannot be read: shy' },
    ],
  ])('is distinguished from what is no plugin: %s', async (text, expected) => {
    expect(await openText(text)).toEqual(expected);
  });
});

describe('what setup is given in a process of its own', () => {
  const REPORT = `
    export default {
      name: 'asker',
      manifest: { capabilities: ['automationEvents'] },
      async setup(api, ctx) {
        const { automation, logger, telemetry, emitEvent, onDispose, ...data } = ctx;
        globalThis.__clinePluginHost.emitEvent('data', {
          data, env: globalThis.__clineSessionEnv, cwd: process.cwd(), hasChannel: 'send' in process,
          kinds: [automation, logger, telemetry, emitEvent, onDispose].map((each) => typeof each),
        });
        logger?.debug('looking');
        logger?.log('found', { at: new Date(1), error: new TypeError('inside') });
        logger?.error('lost');
        telemetry?.capture({ event: 'set-up', properties: { n: 1n } });
        emitEvent?.('flushed', [telemetry?.isEnabled(), await telemetry?.flush()]);
        api.registerAutomationEventType({ eventType: 'a', source: 'b' });
        const result = await automation?.ingestEvent({ eventId: '1', eventType: 'a', source: 'b', occurredAt: 'now' });
        emitEvent?.('ingested', result);
        emitEvent?.('refused', await automation?.ingestEvent({}).catch((error) => error));
        emitEvent?.('steer_message', { prompt: 'left' });
      },
    };`;

  it('is everything that the host gives, and works', async () => {
    const events: [string, unknown][] = [];
    const logged: unknown[][] = [];
    const captured: unknown[] = [];
    class Telemetry {
      capture(event: unknown) {
        captured.push(event);
      }
      isEnabled() {
        return false;
      }
      async flush() {
        return 'flushed here';
      }
    }
    const context = {
      session: { sessionId: 's1' },
      client: { name: 'cline-cli' },
      user: undefined,
      workspaceInfo: { rootPath: '/w', latestGitBranchName: 'main' },
      cwd: '/w/a',
      telemetry: new Telemetry(),
      logger: {
        debug: (...args: unknown[]) => logged.push(['debug', ...args]),
        log: (...args: unknown[]) => logged.push(['log', ...args]),
        error: (...args: unknown[]) => logged.push(['error', ...args]),
      },
      automation: {
        async ingestEvent({ eventId }: AutomationEventEnvelope) {
          if (eventId === undefined) throw new TypeError('eventId is required');
          return { duplicate: false, at: new Date(2) };
        },
      },
      emitEvent: (name: string, payload: unknown) => events.push([name, payload]),
    };
    const { stage: fixture } = await openActive(
      REPORT,
      {},
      context as unknown as PluginSetupContext,
    );
    const { workspaceInfo, cwd } = context;
    expect(events).toEqual([
      [
        'data',
        {
          data: {
            session: { sessionId: 's1' },
            client: { name: 'cline-cli' },
            user: undefined,
            workspaceInfo,
            cwd,
          },
          env: { cwd, workspaceInfo },
          cwd: fixture.directory,
          hasChannel: false,
          kinds: ['object', 'object', 'object', 'function', 'function'],
        },
      ],
      ['flushed', [false, 'flushed here']],
      ['ingested', { duplicate: false, at: new Date(2) }],
      ['refused', new TypeError('eventId is required')],
      ['steer_message', { prompt: 'left' }],
    ]);
    expect(JSON.stringify(events[0], (_key, value: unknown) => value ?? 'nothing')).toContain(
      '"user":"nothing"',
    );
    const own = { pluginName: 'asker', sessionId: 's1' };
    expect(logged).toEqual([
      ['debug', 'looking', own],
      ['log', 'found', { ...own, at: new Date(1), error: new TypeError('inside') }],
      ['error', 'lost', own],
    ]);
    expect(captured).toEqual([{ event: 'set-up', properties: { n: 1n } }]);
  });

  it('is undefined when the host does not give it', async () => {
    const { stage: fixture } = await openActive(`
      export default {
        name: 'bare',
        manifest: { capabilities: ['automationEvents'] },
        setup(api, ctx) {
          console.log(JSON.stringify([ctx.logger, ctx.telemetry, ctx.automation, ctx.emitEvent].map((each) => typeof each)));
          globalThis.__clinePluginHost.emitEvent('nobody', {});
        },
      };`);
    await eventually(() =>
      expect(fixture.printed).toEqual(['log ["undefined","undefined","undefined","undefined"]']),
    );
  });

  it('has no keys of providers, and finds the session before setup', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'secret');
    const workspaceInfo = { rootPath: '/w' };
    const fixture = createIsolationFixture();
    await openText(
      `console.log(JSON.stringify([process.env.ANTHROPIC_API_KEY ?? null, globalThis.__clineSessionEnv]));
      export default { name: 'a', manifest: { capabilities: ['tools'] } };`,
      { workspaceInfo },
      fixture,
    );
    vi.unstubAllEnvs();
    const { directory: cwd } = fixture;
    await eventually(() =>
      expect(fixture.printed).toEqual([`log ${JSON.stringify([null, { cwd, workspaceInfo }])}`]),
    );
  });
});
