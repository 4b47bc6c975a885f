import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  CombinedHookRunner,
  HookFactory,
  type HookFactoryOptions,
  type HookOutput,
  HookRunner,
  NoOpHookRunner,
  type RunHookOptions,
  StdioHookRunner,
} from '../../../src/hooks.ts';
import { until, write } from '../../base/directory.ts';
import {
  answering,
  createTempWorkspace,
  HOOKS,
  type TempWorkspace,
  trustWorkspace,
} from '../temp-workspace.ts';

const DATA = { toolName: 'write_to_file', parameters: { path: 'a.js', content: 'x' } };
const HOOK = `ws/${HOOKS}/PreToolUse.mjs`;
const DENY = answering({ cancel: true, errorMessage: 'only TypeScript' });

function factoryIn(workspace: TempWorkspace, options: HookFactoryOptions = {}): HookFactory {
  const { surroundings, root } = workspace;
  const factory = new HookFactory({ surroundings, roots: [root], ...options });
  onTestFinished(() => factory.close());
  return factory;
}

const AGREED = {
  cancel: false,
  shouldContinue: true,
  contextModification: '',
  errorMessage: '',
  review: false,
  overrideInput: null,
};

describe('trust', () => {
  test('an untrusted hook of the workspace does not run', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: `require('fs').writeFileSync('ran', '');${DENY}`,
    });
    const factory = factoryIn(workspace);
    expect(await factory.has('PreToolUse')).toBe(false);
    const runner = await factory.create('PreToolUse');
    expect(await runner.run(DATA)).toMatchObject({
      ...AGREED,
      verdict: {
        outcomes: [],
        skipped: [
          { hook: 'cline:workspace:PreToolUse.mjs', why: expect.stringMatching(/^untrusted: /) },
        ],
      },
    });
    expect(() => readFileSync(path.join(workspace.root, 'ran'))).toThrow('ENOENT');
  });

  test('an untrusted hook is reported beside those that run', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: DENY,
      'home/.cline/hooks/PreToolUse.mjs': answering({ context: 'mine' }),
    });
    const factory = factoryIn(workspace);
    expect(await factory.has('PreToolUse')).toBe(true);
    const output = await (await factory.create('PreToolUse')).run(DATA);
    expect(output).toMatchObject({
      ...AGREED,
      contextModification: 'mine',
      verdict: {
        outcomes: [{ hook: 'cline:home:PreToolUse.mjs', exitCode: 0 }],
        skipped: [{ hook: 'cline:workspace:PreToolUse.mjs' }],
      },
    });
  });

  test('a trusted hook runs', async () => {
    const workspace = createTempWorkspace({ [HOOK]: DENY });
    await trustWorkspace(workspace);
    const runner = await factoryIn(workspace).create('PreToolUse');
    expect(await runner.run(DATA)).toMatchObject({ cancel: true, errorMessage: 'only TypeScript' });
  });

  test('all hooks run with `trust: all`', async () => {
    const workspace = createTempWorkspace({ [HOOK]: DENY });
    const factory = factoryIn(workspace, { trust: 'all' });
    expect(await factory.has('PreToolUse')).toBe(true);
    expect(await factory.has('PostToolUse')).toBe(false);
    const runner = await factory.create('PreToolUse');
    expect(runner).toBeInstanceOf(StdioHookRunner);
    expect(runner).toMatchObject({
      name: 'PreToolUse',
      id: 'cline:workspace:PreToolUse.mjs',
      path: path.join(workspace.root, HOOKS, 'PreToolUse.mjs'),
    });
    const output = await runner.run(DATA);
    expect(output).toEqual({
      cancel: true,
      shouldContinue: false,
      contextModification: '',
      errorMessage: 'only TypeScript',
      review: false,
      overrideInput: null,
      durationMs: output.slowest?.durationMs,
      slowest: { hook: 'cline:workspace:PreToolUse.mjs', durationMs: expect.any(Number) },
      verdict: expect.objectContaining({ event: 'PreToolUse', effect: 'deny' }),
    });
  });

  test('a hook that changes after its runner was made does not run', async () => {
    const workspace = createTempWorkspace({ [HOOK]: DENY });
    await trustWorkspace(workspace);
    const runner = await factoryIn(workspace).create('PreToolUse');
    write(path.join(workspace.base, HOOK), `${DENY}\n// changed`);
    expect(await runner.run(DATA)).toMatchObject({
      ...AGREED,
      verdict: { outcomes: [], skipped: [{ why: expect.stringMatching(/^modified: /) }] },
    });
  });
});

