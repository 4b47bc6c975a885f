import { describe, expect, it } from 'vitest';
import { eventually } from '../../base/directory.ts';
import { formatOutput } from '../../../src/host/plugins/contributions/plugin-tools.ts';
import { isStandardSchema, toJsonSchema } from '../../../src/plugins/contract/input-schema.ts';
import {
  type AgentTool,
  type AgentToolContext,
  getCheckingSchema,
} from '../../../src/plugins/contract/tool.ts';
import { type More, openActive, toolText } from './isolated.ts';

async function openTool(tool: string, before = '', more: More = {}) {
  const opened = await openActive(toolText(tool, before), more);
  const [made] = opened.active.contributions.tools;
  if (made === undefined) throw new RangeError('no tool was registered');
  return { ...opened, tool: made };
}

const CONTEXT: AgentToolContext = { agentId: 'main', iteration: 1 };

describe('a tool that answers with a stream, in a process of its own', () => {
  it.each([
    [`async *execute() { yield 'a'; yield 'b'; yield { c: 1 }; }`, 'ab{"c":1}\n'],
    [`execute() { return new Response('from the web').body; }`, 'from the web'],
  ])('is read there: %s', async (text, said) => {
    const { tool } = await openTool(text);
    expect(await tool.execute({}, CONTEXT)).toBe(said);
  });

  it('is read no further than the limit, however long it is', async () => {
    const { tool, stage: fixture } = await openTool(`
      async *execute() { try { for (;;) yield 'and '; } finally { console.log('ended'); } }`);
    expect(await tool.execute({}, CONTEXT)).toMatch(/^and and .*\[cut: the stream goes on\]$/su);
    await eventually(() => expect(fixture.printed).toContain('log ended'));
  });

  it('ends with the call', async () => {
    const { tool } = await openTool(`
      async *execute() { for (;;) { yield 'tick '; await new Promise((next) => setTimeout(next, 5)); } }`);
    const stopping = new AbortController();
    const answer = tool.execute({}, { ...CONTEXT, signal: stopping.signal });
    stopping.abort();
    expect(await answer).toMatch(/\[cut: the stream goes on\]$/u);
  });
});

describe('a tool in a process of its own', () => {
  it('receives everything about its call', async () => {
    const { tool } = await openTool(`
      execute(input, context) {
        return { input, keys: Object.keys(context).sort(), isSignal: context.signal instanceof AbortSignal,
          name: this.name, snapshot: context.snapshot, metadata: context.metadata, cwd: context.cwd };
      }`);
    const snapshot = {
      agentId: 'main',
      status: 'running',
      iteration: 3,
      messages: [{ id: 'a', role: 'user', content: [], createdAt: 0 }],
      pendingToolCalls: ['c1'],
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    } satisfies AgentToolContext['snapshot'];
    const context: AgentToolContext = {
      ...CONTEXT,
      sessionId: 's',
      conversationId: 's',
      runId: 'r',
      toolCallId: 'c1',
      cwd: '/w',
      metadata: { modelSupportsImages: true },
      signal: new AbortController().signal,
      snapshot,
      emitUpdate: () => undefined,
    };
    expect(await tool.execute({ a: new Date(1) }, context)).toEqual({
      input: { a: new Date(1) },
      keys: Object.keys(context).toSorted(),
      isSignal: true,
      name: 'work',
      snapshot,
      metadata: { modelSupportsImages: true },
      cwd: '/w',
    });
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['new Date(7)', new Date(7)],
    ['Number.NaN', Number.NaN],
    ['12n', 12n],
    ['new Map([[1, { at: new Date(3) }]])', new Map([[1, { at: new Date(3) }]])],
    ['[undefined, "a"]', [undefined, 'a']],
    ['({ none: undefined, work() {} })', { none: undefined, work: '[function work]' }],
    ['Promise.resolve("later")', 'later'],
    ['new Error("as a value")', new Error('as a value')],
    ['({ nested: (async function* () {})() })', { nested: '[object AsyncGenerator]' }],
  ])('returns %s', async (text, expected) => {
    const { tool } = await openTool(`execute: () => ${text}`);
    expect(await tool.execute({}, CONTEXT)).toEqual(expected);
  });

  it('returns a circular object', async () => {
    const { tool } = await openTool(`execute() { const a = { b: 1 }; a.a = a; return a; }`);
    expect(formatOutput(await tool.execute({}, CONTEXT))).toBe('{"b":1,"a":"[circular]"}');
  });

  it('returns 100 MB, and works afterwards', async () => {
    const { tool } = await openTool(`execute: ({ size }) => 'x'.repeat(size)`);
    const large = await tool.execute({ size: 100_000_000 }, CONTEXT);
    expect(typeof large === 'string' && large.length).toBe(100_000_000);
    expect(await tool.execute({ size: 3 }, CONTEXT)).toBe('xxx');
  });

  it('throws the same error, with its retryable flag', async () => {
    const { tool } = await openTool(
      `execute() { throw Object.assign(new TypeError('busy'), { retryable: true, cause: new Date(1) }); }`,
    );
    const error = await Promise.resolve(tool.execute({}, CONTEXT)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: 'busy', retryable: true, cause: new Date(1) });
  });

  it('reports progress before it answers', async () => {
    const { tool } = await openTool(`
      async execute(input, { emitUpdate }) {
        emitUpdate('half');
        await new Promise((resolve) => setImmediate(resolve));
        emitUpdate({ done: 2, at: new Date(4), work() {} });
        return 'all';
      }`);
    const updates: unknown[] = [];
    const emitUpdate = (update: unknown) => updates.push(update);
    expect(await tool.execute({}, { ...CONTEXT, emitUpdate })).toBe('all');
    expect(updates).toEqual(['half', { done: 2, at: new Date(4), work: '[function work]' }]);
  });

  it('receives its abort, with the reason', async () => {
    const { tool } = await openTool(`
      execute: (input, { signal, emitUpdate }) => new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve([signal.aborted, signal.reason]));
        emitUpdate('waiting');
      })`);
    const controller = new AbortController();
    const abort = (): void => controller.abort(new RangeError('enough'));
    const running = tool.execute({}, { ...CONTEXT, signal: controller.signal, emitUpdate: abort });
    expect(await running).toEqual([true, new RangeError('enough')]);
  });

  it('receives a signal that was aborted before as aborted', async () => {
    const { tool } = await openTool(
      `execute: (input, { signal }) => [signal.aborted, signal.reason.name]`,
    );
    const context = { ...CONTEXT, signal: AbortSignal.abort() };
    expect(await tool.execute({}, context)).toEqual([true, 'AbortError']);
  });

  it('runs side by side with itself', async () => {
    const { tool } = await openTool(
      `execute({ n }) {
        waiting.push(n);
        if (waiting.length === 3) for (const go of goes) go();
        return new Promise((resolve) => { goes.push(() => resolve(n)); if (waiting.length === 3) resolve(n); });
      }`,
      'const waiting = []; const goes = [];',
    );
    const calls = [1, 2, 3].map((n) => tool.execute({ n }, CONTEXT));
    expect(await Promise.all(calls)).toEqual([1, 2, 3]);
  });
});

