import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CASE } from '../../scripts/schema/case.ts';
import { isHooklineError } from '../../src/base/errors.ts';
import { parseCase } from '../../src/testing/case-fields.ts';
import { objections, objectionsOf } from './published.ts';

const FILE = 'case.schema.json';
const FIRE = { event: 'PreToolUse', tool: 'write_to_file', input: { path: 'a.js' } };
const EXPECT = { effect: 'deny' };

/** What the reader of cases has against one, or null. */
function refusal(document: unknown): { message: string; hint: string | undefined } | null {
  try {
    parseCase(JSON.stringify(document), 'case.json');
    return null;
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    return { message: error.message, hint: error.hint };
  }
}

describe('the schema of a case', () => {
  it.each([
    { fire: FIRE, expect: EXPECT },
    {
      about: 'all there is',
      fire: {
        event: 'PostToolUse',
        tool: 'Bash',
        input: {},
        result: '',
        success: false,
        facts: {},
      },
      settings: { 'hooks.timeoutMs': 5, 'hooks.onFailure': 'block', 'cline.cancel': 'stop' },
      env: { A: 'b' },
      needs: ['jq'],
      expect: {
        event: { any: true },
        effect: { matches: '^(deny|ask)$' },
        reasons: ['no', { includes: ['a', 'b'] }, { hook: 'a', text: 'b' }],
        context: [],
        outcomes: [{ status: 'failed', failure: { kind: 'exit' }, stdout: { json: { a: 1 } } }],
        stop: null,
        slowest: { any: true },
      },
    },
    { fire: { event: 'SessionStart', source: 'resume' }, expect: { hooks: [], ignored: [] } },
    { fire: { event: 'UserPromptSubmit', prompt: 'hello' }, expect: { files: { any: true } } },
    { fire: { payload: { hookName: 'TaskStart' }, as: 'cline' }, expect: EXPECT },
    { fire: { payload: { hookName: 'tool_call' } }, expect: EXPECT },
  ])('allows what its reader accepts: %j', (document) => {
    expect(refusal(document)).toBe(null);
    expect(objectionsOf(CASE, document)).toEqual([]);
    expect(objections(FILE, document)).toEqual([]);
  });

  it.each([
    [],
    { expect: EXPECT },
    { fire: FIRE },
    { fire: FIRE, expect: {} },
    { fire: FIRE, expect: { efect: 'deny' } },
    { fire: FIRE, expect: { effect: { includes: 5 } } },
    { fire: FIRE, expect: { outcomes: [{ stat: 'failed' }] } },
    { fire: { tool: 'Bash' }, expect: EXPECT },
    { fire: { ...FIRE, payload: {} }, expect: EXPECT },
    { fire: { ...FIRE, success: 'yes' }, expect: EXPECT },
    { fire: FIRE, about: 5, expect: EXPECT },
    { fire: FIRE, settings: { hooks: { enabled: true } }, expect: EXPECT },
    { fire: FIRE, settings: { 'env.pass': [] }, expect: EXPECT },
    { fire: FIRE, settings: { 'hooks.timeoutMs': -1 }, expect: EXPECT },
    { fire: FIRE, env: { A: 1 }, expect: EXPECT },
    { fire: FIRE, needs: 'jq', expect: EXPECT },
  ])('refuses what its reader refuses: %j', (document) => {
    expect(refusal(document)).not.toBe(null);
    expect(objectionsOf(CASE, document)).not.toEqual([]);
    expect(objections(FILE, document)).not.toEqual([]);
  });

  it('has the same names as its reader', () => {
    const none = 'q'.repeat(40);
    const shape = CASE.shape;
    expect(namesFromHint({ [none]: 1 })).toEqual(Object.keys(shape));
    expect(namesFromHint({ fire: FIRE, expect: { [none]: 1 } })).toEqual(
      Object.keys(shape.expect.shape),
    );
    const [described, recorded] = shape.fire.options;
    expect(namesFromHint({ fire: { [none]: 1 } })).toEqual(Object.keys(described.shape));
    expect(namesFromHint({ fire: { payload: {}, [none]: 1 } })).toEqual(
      Object.keys(recorded.shape),
    );
  });

  it('fits every case of this project', () => {
    const cases = ['test/conformance', 'examples'].flatMap(findCaseFiles);
    const misfits = cases.flatMap((file) =>
      objections(FILE, JSON.parse(readFileSync(file, 'utf8'))).map((why) => `${file}: ${why}`),
    );
    expect(misfits).toEqual([]);
  });
});

function namesFromHint(document: unknown): string[] {
  const knownKeys = /^Known fields: (.*)\.$/.exec(refusal(document)?.hint ?? '')?.[1];
  expect(knownKeys, 'the hint lists what is known').toBeDefined();
  return knownKeys?.split(', ') ?? [];
}

function findCaseFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => path.basename(file) === 'case.json')
    .map((file) => path.join(directory, file));
}
