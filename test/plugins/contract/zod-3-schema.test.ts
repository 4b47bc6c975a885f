import { expect, it } from 'vitest';
import { z } from 'zod/v3';
import { getCheckingSchema, createTool } from '../../../src/plugins/contract/tool.ts';
import { convertZod3Schema } from '../../../src/plugins/contract/zod-3-schema.ts';
import { answers, call, createSdkFixture, DONE } from '../../compat/cline/sdk-fixture.ts';

enum Level {
  Low,
  High,
}

const RICH = z
  .object({
    name: z.string().min(1).max(9).describe('who'),
    count: z.number().int().min(0).lt(10).optional(),
    kind: z.enum(['a', 'b']).default('a'),
    items: z.array(z.object({ on: z.boolean() }).strict()).min(1),
    either: z.union([z.string().length(2), z.literal(5)]),
    by: z.record(z.number()).nullable(),
    level: z.nativeEnum(Level),
    trimmed: z.string().transform((text) => text.trim()),
    when: z.date().optional(),
  })
  .describe('all of it');

const TOLD = {
  type: 'object',
  description: 'all of it',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 9, description: 'who' },
    count: { type: 'integer', minimum: 0, exclusiveMaximum: 10 },
    kind: { type: 'string', enum: ['a', 'b'], default: 'a' },
    items: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { on: { type: 'boolean' } },
        required: ['on'],
        additionalProperties: false,
      },
    },
    either: { anyOf: [{ type: 'string', minLength: 2, maxLength: 2 }, { const: 5 }] },
    by: {
      anyOf: [{ type: 'object', additionalProperties: { type: 'number' } }, { type: 'null' }],
    },
    level: { enum: [0, 1] },
    trimmed: { type: 'string' },
    when: {},
  },
  required: ['name', 'items', 'either', 'by', 'level', 'trimmed'],
};

function toolWith(inputSchema: typeof RICH) {
  return createTool({ name: 't', description: 'd', inputSchema, execute: () => 1 });
}

it('converts a schema of zod 3 for the model, and keeps it for checking', () => {
  const tool = toolWith(RICH);
  expect(tool.inputSchema).toEqual(TOLD);
  expect(getCheckingSchema(tool)).toBe(RICH);
});

it('converts one that is too old to follow Standard Schema in the same way', () => {
  const old: typeof RICH = Object.create(RICH, { '~standard': { value: undefined } });
  expect(toolWith(old).inputSchema).toEqual(TOLD);
});

it('converts a schema that contains itself to a limited depth', () => {
  const tree: z.ZodTypeAny = z.object({ child: z.lazy(() => tree.optional()) });
  expect(JSON.stringify(convertZod3Schema(tree)).length).toBeLessThan(5000);
});

it.each([[z.any()], [{ type: 'object' }], [null], [{ _def: {} }]])(
  'is not fooled by %#',
  (input) => {
    expect([null, {}]).toContainEqual(convertZod3Schema(input));
  },
);

it('is sent to the model, and its input is checked by it', async () => {
  const fixture = await createSdkFixture([call('t', { name: 7 }), DONE]);
  const inputSchema = z.object({ name: z.string() });
  const tool = createTool({ name: 't', description: 'd', inputSchema, execute: () => 'ran' });
  await fixture.start({
    extensions: [
      {
        name: 'old',
        manifest: { capabilities: ['tools'] },
        setup: (api) => api.registerTool(tool),
      },
    ],
  });
  expect(answers(fixture).join()).toMatch(/does not fit its schema.*name/u);
});
