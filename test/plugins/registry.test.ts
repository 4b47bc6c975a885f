import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PluginIssue } from '../../src/plugins/plugin-issue.ts';
import type { AgentPlugin, PluginSetupContext } from '../../src/plugins/contract/plugin.ts';
import { LoadedPlugin } from '../../src/plugins/loaded-plugin.ts';
import { createPluginRegistry, type RegistryOptions } from '../../src/plugins/registry.ts';

interface Opening extends Partial<RegistryOptions> {
  /** What the files of the plugins are called; null for objects. */
  readonly labels?: readonly (string | null)[];
}

function open(plugins: readonly unknown[], { labels = [], ...more }: Opening = {}) {
  const issues: PluginIssue[] = [];
  const loaded = plugins.map(
    (each, index) => new LoadedPlugin(each, entryCalled(labels[index] ?? null) ?? index),
  );
  const opening = createPluginRegistry(
    { loaded },
    {
      context: {},
      isStrict: false,
      failsClosed: false,
      setupTimeoutMs: 1000,
      disposeTimeoutMs: 1000,
      onIssue: (issue) => issues.push(issue),
      ...more,
    },
  );
  return { issues, opening };
}

function entryCalled(label: string | null): LoadedPlugin['entry'] {
  if (label === null) return null;
  return { file: `/${label}.ts`, label, package: null, capabilities: null };
}

const plugin = (name: string, more: Partial<AgentPlugin> = {}): AgentPlugin => ({
  name,
  manifest: { capabilities: ['automationEvents', 'mcp'] },
  ...more,
});

describe('the registry', () => {
  it('is frozen, and lists what each plugin contributes', async () => {
    const { opening } = open([
      plugin('one', {
        setup(api) {
          api.registerAutomationEventType({ eventType: ' pr.opened ', source: ' github ' });
          api.registerMcpServer({ name: 'files', transport: { type: 'stdio' } });
        },
      }),
    ]);
    const registry = await opening;
    expect(Object.isFrozen(registry.active)).toBe(true);
    expect(registry.list()).toEqual([
      {
        name: 'one',
        state: 'ready',
        lastError: null,
        contributes: {
          tools: [],
          commands: [],
          rules: [],
          messageBuilders: [],
          providers: [],
          automationEventTypes: ['pr.opened'],
          mcpServers: ['files'],
        },
      },
    ]);
    expect(registry.active[0]?.contributions.mcpServers).toEqual([
      {
        name: 'files',
        transport: { type: 'stdio' },
        metadata: { source: 'plugin', plugin: 'one' },
      },
    ]);
  });

  it('gives automation only to plugins that declare it', async () => {
    const contexts: PluginSetupContext[] = [];
    const setup = (_api: unknown, ctx: PluginSetupContext): void => void contexts.push(ctx);
    const automation = { ingestEvent: () => undefined };
    const tools = { manifest: { capabilities: ['tools' as const] } };
    await open([plugin('one', { setup }), plugin('two', { setup, ...tools })], {
      context: { automation },
    }).opening;
    expect(contexts.map((ctx) => ctx.automation)).toEqual([automation, undefined]);
  });

  it('reports a setup that takes long while it is waited for', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let end: () => void = () => undefined;
    const setup = (): Promise<void> => new Promise((done) => (end = done));
    const { opening, issues } = open([plugin('slow', { setup })], { setupTimeoutMs: 30_000 });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(issues).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    const message = 'its setup takes long; the session waits for it';
    expect(issues).toEqual([{ plugin: 'slow', phase: 'setup', level: 'warning', message }]);
    end();
    expect((await opening).active.map(({ name }) => name)).toEqual(['slow']);
  });

  it('leaves out a plugin whose setup never ends, or whose fields throw', async () => {
    const trap = {
      get name(): string {
        throw new TypeError('trapped');
      },
    };
    const { opening, issues } = open(
      [plugin('slow', { setup: () => new Promise(() => undefined) }), trap, plugin('fine')],
      { setupTimeoutMs: 10 },
    );
    expect((await opening).active.map(({ name }) => name)).toEqual(['fine']);
    expect(issues.map(({ plugin: name, message }) => [name, message])).toEqual([
      ['slow', 'its setup did not answer within 10 ms'],
      [
        'extension_0001',
        'Invalid manifest for extension "extension_0001": it cannot be read: trapped',
      ],
    ]);
  });

  it.each([
    ['a strict host', { isStrict: true }],
    ['hookErrorMode "throw"', { failsClosed: true }],
  ])('names the plugin whose setup failed where that is an error: %s', async (_name, mode) => {
    const throwing = plugin('broken', {
      setup() {
        throw new TypeError('boom');
      },
    });
    const slow = plugin('slow', { setup: () => new Promise(() => undefined) });
    await expect(open([throwing], mode).opening).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: 'the setup of the plugin "broken" failed: boom',
      cause: new TypeError('boom'),
    });
    await expect(open([slow], { ...mode, setupTimeoutMs: 10 }).opening).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: 'the plugin "slow": its setup did not answer within 10 ms',
      hint: expect.stringContaining('config.pluginSetupTimeoutMs'),
    });
  });

  it('reports that a setup threw, and what', async () => {
    const { opening, issues } = open([
      plugin('broken', {
        setup() {
          throw new TypeError('boom');
        },
      }),
    ]);
    const message = 'its setup failed, so nothing of it is used: boom';
    expect((await opening).list()).toMatchObject([{ name: 'broken', lastError: message }]);
    expect(issues).toEqual([{ plugin: 'broken', phase: 'setup', level: 'error', message }]);
  });

  it('names a plugin that cannot be read by its name, or by its file', async () => {
    const trapped = (name: object): object =>
      Object.defineProperty(name, 'manifest', {
        enumerable: true,
        get() {
          throw new TypeError('trapped');
        },
      });
    const { opening, issues } = open([trapped({ name: 'known' }), trapped({})], {
      labels: [null, 'its-file'],
    });
    expect((await opening).active).toEqual([]);
    expect(issues.map(({ plugin: name }) => name)).toEqual(['known', 'its-file']);
  });

  it.each([
    [{}, 'expects "eventType" to be a text, found nothing'],
    [5, 'expects an object, found number'],
  ])('refuses %j as an event type', async (input, problem) => {
    const { opening, issues } = open([
      plugin('one', { setup: (api) => api.registerAutomationEventType(input as never) }),
    ]);
    expect((await opening).active).toEqual([]);
    expect(issues[0]?.message).toContain(problem);
  });

  it('calls dispose callbacks of plugins once, the last first, whatever fails', async () => {
    const done: string[] = [];
    const { opening, issues } = open([
      plugin('one', { setup: (_api, ctx) => ctx.onDispose?.(() => done.push('one')) }),
      plugin('two', {
        setup: (_api, ctx) =>
          ctx.onDispose?.(() => {
            throw new TypeError('broken');
          }),
      }),
      plugin('three', { setup: (_api, ctx) => ctx.onDispose?.(() => done.push('three')) }),
    ]);
    const registry = await opening;
    await registry.dispose();
    await registry.dispose();
    expect(done).toEqual(['three', 'one']);
    expect(issues.map(({ message }) => message)).toEqual(['its onDispose callback failed: broken']);
  });
});
