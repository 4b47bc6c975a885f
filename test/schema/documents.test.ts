import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { CLINE_OUTPUT } from '../../scripts/schema/cline-output.ts';
import { CONFIG } from '../../scripts/schema/config.ts';
import { LOCK } from '../../scripts/schema/lock.ts';
import { TRACE_ENTRY, TRACE_OUTCOME_FIELDS } from '../../scripts/schema/trace-entry.ts';
import { VERDICT } from '../../scripts/schema/verdict.ts';
import { toVerdictJson } from '../../src/cli/output/format-verdict.ts';
import { readAnswer } from '../../src/dialects/cline-files/output.ts';
import { loadConfig } from '../../src/host/config.ts';
import { createHost } from '../../src/host/create-host.ts';
import { SETTINGS } from '../../src/host/settings.ts';
import type { Verdict } from '../../src/hooks/decision.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { TraceEntry, TraceOutcome } from '../../src/trace/entry.ts';
import { createLock, formatLock } from '../../src/trust/lock.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { objections, objectionsOf } from './published.ts';

const GUARD = `#!/usr/bin/env node
process.stdin.resume().on('end', () => {
  process.stdout.write(JSON.stringify({ cancel: true, errorMessage: 'no', contextModification: 'why' }));
});
`;
const BROKEN = `#!/usr/bin/env node
process.stderr.write('broken');
process.exit(3);
`;

let workspace = '';

beforeAll(() => {
  workspace = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-schema-')));
  const hooks = path.join(workspace, 'project', '.clinerules', 'hooks');
  mkdirSync(hooks, { recursive: true });
  mkdirSync(path.join(workspace, 'home'));
  writeFileSync(path.join(hooks, 'PreToolUse'), GUARD, { mode: 0o755 });
  writeFileSync(path.join(hooks, 'PreToolUse.js'), BROKEN);
  writeFileSync(path.join(hooks, 'PostToolUse.js'), GUARD);
});

afterAll(() => rmSync(workspace, { recursive: true, force: true }));

/** Handlers whose answers make a verdict use all its fields. */
const HANDLERS: readonly Handler[] = [
  handler('PreToolUse', 'rewriter', () => ({
    decision: { input: { file_path: 'other.txt', content: 'x' }, notice: 'rewritten' },
  })),
  handler('PreToolUse', 'stopper', () => ({
    decision: { stop: { reason: 'enough', pending: 'run' }, effect: 'ask', reason: 'sure?' },
  })),
  handler('PostToolUse', 'changer', () => ({ decision: { output: ['changed'] } })),
  handler('SessionStart', 'namer', () => ({ decision: { title: 'a title', watchPaths: ['/a'] } })),
  { ...handler('SessionStart', 'later', () => ({ notes: ['late'] })), background: true },
  handler(
    'PreToolUse',
    'misfit',
    () => undefined,
    () => 'does not fit',
  ),
];

function handler(
  event: Handler['event'],
  id: string,
  run: Handler['run'],
  fits: NonNullable<Handler['fits']> = () => null,
): Handler {
  return {
    id,
    dialect: 'test',
    source: id,
    event,
    vocabulary: 'claude',
    onFailure: 'open',
    run,
    fits,
  };
}

interface Fired {
  readonly verdicts: unknown[];
  readonly entries: unknown[];
}

async function fireEvents(): Promise<Fired> {
  const home = path.join(workspace, 'home');
  const project = path.join(workspace, 'project');
  const stateDirectory = path.join(home, '.hookline');
  const host = await createHost({
    cwd: project,
    roots: [project],
    trust: 'all',
    sources: [{ handlers: () => HANDLERS }],
    surroundings: {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: home },
      platform: process.platform,
      home,
      nodePath: process.execPath,
    },
  });
  const verdicts: unknown[] = [];
  for (const name of ['PreToolUse', 'PostToolUse', 'SessionStart', 'Stop'] as const) {
    verdicts.push(asJson(toVerdictJson(await host.engine.dispatch(createSampleEvent(name)))));
  }
  await host.engine.idle();
  await host.dispose();
  return { verdicts, entries: readTrace(path.join(stateDirectory, 'trace')) };
}

