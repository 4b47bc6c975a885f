import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchDirectories } from '../../src/host/watch-hook-files.ts';
import { createDirectory, until, write } from '../base/directory.ts';

/** Counts the news about these directories. */
async function watching(...directories: string[]) {
  let changes = 0;
  const files = new Set<string>();
  const problems: string[] = [];
  const watcher = await watchDirectories(
    directories,
    (file) => {
      changes++;
      files.add(file);
    },
    (problem) => problems.push(problem),
  );
  onTestFinished(() => watcher.close());
  return {
    problems,
    watcher,
    files,
    count: () => changes,
    async change(make: () => void): Promise<void> {
      const before = changes;
      make();
      await until(() => changes > before);
    },
  };
}

test('files that appear, change and vanish in a directory are noticed', async () => {
  const directory = path.join(
    createDirectory({ 'ws/.clinerules/hooks/a': '' }),
    'ws/.clinerules/hooks',
  );
  const { change, problems } = await watching(directory);
  await change(() => write(path.join(directory, 'b'), 'one'));
  await change(() => write(path.join(directory, 'b'), 'two, longer'));
  await change(() => rmSync(path.join(directory, 'b')));
  expect(problems).toEqual([]);
});

test('a directory is noticed when it appears with all that leads to it', async () => {
  const root = createDirectory();
  const directory = path.join(root, 'ws/.clinerules/hooks');
  const { change } = await watching(directory);
  await change(() => write(path.join(directory, 'a'), ''));
});

test('a directory that vanishes and appears again with its parent is still watched', async () => {
  const root = createDirectory({ '.clinerules/hooks/a': '' });
  const directory = path.join(root, '.clinerules/hooks');
  const { files } = await watching(directory);
  rmSync(path.join(root, '.clinerules'), { recursive: true });
  await until(() => files.has(path.join(root, '.clinerules')));
  files.clear();
  write(path.join(directory, 'a'), '');
  await until(() => files.has(path.join(directory, 'a')));
  // A directory is reported before it is watched.
  await until(() => files.has(write(path.join(directory, 'b'), '')));
});

test('a directory that is a link is watched', async () => {
  const root = createDirectory({ 'real/a': '', '.cline/x': '' });
  symlinkSync(path.join(root, 'real'), path.join(root, '.cline/hooks'));
  const { change } = await watching(path.join(root, '.cline/hooks'));
  await change(() => write(path.join(root, 'real/b'), ''));
});

test('several directories are watched at once, also below one another', async () => {
  const root = createDirectory();
  const outer = path.join(root, 'a/b');
  const inner = path.join(root, 'a/b/c/d');
  const { change } = await watching(outer, inner);
  await change(() => mkdirSync(inner, { recursive: true }));
  await change(() => write(path.join(inner, 'file'), ''));
  await change(() => write(path.join(outer, 'file'), ''));
});

test('changes beside or below the directory are ignored', async () => {
  const root = createDirectory({ 'hooks-home/hooks/a': '', 'hooks-home/hooks/lib/x': '' });
  const directory = path.join(root, 'hooks-home/hooks');
  const { change, count } = await watching(directory);
  write(path.join(root, 'beside'), '');
  write(path.join(root, 'hooks-home/beside'), '');
  write(path.join(directory, 'lib/deeper'), '');
  await change(() => renameSync(path.join(directory, 'a'), path.join(directory, 'b')));
  await until(() => count() === 2);
});

test('nothing is reported after the watcher was closed', async () => {
  const directory = path.join(createDirectory({ 'ws/hooks/a': '' }), 'ws/hooks');
  const { watcher, count } = await watching(directory);
  await watcher.close();
  write(path.join(directory, 'b'), '');
  await new Promise(setImmediate);
  expect(count()).toBe(0);
});

test('a watched path near the top of the file system reports no other paths', async () => {
  const root = createDirectory({ '.claude/settings.json': '{}' });
  const reportedPaths = new Set<string>();
  const watcher = await watchDirectories(
    ['/etc/claude-code', path.join(root, '.claude')],
    (file) => reportedPaths.add(file),
    (problem) => reportedPaths.add(problem),
  );
  onTestFinished(() => watcher.close());
  const added = path.join(root, '.claude/other.json');
  write(added, '{}');
  await until(() => reportedPaths.has(added));
  expect([...reportedPaths]).toEqual([added]);
});
