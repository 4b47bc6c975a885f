import {
  appendFileSync,
  chmodSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { HooklineError } from '../../src/base/errors.ts';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import type { TrustChecker, TrustState } from '../../src/trust/trust-checker.ts';
import { ENTRY_TEXT_KEY } from '../../src/trust/file-map.ts';
import type { TrustUnit } from '../../src/trust/collect-unit.ts';
import { createLock, type Lock } from '../../src/trust/lock.ts';
import type { TrustRecord } from '../../src/trust/trust-record.ts';
import { isRoot, runFixture } from './programs.ts';
import {
  createChecker,
  createDirectory,
  GUARD,
  HOOKS,
  unitOf,
  waitForFileClock,
  write,
} from './workspace.ts';

const EMPTY: TrustRecord = { version: 1, entries: [], unconfirmed: [], sealProblem: null };
const HOUR_MS = 3_600_000;
const TRUSTED = { state: 'trusted', why: 'its exact bytes were trusted', by: 'record' };

// A clock that is ahead makes fresh files look old, so that what was hashed is remembered at once.
const clocks = {
  remembered: { now: () => Date.now() + HOUR_MS, elapsed: () => 0 },
  'too young to be remembered': { now: () => Date.now(), elapsed: () => 0 },
};

function recordOf(units: readonly TrustUnit[]): TrustRecord {
  const entries = units.map(bindUnit).map(({ root, id, entry, digest, files }) => {
    return { root, id, entry, digest, files, trustedAt: '2026-01-01T00:00:00.000Z' };
  });
  return { ...EMPTY, entries };
}

function modified(...changed: string[]) {
  const names = changed.map((name) => (name === ENTRY_TEXT_KEY ? 'its entry' : name));
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  const why = `${names.slice(0, 3).join(', ')}${more} changed since it was trusted`;
  return { state: 'modified', why, by: null, changed };
}

describe.each(Object.entries(clocks))('check, with hashes %s', (_, clock) => {
  function trust(unit: TrustUnit): Pick<TrustChecker, 'check'> {
    const checker = createChecker({ record: recordOf([unit]), lock: null, clock });
    const checkAndTick = (checked: TrustUnit): TrustState => {
      // What was hashed is remembered by the very object.
      const isSame = JSON.stringify(checked) === JSON.stringify(unit);
      const state = checker.check(isSame ? unit : checked);
      waitForFileClock();
      return state;
    };
    expect(checkAndTick(unit)).toEqual(TRUSTED);
    expect(checkAndTick(unit)).toEqual(TRUSTED);
    return { check: checkAndTick };
  }

  it('sees changed bytes', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const checker = trust(unitOf(root));
    appendFileSync(path.join(root, GUARD), '\n');
    expect(checker.check(unitOf(root))).toEqual(modified(GUARD));
  });

  it('sees changed bytes of the same size under a restored modification time', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const file = path.join(root, GUARD);
    const checker = trust(unitOf(root));
    const { atime, mtime } = statSync(file);
    writeFileSync(file, 'exit 1');
    utimesSync(file, atime, mtime);
    expect(checker.check(unitOf(root))).toEqual(modified(GUARD));
  });

  it('sees that a directory above became a link to one with other files', () => {
    const root = createDirectory({ [GUARD]: 'exit 0', [`${HOOKS}/helper`]: 'a' });
    const checker = trust(unitOf(root));
    renameSync(path.join(root, '.clinerules'), path.join(root, 'before'));
    write(root, 'other/hooks/PreToolUse', 'exit 0');
    symlinkSync('other', path.join(root, '.clinerules'));
    expect(checker.check(unitOf(root)).state).toBe('modified');
  });

  it('trusts again when the trusted bytes are back', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const checker = trust(unitOf(root));
    write(root, GUARD, 'exit 1');
    expect(checker.check(unitOf(root))).toEqual(modified(GUARD));
    write(root, GUARD, 'exit 0');
    expect(checker.check(unitOf(root))).toEqual(TRUSTED);
  });

  it('sees files that are added, removed or changed at any depth', () => {
    const root = createDirectory({
      [GUARD]: 'exit 0',
      [`${HOOKS}/lib/a`]: 'a',
      [`${HOOKS}/lib/b`]: 'b',
    });
    const checker = trust(unitOf(root));
    write(root, `${HOOKS}/lib/a`, 'A');
    expect(checker.check(unitOf(root))).toEqual(modified(`${HOOKS}/lib/a`));
    rmSync(path.join(root, HOOKS, 'lib/b'));
    expect(checker.check(unitOf(root))).toEqual(modified(`${HOOKS}/lib/a`, `${HOOKS}/lib/b`));
    write(root, `${HOOKS}/lib/c`, '');
    expect(checker.check(unitOf(root))).toEqual(
      modified(`${HOOKS}/lib/a`, `${HOOKS}/lib/b`, `${HOOKS}/lib/c`),
    );
  });

  it('sees a named helper that changes, and one that appears', () => {
    const root = createDirectory({ [GUARD]: 'exit 0', 'tools/a.py': 'a' });
    const files = ['tools/a.py', 'tools/b.py'].map((name) => path.join(root, name));
    const checker = trust(unitOf(root, { files }));
    write(root, 'tools/a.py', 'A');
    expect(checker.check(unitOf(root, { files }))).toEqual(modified('tools/a.py'));
    write(root, 'tools/b.py', 'b');
    expect(checker.check(unitOf(root, { files }))).toEqual(modified('tools/a.py', 'tools/b.py'));
  });

  it('sees a link that leads elsewhere, even to equal bytes', () => {
    const root = createDirectory({ [`${HOOKS}/x`]: '', 'one/a.sh': 'same', 'two/a.sh': 'same' });
    symlinkSync('../../one/a.sh', path.join(root, GUARD));
    const checker = trust(unitOf(root));
    rmSync(path.join(root, GUARD));
    symlinkSync('../../two/a.sh', path.join(root, GUARD));
    expect(checker.check(unitOf(root))).toEqual(modified(GUARD, 'one/a.sh', 'two/a.sh'));
  });

  it('sees a link in the middle of a chain that leads elsewhere', () => {
    const root = createDirectory({ [GUARD]: '', 'one/a.sh': 'same', 'two/a.sh': 'same' });
    symlinkSync('one', path.join(root, 'current'));
    symlinkSync('../../current/a.sh', path.join(root, HOOKS, 'helper'));
    const checker = trust(unitOf(root));
    rmSync(path.join(root, 'current'));
    symlinkSync('two', path.join(root, 'current'));
    expect(checker.check(unitOf(root))).toEqual(
      modified(`${HOOKS}/helper`, 'one/a.sh', 'two/a.sh'),
    );
  });

  it('sees changed bytes behind a link, inside and outside the workspace', () => {
    const outside = createDirectory({ 'tool.sh': 'tool' });
    const root = createDirectory({ [`${HOOKS}/x`]: '', 'scripts/guard.sh': 'guard' });
    symlinkSync('../../scripts/guard.sh', path.join(root, GUARD));
    symlinkSync(path.join(outside, 'tool.sh'), path.join(root, HOOKS, 'tool'));
    const checker = trust(unitOf(root));
    write(root, 'scripts/guard.sh', 'GUARD');
    expect(checker.check(unitOf(root))).toEqual(modified('scripts/guard.sh'));
    write(outside, 'tool.sh', 'TOOL');
    expect(checker.check(unitOf(root))).toEqual(modified(`${outside}/tool.sh`, 'scripts/guard.sh'));
  });

  it('sees a directory that was swapped for another', () => {
    const root = createDirectory({ [GUARD]: 'exit 0', 'evil/PreToolUse': 'exit 1' });
    const checker = trust(unitOf(root));
    renameSync(path.join(root, HOOKS), path.join(root, 'away'));
    renameSync(path.join(root, 'evil'), path.join(root, HOOKS));
    expect(checker.check(unitOf(root))).toEqual(modified(GUARD));
  });

  it('ignores other modes and times', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const checker = trust(unitOf(root));
    chmodSync(path.join(root, GUARD), 0o666);
    utimesSync(path.join(root, GUARD), 1, 1);
    expect(checker.check(unitOf(root))).toEqual(TRUSTED);
  });

  it('notices the executable bit', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const checker = trust(unitOf(root));
    chmodSync(path.join(root, GUARD), 0o755);
    expect(checker.check(unitOf(root))).toEqual(modified(GUARD));
    chmodSync(path.join(root, GUARD), 0o644);
    expect(checker.check(unitOf(root))).toEqual(TRUSTED);
  });

  it('notices a module that appears beside the script of an entry', () => {
    const root = createDirectory({ 'settings.json': '{}', 'tools/check.py': 'import json\n' });
    const unit = unitOf(root, {
      entry: path.join(root, 'settings.json'),
      text: '{"command":"python3 tools/check.py"}',
      files: [path.join(root, 'tools/check.py')],
      directories: [],
    });
    const checker = trust(unit);
    expect(checker.check(unit)).toEqual(TRUSTED);
    write(root, 'tools/json.py', 'evil');
    expect(checker.check(unit)).toEqual(modified('tools/json.py'));
  });

  it('trusts a hook still when the PATH no longer leads to a trusted program', () => {
    const root = createDirectory({ [GUARD]: '#!/usr/bin/env python3\n', 'bin/python3': 'x' });
    const starts = { programs: [], directories: [root], searchPath: [path.join(root, 'bin')] };
    const checker = trust(unitOf(root, { starts }));
    expect(checker.check(unitOf(root, { starts }))).toEqual(TRUSTED);
    expect(checker.check(unitOf(root))).toEqual(TRUSTED);
    const without = trust(unitOf(root));
    expect(without.check(unitOf(root, { starts }))).toEqual(modified('bin/python3'));
  });

  it('checks another text of a config entry anew', () => {
    const root = createDirectory({ 'settings.json': '{}' });
    const entry = path.join(root, 'settings.json');
    const unit = unitOf(root, { entry, text: 'a', directories: [] });
    const checker = trust(unit);
    expect(checker.check({ ...unit, text: 'b' })).toEqual(modified('//entry-text'));
    expect(checker.check(unit)).toEqual(TRUSTED);
  });
});

