import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, withEnoughTime } from '../../base/directory.ts';
import { createPluginHandlers } from '../../../src/dialects/cline-plugins/handlers.ts';
import { createHookEngine } from '../../../src/hooks/engine.ts';
import { createPluginRegistry } from '../../../src/plugins/registry.ts';
import type { AgentToolContext } from '../../../src/plugins/contract/tool.ts';
import {
  builtChild,
  createIsolationFixture,
  hooksText,
  isAlive,
  openActive,
  openText,
  toolText,
} from './isolated.ts';

const CONTEXT: AgentToolContext = { agentId: 'main', iteration: 1 };
const LOOP = 'while (true) {}';
const PID = `import { writeFileSync } from 'node:fs'; writeFileSync('pid', String(process.pid));`;

function pidIn(directory: string): number {
  return Number(readFileSync(path.join(directory, 'pid'), 'utf8'));
}

describe('a plugin that ends its own process', () => {
  it.each([
    ['process.exit(3)', 'ended by itself with exit code 3'],
    ['process.exit()', 'ended by itself with exit code 0'],
    ['process.abort()', 'was ended by SIGABRT'],
    [`process.kill(process.pid, 'SIGKILL')`, 'was ended by SIGKILL'],
    ['process.disconnect(); await new Promise(() => {})', 'was ended by SIGKILL'],
  ])('with %s costs the call, and every later one, with one sentence', async (work, how) => {
    const {
      hook,
      stage: fixture,
      registry,
    } = await openActive(
      hooksText(
        `async beforeTool() { console.error('last words'); ${work}; }, afterTool() {}`,
        PID,
      ),
    );
    const failed = await hook('beforeTool', {}).catch((error: unknown) => error);
    const sentence = expect.stringMatching(
      `^the process of the plugin "guard" ${how}, so nothing of it works any more in this session`,
    );
    expect(failed).toMatchObject({ code: 'PLUGIN_ENDED', message: sentence });
    expect((failed as Error).message).toContain('; it last wrote: ');
    await expect(hook('afterTool', {})).rejects.toEqual(failed);
    expect(registry.list()).toMatchObject([{ state: 'failed', lastError: sentence }]);
    expect(fixture.issues).toEqual([
      { plugin: 'guard', phase: 'uncaught', level: 'error', message: sentence },
    ]);
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
  });

  it.each([
    ['import', `process.exit(4);`],
    ['import', `console.error('no'); process.abort();`],
  ])('at %s is a plugin that is not loaded: %s', async (_phase, text) => {
    const fixture = createIsolationFixture();
    const loading = await openText(`${text}\nexport default {};`, {}, fixture);
    expect(loading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/^the process of the plugin "own-plugin" (ended|was ended)/),
    });
    expect(fixture.issues).toEqual([]);
  });

  it('in setup is a plugin that is not set up', async () => {
    const text = `export default { name: 'brief', manifest: { capabilities: ['tools'] }, setup() { process.exit(5); } };`;
    await expect(openActive(text)).rejects.toThrow('exit code 5');
  });

  it('in a tool gives the model an error, in a listener costs nothing else', async () => {
    const { active } = await openActive(toolText('execute() { process.exit(6); }'));
    const [tool] = active.contributions.tools;
    await expect(tool?.execute({}, CONTEXT)).rejects.toThrow('exit code 6');
    const { hook, registry } = await openActive(hooksText('onEvent() { process.exit(7); }'));
    await expect(hook('onEvent', { type: 'run-started' })).rejects.toThrow('exit code 7');
    expect(registry.list()).toMatchObject([{ state: 'failed' }]);
  });

  it('reports the error that ended it, rather than where its stack ended', async () => {
    const program = { ...(await builtChild()), nodeFlags: ['--max-old-space-size=40'] };
    const { hook } = await openActive(
      hooksText(`beforeTool() { const all = []; for (;;) all.push(new Array(1000).fill({})); }`),
      { program },
    );
    await expect(hook('beforeTool', {})).rejects.toThrow(
      /it last wrote: FATAL ERROR: .*heap out of memory/,
    );
  });
});

