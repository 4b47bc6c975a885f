import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, GLOBAL_HOOKS, write } from '../cli/temp-workspace.ts';

const ID = 'cline:global:PreToolUse';
const MEBI = 1024 * 1024;

/** A hook that prints what this JavaScript expression gives. */
function printing(expression: string): string {
  return `#!/usr/bin/env node\nprocess.stdout.write(${expression});\n`;
}

interface Fault {
  readonly name: string;
  readonly hook: string;
  readonly code: number;
  readonly verdict: object;
}

const deny = (text: string): object => ({
  effect: 'deny',
  reasons: [{ hook: ID, text }],
  outcomes: [{ status: 'decided', failure: null }],
});

const failed = (message: string): object => ({
  effect: 'pass',
  outcomes: [{ status: 'failed', failure: { kind: 'output', message } }],
});

const passed = (...notes: readonly string[]): object => ({
  effect: 'pass',
  outcomes: [{ status: 'decided', failure: null, notes }],
});

const FAULTS: readonly Fault[] = [
  {
    name: 'invalid UTF-8 becomes the replacement character, and the refusal holds',
    hook: printing(
      `Buffer.concat([Buffer.from('{"cancel":true,"errorMessage":"'), Buffer.from([0xff, 0x41]), Buffer.from('"}')])`,
    ),
    code: 1,
    verdict: deny('\uFFFDA'),
  },
  {
    name: 'a lone surrogate is kept, and the refusal holds',
    hook: printing(String.raw`'{"cancel":true,"errorMessage":"\\ud800 alone"}'`),
    code: 1,
    verdict: deny('\uD800 alone'),
  },
  {
    name: 'JSON of 100 MB is a failure that says so',
    hook: printing(
      `JSON.stringify({ cancel: true, contextModification: 'x'.repeat(${100 * MEBI}) })`,
    ),
    code: 3,
    verdict: { effect: 'pass', outcomes: [{ status: 'failed', failure: { kind: 'output' } }] },
  },
  {
    name: 'an answer on the last line after 100 MB of noise counts',
    hook: printing(
      `'noise\\n'.repeat(${(100 * MEBI) / 6}) + '{"cancel":true,"errorMessage":"no"}'`,
    ),
    code: 1,
    verdict: deny('no'),
  },
  {
    name: 'an input nested 200,000 deep is refused as an output',
    hook: printing(`'{"overrideInput":' + '['.repeat(2e5) + ']'.repeat(2e5) + '}'`),
    code: 3,
    verdict: failed('"overrideInput" is nested deeper than 1000 levels'),
  },
  {
    name: 'deep nesting in a field that is not read changes nothing',
    hook: printing(
      `'{"cancel":true,"errorMessage":"no","more":' + '{"a":'.repeat(2e5) + '1' + '}'.repeat(2e5) + '}'`,
    ),
    code: 1,
    verdict: deny('no'),
  },
  {
    name: 'a flag of the wrong type is a failure, never a pass in silence',
    hook: printing(`'{"cancel":1}'`),
    code: 1,
    verdict: {
      ...failed(
        '"cancel" should be true or false, found number 1; refused, because one reading of it says "cancel": 1',
      ),
      effect: 'deny',
    },
  },
  {
    name: 'broken JSON is a failure',
    hook: printing(`'{"cancel": tru'`),
    code: 3,
    verdict: { effect: 'pass', outcomes: [{ status: 'failed', failure: { kind: 'output' } }] },
  },
  {
    name: 'texts of the wrong type are ignored with a note',
    hook: printing(`'{"cancel":null,"contextModification":5,"errorMessage":[],"unknown":{}}'`),
    code: 0,
    verdict: passed(
      '"contextModification" should be a string, found number; ignored',
      '"errorMessage" should be a string, found array; ignored',
    ),
  },
  {
    name: 'unknown fields alone say nothing, with a warning',
    hook: printing(`'{"colour":"red"}'`),
    code: 0,
    verdict: {
      effect: 'pass',
      outcomes: [{ status: 'decided', notes: [], warnings: ['its JSON has no known field'] }],
    },
  },
  {
    name: 'a refusal in another format is a failure that refuses',
    hook: printing(`'{"decision":"block"}'`),
    code: 1,
    verdict: { effect: 'deny', outcomes: [{ status: 'failed', failure: { kind: 'output' } }] },
  },
  {
    name: 'null says nothing, and that is noted',
    hook: printing(`'null'`),
    code: 0,
    verdict: passed('stdout is JSON but not an object, so it is ignored'),
  },
  {
    name: 'a byte-order mark and CRLF do not matter',
    hook: printing(String.raw`'\ufeff{"cancel":true,\r\n"errorMessage":"no"}\r\n'`),
    code: 1,
    verdict: deny('no'),
  },
  {
    name: 'a script with CRLF runs',
    hook: `#!/bin/sh\r\necho '{"cancel":true,"errorMessage":"no"}'\r\n`,
    code: 1,
    verdict: deny('no'),
  },
];

describe('what a hook prints', () => {
  it.each(FAULTS)('$name', async ({ hook, code, verdict }) => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, hook);
    const result = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--json', '--strict'],
      at(workspace),
    );
    const printed: Verdict = jsonOf(result);
    expect(printed).toMatchObject(verdict);
    expect(result.code).toBe(code);
    expect(result.stdout.length).toBeLessThan(MEBI);
  });

  it('is a denial when the user wants failures to block', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.hookline/config.json', '{"hooks": {"onFailure": "block"}}');
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, printing(`'{"cancel": tru'`));
    const { code, stdout } = await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    expect(code).toBe(1);
    expect(stdout).toContain('PreToolUse: deny');
    expect(stdout).toContain('failed (blocks: fail-closed)');
  });

  it('leaves the neighbours alone', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, printing(`'{"cancel": tru'`));
    write(
      workspace.home,
      '.cline/hooks/PreToolUse',
      printing(`'{"cancel":true,"errorMessage":"no"}'`),
    );
    const verdict = jsonOf(
      await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace)),
    );
    expect(verdict).toMatchObject({
      effect: 'deny',
      outcomes: [{ status: 'failed' }, { status: 'decided', effect: 'deny' }],
    });
  });
});