describe('check', () => {
  const bystander = { id: 'a', entry: 'b', digest: 'c', files: {} };

  it('trusts nothing that was never trusted', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const other = createDirectory({ [GUARD]: 'exit 0' });
    const lock: Lock = { version: 1, hooks: [bystander] };
    const checker = createChecker({ record: recordOf([unitOf(other)]), lock });
    expect(checker.check(unitOf(root))).toEqual({
      state: 'untrusted',
      why: 'it was never trusted here',
      by: null,
    });
  });

  it('holds a record to its root, and a lock to the bytes only', () => {
    const root = createDirectory({ 'before/.clinerules/hooks/PreToolUse': 'exit 0' });
    const before = unitOf(path.join(root, 'before'));
    const [record, lock] = [recordOf([before]), createLock([before])];
    renameSync(path.join(root, 'before'), path.join(root, 'after'));
    const after = unitOf(path.join(root, 'after'));
    const states = [null, lock].map((named) => createChecker({ record, lock: named }).check(after));
    expect(states).toEqual([
      { state: 'untrusted', why: 'it was never trusted here', by: null },
      { state: 'trusted', why: 'its exact bytes are in the lock', by: 'lock' },
    ]);
  });

  it('calls a hook modified that differs from the lock', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const lock = createLock([unitOf(root)]);
    write(root, GUARD, 'exit 1');
    expect(createChecker({ record: EMPTY, lock }).check(unitOf(root))).toEqual(modified(GUARD));
  });

  it('does not let trust in one file of a directory reach another', () => {
    const root = createDirectory({ [GUARD]: 'exit 0', [`${HOOKS}/PostToolUse`]: 'exit 0' });
    const swapped = unitOf(root, { entry: path.join(root, HOOKS, 'PostToolUse') });
    const checker = createChecker({ record: recordOf([unitOf(root)]), lock: null });
    expect(checker.check(swapped)).toEqual({
      state: 'modified',
      why: 'another file than the trusted one is now its entry',
      by: null,
      changed: [],
    });
  });

  it('trusts by the lock alone, with the reason, when the record is refused', () => {
    const root = createDirectory({ [GUARD]: 'exit 0', [`${HOOKS}/TaskStart`]: '' });
    const locked = unitOf(root);
    const other = unitOf(root, { id: 'other' });
    const record = new HooklineError('TRUST_RECORD_INVALID', { message: 'the record is broken' });
    const checker = createChecker({ record, lock: createLock([locked]) });
    expect([checker.check(locked), checker.check(other)]).toEqual([
      { state: 'trusted', why: 'its exact bytes are in the lock', by: 'lock' },
      { state: 'untrusted', why: 'the record is broken', by: null },
    ]);
  });

  it('does not trust, and does not throw, when a hook is gone or too large', () => {
    const root = createDirectory({ [GUARD]: 'exit 0' });
    const checker = createChecker({ record: recordOf([unitOf(root)]), lock: null });
    for (let i = 0; i < 2_000; i += 1) writeFileSync(path.join(root, HOOKS, `f${i}`), '');
    expect(checker.check(unitOf(root))).toEqual({
      state: 'untrusted',
      why: `cline:workspace:PreToolUse would bind more than 2000 files in "${root}/${HOOKS}" and what is linked from there`,
      by: null,
    });
    rmSync(path.join(root, HOOKS), { recursive: true });
    expect(checker.check(unitOf(root))).toMatchObject({ state: 'untrusted', by: null });
  });

  // Needs root, because a process can only give up a right that it had.
  it.skipIf(!isRoot)(
    'reads no cached byte again, and trusts nothing that it cannot read',
    async () => {
      const root = createDirectory({ [GUARD]: 'exit 0' });
      chmodSync(root, 0o755);
      chmodSync(path.join(root, GUARD), 0o600);
      const printed: unknown = JSON.parse(await runFixture('check-as-nobody.ts', [root]));
      const trusted = { state: 'trusted', why: 'its exact bytes are in the lock', by: 'lock' };
      const file = `${root}/${GUARD}`;
      const unreadable = {
        state: 'untrusted',
        why: `"${file}" must be readable to be trusted: EACCES: permission denied, open '${file}'`,
        by: null,
      };
      expect(printed).toEqual({
        asRoot: ['trusted', 'trusted'],
        asNobody: [trusted, unreadable, unreadable],
      });
    },
  );
});

describe('a wave of checks', () => {
  it('reads each file once, and the next wave reads again', () => {
    const unit = unitOf(createDirectory({ [GUARD]: 'echo fine' }));
    const checker = createChecker({
      record: recordOf([unit]),
      lock: null,
      clock: clocks.remembered,
    });
    expect(checker.check(unit, 1)).toEqual(TRUSTED);
    expect(checker.check(unit, 1)).toEqual(TRUSTED);
    waitForFileClock();
    write(unit.root, GUARD, 'echo changed');
    expect(checker.check(unit, 1)).toEqual(TRUSTED);
    expect(checker.check(unit, 2).state).toBe('modified');
    expect(checker.check(unit).state).toBe('modified');
  });
});
