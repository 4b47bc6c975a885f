import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  type AgentPlugin,
  type AgentTool,
  type AgentToolContext,
  createTool,
  defineHook,
  definePlugin,
  defineTool,
  type FromJsonSchema,
} from '../../src/plugin.ts';

describe('a tool’s input has the type', () => {
  it('that a schema of zod makes of it', () => {
    const tool = defineTool({
      name: 'greet',
      description: 'Greets.',
      inputSchema: z.object({ name: z.string(), times: z.number().default(1) }),
      execute(input, context) {
        expectTypeOf(input).toEqualTypeOf<{ name: string; times: number }>();
        expectTypeOf(context).toEqualTypeOf<AgentToolContext>();
        return `${input.name}${input.times.toFixed()}`;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<AgentTool<{ name: string; times: number }, string>>();
    expect(tool.inputSchema).toMatchObject({ type: 'object', required: ['name'] });
  });

  it('that any Standard Schema declares', () => {
    const schema = {
      '~standard': {
        version: 1,
        vendor: 'nobody',
        validate: (value: unknown) => ({ value: { length: String(value).length } }),
        types: undefined as { input: string; output: { length: number } } | undefined,
      },
    } as const;
    const tool = createTool({
      name: 'measure',
      description: 'Measures.',
      inputSchema: schema,
      async execute(input) {
        expectTypeOf(input).toEqualTypeOf<{ length: number }>();
        return input.length;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<AgentTool<{ length: number }, number>>();
    expect(tool.name).toBe('measure');
  });

  it('that JSON Schema describes, as it is written down', () => {
    const tool = defineTool({
      name: 'edit',
      description: 'Edits.',
      inputSchema: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          mode: { enum: ['read', 'write'] },
          lines: { type: 'array', items: { type: 'integer' } },
          owner: { type: 'object', properties: { id: { type: ['string', 'null'] } } },
          anything: {},
        },
        required: ['path', 'mode'],
      },
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<{
          path: string;
          mode: 'read' | 'write';
          lines?: number[];
          owner?: { id?: string | null };
          anything?: unknown;
        }>();
        return input.lines?.length ?? 0;
      },
    });
    expect(tool.timeoutMs).toBe(30_000);
  });

  it('that its author declares, where the schema does not', () => {
    const tool = createTool({
      name: 'say',
      description: 'Says.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      async execute({ text }: { text: string }) {
        return text;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<AgentTool<{ text: string }, string>>();
    createTool({
      name: 'ask',
      description: 'Asks.',
      inputSchema: { type: 'object' },
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<unknown>();
        return null;
      },
    });
    expect(tool.retryable).toBe(true);
  });

  it('of every kind of JSON Schema that can be inferred', () => {
    expectTypeOf<FromJsonSchema<{ const: 4 }>>().toEqualTypeOf<4>();
    const four: FromJsonSchema<{ const: 4 }> = 4;
    expect(four).toBe(4);
    expectTypeOf<FromJsonSchema<{ type: 'boolean' }>>().toEqualTypeOf<boolean>();
    expectTypeOf<FromJsonSchema<{ anyOf: [{ type: 'string' }, { type: 'null' }] }>>().toEqualTypeOf<
      string | null
    >();
    expectTypeOf<
      FromJsonSchema<{ type: 'object'; additionalProperties: { type: 'number' } }>
    >().toEqualTypeOf<Record<string, number>>();
    expectTypeOf<FromJsonSchema<{ properties: { a: { type: 'number' } } }>>().toEqualTypeOf<{
      a?: number;
    }>();
    expectTypeOf<FromJsonSchema<{ $ref: '#/x' }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromJsonSchema<true>>().toEqualTypeOf<unknown>();
  });
});

describe('a plugin', () => {
  it('has typed arguments for its setup and hooks, and is the object itself', () => {
    const input: AgentPlugin = {
      name: 'typed',
      manifest: { capabilities: ['hooks', 'tools'] },
    };
    expect(definePlugin(input)).toBe(input);
    definePlugin({
      name: 'typed',
      manifest: { capabilities: ['hooks', 'tools'] },
      setup(api, ctx) {
        expectTypeOf(ctx.workspaceInfo?.rootPath).toEqualTypeOf<string | undefined>();
        expectTypeOf(ctx.telemetry?.capture).toBeNullable();
        api.registerTool(
          defineTool({
            name: 'one',
            description: '',
            inputSchema: z.object({ a: z.string() }),
            execute: ({ a }) => a,
          }),
        );
      },
      hooks: {
        beforeTool({ toolCall }) {
          expectTypeOf(toolCall.toolName).toEqualTypeOf<string>();
          return { skip: true, reason: 'no' };
        },
        afterRun({ result }) {
          expectTypeOf(result.status).toEqualTypeOf<'completed' | 'aborted' | 'failed'>();
        },
      },
    });
  });

  it('of the wrong shape is refused by the compiler', () => {
    const wrong = [
      definePlugin({
        name: 'capability',
        manifest: {
          // @ts-expect-error: there is no such capability
          capabilities: ['tool'],
        },
      }),
      definePlugin({
        name: 'field',
        manifest: { capabilities: ['hooks'] },
        // @ts-expect-error: there is no such field
        hook: {},
      }),
      definePlugin({
        name: 'answer',
        manifest: { capabilities: ['hooks'] },
        hooks: {
          // @ts-expect-error: a hook answers with an object
          beforeTool: () => 'no',
        },
      }),
    ];
    expect(wrong.map(({ name }) => name)).toEqual(['capability', 'field', 'answer']);
  });

  it('has hooks that declare their failure policy', () => {
    const guard = defineHook(
      'beforeTool',
      ({ input }) => {
        expectTypeOf(input).toEqualTypeOf<unknown>();
        return { stop: true, reason: 'always' };
      },
      { failClosed: true },
    );
    expectTypeOf(guard).toExtend<NonNullable<AgentPlugin['hooks']>['beforeTool']>();
    expect(guard.failClosed).toBe(true);
    // @ts-expect-error: there is no such hook
    defineHook('beforeTools', () => undefined);
  });
});