describe('an error that a plugin does not catch in a process of its own', () => {
  it('is reported, and survived', async () => {
    const {
      hook,
      stage: fixture,
      registry,
    } = await openActive(
      hooksText(`
        beforeTool() { setTimeout(() => { throw new TypeError('in a timer'); }); Promise.reject(new Error('left alone')); },
        afterTool: () => 'still here'`),
    );
    await hook('beforeTool', {});
    await eventually(() => expect(fixture.issues).toHaveLength(2));
    const issue = { plugin: 'guard', phase: 'uncaught', level: 'error' };
    expect(fixture.issues).toEqual([
      { ...issue, message: 'an error that nothing caught: left alone' },
      { ...issue, message: 'an error that nothing caught: in a timer' },
    ]);
    expect(await hook('afterTool', {})).toBe('still here');
    expect(registry.list()).toMatchObject([{ state: 'ready' }]);
  });

  it('is reported only a limited number of times', async () => {
    const { hook, stage: fixture } = await openActive(
      hooksText(`
        beforeTool() { for (let n = 0; n < 50; n++) setTimeout(() => { throw new Error('again ' + n); }); },
        afterTool: () => new Promise((resolve) => setTimeout(resolve, 5))`),
    );
    await hook('beforeTool', {});
    await hook('afterTool', {});
    await eventually(() => expect(fixture.issues).toHaveLength(10));
    expect(fixture.issues.at(-1)?.message).toContain('further ones are not reported');
  });
});

describe('a plugin that hangs', () => {
  const within = { hookTimeoutMs: 300 };
  const endedMessage = /did not react for \d+ ms, as in an endless loop, and was ended/;

  it('at import is ended, and is not loaded', async () => {
    const fixture = createIsolationFixture();
    const loading = await withEnoughTime(
      500,
      (importTimeoutMs) => openText(`${PID} ${LOOP}`, { importTimeoutMs }, fixture),
      () => existsSync(path.join(fixture.directory, 'pid')),
    );
    expect(loading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/did not end its import within \d+ ms and was ended/),
    });
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
  });

  it('at import, because it waits for ever, is not loaded either', async () => {
    const fixture = createIsolationFixture();
    const text = `${PID} await new Promise(() => setInterval(() => {}, 1000)); export default {};`;
    const loading = await withEnoughTime(
      300,
      (importTimeoutMs) => openText(text, { importTimeoutMs }, fixture),
      () => existsSync(path.join(fixture.directory, 'pid')),
    );
    expect(loading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/took longer than \d+ ms/),
    });
    await eventually(() => expect(isAlive(pidIn(fixture.directory))).toBe(false));
  });

  it.each([LOOP, 'return new Promise(() => {});'])('in setup is ended: %s', async (body) => {
    const fixture = createIsolationFixture();
    const text = `${PID} export default { name: 'stuck', manifest: { capabilities: ['tools'] }, setup() { ${body} } };`;
    const loading = await openText(text, { setupTimeoutMs: 300 }, fixture);
    const registry = await createPluginRegistry(
      { loaded: loading.kind === 'loaded' ? [loading] : [] },
      {
        context: {},
        isStrict: false,
        failsClosed: false,
        setupTimeoutMs: 300,
        disposeTimeoutMs: 5000,
        onIssue: (issue) => fixture.issues.push(issue),
      },
    );
    expect(registry.list()).toMatchObject([
      { name: 'stuck', state: 'failed', lastError: 'its setup did not answer within 300 ms' },
    ]);
    await eventually(() => expect(isAlive(pidIn(fixture.directory))).toBe(false));
    await registry.dispose();
  });

  it('in a hook is ended, also when it ignores the signal', async () => {
    const {
      hook,
      stage: fixture,
      registry,
    } = await openActive(
      hooksText(`beforeTool() { process.on('SIGTERM', () => {}); ${LOOP} }, afterTool() {}`, PID),
      within,
    );
    await expect(hook('beforeTool', {})).rejects.toThrow('did not answer within 300 ms');
    await eventually(() => expect(registry.list()).toMatchObject([{ state: 'failed' }]));
    await expect(hook('afterTool', {})).rejects.toThrow(endedMessage);
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
    expect(fixture.issues).toMatchObject([
      { phase: 'uncaught', message: expect.stringMatching(endedMessage) },
    ]);
  });

  it('in a tool is ended once the tool is given up', async () => {
    const { active, stage: fixture } = await openActive(
      toolText(`execute() { ${LOOP} }`, PID),
      within,
    );
    const [tool] = active.contributions.tools;
    const running = tool?.execute({}, { ...CONTEXT, signal: AbortSignal.timeout(200) });
    await expect(running).rejects.toThrow(endedMessage);
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
  });

  it('in a tool while its session ends is reported once', async () => {
    const {
      active,
      stage: fixture,
      registry,
    } = await openActive(toolText(`execute() { ${LOOP} }`), within);
    const [tool] = active.contributions.tools;
    const running = tool?.execute({}, { ...CONTEXT, signal: AbortSignal.timeout(200) });
    await Promise.all([expect(running).rejects.toThrow(endedMessage), registry.dispose()]);
    expect(fixture.issues).toMatchObject([
      { phase: 'uncaught', message: expect.stringMatching(endedMessage) },
    ]);
  });

  it('in a listener is ended, though nothing waits for it', async () => {
    const { hook, stage: fixture } = await openActive(
      hooksText(`onEvent() { ${LOOP} }`, PID),
      within,
    );
    await expect(hook('onEvent', { type: 'run-started' })).rejects.toThrow(endedMessage);
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
  });

  it('only for a while loses the call and nothing else', async () => {
    const text = hooksText(`beforeTool: () => new Promise(() => {}), afterTool: () => 'here'`);
    const {
      registry,
      stage: fixture,
      answer,
    } = await withEnoughTime(
      300,
      async (hookTimeoutMs) => {
        const opened = await openActive(text, { hookTimeoutMs });
        const pendingCall = opened.hook('beforeTool', {});
        await expect(pendingCall).rejects.toThrow(`did not answer within ${hookTimeoutMs} ms`);
        const answered = opened.hook('afterTool', {});
        return { ...opened, answer: await answered.catch((error: unknown) => error) };
      },
      ({ answer: input }) => input === 'here',
    );
    expect(answer).toBe('here');
    expect(registry.list()).toMatchObject([{ state: 'ready' }]);
    expect(fixture.issues).toEqual([]);
  });
});