describe('a runner', () => {
  test('without hooks lets everything go on', async () => {
    const runner = await factoryIn(createTempWorkspace()).create('TaskStart');
    expect(runner).toBeInstanceOf(NoOpHookRunner);
    expect(await runner.run({ taskMetadata: { initialTask: 'x' } })).toEqual({
      ...AGREED,
      durationMs: 0,
      slowest: null,
      verdict: expect.objectContaining({ effect: 'pass', outcomes: [], skipped: [] }),
    });
  });

  test('of two roots combines them: any may cancel, all contexts and messages are kept', async () => {
    const says = (name: string): string =>
      answering({
        cancel: true,
        errorMessage: ` ${name} says no `,
        contextModification: `${name}\n`,
      });
    const workspace = createTempWorkspace({
      [HOOK]: says('one'),
      [`other/${HOOKS}/PreToolUse.mjs`]: says('two'),
      'home/.cline/hooks/PreToolUse.mjs': answering({ contextModification: 'home' }),
    });
    const roots = [workspace.root, path.join(workspace.base, 'other')];
    const runner = await factoryIn(workspace, { trust: 'all', roots }).create('PreToolUse');
    expect(runner).toBeInstanceOf(CombinedHookRunner);
    const output = await runner.run(DATA);
    expect(output).toMatchObject({
      cancel: true,
      shouldContinue: false,
      contextModification: 'home\n\none\n\ntwo',
      errorMessage: 'one says no\ntwo says no',
    });
    expect(output.verdict.outcomes.map(({ hook, effect }) => [hook, effect])).toEqual([
      ['cline:home:PreToolUse.mjs', 'pass'],
      ['cline:workspace:PreToolUse.mjs', 'deny'],
      ['cline:workspace@other:PreToolUse.mjs', 'deny'],
    ]);
    const durations = output.verdict.outcomes.map(({ durationMs }) => durationMs);
    expect(output.slowest?.durationMs).toBe(Math.max(...durations));
  });

  test('passes the hook everything about its event and session', async () => {
    const workspace = createTempWorkspace({
      [`ws/${HOOKS}/UserPromptSubmit.mjs`]: `
        let text = '';
        process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
          const { userPromptSubmit, taskId, workspaceRoots, timestamp } = JSON.parse(text);
          const told = { userPromptSubmit, taskId, workspaceRoots, isNow: Number(timestamp) > 1e12 };
          console.log(JSON.stringify({ context: JSON.stringify(told) }));
        });
      `,
    });
    const factory = factoryIn(workspace, { trust: 'all', moment: { taskId: 'seven' } });
    const runner = await factory.create('UserPromptSubmit');
    const { contextModification } = await runner.run({ prompt: 'hi', attachments: ['a.png'] });
    expect(JSON.parse(contextModification)).toEqual({
      userPromptSubmit: { prompt: 'hi', attachments: ['a.png'] },
      taskId: 'seven',
      workspaceRoots: [workspace.root],
      isNow: true,
    });
  });

  test('for a tool that failed runs the PostToolUse hook', async () => {
    const workspace = createTempWorkspace({
      [`ws/${HOOKS}/PostToolUse.mjs`]: answering({ context: 'seen' }),
    });
    const runner = await factoryIn(workspace, { trust: 'all' }).create('PostToolUse');
    const done = { ...DATA, result: 'r', executionTimeMs: 1 };
    expect(await runner.run({ ...done, success: true })).toMatchObject({
      contextModification: 'seen',
    });
    expect(await runner.run({ ...done, success: false })).toMatchObject({
      contextModification: 'seen',
    });
  });

  test('that is aborted rejects with the reason', async () => {
    const workspace = createTempWorkspace({ [HOOK]: 'setInterval(() => {}, 1000)' });
    const runner = await factoryIn(workspace, { trust: 'all' }).create('PreToolUse');
    const controller = new AbortController();
    const running = runner.run(DATA, { signal: controller.signal });
    controller.abort('enough');
    await expect(running).rejects.toBe('enough');
  });

  test('whose hook fails goes on and says so in the verdict', async () => {
    const workspace = createTempWorkspace({ [HOOK]: 'process.exit(3)' });
    const runner = await factoryIn(workspace, { trust: 'all' }).create('PreToolUse');
    expect(await runner.run(DATA)).toMatchObject({
      ...AGREED,
      verdict: { outcomes: [{ status: 'failed', failure: { kind: 'exit' } }] },
    });
  });
});

