import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clineModules, createPluginFiles } from './plugin-files.ts';

const plugin = (facts: string): string =>
  `export default { name: 'a', manifest: { capabilities: ['tools'] }, facts: ${facts} };`;

async function factsOf(text: string, more: Readonly<Record<string, string>> = {}) {
  const files = createPluginFiles({ 'a.ts': text, ...more });
  return (await files.plugin('a.ts'))['facts'];
}

describe('a module that the host provides', () => {
  it('is imported by name, under another name, as a whole and by default', async () => {
    const facts = await factsOf(`
      import { createTool, version as itsVersion } from "@cline/core";
      import * as all from '@cline/sdk';
      import core, { version } from "@cline/agents";
      import both, * as same from "@cline/shared";
      import { default as llms } from "@cline/llms";
      import "@cline/core";
      ${plugin(`[createTool({ a: 1 }), itsVersion, all.version, core.version, version, both === same, llms.version, Object.keys(all), 'nothing' in all]`)}
    `);
    expect(facts).toEqual([
      { a: 1, from: '@cline/core' },
      '@cline/core',
      '@cline/sdk',
      '@cline/agents',
      '@cline/agents',
      true,
      '@cline/llms',
      ['createTool', 'version'],
      false,
    ]);
  });

  it('is imported from sub-paths, too', async () => {
    const facts = await factsOf(`
      import { version } from "@cline/shared/storage";
      import { version as hub } from "@cline/core/hub/daemon-entry";
      ${plugin('[version, hub]')}
    `);
    expect(facts).toEqual(['@cline/shared/storage', '@cline/core/hub/daemon-entry']);
  });

  it('is passed on by modules of the plugin', async () => {
    const facts = await factsOf(
      `
      import { createTool, called, core, absent, version } from './sdk';
      import { chosen } from './some';
      ${plugin(`[createTool({}).from, called, core.version, version, chosen({}).from, () => absent()]`)}
    `,
      {
        'sdk.ts': `
          export * from "@cline/core";
          export * from "@cline/shared";
          export { version as called } from "@cline/llms";
          export * as core from "@cline/core";
          export const version = 'its own';`,
        'some.ts': `import { createTool } from "@cline/core"; export { createTool as chosen };`,
      },
    );
    expect(facts.slice(0, 5)).toEqual([
      '@cline/core',
      '@cline/llms',
      '@cline/core',
      'its own',
      '@cline/core',
    ]);
    expect(facts[5]).toThrow('absent of @cline/core does not exist in Hookline');
  });

  it('is imported as the module runs', async () => {
    const facts = await factsOf(
      plugin(`{ known: async () => (await import("@cline/core")).version,
        made: async (name: string) => { const { version } = await import('@cline/' + name); return version } }`),
    );
    expect([await facts.known(), await facts.made('sdk')]).toEqual(['@cline/core', '@cline/sdk']);
  });

  it('is required', async () => {
    const facts = await factsOf(
      `export const here = import.meta.url; ${plugin('require("@cline/core").version')}`,
    );
    expect(facts).toBe('@cline/core');
  });

  it('is never loaded from a directory', async () => {
    const facts = await factsOf(`import { version } from "@cline/core"; ${plugin('version')}`, {
      'node_modules/@cline/core/package.json': '{ "main": "index.js" }',
      'node_modules/@cline/core/index.js': 'throw new Error("imported from disk");',
    });
    expect(facts).toBe('@cline/core');
  });

  it('is passed to packages that are made for plugins', async () => {
    const facts = await factsOf(`import { kit } from "kit"; ${plugin('kit')}`, {
      'node_modules/kit/package.json':
        '{ "type": "module", "main": "index.js", "peerDependencies": { "@cline/core": "*" } }',
      'node_modules/kit/index.js': 'import { inner } from "./inner.js"; export const kit = inner;',
      'node_modules/kit/inner.js':
        'import { createTool } from "@cline/core"; export const inner = createTool({}).from;',
    });
    expect(facts).toBe('@cline/core');
  });

  it('is whatever else the host adds', async () => {
    const files = createPluginFiles({
      'a.ts': `import { answer } from "hookline/plugin"; ${plugin('answer')}`,
    });
    const provided = (name: string) => (name === 'hookline/plugin' ? { answer: 42 } : null);
    expect((await files.plugin('a.ts', { provided }))['facts']).toBe(42);
  });

  it('may be another one for another load of the same file', async () => {
    const files = createPluginFiles({
      'a.ts': `export * from "@cline/core"; import { one } from "@cline/core"; ${plugin('one')}`,
      'b.ts': `import * as a from './a'; ${plugin('Object.keys(a)')}`,
    });
    const one = () => ({ one: 1 });
    const two = () => ({ one: 2, two: 3 });
    expect((await files.plugin('a.ts', { provided: one }))['facts']).toBe(1);
    expect((await files.plugin('a.ts', { provided: two }))['facts']).toBe(2);
    expect((await files.plugin('b.ts', { provided: one }))['facts']).toEqual(['default', 'one']);
    expect((await files.plugin('b.ts', { provided: two }))['facts']).toEqual([
      'default',
      'one',
      'two',
    ]);
  });
});

describe('a name that the host does not have', () => {
  it('does no harm until it is used, and then throws', async () => {
    const facts = await factsOf(`
      import { Agent, createSession, Llms, AgentPlugin } from "@cline/core";
      export { Missing } from "@cline/shared";
      const listed: AgentPlugin[] = [];
      class Own extends Agent {}
      ${plugin(`{ call: () => createSession(), make: () => new Agent({}), deep: () => Llms.registerHandler('x'),
        child: () => new Own(), isAgent: listed instanceof Agent, text: String(createSession) !== '',
        awaited: await Llms === Llms, json: JSON.stringify({ Llms }) }`)}
    `);
    const hint = 'does not exist in Hookline: whatever needs it cannot be used here';
    expect(facts.call).toThrow(`createSession of @cline/core ${hint}`);
    expect(facts.make).toThrow(`Agent of @cline/core ${hint}`);
    expect(facts.child).toThrow(`Agent of @cline/core ${hint}`);
    expect(facts.deep).toThrow(`Llms.registerHandler of @cline/core ${hint}`);
    expect(facts).toMatchObject({ isAgent: false, text: true, awaited: true, json: '{}' });
  });

  it('is found as well in what is imported as a whole', async () => {
    const facts = await factsOf(
      `import * as all from "@cline/core"; ${plugin('() => all.createSession()')}`,
    );
    expect(facts).toThrow('createSession of @cline/core does not exist in Hookline');
  });

  it('is all there is of a module that the host does not provide', async () => {
    const files = createPluginFiles({
      'a.ts': `import { open } from "@cline/core/telemetry"; ${plugin('() => open()')}`,
    });
    const provided = () => null;
    const { facts } = await files.plugin('a.ts', { provided });
    expect(facts).toThrow('open of @cline/core/telemetry does not exist in Hookline');
  });
});

it('the tests have none of these packages', () => {
  expect(existsSync('node_modules/@cline')).toBe(false);
  expect(clineModules('zod')).toBeNull();
});
