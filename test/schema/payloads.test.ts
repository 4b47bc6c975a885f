import { describe, expect, it } from 'vitest';
import { payloadFile } from '../../scripts/schema/catalogue.ts';
import { payloadSchema } from '../../scripts/schema/cline-payload.ts';
import { FILE_HOOK_NAMES } from '../../src/dialects/cline-files/events.ts';
import { readPayload } from '../../src/dialects/cline-files/read-payload.ts';
import type { HookEvent } from '../../src/hooks/facts.ts';
import { goldenPayloads, MOMENT, oddPayloads, payloadsOf, type SentPayload } from './payloads.ts';
import { type JsonSchema, objections, objectionsOf, readSchema } from './published.ts';

type Place = readonly string[];

describe('the payload of a Cline hook', () => {
  it.each(goldenPayloads())('is unchanged in both generations: $title', async (sent) => {
    const text = `${JSON.stringify(sent.payload, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`golden/${sent.title}.json`);
  });

  it('has a recording in both profiles for every name', () => {
    const names = new Set(goldenPayloads().map(({ name }) => name));
    expect([...names]).toEqual(FILE_HOOK_NAMES);
    expect(goldenPayloads().length).toBe(2 * 12);
  });

  it.each(goldenPayloads())('can be read back and sent again: $title', (sent) => {
    const event: HookEvent = { ...MOMENT, ...readPayload(sent.payload) };
    expect(payloadsOf(event, sent.name, sent.profile)).toEqual([sent.payload]);
  });

  it('fits its published schema, however odd the event is', () => {
    const misfits = [...goldenPayloads(), ...oddPayloads()].flatMap(({ title, name, payload }) =>
      objections(payloadFile(name), payload).map((objection) => `${title}: ${objection}`),
    );
    expect(misfits).toEqual([]);
  });

  it('has no field that its schema does not describe', () => {
    const misfits = [...goldenPayloads(), ...oddPayloads()].flatMap(({ title, name, payload }) =>
      objectionsOf(payloadSchema(name), payload).map((objection) => `${title}: ${objection}`),
    );
    expect(misfits).toEqual([]);
  });
});

describe('the published schema of a payload', () => {
  it.each(goldenPayloads())('reports every missing required field of $title', (sent) => {
    const paths = listRequiredPaths(readSchema(payloadFile(sent.name)));
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((place) => accepts(sent, without(sent.payload, place)))).toEqual([]);
  });

  it.each(goldenPayloads())('refuses a wrong type in every field of $title', (sent) => {
    const paths = listTypedPaths(readSchema(payloadFile(sent.name)));
    expect(paths.length).toBeGreaterThan(20);
    const wrong = { wrong: [true] };
    expect(paths.filter((place) => accepts(sent, replaced(sent.payload, place, wrong)))).toEqual(
      [],
    );
  });

  it.each(goldenPayloads())('lets a later version add fields to $title', (sent) => {
    const added = { ...sent.payload, fieldOfTomorrow: 1 };
    expect(accepts(sent, added)).toBe(true);
    expect(objectionsOf(payloadSchema(sent.name), added)).not.toEqual([]);
  });
});

function accepts({ name }: SentPayload, payload: unknown): boolean {
  return objections(payloadFile(name), payload).length === 0;
}

function listRequiredPaths(schema: JsonSchema, above: Place = []): Place[] {
  const own = (schema.required ?? []).map((key) => [...above, key]);
  return [...own, ...listPathsBelow(schema, above, listRequiredPaths)];
}

function listTypedPaths(schema: JsonSchema, above: Place = []): Place[] {
  const own = Object.entries(schema.properties ?? {})
    .filter(([, { type, anyOf }]) => type !== undefined || anyOf !== undefined)
    .map(([key]) => [...above, key]);
  return [...own, ...listPathsBelow(schema, above, listTypedPaths)];
}

function listPathsBelow(
  { properties = {} }: JsonSchema,
  above: Place,
  find: (schema: JsonSchema, above: Place) => Place[],
): Place[] {
  return Object.entries(properties).flatMap(([key, below]) => find(below, [...above, key]));
}

function without(value: unknown, [key = '', ...rest]: Place): unknown {
  const { [key]: found, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [key]: without(found, rest) };
}

function replaced(value: unknown, [key = '', ...rest]: Place, by: unknown): unknown {
  const fields = value as Record<string, unknown>;
  return { ...fields, [key]: rest.length === 0 ? by : replaced(fields[key], rest, by) };
}
