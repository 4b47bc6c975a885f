import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toTrustUnit } from '../../src/host/hook-set.ts';
import { openHooks } from '../../src/host/open-hooks.ts';
import { readCase } from '../../src/testing/case.ts';
import { findReasonsToWithhold } from '../../src/testing/case-trust.ts';
import { runCase, type RunCaseOptions } from '../../src/testing/run-case.ts';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { createLock, formatLock } from '../../src/trust/lock.ts';
import { grantTrust } from '../../src/trust/trust-record.ts';
import {
  createCase,
  createDirectory,
  GUARD,
  createHookScript,
  surroundingsWith,
  write,
} from './case-fixture.ts';

const FIRE = { event: 'PreToolUse' };
const EXPECT = { effect: 'deny' };
const DENIES = createHookScript({ cancel: true, errorMessage: 'no' });
const IN_WORKSPACE = { [`workspace/${GUARD}`]: DENIES };
const DOCUMENTS = 'Documents/Cline/Hooks';

/** A user with an empty trust record. */
function createUser(): RunCaseOptions {
  return { surroundings: surroundingsWith(createDirectory()), trust: 'record' };
}

async function trust(user: RunCaseOptions, root: string, hooksDirectory?: string): Promise<void> {
  const hooksOption = hooksDirectory === undefined ? {} : { hooksDirectory };
  const opened = openHooks({ ...user, cwd: root, roots: [root], ...hooksOption });
  const bindings = opened.hookSet.statuses().map(({ hook }) => bindUnit(toTrustUnit(hook)));
  await grantTrust(opened.trust.files!, bindings, { now: Date.now() });
}

describe('a self-contained case', () => {
  it('does not run a byte of what is untrusted, and says how to trust it', async () => {
    const hook = '#!/bin/sh\ntouch "$CASE_MARK"\n';
    const mark = path.join(createDirectory(), 'ran');
    const fields = { fire: FIRE, expect: EXPECT, env: { CASE_MARK: mark } };
    const directory = createCase(fields, { [`workspace/${GUARD}`]: hook });
    const workspace = path.join(directory, 'workspace');
    expect(await runCase(readCase(directory), createUser())).toMatchObject({
      passed: false,
      verdict: null,
      differences: [
        {
          path: 'trust',
          expected: `${workspace}/${GUARD} to be trusted: hookline trust --root ${workspace}`,
          found: 'untrusted: it was never trusted here',
        },
      ],
    });
    expect(existsSync(mark)).toBe(false);
  });

  it('runs once its workspace is trusted where it lies, and not after a change', async () => {
    const directory = createCase({ fire: FIRE, expect: EXPECT }, IN_WORKSPACE);
    const user = createUser();
    await trust(user, path.join(directory, 'workspace'));
    expect(await runCase(readCase(directory), user)).toMatchObject({ differences: [] });
    write(directory, `workspace/${GUARD}`, `${DENIES}# changed\n`);
    expect(await runCase(readCase(directory), user)).toMatchObject({
      verdict: null,
      differences: [{ path: 'trust', found: expect.stringMatching(/^modified: /u) }],
    });
  });

  it('runs with a lock that the caller names', async () => {
    const directory = createCase({ fire: FIRE, expect: EXPECT }, IN_WORKSPACE);
    const root = path.join(directory, 'workspace');
    const units = openHooks({ ...createUser(), cwd: root, roots: [root] })
      .hookSet.statuses()
      .map(({ hook }) => toTrustUnit(hook));
    const file = path.join(createDirectory(), 'hookline.lock.json');
    writeFileSync(file, formatLock(createLock(units)));
    expect(await runCase(readCase(directory), { ...createUser(), lock: { file } })).toMatchObject({
      passed: true,
    });
  });

  it('does not pass the trust of a home directory to its own home', async () => {
    const files = {
      [`home/${DOCUMENTS}/PreToolUse`]: DENIES,
      'home/.cline/hooks/PreToolUse': DENIES,
    };
    const directory = createCase({ fire: FIRE, expect: EXPECT }, files);
    const home = path.join(directory, 'home');
    const user = createUser();
    expect(await runCase(readCase(directory), user)).toMatchObject({
      verdict: null,
      differences: [
        { expected: expect.stringContaining(`hookline trust --root ${home}`) },
        { expected: expect.stringContaining(`--root ${home} --hooks-dir ${home}/${DOCUMENTS}`) },
      ],
    });
    await trust(user, home);
    await trust(user, home, path.join(home, DOCUMENTS));
    expect(await runCase(readCase(directory), user)).toMatchObject({ differences: [] });
  });

  it('may have no other files as HOME, because programs run what they find there', async () => {
    const files = { ...IN_WORKSPACE, 'home/.gitconfig': '[core]\n' };
    const directory = createCase({ fire: FIRE, expect: EXPECT }, files);
    const user = createUser();
    await trust(user, path.join(directory, 'workspace'));
    expect(await runCase(readCase(directory), user)).toMatchObject({
      verdict: null,
      differences: [{ path: 'trust', found: '.gitconfig' }],
    });
  });
});

describe('the variables of a case', () => {
  it.each([
    'PATH',
    'NODE_OPTIONS',
    'BASH_ENV',
    'CLINE_HOOKS_DIR',
    'CLINE_DIR',
    'HOOKLINE_HOME',
    'LD_PRELOAD',
  ])('cannot be %s, which can make a trusted hook run something else', async (name) => {
    const directory = createCase({ fire: FIRE, expect: EXPECT, env: { [name]: 'x' } });
    expect(await runCase(readCase(directory), createUser())).toMatchObject({
      verdict: null,
      differences: [{ path: 'env', found: expect.stringContaining(name) }],
    });
  });

  it('can be its own, and those that only inform hooks', async () => {
    const env = { TEST_A: '1', CASE_B: '2', CLINE_VERSION: '3', HOOK_EXECUTION_TIMEOUT_MS: '900' };
    const directory = createCase({ fire: FIRE, expect: { effect: 'pass' }, env });
    const root = createDirectory();
    expect(await runCase(readCase(directory), { ...createUser(), cwd: root })).toMatchObject({
      differences: [],
    });
  });

  it('that inform hooks are these', () => {
    const harmless = [
      'CLINE_VERSION',
      'CLINE_USER_ID',
      'USER',
      'HOOK_EXECUTION_TIMEOUT_MS',
      'MAX_CONTEXT_MODIFICATION_SIZE',
    ];
    const refused = ['CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_SHELL_PREFIX', 'XDG_CONFIG_HOME', 'LANG'];
    const env = Object.fromEntries([...harmless, ...refused].map((name) => [name, '1']));
    const hookCase = readCase(createCase({ fire: FIRE, expect: EXPECT, env }));
    expect(findReasonsToWithhold(hookCase, createUser())).toEqual([
      {
        path: 'env',
        expected: 'only variables named TEST_… or CASE_…',
        found: `${refused.join(', ')}: set it where you run the tests instead`,
      },
    ]);
  });
});
