import { describe, expect, it } from 'vitest';
import type { AgentPlugin } from '../../../../src/index.ts';
import { ContributionRegistry, createContributionRegistry } from '../../../../src/index.ts';

function plugin(more: Partial<AgentPlugin> = {}): AgentPlugin {
  return { name: 'one', manifest: { capabilities: ['tools'] }, ...more };
}

const TOOL = { name: 't', description: '', inputSchema: {}, execute: () => 1 };
const LOST: AgentPlugin = plugin({
  name: 'lost',
  setup(api) {
    api.registerTool(TOOL);
    api.registerRule({ id: 'r', content: 'x' });
  },
});
const EMPTY = {
  tools: [],
  commands: [],
  rules: [],
  messageBuilder: [],
  providers: [],
  automationEventTypes: [],
  mcpServers: [],
};

describe('a registry of contributions', () => {
  it('runs its phases, each once', async () => {
    let setups = 0;
    const one = plugin({
      setup(api) {
        setups += 1;
        expect(this).toBe(one);
        api.registerTool(TOOL);
      },
    });
    const registry = createContributionRegistry({ extensions: [one] });
    expect(registry).toBeInstanceOf(ContributionRegistry);
    expect(() => registry.activate()).toThrow('before its plugins were set up');
    registry.resolve();
    expect(registry.getValidatedExtensions()).toEqual([]);
    registry.validate();
    expect(registry.getValidatedExtensions()).toEqual([one]);
    expect(registry.getRegistrySnapshot()).toEqual(EMPTY);
    await registry.setup();
    await registry.setup();
    expect(registry.isActivated()).toBe(false);
    registry.activate();
    await registry.initialize();
    expect(setups).toBe(1);
    expect(registry.isActivated()).toBe(true);
    expect(registry.getRegistrySnapshot()).toEqual({ ...EMPTY, tools: [TOOL] });
    expect(registry.getRegistrySnapshot().tools).not.toBe(registry.getRegistrySnapshot().tools);
  });

  it('throws the problem of the first invalid plugin', () => {
    const wrong = plugin({ name: '', manifest: { capabilities: [] } });
    const registry = createContributionRegistry({ extensions: [plugin(), wrong] });
    expect(() => registry.validate()).toThrow('Invalid manifest for extension "extension_0001": ');
  });

  it('registers nothing when a setup fails, unless that is tolerated', async () => {
    const good = plugin({ setup: (api) => api.registerTool(TOOL) });
    const strict = createContributionRegistry({ extensions: [good, LOST] });
    const message =
      'Invalid setup for extension "lost": registerRule requires the "rules" capability';
    await expect(strict.initialize()).rejects.toThrow(message);
    expect(strict.isActivated()).toBe(false);
    expect(strict.getRegistrySnapshot()).toEqual(EMPTY);
    const tolerant = createContributionRegistry({ extensions: [LOST, good] });
    await expect(tolerant.initialize({ tolerateSetupErrors: true })).rejects.toThrow(message);
    expect(tolerant.isActivated()).toBe(true);
    expect(tolerant.getRegisteredTools()).toEqual([TOOL]);
  });

  it('leaves out what is disabled, and passes automation only to plugins that ask for it', async () => {
    const reports: unknown[] = [];
    const setup: AgentPlugin['setup'] = (_api, ctx) => void reports.push(ctx.automation);
    const automation = { ingestEvent: () => undefined };
    const registry = createContributionRegistry({
      extensions: [
        plugin({ disabled: true, setup: () => expect.unreachable('it is disabled') }),
        plugin({ setup }),
        plugin({ manifest: { capabilities: ['automationEvents'] }, setup }),
      ],
      setupContext: { automation },
    });
    await registry.initialize();
    expect(reports).toEqual([undefined, automation]);
  });

  it('names the plugin in errors about an MCP server, and trims event types', async () => {
    const registry = createContributionRegistry({
      extensions: [
        plugin({
          manifest: { capabilities: ['mcp', 'automationEvents'] },
          setup(api) {
            api.registerMcpServer({ name: 'm', transport: { type: 'stdio', command: 'x' } });
            api.registerAutomationEventType({ eventType: ' a.b ', source: ' s ' });
          },
        }),
      ],
    });
    await registry.initialize();
    expect(registry.getRegisteredMcpServers()).toEqual([
      {
        name: 'm',
        transport: { type: 'stdio', command: 'x' },
        metadata: { source: 'plugin', plugin: 'one' },
      },
    ]);
    expect(registry.getRegisteredAutomationEventTypes()).toEqual([
      { eventType: 'a.b', source: 's' },
    ]);
  });
});
