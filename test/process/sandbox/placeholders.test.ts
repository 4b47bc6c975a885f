import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Placeholders } from '../../../src/process/sandbox/placeholders.ts';
import { createDirectory, until } from '../../base/directory.ts';

function createPlaces() {
  const base = createDirectory({ 'work/a': '' });
  const workspace = path.join(base, 'work');
  return {
    claims: path.join(base, 'state', 'claims'),
    workspace,
    directory: { path: path.join(workspace, '.conf'), text: null },
    file: { path: path.join(workspace, 'common'), text: '/somewhere\n' },
  };
}

test('placeholders exist while somebody needs them, and are counted', () => {
  const { claims, workspace, directory, file } = createPlaces();
  const placeholders = new Placeholders(claims);
  const releaseFirst = placeholders.acquire([directory, file]);
  const releaseSecond = placeholders.acquire([directory]);
  expect(readFileSync(file.path, 'utf8')).toBe(file.text);
  releaseFirst();
  releaseFirst();
  expect(readdirSync(workspace)).toEqual(['.conf', 'a']);
  releaseSecond();
  expect(readdirSync(workspace)).toEqual(['a']);
  expect(readdirSync(claims)).toEqual([]);
});

test('what somebody put into a placeholder stays', () => {
  const { claims, directory, file } = createPlaces();
  const release = new Placeholders(claims).acquire([directory, file]);
  mkdirSync(path.join(directory.path, 'theirs'));
  writeFileSync(file.path, 'theirs');
  release();
  expect(existsSync(path.join(directory.path, 'theirs'))).toBe(true);
  expect(readFileSync(file.path, 'utf8')).toBe('theirs');
});

test('a process that is killed leaves none, and its sandboxes end', async () => {
  const { claims, workspace, directory, file } = createPlaces();
  const owner = await startOwner({ claims, placeholders: [directory, file] });
  expect(readdirSync(workspace)).toEqual(['.conf', 'a', 'common']);
  process.kill(owner.pid, 'SIGKILL');
  await until(() => readdirSync(workspace).join() === 'a');
  await until(() => !isAlive(owner.member));
  await until(() => readdirSync(claims).length === 0);
});

test('a process that is killed leaves those that another one still needs', async () => {
  const { claims, workspace, directory, file } = createPlaces();
  const owner = await startOwner({ claims, placeholders: [directory, file] });
  const release = new Placeholders(claims).acquire([directory]);
  process.kill(owner.pid, 'SIGKILL');
  await until(() => readdirSync(claims).length === 1);
  expect(existsSync(directory.path)).toBe(true);
  release();
  expect(existsSync(directory.path)).toBe(false);
  new Placeholders(claims).recover();
  expect(readdirSync(workspace).includes('.conf')).toBe(false);
});

test('the next process removes what a killed one left together with its cleaner', () => {
  const { claims, workspace, directory, file } = createPlaces();
  mkdirSync(claims, { recursive: true });
  mkdirSync(directory.path);
  writeFileSync(file.path, file.text);
  const deadProcess = path.join(claims, '4194999-1.json');
  writeFileSync(deadProcess, JSON.stringify({ placeholders: [directory, file] }));
  writeFileSync(path.join(claims, '4194998-1.json'), 'no JSON');
  new Placeholders(claims).recover();
  expect(readdirSync(workspace)).toEqual(['a']);
  expect(readdirSync(claims)).toEqual([]);
});

/** Starts a process that acquires placeholders and tracks the group of a program that waits. */
async function startOwner(order: object) {
  const script = fileURLToPath(new URL('./own-placeholders.ts', import.meta.url));
  const owner = spawn(process.execPath, ['--import', 'jiti/register', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void owner.kill('SIGKILL'));
  owner.stdin.write(`${JSON.stringify(order)}\n`);
  let printed = '';
  owner.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  await until(() => printed.includes('\n'));
  return { pid: owner.pid ?? 0, member: Number(printed) };
}

function isAlive(pid: number): boolean {
  try {
    return !/ Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