describe('watching', () => {
  test('a hook that is added is found without a call', async () => {
    const workspace = createTempWorkspace();
    const factory = factoryIn(workspace, { trust: 'all' });
    expect(await factory.has('PreToolUse')).toBe(false);
    write(path.join(workspace.base, HOOK), DENY);
    await until(() => factory.has('PreToolUse'));
    const runner = await factory.create('PreToolUse');
    expect(await runner.run(DATA)).toMatchObject({ cancel: true });
    rmSync(path.join(workspace.base, HOOK));
    await until(async () => !(await factory.has('PreToolUse')));
  });

  test('a hook may edit hook files during its own dispatch', async () => {
    const workspace = createTempWorkspace();
    const next = JSON.stringify(answering({ contextModification: 'new' }));
    write(
      path.join(workspace.base, HOOK),
      `
        import { writeFileSync } from 'node:fs';
        writeFileSync(process.cwd() + '/${HOOKS}/PreToolUse.mjs', ${next});
        writeFileSync(process.cwd() + '/${HOOKS}/TaskStart.mjs', ${next});
        console.log(JSON.stringify({ contextModification: 'old' }));
      `,
    );
    const factory = factoryIn(workspace, { trust: 'all' });
    const first = await factory.create('PreToolUse');
    expect(await first.run(DATA)).toMatchObject({ contextModification: 'old' });
    await until(() => factory.has('TaskStart'));
    const second = await factory.create('PreToolUse');
    expect(await second.run(DATA)).toMatchObject({ contextModification: 'new' });
  });

  test('ends when the factory is closed, and starts again when it is used again', async () => {
    const factory = factoryIn(createTempWorkspace({ [HOOK]: DENY }), { trust: 'all' });
    await factory.close();
    expect(await factory.has('PreToolUse')).toBe(true);
    await factory.close();
    await factory.close();
    expect(await factory.has('PreToolUse')).toBe(true);
  });

  test('a workspace root that is none is refused with a clear error', async () => {
    const workspace = createTempWorkspace();
    const factory = new HookFactory({
      surroundings: workspace.surroundings,
      roots: ['/nowhere/at/all'],
    });
    await expect(factory.has('PreToolUse')).rejects.toMatchObject({ code: 'USAGE_INVALID' });
  });
});

class Remembering extends HookRunner<'PreToolUse'> {
  readonly seen: unknown[] = [];
  readonly #answer: Partial<HookOutput>;

  constructor(id: string, answer: Partial<HookOutput>) {
    super('PreToolUse', id);
    this.#answer = answer;
  }