describe('the host of a plugin that has ended', () => {
  it('reports it once, asks its hooks no more, and one that fails closed refuses every time', async () => {
    const {
      active,
      stage: fixture,
      end,
    } = await openActive(
      hooksText(
        `beforeTool: Object.assign(() => undefined, { failClosed: true }), afterTool() { process.exit(1); }`,
      ),
    );
    const handlers = createPluginHandlers([active], {
      ports: {
        snapshot: () => ({
          agentId: 'main',
          status: 'running',
          iteration: 1,
          messages: [],
          pendingToolCalls: [],
          usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        }),
        runResult: () => {
          throw new RangeError('no run has ended');
        },
        findTool: () => null,
      },
      failsClosed: false,
      timeoutMs: 20_000,
    });
    const engine = createHookEngine({
      sources: [{ handlers: () => handlers }],
      moment: () => MOMENT,
    });
    const tool = { callId: 'c1', name: 'work', input: {} };
    const before = () => engine.dispatch({ name: 'PreToolUse', tool });
    const after = () =>
      engine.dispatch({
        name: 'PostToolUse',
        tool,
        durationMs: 1,
        result: { success: true, text: 'ok', response: 'ok' },
      });
    expect((await before()).effect).toBe('pass');
    for (let time = 0; time < 4; time++) await after();
    for (let time = 0; time < 4; time++) {
      const { effect, reasons } = await before();
      expect([effect, JSON.stringify(reasons)]).toEqual([
        'deny',
        expect.stringContaining('exit code 1'),
      ]);
    }
    const messages = fixture.issues.map(({ message }) => message);
    expect(messages).toEqual([expect.stringContaining('ended by itself with exit code 1')]);
    await engine.close();
    await end();
  });
});

const MOMENT = {
  sessionId: 'session',
  taskId: 'task',
  ulid: '01J00000000000000000000000',
  at: 0,
  cwd: '/',
  workspaceRoots: ['/'],
  permissionMode: 'default',
  model: { provider: 'none', id: 'none' },
  agent: { id: 'agent', parentId: null, type: null },
  iteration: 1,
  userId: 'test',
  version: '0',
  transcriptPath: null,
  promptId: null,
} as const;

