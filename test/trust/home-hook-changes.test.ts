import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { detectHomeHookChanges } from '../../src/trust/home-hook-changes.ts';
import { hasMkfifo } from './programs.ts';
import { createDirectory, write } from './workspace.ts';

const NOTHING = { changes: [], notes: [] };

function createHome() {
  const home = createDirectory({ 'hooks/a': 'a', 'hooks/b': 'b' });
  const files = ['a', 'b', 'c'].map((name) => path.join(home, 'hooks', name));
  return { home, files, seen: path.join(home, '.hookline', 'seen.json') };
}

describe('noteHomeHooks', () => {
  it('announces nothing the first time, and nothing while nothing changes', () => {
    const { files, seen } = createHome();
    const [a = '', b = ''] = files;
    expect(detectHomeHookChanges(seen, [a, b])).toEqual(NOTHING);
    expect(detectHomeHookChanges(seen, [a, b])).toEqual(NOTHING);
    expect((statSync(seen).mode & 0o777).toString(8)).toBe('600');
  });

  it('announces each changed and new hook once', () => {
    const { home, files, seen } = createHome();
    const [a = '', b = '', c = ''] = files;
    detectHomeHookChanges(seen, [a, b]);
    write(home, 'hooks/a', 'A');
    write(home, 'hooks/c', 'c');
    const report = detectHomeHookChanges(seen, [a, b, c]);
    expect(report).toEqual({
      changes: [
        { path: a, kind: 'changed' },
        { path: c, kind: 'new' },
      ],
      notes: [],
    });
    expect(detectHomeHookChanges(seen, [a, b, c])).toEqual(NOTHING);
  });

  it('announces a hook as new that was missing', () => {
    const { files, seen } = createHome();
    const [a = '', b = ''] = files;
    detectHomeHookChanges(seen, [a, b]);
    expect(detectHomeHookChanges(seen, [a])).toEqual(NOTHING);
    expect(detectHomeHookChanges(seen, [a, b]).changes).toEqual([{ path: b, kind: 'new' }]);
  });

  it('reports it, and starts anew, when its stored state cannot be read', () => {
    const { files, seen } = createHome();
    detectHomeHookChanges(seen, files.slice(0, 2));
    writeFileSync(seen, '{"files":{"x":1}}');
    expect(detectHomeHookChanges(seen, files.slice(0, 2))).toEqual({
      changes: [],
      notes: [`${seen} is not a list of known hooks, so earlier changes are not reported`],
    });
    expect(detectHomeHookChanges(seen, files.slice(0, 2))).toEqual(NOTHING);
  });

  it('still reports the changes when it cannot store them', () => {
    const { home, files, seen } = createHome();
    const [a = '', b = ''] = files;
    detectHomeHookChanges(seen, [a, b]);
    write(home, 'hooks/b', 'B');
    const remembered = readFileSync(seen);
    // A directory in the way of the temporary file stops the write for root, too.
    write(home, `.hookline/seen.json.${process.pid}.tmp/in-the-way`, '');
    const report = detectHomeHookChanges(seen, [a, b]);
    expect(report.changes).toEqual([{ path: b, kind: 'changed' }]);
    expect(report.notes).toEqual([
      expect.stringMatching(/cannot be written, so the changes will be/),
    ]);
    expect(readFileSync(seen)).toEqual(remembered);
  });

  it('notes a hook that cannot be read, and keeps its last hash', () => {
    const { home, files, seen } = createHome();
    const [a = '', b = ''] = files;
    detectHomeHookChanges(seen, [a, b]);
    rmSync(b);
    expect(detectHomeHookChanges(seen, [a, b])).toEqual({
      changes: [],
      notes: [`"${b}" cannot be read: ENOENT: no such file or directory, open '${b}'`],
    });
    write(home, 'hooks/b', 'other');
    expect(detectHomeHookChanges(seen, [a, b]).changes).toEqual([{ path: b, kind: 'changed' }]);
  });

  it.skipIf(!hasMkfifo)('does not wait on a FIFO', () => {
    const { home, files, seen } = createHome();
    execFileSync('mkfifo', [path.join(home, 'hooks/c')]);
    expect(detectHomeHookChanges(seen, files)).toEqual({
      changes: [],
      notes: [`"${files[2]}" must be readable to be trusted: it is not a regular file`],
    });
  });
});
