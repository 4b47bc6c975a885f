import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, write } from '../cli/temp-workspace.ts';

const MEBI = 1024 * 1024;

/** Settings with a hook that prints what this JavaScript expression gives, and a neighbour. */
function printing(expression: string, more: object = {}): string {
  const code = `process.stdout.write(${expression})`;
  const handler = { type: 'command', command: process.execPath, args: ['-e', code], ...more };
  return JSON.stringify({ hooks: { PreToolUse: [{ hooks: [handler] }] } });
}

interface Fault {
  readonly name: string;
  readonly prints: string;
  readonly code: number;
  readonly verdict: object;
}

const deny = (text: string): object => ({
  effect: 'deny',
  reasons: [{ text }],
  outcomes: [{ status: 'decided', failure: null }],
});

const FAILED = { effect: 'pass', outcomes: [{ status: 'failed', failure: { kind: 'output' } }] };
/** A failure whose output refuses in one reading. */
const REFUSED = { effect: 'deny', outcomes: [{ status: 'failed', failure: { kind: 'output' } }] };
const PASSED = { effect: 'pass', outcomes: [{ status: 'decided', failure: null }] };

const answer = (fields: string): string =>
  `'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",${fields}}}'`;

const FAULTS: readonly Fault[] = [
  {
    name: 'invalid UTF-8 becomes the replacement character, and the refusal holds',
    prints: `Buffer.concat([Buffer.from('{"decision":"block","reason":"'), Buffer.from([0xff, 0x41]), Buffer.from('"}')])`,
    code: 1,
    verdict: deny('\uFFFDA'),
  },
  {
    name: 'a lone surrogate is kept, and the refusal holds',
    prints: answer(String.raw`"permissionDecisionReason":"\\ud800 alone"`),
    code: 1,
    verdict: deny('\uD800 alone'),
  },
  {
    name: 'JSON of 100 MB is a failure, and a refusal when it begins as one',
    prints: `JSON.stringify({ decision: 'block', reason: 'x'.repeat(${100 * MEBI}) })`,
    code: 1,
    verdict: REFUSED,
  },
  {
    name: '100 MB of plain text is a failure, as an answer may be in what was not kept',
    prints: `'noise\\n'.repeat(${(100 * MEBI) / 6})`,
    code: 3,
    verdict: FAILED,
  },
  {
    name: 'an input nested 200,000 deep is refused as an output',
    prints: `'{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"a":' + '['.repeat(2e5) + ']'.repeat(2e5) + '}}}'`,
    code: 3,
    verdict: FAILED,
  },
  {
    name: 'deep nesting is a failure also in a field that is not read',
    prints: `'{"decision":"block","reason":"no","more":' + '{"a":'.repeat(2e5) + '1' + '}'.repeat(2e5) + '}'`,
    code: 1,
    verdict: REFUSED,
  },
  {
    name: 'a decision of the wrong type is a failure, never a pass in silence',
    prints: `'{"decision":1}'`,
    code: 3,
    verdict: FAILED,
  },
  {
    name: 'a decision that does not exist is a failure',
    prints: `'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"refuse"}}'`,
    code: 1,
    verdict: REFUSED,
  },
  {
    name: 'a hookSpecificOutput that is no object is a failure',
    prints: `'{"hookSpecificOutput":"deny"}'`,
    code: 3,
    verdict: FAILED,
  },
  {
    name: 'two fields for one decision are a failure',
    prints: `'{"decision":"block","reason":"no","colour":{"deep":[1]},"Decision":"approve"}'`,
    code: 1,
    verdict: REFUSED,
  },
  {
    name: 'a byte-order mark and CRLF do not matter',
    prints: String.raw`'\ufeff{"decision":"block",\r\n"reason":"no"}\r\n'`,
    code: 1,
    verdict: deny('no'),
  },
  {
    name: 'null alone is plain text',
    prints: `'null'`,
    code: 0,
    verdict: PASSED,
  },
  {
    name: 'an array around a refusal is a failure',
    prints: `'[{"decision":"block"}]'`,
    code: 1,
    verdict: REFUSED,
  },
];

/** An output that may be a refusal must be reported, and is one when one reading of it refuses. */
const DOUBTFUL: readonly (readonly [string, string, 'deny' | 'pass'])[] = [
  ['JSON then text', `'{"decision":"block","reason":"no"}\\ndone'`, 'deny'],
  ['text then JSON', `'checking\\n{"decision":"block","reason":"no"}'`, 'deny'],
  ['two objects', `'{"decision":"block"}\\n{"decision":"approve"}'`, 'deny'],
  ['JSON that breaks off', `'{"decision":"block'`, 'deny'],
  [
    'nulls in all fields',
    `'{"decision":null,"reason":null,"continue":null,"hookSpecificOutput":null}'`,
    'pass',
  ],
];

async function fire(settings: string) {
  const workspace = createTempWorkspace();
  write(workspace.home, '.claude/settings.json', settings);
  const result = await runHookline(
    ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--json', '--strict'],
    at(workspace),
  );
  const verdict: Verdict = jsonOf(result);
  return { ...result, verdict };
}

describe('what a hook prints', () => {
  it.each(FAULTS)('$name', async ({ prints, code, verdict }) => {
    const result = await fire(printing(prints));
    expect(result.verdict).toMatchObject(verdict);
    expect(result.code).toBe(code);
    expect(result.stdout.length).toBeLessThan(MEBI);
  });

  it.each(DOUBTFUL)('never passes without a report: %s', async (_name, prints, effect) => {
    const { verdict } = await fire(printing(prints));
    const [outcome] = verdict.outcomes;
    expect(verdict.effect).toBe(effect);
    expect(outcome?.failure !== null || (outcome?.notes ?? []).length > 0).toBe(true);
  });

  it('is a denial when the hook wants its failures to block', async () => {
    const { code, verdict } = await fire(printing(`'{"decision":1}'`, { onFailure: 'block' }));
    expect({ code, effect: verdict.effect }).toEqual({ code: 1, effect: 'deny' });
  });
});
