import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { estimateTokens } from '../../../src/plugins/contract/message.ts';
import { type InputSchema, isStandardSchema } from '../../../src/plugins/contract/input-schema.ts';
import { getCheckingSchema, createTool } from '../../../src/plugins/contract/tool.ts';

function schemaOf(inputSchema: InputSchema): unknown {
  return createTool({ name: 't', description: 'd', inputSchema, execute: () => 1 }).inputSchema;
}

describe('createTool', () => {
  it('makes a plain object with the usual limits', () => {
    const execute = (): number => 1;
    const inputSchema = { type: 'object' };
    expect(createTool({ name: 't', description: 'd', inputSchema, execute })).toEqual({
      name: 't',
      description: 'd',
      inputSchema,
      execute,
      timeoutMs: 30_000,
      retryable: true,
      maxRetries: 3,
    });
  });

  it('converts the part of a zod schema that JSON Schema can express, and leaves the rest open', () => {
    const schema = z.object({ at: z.coerce.date(), n: z.number().optional() });
    expect(schemaOf(schema)).toEqual({
      type: 'object',
      properties: { at: {}, n: { type: 'number' } },
      required: expect.any(Array),
    });
  });

  it('accepts a schema that looks like one of an object', () => {
    expect(schemaOf({ properties: {} })).toEqual({ type: 'object', properties: {} });
    expect(schemaOf({ $schema: 'x', type: 'object' })).toEqual({ type: 'object' });
    expect(schemaOf({})).toEqual({});
    const both = { allOf: [{ type: 'object' }, { minProperties: 1 }] };
    expect(schemaOf(both)).toEqual(both);
  });

  it.each([
    [{ anyOf: [{ type: 'object' }, { type: 'string' }] }],
    [{ allOf: [{ type: 'string' }] }],
  ])('refuses a schema that is no object at its top level: %j', (schema) => {
    expect(() => schemaOf(schema)).toThrow('top level');
  });

  it('turns a schema of zod into JSON Schema, and keeps it for checking', () => {
    const inputSchema = z.object({ name: z.string() });
    const tool = createTool({ name: 't', description: 'd', inputSchema, execute: () => 1 });
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
    expect(isStandardSchema(getCheckingSchema(tool))).toBe(true);
    expect(Object.keys(tool)).not.toContain('authored');
  });

  it('passes on a schema of an unknown library as an opaque one', () => {
    const schema = { '~standard': { version: 1, vendor: 'x', validate: () => ({ value: 1 }) } };
    expect(schemaOf(schema)).toEqual({ type: 'object' });
  });
});

it('tokens are estimated from characters', () => {
  expect([estimateTokens(9), estimateTokens('12345678')]).toEqual([3, 2]);
});