describe('the schema of a tool in a process of its own', () => {
  const ZOD = `
    import { z } from 'zod';
    const inputSchema = z.object({
      path: z.string().refine((path) => !path.includes('..'), 'stays inside'),
      at: z.string().default('1970-01-01').transform((text) => new Date(text)),
    });`;

  async function checkOf(tool: AgentTool, input: unknown) {
    const schema = getCheckingSchema(tool);
    if (!isStandardSchema(schema)) throw new RangeError('it has no schema of its author');
    expect(toJsonSchema(schema, 'work')).toEqual(tool.inputSchema);
    return schema['~standard'].validate(input);
  }

  it('is sent to a model as JSON Schema', async () => {
    const { tool } = await openTool(`inputSchema, execute: () => 1`, ZOD);
    expect(toJsonSchema(tool.inputSchema, 'work')).toMatchObject({
      type: 'object',
      required: ['path'],
      properties: { path: { type: 'string' }, at: { type: 'string', default: '1970-01-01' } },
    });
  });

  it('checks in the plugin’s process what only the schema’s code can check, and passes the parsed input', async () => {
    const { tool } = await openTool(`inputSchema, execute: (input) => input`, ZOD);
    expect(await checkOf(tool, { path: '../a' })).toEqual({
      issues: [{ message: 'stays inside', path: ['path'] }],
    });
    expect(await checkOf(tool, { path: 'a' })).toEqual({ value: { path: 'a' } });
    expect(await tool.execute({ path: 'a' }, CONTEXT)).toEqual({ path: 'a', at: new Date(0) });
    await expect(tool.execute({ path: '..' }, CONTEXT)).rejects.toThrow('stays inside');
  });

  it('lets the call report the error when its process is gone', async () => {
    const { tool, end } = await openTool(`inputSchema, execute: (input) => input`, ZOD);
    await end();
    expect(await checkOf(tool, { path: '..' })).toEqual({ value: { path: '..' } });
    await expect(tool.execute({ path: '..' }, CONTEXT)).rejects.toThrow('ended with the session');
  });
});

describe('what a plugin prints in a process of its own', () => {
  it('goes to the logger, line by line, and never to this process', async () => {
    const { stage: fixture, tool } = await openTool(
      `async execute() {
        process.stdout.write('one ');
        process.stdout.write('line\\n\\nnext\\nlast');
        console.error('oh', { no: 1 });
        console.debug('fine');
      }`,
      `console.log('imported');`,
    );
    await tool.execute({}, CONTEXT);
    await eventually(() => expect(fixture.printed).toHaveLength(5));
    const lines = fixture.printed.toSorted();
    expect(lines).toEqual([
      'error oh { no: 1 }',
      'log imported',
      'log lastfine',
      'log next',
      'log one line',
    ]);
  });

  it('is cut where it is too much', async () => {
    const { stage: fixture, tool } = await openTool(
      `execute() { for (let n = 0; n < 20_000; n++) console.log('line ' + n); }`,
    );
    await tool.execute({}, CONTEXT);
    await eventually(() => expect(fixture.printed.at(-1)).toMatch(/more lines are left out/));
    expect(fixture.printed.length).toBeLessThan(5000);
    expect(fixture.printed[0]).toBe('log line 0');
  });
});
