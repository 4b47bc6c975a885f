import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { resetRegistry } from '../../../../src/compat/cline/llms/llms.ts';
import { createDiskFixture } from '../disk-fixture.ts';
import { answers, call, DONE } from '../sdk-fixture.ts';

afterEach(() => resetRegistry());

const SEED = path.resolve(import.meta.dirname, '../../../fixtures/cline-plugin-docs');

test('E15 the template with a demo of its own is loaded, and the demo is not started', async () => {
  const template = readFileSync(path.join(SEED, 'single-file-template.txt'), 'utf8');
  const fixture = await createDiskFixture([call('do_thing', { target: 'world' }), DONE], {
    '.cline/plugins/my-plugin.ts': template,
  });
  const { result } = await fixture.start();
  expect(result?.text).toBe('Done.');
  expect(answers(fixture)).toHaveLength(1);
  expect(fixture.service.requests()).toHaveLength(2);
  expect(fixture.problems()).toEqual([]);
});

const PROVIDER = (url: string): string => `
import { type AgentPlugin, Llms } from '@cline/core';
const collection = {
  provider: { id: 'mine', name: 'Mine', protocol: 'openai-chat', client: 'openai-compatible',
    baseUrl: ${JSON.stringify(url)}, defaultModelId: 'm', env: [] },
  models: { m: { id: 'm', contextWindow: 100_000 } },
};
const plugin: AgentPlugin = {
  name: 'mine',
  manifest: { capabilities: ['providers'] },
  setup(api) {
    Llms.registerProvider(collection);
    api.registerProvider({ name: 'mine', metadata: { clineModelCollection: collection } });
  },
};
export default plugin;
`;

/** Not the one that the fixture gives to sessions. */
const OWN_ADDRESS = { baseUrl: undefined } as unknown as { baseUrl: string };

test('E16 a provider of a plugin serves the session that asks for it', async () => {
  const fixture = await createDiskFixture([DONE], {});
  fixture.write('.cline/plugins/mine.ts', PROVIDER(fixture.service.url));
  const { result } = await fixture.start({ providerId: 'mine', modelId: 'm', ...OWN_ADDRESS });
  expect(result?.text).toBe('Done.');
  expect(fixture.service.requests()).toHaveLength(1);
});

test.each(['none', 'process'] as const)(
  'E17 an automation event without an id is refused, and nothing ends (isolation: %s)',
  async (pluginIsolation) => {
    const fixture = await createDiskFixture([DONE], {
      '.cline/plugins/events.mjs': `export default { name: 'events', manifest: { capabilities: ['automationEvents'] },
        setup(api, ctx) {
          api.registerAutomationEventType({ eventType: 'a', source: 'b' });
          void ctx.automation.ingestEvent({ eventType: 'a', source: 'b', occurredAt: 'now' });
        } };`,
    });
    const ingestedEvents: unknown[] = [];
    const automation = { ingestEvent: async (event: unknown) => void ingestedEvents.push(event) };
    const { result } = await fixture.start({ pluginIsolation, extensionContext: { automation } });
    expect(result?.text).toBe('Done.');
    expect(ingestedEvents).toEqual([]);
    await expect.poll(() => fixture.problems().join()).toContain('eventId');
  },
);
