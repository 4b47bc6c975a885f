import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCase } from '../../src/testing/case.ts';
import { recordCase, recordStored } from '../../src/testing/record-case.ts';
import { runCase } from '../../src/testing/run-case.ts';
import {
  createCase,
  createDirectory,
  GUARD,
  createHookScript,
  surroundingsWith,
} from './case-fixture.ts';

const FIRE = { event: 'PreToolUse', tool: 'write_to_file', input: { path: 'a.js', content: 'x' } };

function written(directory: string) {
  return JSON.parse(readFileSync(path.join(directory, 'case.json'), 'utf8'));
}

describe('recordCase', () => {
  it('writes the event and the stable part of the answer, without this machine’s paths', async () => {
    const hook = `#!/usr/bin/env node
require('node:fs').readFileSync(0);
console.log(JSON.stringify({ cancel: true, errorMessage: \`not in \${process.cwd()}/src\`, contextModification: process.env.HOME }));
process.exitCode = 1;
`;
    const home = createDirectory();
    const root = createDirectory({ [GUARD]: hook });
    const directory = path.join(root, 'hook-tests', 'new');
    const options = { cwd: root, surroundings: surroundingsWith(home), trust: 'all' } as const;
    const fire = { ...FIRE, input: { path: `${root}/a.js`, content: 'x' } };
    const recorded = await recordCase({ directory, fire, ...options });
    expect(recorded).toMatchObject({
      file: path.join(directory, 'case.json'),
      verdict: { effect: 'deny' },
    });
    expect(written(directory)).toEqual({
      fire: { ...FIRE, input: { path: '$WORKSPACE/a.js', content: 'x' } },
      expect: {
        effect: 'deny',
        reasons: ['not in $WORKSPACE/src'],
        context: ['$HOME'],
        outcomes: [{ hook: 'cline:workspace:PreToolUse', status: 'decided', effect: 'deny' }],
      },
    });
    expect(await runCase(readCase(directory), options)).toMatchObject({ differences: [] });
  });

  it('keeps rewrites and the kind of a failure', async () => {
    const root = createDirectory({
      [GUARD]: createHookScript({ overrideInput: { path: 'b.ts', content: 'y' } }),
      [`${GUARD}.sh`]: '#!/bin/sh\nexit 7\n',
    });
    const directory = path.join(createDirectory(), 'new');
    const surroundings = surroundingsWith(createDirectory());
    await recordCase({ directory, fire: FIRE, cwd: root, surroundings, trust: 'all' });
    expect(written(directory).expect).toMatchObject({
      effect: 'pass',
      input: { path: 'b.ts', content: 'y' },
      outcomes: [
        { status: 'decided' },
        { status: 'failed', failure: { kind: 'exit' } },
        { status: 'failed' },
      ],
    });
  });

  it('replaces a case only on request, and then keeps its other fields', async () => {
    const fields = {
      about: 'mine',
      needs: ['sh'],
      fire: { event: 'TaskStart' },
      expect: { effect: 'deny' },
    };
    const directory = createCase(fields, {
      [`workspace/${GUARD}`]: createHookScript({ cancel: true }),
    });
    await expect(recordCase({ directory, fire: FIRE, trust: 'all' })).rejects.toMatchObject({
      code: 'CASE_INVALID',
      message: expect.stringContaining('it already exists'),
    });
    expect(written(directory)).toEqual(fields);
    await recordCase({ directory, fire: FIRE, replace: true, trust: 'all' });
    expect(written(directory)).toMatchObject({
      about: 'mine',
      needs: ['sh'],
      fire: FIRE,
      expect: { effect: 'deny', outcomes: [{ effect: 'deny' }] },
    });
  });

  it('refuses to record hooks that did not run for want of trust', async () => {
    const root = createDirectory({ [GUARD]: createHookScript({ cancel: true }) });
    const directory = path.join(createDirectory(), 'new');
    const surroundings = surroundingsWith(createDirectory());
    await expect(
      recordCase({ directory, fire: FIRE, cwd: root, surroundings }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('would prove nothing'),
    });
    expect(existsSync(directory)).toBe(false);
  });

  it('refuses an event that does not fit together before anything runs', async () => {
    const directory = path.join(createDirectory(), 'new');
    const fire = { event: 'TaskStart', tool: 'Bash' };
    await expect(recordCase({ directory, fire, trust: 'all' })).rejects.toMatchObject({
      code: 'CASE_INVALID',
    });
  });
});

describe('recordStored', () => {
  it('writes what is known of an earlier answer', () => {
    const directory = path.join(createDirectory(), 'new');
    const answer = {
      effect: 'stop',
      stop: { reason: 'enough', pending: 'skip' },
      reasons: [{ hook: 'h', text: 'enough' }],
      context: [],
      messages: [{ hook: 'h', text: 'look in /w/x' }],
      input: null,
      outcomes: [{ hook: 'h', status: 'decided', effect: 'stop', failure: null }],
    } as const;
    const placeholders = new Map([['$WORKSPACE', '/w']]);
    recordStored(directory, { fire: { event: 'PreToolUse' }, answer }, placeholders, false);
    expect(written(directory)).toEqual({
      fire: { event: 'PreToolUse' },
      expect: {
        effect: 'stop',
        stop: { reason: 'enough', pending: 'skip' },
        reasons: ['enough'],
        context: [],
        messages: ['look in $WORKSPACE/x'],
        outcomes: [{ hook: 'h', status: 'decided', effect: 'stop' }],
      },
    });
  });

  it('accepts no root directory', () => {
    const directory = path.join(createDirectory(), 'new');
    const answer = {
      effect: 'pass',
      stop: null,
      reasons: [],
      context: [{ hook: 'h', text: 'a/b' }],
      messages: [],
      input: null,
      outcomes: [],
    };
    const placeholders = new Map([['$WORKSPACE', '/']]);
    recordStored(directory, { fire: { event: 'Stop' }, answer }, placeholders, false);
    expect(written(directory).expect.context).toEqual(['a/b']);
  });
});