describe('ending a plugin in a process of its own', () => {
  it('calls the plugin’s dispose callbacks, the last first, and waits for them', async () => {
    const { registry, stage: fixture } = await openActive(`
      import { appendFileSync, writeFileSync } from 'node:fs';
      writeFileSync('pid', String(process.pid));
      const note = (text) => appendFileSync('log', text + ' ');
      process.on('exit', () => note('exit'));
      setInterval(() => {}, 1000);
      export default {
        name: 'tidy',
        manifest: { capabilities: ['tools'] },
        setup(api, ctx) {
          ctx.onDispose(() => note('first'));
          ctx.onDispose(async () => { await new Promise((resolve) => setTimeout(resolve, 50)); note('second'); });
        },
      };`);
    await registry.dispose();
    expect(readFileSync(path.join(fixture.directory, 'log'), 'utf8')).toBe('second first exit ');
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
    expect(fixture.issues).toEqual([]);
    expect(registry.list()).toMatchObject([{ state: 'ready', lastError: null }]);
  });

  it('reports what failed, and does not wait for what never ends', async () => {
    const failing = await openActive(`
      export default { name: 'clumsy', manifest: { capabilities: ['tools'] },
        setup(api, ctx) { ctx.onDispose(() => { throw new Error('dropped it'); }); } };`);
    await failing.registry.dispose();
    expect(failing.stage.issues).toMatchObject([
      { message: 'its onDispose callback failed: dropped it' },
    ]);
    const { registry, stage: fixture } = await openActive(
      `${PID} export default { name: 'slow', manifest: { capabilities: ['tools'] },
        setup(api, ctx) { ctx.onDispose(() => { ${LOOP} }); } };`,
      { disposeTimeoutMs: 200 },
    );
    await registry.dispose();
    expect(isAlive(pidIn(fixture.directory))).toBe(false);
    expect(fixture.issues).toMatchObject([{ message: expect.stringContaining('within 200 ms') }]);
  });

  it('ends also what the plugin started', async () => {
    const { registry, stage: fixture } = await openActive(`
      import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      writeFileSync('pid', String(pid));
      export default { name: 'parent', manifest: { capabilities: ['tools'] } };`);
    expect(isAlive(pidIn(fixture.directory))).toBe(true);
    await registry.dispose();
    await eventually(() => expect(isAlive(pidIn(fixture.directory))).toBe(false));
  });

  it('of which two sessions have one each leaves the other alone', async () => {
    const text = hooksText(
      `beforeTool: () => (count += 1), afterTool: () => process.exit(1)`,
      'let count = 0;',
    );
    const [one, other] = await Promise.all([openActive(text), openActive(text)]);
    expect([await one.hook('beforeTool', {}), await one.hook('beforeTool', {})]).toEqual([1, 2]);
    expect(await other.hook('beforeTool', {})).toBe(1);
    await expect(one.hook('afterTool', {})).rejects.toThrow('exit code 1');
    expect(await other.hook('beforeTool', {})).toBe(2);
  });

  it('happens at once to one that is disabled', async () => {
    const fixture = createIsolationFixture();
    const text = `${PID} export default { name: 'off', disabled: true, manifest: { capabilities: ['tools'] } };`;
    expect(await openText(text, {}, fixture)).toMatchObject({ plugin: { disabled: true } });
    await eventually(() => expect(isAlive(pidIn(fixture.directory))).toBe(false));
    expect(fixture.issues).toEqual([]);
  });

  it('may be aborted while it is imported', async () => {
    const fixture = createIsolationFixture();
    const signal = AbortSignal.timeout(400);
    const text = `${PID} await new Promise(() => setInterval(() => {}, 1000)); export default {};`;
    expect(await openText(text, { signal }, fixture)).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('was given up while it was imported'),
    });
  });

  it('that cannot even be started is a plugin that is not loaded', async () => {
    const fixture = createIsolationFixture();
    const cwd = path.join(fixture.directory, 'absent');
    expect(await openText('export default {};', { cwd }, fixture)).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining(`its working directory ${cwd} does not exist`),
    });
  });
});