function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function readTrace(directory: string): unknown[] {
  return readdirSync(directory).flatMap((file) =>
    readFileSync(path.join(directory, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  );
}

/** What either form of a schema has against these documents. */
function allObjections(schema: z.ZodType, file: string, documents: readonly unknown[]): string[] {
  return documents.flatMap((each) => [...objectionsOf(schema, each), ...objections(file, each)]);
}

describe('the schemas of what a dispatch leaves behind', () => {
  it('have the fields of the types, which the compiler checks', () => {
    expectTypeOf<keyof z.infer<typeof VERDICT>>().toEqualTypeOf<keyof Verdict>();
    expectTypeOf<keyof typeof TRACE_OUTCOME_FIELDS>().toEqualTypeOf<keyof TraceOutcome>();
    expect(Object.keys(TRACE_OUTCOME_FIELDS)).toContain('hook' satisfies keyof TraceOutcome);
    expectTypeOf<keyof z.infer<typeof TRACE_ENTRY>>().toEqualTypeOf<keyof TraceEntry>();
  });

  it('fit real verdicts and trace entries, in which every field is used', async () => {
    const { verdicts, entries } = await fireEvents();
    expect(verdicts.length).toBe(4);
    expect(allObjections(VERDICT, 'verdict.schema.json', verdicts)).toEqual([]);
    expect(entries.length).toBe(4);
    expect(allObjections(TRACE_ENTRY, 'trace-entry.schema.json', entries)).toEqual([]);
    const [first] = verdicts as { outcomes: { failure: unknown }[]; skipped: unknown[] }[];
    expect(first?.skipped).toEqual([{ hook: 'misfit', kind: 'misfit', why: 'does not fit' }]);
    expect(first?.outcomes.filter(({ failure }) => failure !== null).length).toBe(1);
    expect(missed(VERDICT, verdicts)).toEqual([]);
    expect(missed(TRACE_ENTRY, entries)).toEqual([]);
  });
});

/** The fields that can be missing from every one of these documents without an objection. */
function missed(schema: z.ZodObject, documents: readonly unknown[]): string[] {
  const free = ['input', 'output', 'data'];
  const [document] = documents as Record<string, unknown>[];
  return Object.keys(schema.shape)
    .filter((field) => !free.includes(field))
    .filter((field) => {
      const { [field]: _gone, ...rest } = document ?? {};
      const wrong = { ...document, [field]: { wrong: [true] } };
      return (
        schema.safeParse(rest).success || (field !== 'changes' && schema.safeParse(wrong).success)
      );
    });
}

describe('the schema of a lock', () => {
  const file = 'lock.schema.json';

  it('fits what is written, and nothing with a field missing or of the wrong type', () => {
    const root = path.join(workspace, 'project');
    const directory = path.join(root, '.clinerules', 'hooks');
    const entry = path.join(directory, 'PreToolUse');
    const lock = createLock([{ id: 'a', root, entry, files: [], directories: [directory] }]);
    const lockContent = JSON.parse(formatLock(lock));
    expect(allObjections(LOCK, file, [lockContent])).toEqual([]);
    expect(objections(file, { ...lockContent, version: 3 })).not.toEqual([]);
    expect(objections(file, { version: 1 })).not.toEqual([]);
    const [hook] = lockContent.hooks;
    for (const field of ['id', 'entry', 'digest', 'files']) {
      expect(objections(file, { ...lockContent, hooks: [{ ...hook, [field]: 5 }] })).not.toEqual(
        [],
      );
    }
    expect(objections(file, { ...lockContent, more: 1 })).not.toEqual([]);
  });
});

describe('the schema of a configuration', () => {
  const file = 'config.schema.json';

  it('allows only what is read without a problem', () => {
    const override = fc.record(
      {
        timeoutMs: fc.integer({ min: -1 }),
        onFailure: fc.constantFrom('open', 'block'),
        profile: fc.constantFrom('classic', 'sdk'),
      },
      { requiredKeys: [] },
    );
    const value = fc.oneof(
      fc.boolean(),
      fc.double(),
      fc.constantFrom('open', 'block', 'deny', 'stop', 'on', '5'),
      fc.array(fc.oneof(fc.string(), fc.record({ id: fc.string(), root: fc.string() }))),
      fc.dictionary(fc.string(), override),
      fc.jsonValue(),
    );
    const names = fc.constantFrom(...Object.keys(SETTINGS));
    fc.assert(
      fc.property(names, value, fc.string(), (name, written, $schema) => {
        const [group = '', key = ''] = name.split('.');
        const document = asJson({ $schema, [group]: { [key]: written } });
        const isAllowed = objections(file, document).length === 0;
        expect(isAllowed && problemsOf(document).length > 0).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('allows the default of every setting', () => {
    const groups: Record<string, Record<string, unknown>> = {};
    for (const [name, { defaultValue: standard }] of Object.entries(SETTINGS)) {
      const [group = '', key = ''] = name.split('.');
      groups[group] = { ...groups[group], [key]: standard };
    }
    expect(allObjections(CONFIG, file, [groups])).toEqual([]);
    expect(problemsOf(groups)).toEqual([]);
  });

  it.each([
    { hooks: { enabled: 'perhaps' } },
    { hooks: { timeoutMs: 0 } },
    { hooks: { onFailure: 'closed' } },
    { hooks: { overrides: { a: { colour: 'red' } } } },
    { hooks: { disabled: [{ root: '/a' }] } },
    { env: { pass: 'A_KEY' } },
    { trace: { maxFile: 5 } },
    { colour: 'red' },
  ])('refuses %j, as its reader does', (written) => {
    expect(objections(file, written)).not.toEqual([]);
    expect(problemsOf(written).length).toBe(1);
  });
});

function problemsOf(written: unknown): readonly string[] {
  const homeFile = path.join(workspace, 'config.json');
  writeFileSync(homeFile, JSON.stringify(written));
  return loadConfig({ homeFile, workspaceFiles: [], env: {}, flags: {} }).problems;
}

describe('the schema of what a Cline hook prints', () => {
  const file = 'cline-output.schema.json';
  const fields = Object.keys(CLINE_OUTPUT.shape);

  it('allows only what is read without a fault or a note', () => {
    const value = fc.oneof(fc.boolean(), fc.string({ minLength: 1 }), fc.jsonValue());
    const answer = fc.record(
      Object.fromEntries([...fields, 'unknownField'].map((field) => [field, value])),
      { requiredKeys: ['cancel'] },
    );
    const answerFields = fc.record(
      {
        cancel: fc.boolean(),
        review: fc.boolean(),
        errorMessage: fc.string(),
        overrideInput: fc.jsonValue(),
      },
      { requiredKeys: ['cancel'] },
    );
    fc.assert(
      fc.property(fc.oneof(answer, answerFields), (document) => {
        const isAllowed = objections(file, document).length === 0;
        const { fault, notes } = readAnswer(JSON.stringify(document));
        expect(isAllowed && (fault !== null || notes.length > 0)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it.each(fields.filter((field) => !field.startsWith('override')))(
    'refuses a number as %s',
    (field) => {
      expect(objections(file, { [field]: 5 })).not.toEqual([]);
      const { fault, notes } = readAnswer(JSON.stringify({ [field]: 5 }));
      expect(fault !== null || notes.length > 0).toBe(true);
    },
  );
});
