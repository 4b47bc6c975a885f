import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCase } from '../../src/testing/case.ts';
import { formatDifference } from '../../src/testing/expectation.ts';
import { type CaseResult, runCase, type RunCaseOptions } from '../../src/testing/run-case.ts';
import {
  createCase,
  createDirectory,
  GUARD,
  HOOKS,
  createHookScript,
  surroundingsWith,
  write,
} from './case-fixture.ts';

const FIRE = { event: 'PreToolUse', tool: 'write_to_file', input: { path: 'a.js', content: 'x' } };
const DENIES = createHookScript({ cancel: true, errorMessage: 'no' });
const SHOWS_PLACES = `#!/usr/bin/env node
require('node:fs').readFileSync(0);
console.log(JSON.stringify({ contextModification: JSON.stringify([process.cwd(), process.env.HOME]) }));
`;

function run(directory: string, options: RunCaseOptions = {}): Promise<CaseResult> {
  return runCase(readCase(directory), { trust: 'all', ...options });
}

function inWorkspace(text: string): Record<string, string> {
  return { [`workspace/${GUARD}`]: text };
}

describe('runCase', () => {
  it('passes when the verdict is as expected', async () => {
    const directory = createCase({ fire: FIRE, expect: { effect: 'deny' } }, inWorkspace(DENIES));
    expect(await run(directory)).toEqual({
      name: path.basename(directory),
      passed: true,
      differences: [],
      skipped: null,
      verdict: expect.objectContaining({ effect: 'deny' }),
      durationMs: expect.any(Number),
    });
  });

  it('fails with every difference, by path', async () => {
    const expected = { effect: 'pass', reasons: ['yes'], outcomes: [{ status: 'failed' }] };
    const directory = createCase({ fire: FIRE, expect: expected }, inWorkspace(DENIES));
    const { passed, differences } = await run(directory);
    expect(passed).toBe(false);
    expect(differences.map(formatDifference)).toEqual([
      'effect: expected "pass", found "deny"',
      'reasons[0].text: expected "yes", found "no"',
      'outcomes[0].status: expected "failed", found "decided"',
    ]);
  });

  it('is skipped, with the reason, when a program that it needs is missing', async () => {
    const fields = { fire: FIRE, expect: { effect: 'deny' }, needs: ['sh', 'no-such-program'] };
    expect(await run(createCase(fields, inWorkspace(DENIES)))).toMatchObject({
      passed: false,
      differences: [],
      skipped: 'needs no-such-program',
      verdict: null,
    });
  });

  it('runs in a copy with a home of its own, which is gone afterwards', async () => {
    const expected = { context: [{ json: ['$WORKSPACE', '$HOME'] }] };
    const directory = createCase({ fire: FIRE, expect: expected }, inWorkspace(SHOWS_PLACES));
    const { passed, verdict } = await run(directory);
    expect(passed).toBe(true);
    const [workspace, home] = JSON.parse(verdict?.context[0]?.text ?? '[]');
    expect(workspace).not.toBe(path.join(directory, 'workspace'));
    expect([workspace, home].filter((place) => existsSync(place))).toEqual([]);
  });

  it('keeps modes and links in the copy', async () => {
    const expected = { effect: 'deny', hooks: [{ notes: [] }] };
    const files = { 'workspace/tools/guard': DENIES, [`workspace/${HOOKS}/README`]: '' };
    const directory = createCase({ fire: FIRE, expect: expected }, files);
    symlinkSync('../../tools/guard', path.join(directory, 'workspace', GUARD));
    expect((await run(directory)).differences).toEqual([]);
  });

  it('sees no hooks and variables of the machine', async () => {
    const home = createDirectory({ 'Documents/Cline/Hooks/PreToolUse': DENIES });
    const surroundings = surroundingsWith(home);
    const env = { ...surroundings.env, CLINE_DIR: home, HOOKLINE_HOOKS: 'off' };
    const expected = { effect: 'pass', outcomes: [{ hook: 'cline:workspace:PreToolUse' }] };
    const directory = createCase(
      { fire: FIRE, expect: expected },
      inWorkspace(createHookScript({})),
    );
    expect(await run(directory, { surroundings: { ...surroundings, env } })).toMatchObject({
      differences: [],
    });
  });

  it('compares files that hooks wrote, and prints none from outside the copy', async () => {
    const outside = createDirectory({ secret: 'do not show' });
    const hook = '#!/bin/sh\ncat > /dev/null\necho done > log.txt\n';
    const files = {
      '$WORKSPACE/log.txt': 'done\n',
      '$WORKSPACE/link': 'x',
      [`${outside}/secret`]: 'x',
    };
    const directory = createCase({ fire: FIRE, expect: { files } }, inWorkspace(hook));
    symlinkSync(path.join(outside, 'secret'), path.join(directory, 'workspace', 'link'));
    const { differences } = await run(directory);
    expect(differences.map(({ found }) => found)).toEqual([null, null]);
  });

  it('lets the user’s switches override those of the case', async () => {
    const fields = {
      fire: FIRE,
      settings: { 'hooks.enabled': true },
      expect: { effect: 'pass', outcomes: [] },
    };
    const directory = createCase(fields, inWorkspace(DENIES));
    expect(await run(directory, { flags: { 'hooks.enabled': false } })).toMatchObject({
      passed: true,
    });
  });

  it('rejects when it is aborted', async () => {
    const directory = createCase(
      { fire: FIRE, expect: { effect: 'pass' } },
      inWorkspace('#!/bin/sh\nsleep 60\n'),
    );
    await expect(run(directory, { signal: AbortSignal.timeout(200) })).rejects.toThrow();
  });

  it('leaves `$HOME` in a command alone, and fills in `$WORKSPACE`', async () => {
    const hook = `#!/usr/bin/env node
const { parameters } = JSON.parse(require('node:fs').readFileSync(0, 'utf8')).preToolUse;
console.log(JSON.stringify({ contextModification: parameters.command }));
`;
    const fire = { event: 'PreToolUse', tool: 'Bash', input: { command: 'ls $HOME $WORKSPACE' } };
    const expected = { context: [{ matches: '^ls \\$HOME /.*/workspace$' }] };
    const directory = createCase({ fire, expect: expected }, inWorkspace(hook));
    expect((await run(directory)).verdict?.context[0]?.text).toMatch(
      /^ls \$HOME \/.*\/workspace$/u,
    );
  });
});

