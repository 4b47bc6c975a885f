import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ServiceTurn } from '../sdk-fixture.ts';
import { answers, call, DONE } from '../sdk-fixture.ts';
import { createDiskFixture, type DiskFixture, toolPlugin } from '../disk-fixture.ts';

const PLUGINS = '.cline/plugins';

function answer(fixture: DiskFixture): Record<string, unknown> {
  return JSON.parse(answers(fixture).at(-1) ?? 'null');
}

test('E1 one plugin in .cline/plugins is loaded', async () => {
  const fixture = await createDiskFixture([call('mine', { a: 'x' }), DONE], {
    [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
  });
  const { result } = await fixture.start();
  expect(result?.text).toBe('Done.');
  expect(answer(fixture)).toMatchObject({ from: 'mine', calls: 1, input: { a: 'x' } });
  expect(fixture.problems()).toEqual([]);
});

describe('E2 paths', () => {
  test.each([
    ['config.pluginPaths', { config: { pluginPaths: ['./own/mine.ts'] } }],
    ['localRuntime.pluginPaths', { input: { localRuntime: { pluginPaths: ['./own/mine.ts'] } } }],
    ['a directory', { config: { pluginPaths: ['./own'] } }],
  ])(
    '%s are loaded',
    async (
      _name,
      {
        config = {},
        input = {},
      }: {
        config?: object;
        input?: object;
      },
    ) => {
      const fixture = await createDiskFixture([call('mine'), DONE], {
        'own/mine.ts': toolPlugin('mine', 'mine'),
      });
      await fixture.start(config, input);
      expect(answer(fixture)).toMatchObject({ from: 'mine' });
    },
  );

  test('one that does not exist is one failure', async () => {
    const fixture = await createDiskFixture([call('mine'), DONE], {
      'own/mine.ts': toolPlugin('mine', 'mine'),
    });
    await fixture.start({ pluginPaths: ['./none.ts', './own'] });
    expect(answer(fixture)).toMatchObject({ from: 'mine' });
    expect(fixture.problems()).toEqual([expect.stringContaining('none.ts')]);
  });
});

describe('E3 a plugin with a bad manifest does not affect the others', () => {
  test.each([
    ['an unknown capability', '{ capabilities: ["magic"] }', 'capability "magic" not found'],
    ['hooks without their capability', '{ capabilities: ["tools"] }', '"hooks" must be among'],
  ])('%s', async (_name, manifest, problem) => {
    const fixture = await createDiskFixture([call('mine'), DONE], {
      [`${PLUGINS}/bad.ts`]: `export default { name: "bad", manifest: ${manifest}, hooks: {} }`,
      [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
    });
    const { sessionId } = await fixture.start({}, { interactive: true });
    expect(answer(fixture)).toMatchObject({ from: 'mine' });
    expect(fixture.problems()).toEqual([expect.stringContaining(problem)]);
    expect(fixture.core.plugins(sessionId).map(({ name, state }) => [name, state])).toEqual([
      ['mine', 'ready'],
      ['bad', 'failed'],
    ]);
  });

  test('and fails the start where the host is strict', async () => {
    const fixture = await createDiskFixture([DONE], {
      [`${PLUGINS}/bad.ts`]:
        'export default { name: "bad", manifest: { capabilities: ["magic"] } }',
    });
    await expect(fixture.start({ strictPlugins: true })).rejects.toThrow('magic');
  });
});

test('E4 a syntax error is reported, helpers and declarations are not', async () => {
  const fixture = await createDiskFixture([call('mine'), DONE], {
    [`${PLUGINS}/broken.ts`]: 'export default { name: "broken", manifest: {',
    [`${PLUGINS}/helper.ts`]: 'export const helped = true',
    [`${PLUGINS}/types.d.ts`]: 'export declare const x: number',
    [`${PLUGINS}/mine.test.ts`]: 'throw new Error("a test")',
    [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
  });
  await fixture.start();
  expect(answer(fixture)).toMatchObject({ from: 'mine' });
  expect(fixture.problems()).toEqual([
    expect.stringMatching(
      /^a guard may be missing: .*broken\.ts cannot be parsed: line 1: .*; the plugin broken is not loaded$/,
    ),
  ]);
});

test('E4 a syntax error, or a path where nothing is, fails the start where the host is strict', async () => {
  const broken = { [`${PLUGINS}/broken.ts`]: 'export default { name: ' };
  const strict = await createDiskFixture([DONE], broken);
  await expect(strict.start({ strictPlugins: true })).rejects.toMatchObject({
    code: 'PLUGIN_INVALID',
    message: expect.stringMatching(
      /^the plugin "broken" is not loaded: .*broken\.ts cannot be parsed: line 1:/,
    ),
  });
  const missing = await createDiskFixture([DONE], {});
  const start = missing.start({ strictPlugins: true, pluginPaths: ['./nowhere.ts'] });
  await expect(start).rejects.toMatchObject({
    code: 'PLUGIN_INVALID',
    message: expect.stringContaining('nowhere.ts not found'),
  });
});

test('E5 a setup that never ends does not affect the others', async () => {
  const fixture = await createDiskFixture([call('mine'), DONE], {
    [`${PLUGINS}/slow.ts`]:
      'export default { name: "slow", manifest: { capabilities: ["tools"] }, setup: () => new Promise(() => {}) }',
    [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
  });
  await fixture.start({ pluginSetupTimeoutMs: 100 });
  expect(answer(fixture)).toMatchObject({ from: 'mine' });
  expect(fixture.problems()).toEqual(['plugin slow: its setup did not answer within 100 ms']);
});

test('E5 an import that never ends does not affect the others', async () => {
  const fixture = await createDiskFixture([call('mine'), DONE], {
    [`${PLUGINS}/slow.ts`]:
      'await new Promise(() => {})\nexport default { name: "slow", manifest: { capabilities: ["tools"] } }',
    [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
  });
  await fixture.start({ pluginImportTimeoutMs: 2000 });
  expect(answer(fixture)).toMatchObject({ from: 'mine' });
  expect(fixture.problems()).toEqual([expect.stringMatching(/^plugin slow: .*2000 ms/s)]);
});

test('E6 a slow hook is contained', async () => {
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/slow.ts`]:
      'export default { name: "slow", manifest: { capabilities: ["hooks"] }, hooks: { beforeRun: () => new Promise(() => {}) } }',
  });
  const { result } = await fixture.start({ hookTimeoutMs: 100 });
  expect(result?.text).toBe('Done.');
  expect(fixture.problems()).toEqual([
    'plugin slow: beforeRun failed: did not answer within 100 ms (Let it answer sooner)',
  ]);
});

test('E7 registerRule without its capability drops the plugin’s tools', async () => {
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/rules.ts`]: `export default { name: "rules", manifest: { capabilities: ["tools"] }, setup(api) {
      api.registerTool({ name: "lost", description: "", inputSchema: {}, execute: () => "x" })
      api.registerRule({ id: "r", content: "R" })
    } }`,
  });
  await fixture.start();
  expect(fixture.service.requests()[0]?.tools).not.toContain('lost');
  expect(fixture.problems()).toEqual([expect.stringContaining('requires the "rules" capability')]);
});

test('E8 a plugin of the program wins over one of the same name on disk', async () => {
  const fixture = await createDiskFixture([call('mine'), DONE], {
    [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
  });
  const own = {
    name: 'mine',
    manifest: { capabilities: ['tools' as const] },
    setup(api: { registerTool(tool: object): void }) {
      api.registerTool({ name: 'mine', description: '', inputSchema: {}, execute: () => 'given' });
    },
  };
  await fixture.start({ extensions: [own] });
  expect(answers(fixture)).toEqual(['given']);
  expect(fixture.problems()).toEqual([
    expect.stringContaining('another plugin of the name "mine" comes first'),
  ]);
});

const COMPLETING = `export default { name: "ends", manifest: { capabilities: ["tools", "rules"] }, setup(api) {
  api.registerTool({ name: "finish", description: "", inputSchema: {}, lifecycle: { completesRun: true }, execute: () => ({ all: "done" }) })
  api.registerRule({ id: "no", content: "NEVER", whenToolAvailable: "none" })
  api.registerRule({ id: "yes", content: "ALWAYS", whenToolAvailable: "finish" })
} }`;

test.each(['none', 'process'] as const)(
  'E9 completesRun and whenToolAvailable count (isolation: %s)',
  async (pluginIsolation) => {
    const fixture = await createDiskFixture([call('finish'), DONE], {
      [`${PLUGINS}/ends.mjs`]: COMPLETING,
    });
    const { result } = await fixture.start({ pluginIsolation });
    expect(result?.text).toBe('{"all":"done"}');
    expect(fixture.service.requests()).toHaveLength(1);
    expect(fixture.service.requests()[0]?.system).toBe('SYS\n\nALWAYS');
  },
);

test.each(['none', 'process'] as const)(
  'E10 a tool gets its whole context (isolation: %s)',
  async (pluginIsolation) => {
    const fixture = await createDiskFixture([call('mine'), DONE], {
      [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
    });
    await fixture.start({ pluginIsolation });
    expect(answer(fixture)['keys']).toEqual([
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
    ]);
  },
);

const DATES = `export default { name: "dates", manifest: { capabilities: ["tools"] }, setup(api) {
  api.registerTool({ name: "dates", description: "", inputSchema: {}, execute: () => ({ at: new Date(0), gone: undefined, nan: NaN }) })
} }`;

test.each(['none', 'process'] as const)(
  'E11 a Date, undefined and NaN reach the model as JSON has them (isolation: %s)',
  async (pluginIsolation) => {
    const fixture = await createDiskFixture([call('dates'), DONE], {
      [`${PLUGINS}/dates.mjs`]: DATES,
    });
    await fixture.start({ pluginIsolation });
    expect(answers(fixture)).toEqual(['{"at":"1970-01-01T00:00:00.000Z","nan":null}']);
  },
);

test.each([
  ['empty', '{ capabilities: [] }'],
  ['missing', '{}'],
])('E12 %s capabilities leave the plugin out', async (_name, manifest) => {
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/none.ts`]: `export default { name: "none", manifest: ${manifest} }`,
  });
  const { result } = await fixture.start();
  expect(result?.text).toBe('Done.');
  expect(fixture.problems()).toEqual([expect.stringContaining('"capabilities" to be a list')]);
});

test('E13 an export named plugin, .mts and .mjs are loaded; other names are no plugin', async () => {
  const plugin = (name: string): string =>
    `{ name: "${name}", manifest: { capabilities: ["tools"] } }`;
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/a.ts`]: `export const plugin = ${plugin('a')}`,
    [`${PLUGINS}/b.mts`]: `export default ${plugin('b')}`,
    [`${PLUGINS}/c.mjs`]: `export default ${plugin('c')}`,
    [`${PLUGINS}/d.js`]: `module.exports = ${plugin('d')}`,
    [`${PLUGINS}/e.ts`]: `export const other = ${plugin('e')}`,
  });
  const { sessionId } = await fixture.start({}, { interactive: true });
  expect(fixture.core.plugins(sessionId).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
  expect(fixture.problems()).toEqual([]);
});

test('E14 a plugin for other providers or models is skipped, and says so', async () => {
  const plugin = (name: string, aims: string): string =>
    `export default { name: "${name}", manifest: { capabilities: ["tools"], ${aims} } }`;
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/a.ts`]: plugin('a', 'providerIds: [" openai-compatible "]'),
    [`${PLUGINS}/b.ts`]: plugin('b', 'providerIds: ["anthropic"]'),
    [`${PLUGINS}/c.ts`]: plugin('c', 'modelIds: ["other"]'),
    [`${PLUGINS}/d.ts`]: plugin('d', 'modelIds: [], providerIds: []'),
  });
  const { sessionId } = await fixture.start({}, { interactive: true });
  const states = (): unknown =>
    fixture.core
      .plugins(sessionId)
      .map(({ name, state }) => `${name} ${state}`)
      .toSorted();
  expect(states()).toEqual(['a ready', 'b skipped', 'c skipped', 'd ready']);
  expect(fixture.problems()).toEqual([]);
  await fixture.core.updateSessionModel(sessionId, 'other');
  await fixture.core.send({ sessionId, prompt: 'again' }).catch(() => undefined);
  expect(states()).toEqual(['a ready', 'b skipped', 'c ready', 'd ready']);
});

const STEERING = `export default { name: "steers", manifest: { capabilities: ["tools", "hooks"] }, setup(api) {
  api.registerTool({ name: "steer", description: "", inputSchema: {}, execute() {
    globalThis.__clinePluginHost.emitEvent("steer_message", { prompt: "turn left" })
    return "steered"
  } })
}, hooks: { afterRun: (() => { let runs = 0; return () => {
  runs += 1
  if (runs === 1) globalThis.__clinePluginHost.emitEvent("queue_message", { prompt: "one more" })
} })() } }`;

test.each(['none', 'process'] as const)(
  'E18 steering arrives in the same run, and what is queued runs in a headless session (isolation: %s)',
  async (pluginIsolation) => {
    const turns: ServiceTurn[] = [call('steer'), DONE, { text: 'More done.' }];
    const fixture = await createDiskFixture(turns, { [`${PLUGINS}/steers.mjs`]: STEERING });
    await fixture.start({ pluginIsolation });
    const texts = fixture.service
      .requests()
      .map(({ messages }) => messages.map(({ text }) => text));
    expect(texts[1]?.some((text) => text.includes('turn left'))).toBe(true);
    expect(texts[2]?.some((text) => text.includes('one more'))).toBe(true);
  },
);

test('each session has a module of its own, set up once, with sub-agents or not', async () => {
  const fixture = await createDiskFixture(
    [call('mine'), DONE, call('mine'), DONE, call('mine'), DONE],
    { [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine') },
  );
  const first = await fixture.start({}, { interactive: true });
  expect(answer(fixture)).toMatchObject({ calls: 1 });
  await fixture.start();
  expect(answer(fixture)).toMatchObject({ calls: 1 });
  await fixture.core.send({ sessionId: first.sessionId, prompt: 'again' });
  expect(answer(fixture)).toMatchObject({ calls: 2 });
});

test('a changed plugin is loaded again before the next prompt; a broken change is not used', async () => {
  const fixture = await createDiskFixture(
    [call('mine'), DONE, call('mine'), DONE, call('mine'), DONE],
    {
      [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
    },
  );
  const { sessionId } = await fixture.start({}, { interactive: true });
  fixture.write(`${PLUGINS}/mine.ts`, toolPlugin('changed', 'mine'));
  await fixture.core.send({ sessionId, prompt: 'again' });
  expect(answer(fixture)).toMatchObject({ from: 'changed', calls: 1 });
  fixture.write(`${PLUGINS}/mine.ts`, 'export default { name: ');
  await fixture.core.send({ sessionId, prompt: 'again' });
  expect(answer(fixture)).toMatchObject({ from: 'changed', calls: 2 });
  expect(fixture.problems().at(-1)).toContain('the session goes on with those it had');
});

test('an untrusted plugin of a workspace is not loaded, and reported as untrusted', async () => {
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/mine.ts`]: `${toolPlugin('mine', 'mine')}\nglobalThis.wasLoaded = true`,
  });
  await fixture.start({ trust: 'record' });
  expect('wasLoaded' in globalThis).toBe(false);
  expect(fixture.service.requests()[0]?.tools).not.toContain('mine');
  expect(fixture.problems()).toEqual([
    expect.stringMatching(
      /^plugin mine: it is not loaded: it was never trusted here; .*`hookline trust`/s,
    ),
  ]);
});

