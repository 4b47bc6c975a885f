import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findLocationProblem, isRecordLocationSafe } from '../../src/trust/record-location.ts';
import { hasMkfifo, isRoot } from './programs.ts';
import { createDirectory } from './workspace.ts';

function createRecord(): string {
  const home = createDirectory({ 'trust.json': '{}' });
  chmodSync(path.join(home, 'trust.json'), 0o600);
  return path.join(home, 'trust.json');
}

describe('findPlaceProblem', () => {
  it('accepts a private file outside the workspaces, and none at all', () => {
    const root = createDirectory();
    const absent = path.join(createDirectory(), 'not', 'yet', 'trust.json');
    expect([createRecord(), absent].map((file) => findLocationProblem(file, [root]))).toEqual([
      null,
      null,
    ]);
    expect(isRecordLocationSafe(absent, [root])).toBe(true);
  });

  it('refuses a record inside any workspace, whether or not it is there yet', () => {
    const [root, other] = [createDirectory({ 'h/trust.json': '{}' }), createDirectory()];
    const problem = `it lies inside the workspace "${root}", which could then trust itself`;
    const files = ['h/trust.json', 'not/yet/trust.json'].map((name) => path.join(root, name));
    expect(files.map((file) => findLocationProblem(file, [other, root]))).toEqual([
      problem,
      problem,
    ]);
    expect(isRecordLocationSafe(files[0]!, [root])).toBe(false);
  });

  it('refuses a record that a link of any kind leads into a workspace', () => {
    const root = createDirectory({ 'h/trust.json': '{}' });
    const home = createDirectory();
    symlinkSync(path.join(root, 'h'), path.join(home, 'directory'));
    symlinkSync(path.join(root, 'h/trust.json'), path.join(home, 'trust.json'));
    symlinkSync(root, path.join(home, 'workspace'));
    const problem = `it lies inside the workspace "${root}", which could then trust itself`;
    const foundProblems = [
      findLocationProblem(path.join(home, 'directory/trust.json'), [root]),
      findLocationProblem(path.join(home, 'trust.json'), [root]),
      findLocationProblem(path.join(root, 'h/trust.json'), [path.join(home, 'workspace')]),
    ];
    expect(foundProblems).toEqual([problem, problem, problem]);
  });

  it('refuses a link that leads nowhere yet', () => {
    const file = path.join(createDirectory(), 'trust.json');
    symlinkSync('later', file);
    expect(findLocationProblem(file, [])).toBe(`"${file}" is a dangling link`);
  });

  it.each([0o660, 0o602, 0o777])('refuses a file of mode %o', (mode) => {
    const file = createRecord();
    chmodSync(file, mode);
    expect(findLocationProblem(file, [])).toBe(
      `others may write "${file}" (mode ${mode.toString(8)})`,
    );
  });

  it('refuses a directory that others may write, also before the record is there', () => {
    const home = createDirectory();
    chmodSync(home, 0o770);
    expect(findLocationProblem(path.join(home, 'trust.json'), [])).toBe(
      `others may write "${home}" (mode 770)`,
    );
  });

  it('refuses a linked record whose own directory others may write', () => {
    const real = createRecord();
    chmodSync(path.dirname(real), 0o777);
    const file = path.join(createDirectory(), 'trust.json');
    symlinkSync(real, file);
    expect(findLocationProblem(file, [])).toBe(
      `others may write "${path.dirname(real)}" (mode 777)`,
    );
  });

  it.skipIf(!isRoot)('refuses a record that belongs to another user', () => {
    const file = createRecord();
    chownSync(file, 65_534, 65_534);
    expect(findLocationProblem(file, [])).toBe(`"${file}" belongs to user 65534, not to you (0)`);
  });

  it.skipIf(!hasMkfifo)('refuses what is not a regular file, without waiting on it', () => {
    const home = createDirectory();
    mkdirSync(path.join(home, 'directory'));
    execFileSync('mkfifo', [path.join(home, 'pipe')]);
    const problems = ['directory', 'pipe'].map((name) =>
      findLocationProblem(path.join(home, name), []),
    );
    expect(problems).toEqual(['it is not a regular file', 'it is not a regular file']);
  });
});
