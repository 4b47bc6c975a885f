import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import {
  createFileRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLINE_OUTPUT } from '../../scripts/schema/cline-output.ts';
import { payloadSchema } from '../../scripts/schema/cline-payload.ts';
import { FILE_HOOK_NAMES } from '../../src/dialects/cline-files/events.ts';
import { goldenPayloads, oddPayloads } from './payloads.ts';

const require = createRequire(import.meta.url);
const BUF = require.resolve('@bufbuild/buf/bin/buf');
const PACKAGE = 'hookline.hooks.v1';

const registry = createFileRegistry(
  fromBinary(
    FileDescriptorSetSchema,
    execFileSync(process.execPath, [BUF, 'build', 'schema', '-o', '-']),
  ),
);
const input = message('HookInput');
const output = message('HookOutput');

function message(name: string): DescMessage {
  const found = registry.getMessage(`${PACKAGE}.${name}`);
  expect(found, `schema/hooks.proto defines ${name}`).toBeDefined();
  return found!;
}

/** Why a document is not a message of this type, or null. Unknown fields count. */
function misfit(type: DescMessage, document: unknown): string | null {
  try {
    fromJson(type, document as JsonValue, { registry, ignoreUnknownFields: false });
    return null;
  } catch (error) {
    return String(error);
  }
}

describe('schema/hooks.proto', () => {
  it('follows the rules of its language', () => {
    // The file lies where the package's other schemas do, not in a folder per package name.
    const rules = { use: ['STANDARD'], except: ['PACKAGE_DIRECTORY_MATCH'] };
    const config = JSON.stringify({ version: 'v2', lint: rules });
    const { stdout, stderr } = run('lint', '.', '--config', config);
    expect(stdout + stderr).toBe('');
    expect(run('format', '--diff', '.').stdout).toBe('');
  });

  it('can still be read by clients of its first version', () => {
    const rules = JSON.stringify({ version: 'v2', breaking: { use: ['WIRE_JSON'] } });
    const first = '../test/schema/first';
    const { stdout, stderr } = run('breaking', '.', '--against', first, '--config', rules);
    expect(stdout + stderr).toBe('');
  });

  it('keeps every number, JSON name and type', async () => {
    const lines = messagesOf().flatMap(({ name, fields }) =>
      fields.map((field) => `${name} ${field.number} ${field.jsonName}: ${typeOf(field)}\n`),
    );
    await expect(lines.join('')).toMatchFileSnapshot('golden/hooks-proto-fields.txt');
  });

  it('fits every payload, in both profiles, however odd the event is', () => {
    const misfits = [...goldenPayloads(), ...oddPayloads()].flatMap(({ title, payload }) => {
      const why = misfit(input, payload);
      return why === null ? [] : [`${title}: ${why}`];
    });
    expect(misfits).toEqual([]);
  });

  it.each(goldenPayloads())('loses nothing of $title', ({ payload }) => {
    const protoMessage = fromJson(input, payload as JsonValue, { registry });
    const protoJson = toJson(input, protoMessage, { registry, alwaysEmitImplicit: true });
    expect(comparable(protoJson)).toEqual(comparable(payload));
  });

  it.each(goldenPayloads())('does not fit $title with a field of the wrong type', ({ payload }) => {
    const wrong = { wrong: [true] };
    // Any value is an input.
    const keys = Object.keys(payload).filter((key) => key !== 'tool_input');
    expect(keys.filter((key) => misfit(input, { ...payload, [key]: wrong }) === null)).toEqual([]);
  });

  it('does not fit a payload with a field that it does not know', () => {
    const [{ payload } = { payload: {} }] = goldenPayloads();
    expect(misfit(input, { ...payload, fieldOfTomorrow: 1 })).toContain('fieldOfTomorrow');
  });

  it('has exactly the fields that the JSON Schemas of the payloads have', () => {
    const described = FILE_HOOK_NAMES.flatMap((name) => Object.keys(payloadSchema(name).shape));
    const knownFields = input.fields.map((field) => field.jsonName);
    expect([...knownFields].toSorted()).toEqual([...new Set(described)].toSorted());
  });

  it('fits whatever a hook may print', () => {
    const answer = fc.record(
      {
        cancel: fc.boolean(),
        shouldContinue: fc.boolean(),
        context: fc.string(),
        contextModification: fc.string(),
        errorMessage: fc.string(),
        review: fc.boolean(),
        overrideInput: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(answer, (document) => misfit(output, document) === null));
    expect(
      misfit(output, { should_continue: true, context_modification: '', error_message: '' }),
    ).toBe(null);
  });

  it.each([
    { cancel: 'yes' },
    { shouldContinue: 1 },
    { contextModification: 5 },
    { errorMessage: {} },
  ])('does not fit the answer %j', (document) => {
    expect(misfit(output, document)).not.toBe(null);
  });

  it('distinguishes a hook that answers nothing from one that answers false', () => {
    expect(toJson(output, fromJson(output, {}))).toEqual({});
    expect(toJson(output, fromJson(output, { shouldContinue: false, cancel: false }))).toEqual({
      shouldContinue: false,
      cancel: false,
    });
  });

  it('has a field for every spelling of an answer', () => {
    const spellings = output.fields.flatMap(({ name, jsonName }) => [name, jsonName]);
    expect([...new Set(spellings)].toSorted()).toEqual(Object.keys(CLINE_OUTPUT.shape).toSorted());
  });
});

function run(...args: readonly string[]): { stdout: string; stderr: string } {
  return spawnSync(process.execPath, [BUF, ...args], { cwd: 'schema', encoding: 'utf8' });
}

function messagesOf(): DescMessage[] {
  return [...registry].flatMap((each) =>
    each.kind === 'message' && each.typeName.startsWith(`${PACKAGE}.`) ? [each] : [],
  );
}

function typeOf(field: DescField): string {
  if (field.fieldKind === 'map') return 'map<string, string>';
  if (field.fieldKind === 'message') return field.message.typeName;
  const repeated = field.fieldKind === 'list' ? 'repeated ' : '';
  return `${repeated}${ScalarType[field.proto.type]?.toLowerCase()}`;
}

/** Protocol buffers write 64-bit numbers as text, and leave out what is null. */
function comparable(document: unknown): unknown {
  return JSON.parse(
    JSON.stringify(document, (_key, value) => {
      if (typeof value === 'number') return String(value);
      return value === null ? undefined : value;
    }),
  );
}
