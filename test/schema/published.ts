import { readFileSync } from 'node:fs';
import { z } from 'zod';

export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

export function readSchema(file: string): JsonSchema {
  return JSON.parse(readFileSync(`schema/${file}`, 'utf8'));
}

/** What a checked-in schema has against a document; empty when it fits. */
export function objections(file: string, document: unknown): string[] {
  return objectionsOf(publishedSchema(file), document);
}

export function objectionsOf(schema: z.ZodType, document: unknown): string[] {
  const { error } = schema.safeParse(document);
  return error === undefined ? [] : z.prettifyError(error).split('\n');
}

const published = new Map<string, z.ZodType>();

function publishedSchema(file: string): z.ZodType {
  const cached = published.get(file);
  if (cached !== undefined) return cached;
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(`schema/${file}`, 'utf8')));
  published.set(file, schema);
  return schema;
}