  override async run(data: typeof DATA, options?: RunHookOptions): Promise<HookOutput> {
    this.seen.push(data);
    const nothing = await new NoOpHookRunner('PreToolUse').run(data, options);
    return { ...nothing, ...this.#answer };
  }
}

describe('a custom runner, without any file', () => {
  test('combines with others', async () => {
    const silent = new Remembering('mine', {});
    const strict = new Remembering('strict', { cancel: true, errorMessage: 'never' });
    const chatty = new Remembering('chatty', { contextModification: 'by the way' });
    const combined = new CombinedHookRunner('PreToolUse', [silent, strict, chatty]);
    expect(await combined.run(DATA)).toMatchObject({
      cancel: true,
      errorMessage: 'never',
      contextModification: 'by the way',
      verdict: { outcomes: [{ hook: 'mine' }, { hook: 'strict' }, { hook: 'chatty' }] },
    });
    expect([silent.seen, strict.seen, chatty.seen]).toEqual([[DATA], [DATA], [DATA]]);
  });

  test('is asked once about a call of several parts', async () => {
    const mine = new Remembering('mine', {});
    const data = { toolName: 'run_commands', parameters: { commands: ['a', 'b'] } };
    await new CombinedHookRunner('PreToolUse', [mine]).run(data);
    expect(mine.seen).toEqual([data]);
  });

  test('that throws is a failed outcome, and the others count', async () => {
    class Broken extends HookRunner<'PreToolUse'> {
      override run(): Promise<HookOutput> {
        return Promise.reject(new TypeError('broken'));
      }
    }
    const strict = new Remembering('strict', { cancel: true, errorMessage: 'never' });
    const combined = new CombinedHookRunner('PreToolUse', [
      new Broken('PreToolUse', 'broken'),
      strict,
    ]);
    expect(await combined.run(DATA)).toMatchObject({
      cancel: true,
      verdict: {
        outcomes: [{ hook: 'broken', failure: { kind: 'threw', message: 'broken' } }, {}],
      },
    });
  });

  test('combined of none lets everything go on', async () => {
    expect(await new CombinedHookRunner('PreToolUse', []).run(DATA)).toMatchObject(AGREED);
  });
});

describe('a combination of runners keeps', () => {
  async function combinedOf(...answers: readonly object[]): Promise<HookOutput> {
    const files = answers.map((answer, index) => [
      `ws/${HOOKS}/PreToolUse${['.mjs', '.js', '.cjs'][index]}`,
      answering(answer),
    ]);
    const workspace = createTempWorkspace(Object.fromEntries(files));
    return (await factoryIn(workspace, { trust: 'all' }).create('PreToolUse')).run(DATA);
  }

  test('a review that one of them asks for', async () => {
    const output = await combinedOf({ review: true, errorMessage: 'look' }, {});
    expect(output).toMatchObject({
      cancel: false,
      review: true,
      errorMessage: 'look',
      verdict: { effect: 'ask' },
    });
  });

  test('a rewrite that one of them makes, which the others check again', async () => {
    const output = await combinedOf({ overrideInput: { path: 'b.js', content: 'y' } }, {});
    expect(output.overrideInput).toEqual({ path: 'b.js', content: 'y' });
    expect(output.verdict.outcomes.map(({ pass }) => pass)).toEqual([1, 1, 2]);
  });

  test('the failure of one of them, beside the contexts of others in the same runner', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: 'process.exit(3)',
      [`ws/${HOOKS}/PreToolUse.js`]: answering({ contextModification: 'kept' }),
    });
    const inner = await factoryIn(workspace, { trust: 'all' }).create('PreToolUse');
    const outer = new CombinedHookRunner('PreToolUse', [inner, new NoOpHookRunner('PreToolUse')]);
    const output = await outer.run(DATA);
    expect(output.contextModification).toBe('kept');
    expect(output.verdict.outcomes).toMatchObject([
      { hook: 'cline:workspace:PreToolUse.js', exitCode: 0, source: `${HOOKS}/PreToolUse.js` },
      { hook: 'cline:workspace:PreToolUse.mjs', exitCode: 3, failure: { kind: 'exit' } },
    ]);
  });

  test('a review that has only a context: it stays a context', async () => {
    const output = await combinedOf({ review: true, contextModification: 'mind the gap' }, {});
    expect(output).toMatchObject({
      review: true,
      contextModification: 'mind the gap',
      errorMessage: 'a hook asks for a review of this call',
    });
  });

  test('what each hook’s program wrote, and where the hook lies', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: `console.error('one'); ${answering({ context: 'first' })}`,
      [`ws/${HOOKS}/PreToolUse.cjs`]: `console.error('two'); process.exit(4)`,
    });
    const factory = factoryIn(workspace, { trust: 'all' });
    const mine = new Remembering('mine', {});
    const inner = await factory.create('PreToolUse');
    const output = await new CombinedHookRunner('PreToolUse', [inner, mine]).run(DATA);
    expect(output.verdict.outcomes).toMatchObject([
      { source: `${HOOKS}/PreToolUse.cjs`, exitCode: 4, stderr: 'two\n' },
      { source: `${HOOKS}/PreToolUse.mjs`, exitCode: 0, stderr: 'one\n' },
      { hook: 'mine', exitCode: null },
    ]);
  });

  test('the overridden method of a subclass', async () => {
    class Strict extends NoOpHookRunner<'PreToolUse'> {
      override async run(data: typeof DATA, options?: RunHookOptions): Promise<HookOutput> {
        return { ...(await super.run(data, options)), cancel: true, errorMessage: 'mine' };
      }
    }
    const combined = new CombinedHookRunner('PreToolUse', [new Strict('PreToolUse')]);
    expect(await combined.run(DATA)).toMatchObject({ cancel: true, errorMessage: 'mine' });
  });

  test('a review and a rewrite of a custom runner', async () => {
    const overrideInput = { path: 'b.ts', content: 'y' };
    const mine = new Remembering('mine', { review: true, errorMessage: 'look', overrideInput });
    expect(await new CombinedHookRunner('PreToolUse', [mine]).run(DATA)).toMatchObject({
      review: true,
      errorMessage: 'look',
      overrideInput,
    });
  });
});