test('a package brings its entries and its skills', async () => {
  const fixture = await createDiskFixture([DONE], {
    [`${PLUGINS}/pack/package.json`]: JSON.stringify({
      name: 'pack',
      version: '1.2.3',
      type: 'module',
      cline: {
        plugins: [
          { paths: ['./one.ts'], capabilities: ['tools'] },
          { paths: ['./two.ts'], capabilities: ['tools'] },
        ],
      },
    }),
    [`${PLUGINS}/pack/one.ts`]: toolPlugin('one', 'one'),
    [`${PLUGINS}/pack/two.ts`]: toolPlugin('two', 'two'),
    [`${PLUGINS}/pack/skills/tidy/SKILL.md`]:
      '---\nname: tidy\ndescription: Tidies up.\n---\nTidy.\n',
  });
  const { sessionId } = await fixture.start({}, { interactive: true });
  const found = fixture.core.plugins(sessionId);
  expect(found.map(({ name, entry }) => [name, entry?.package?.version])).toEqual([
    ['one', '1.2.3'],
    ['two', '1.2.3'],
  ]);
  expect(fixture.service.requests()[0]?.tools).toContain('skills');
  expect(fixture.service.requests()[0]?.system).toContain('tidy');
  expect(path.basename(found[0]?.entry?.file ?? '')).toBe('one.ts');
});

test('a plugin whose getters throw does not affect the others', async () => {
  const fixture = await createDiskFixture([call('mine'), DONE], {
    [`${PLUGINS}/bad.mjs`]:
      'export default { get name() { throw new Error("no name") }, get manifest() { throw new Error("no manifest") } }',
    [`${PLUGINS}/mine.ts`]: toolPlugin('mine', 'mine'),
  });
  await fixture.start();
  expect(answer(fixture)).toMatchObject({ from: 'mine' });
  expect(fixture.problems()).toEqual([expect.stringMatching(/no (?:name|manifest)/)]);
});