describe('a case without directories of its own', () => {
  it('is about the hooks of the workspace it is run in, and the user’s own', async () => {
    const home = createDirectory({
      'Documents/Cline/Hooks/PreToolUse': createHookScript({ contextModification: 'mine' }),
    });
    const root = createDirectory({ [GUARD]: DENIES });
    const directory = createCase({
      fire: { ...FIRE, facts: { cwd: '$WORKSPACE' } },
      expect: { effect: 'deny', reasons: ['no'], context: ['mine'] },
    });
    const surroundings = surroundingsWith(home);
    expect(await run(directory, { cwd: root, surroundings })).toMatchObject({ differences: [] });
  });

  it('fails when a hook did not run because it is untrusted', async () => {
    const root = createDirectory({ [GUARD]: DENIES });
    const directory = createCase({ fire: FIRE, expect: { effect: 'pass' } });
    const surroundings = surroundingsWith(createDirectory());
    const result = await run(directory, { cwd: root, surroundings, trust: 'record' });
    expect(result).toMatchObject({
      passed: false,
      differences: [{ path: 'skipped', found: expect.stringMatching(/^untrusted: /u) }],
    });
  });

  it('passes when it expects exactly that', async () => {
    const root = createDirectory({ [GUARD]: DENIES });
    const skipped = [{ hook: 'cline:workspace:PreToolUse', why: { includes: 'untrusted' } }];
    const directory = createCase({ fire: FIRE, expect: { effect: 'pass', skipped } });
    const surroundings = surroundingsWith(createDirectory());
    const options = { cwd: root, surroundings, trust: 'record' } as const;
    expect(await run(directory, options)).toMatchObject({ passed: true });
  });

  it('leaves no trace entry behind', async () => {
    const home = createDirectory();
    const root = createDirectory({ [GUARD]: DENIES });
    const directory = createCase({ fire: FIRE, expect: { effect: 'deny' } });
    await run(directory, { cwd: root, surroundings: surroundingsWith(home) });
    expect(existsSync(path.join(home, '.hookline', 'trace'))).toBe(false);
  });

  it('reads no file for an expectation', async () => {
    const root = createDirectory({ secret: 'do not show' });
    const directory = createCase({ fire: FIRE, expect: { files: { '$WORKSPACE/secret': 'x' } } });
    write(root, GUARD, DENIES);
    const surroundings = surroundingsWith(createDirectory());
    const { differences } = await run(directory, { cwd: root, surroundings });
    expect(differences).toEqual([{ path: 'files.$WORKSPACE/secret', expected: 'x', found: null }]);
  });
});