describe('the trace', () => {
  test.each([
    ['one hook', [HOOK]],
    ['several hooks', [HOOK, `ws/${HOOKS}/PreToolUse.cjs`]],
  ])('has one entry for each run of %s', async (_, files) => {
    const workspace = createTempWorkspace(
      Object.fromEntries(files.map((file) => [file, answering({})])),
    );
    const factory = factoryIn(workspace, { trust: 'all' });
    const runner = await factory.create('PreToolUse');
    await runner.run(DATA);
    await runner.run(DATA);
    await factory.close();
    const file = path.join(workspace.home, '.hookline/trace/trace.jsonl');
    const entries = readFileSync(file, 'utf8').trim().split('\n');
    expect(entries.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'PreToolUse', outcomes: files.map(() => ({ exitCode: 0 })) },
      { event: 'PreToolUse' },
    ]);
  });

  test('has none when it is switched off', async () => {
    const workspace = createTempWorkspace({ [HOOK]: answering({}) });
    const factory = factoryIn(workspace, { trust: 'all', flags: { 'trace.enabled': false } });
    await (await factory.create('PreToolUse')).run(DATA);
    await factory.close();
    expect(() => readFileSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'))).toThrow(
      'ENOENT',
    );
  });
});

describe('wrong calls', () => {
  test('an unknown hook name is refused with a suggestion', async () => {
    const factory = factoryIn(createTempWorkspace());
    const unknown = { code: 'EVENT_UNKNOWN', hint: expect.stringContaining('PreToolUse') };
    // @ts-expect-error: a caller without types may write anything.
    await expect(factory.create('PreToolUsed')).rejects.toMatchObject(unknown);
    // @ts-expect-error: a caller without types may write anything.
    await expect(factory.has('Nope')).rejects.toMatchObject(unknown);
    // @ts-expect-error: a caller without types may write anything.
    expect(() => new NoOpHookRunner('Nope')).toThrow(expect.objectContaining(unknown));
    // @ts-expect-error: a caller without types may write anything.
    await expect(factory.create()).rejects.toMatchObject(unknown);
  });

  test('any spelling of a name is understood', async () => {
    const factory = factoryIn(createTempWorkspace({ [HOOK]: DENY }), { trust: 'all' });
    // @ts-expect-error: the SDK's name, which the types do not offer.
    const runner: HookRunner<'PreToolUse'> = await factory.create('tool_call');
    expect(runner.name).toBe('PreToolUse');
    expect(await runner.run(DATA)).toMatchObject({ cancel: true });
  });

  test('data that are none are refused', async () => {
    const factory = factoryIn(createTempWorkspace({ [HOOK]: DENY }), { trust: 'all' });
    const runners = [
      await factory.create('PreToolUse'),
      new NoOpHookRunner('PreToolUse'),
      new CombinedHookRunner('PreToolUse', [new Remembering('mine', {})]),
    ];
    for (const runner of runners) {
      // @ts-expect-error: a caller without types may leave them out.
      await expect(runner.run()).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
        hint: expect.stringContaining('toolName'),
      });
    }
  });
});

test('a path is passed relative to the root that was named, wherever the process runs', async () => {
  const workspace = createTempWorkspace({
    [HOOK]: `
      let text = '';
      process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
        const { cwd } = JSON.parse(text);
        console.log(JSON.stringify({ context: cwd }));
      });
    `,
  });
  const surroundings = { ...workspace.surroundings, cwd: workspace.base };
  const factory = factoryIn(workspace, { surroundings, trust: 'all' });
  const output = await (await factory.create('PreToolUse')).run(DATA);
  expect(output.contextModification).toBe(workspace.root);
});
