import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
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
  placeholders.close();
  expect(readdirSync(claims)).toEqual([]);
});

test('two sessions of one process need the same ones', () => {
  const { claims, workspace, directory, file } = createPlaces();
  const [first, second] = [new Placeholders(claims), new Placeholders(claims)];
  const releaseFirst = first.acquire([directory, file]);
  expect(second.readClaims().paths).toEqual([directory.path, file.path]);
  const releaseSecond = second.acquire([directory]);
  releaseFirst();
  expect(readdirSync(workspace)).toEqual(['.conf', 'a']);
  expect(first.readClaims().paths).toEqual([directory.path]);
  releaseSecond();
  expect(readdirSync(workspace)).toEqual(['a']);
  expect(first.readClaims().paths).toEqual([]);
});

test('a session that needs none is seen to have a sandbox', () => {
  const { claims } = createPlaces();
  const [first, second] = [new Placeholders(claims), new Placeholders(claims)];
  const release = first.acquire([]);
  expect(second.readClaims()).toEqual({ paths: [], isOtherRunning: true });
  expect(first.readClaims()).toEqual({ paths: [], isOtherRunning: false });
  release();
  expect(second.readClaims()).toEqual({ paths: [], isOtherRunning: false });
  first.close();
});

test('names with spaces, line ends and backslashes are claimed and removed', async () => {
  const { claims, workspace } = createPlaces();
  const names = ['two  words', 'two\nlines\n', 'back\\slash', '\\0040', "it's"];
  const odd = names.map((name) => ({ path: path.join(workspace, name), text: null }));
  const text = { path: path.join(workspace, 'f f'), text: `${workspace}/a b\n` };
  const owner = await startOwner({ claims, placeholders: [...odd, text] });
  expect(new Placeholders(claims).readClaims().paths).toEqual(
    [...odd, text].map((each) => each.path),
  );
  expect(readdirSync(workspace)).toHaveLength(names.length + 2);
  process.kill(owner.pid, 'SIGKILL');
  await until(() => readdirSync(workspace).join() === 'a');
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
  await until(() => readdirSync(workspace).join() === '.conf,a');
  await until(() => readdirSync(claims).length === 1);
  expect(existsSync(directory.path)).toBe(true);
  release();
  expect(existsSync(directory.path)).toBe(false);
  new Placeholders(claims).recover();
  expect(readdirSync(workspace).includes('.conf')).toBe(false);
});

test('a process that is killed leaves none while another one needs others', async () => {
  const { claims, workspace, directory, file } = createPlaces();
  const release = new Placeholders(claims).acquire([file]);
  const owner = await startOwner({ claims, placeholders: [directory] });
  process.kill(owner.pid, 'SIGKILL');
  await until(() => readdirSync(workspace).join() === 'a,common');
  release();
  expect(readdirSync(workspace)).toEqual(['a']);
});

test('nobody loses one to a process that removes it in the same moment', async () => {
  const { claims, directory, file } = createPlaces();
  const order = { claims, placeholders: [directory, file], rounds: 200 };
  const racers = await Promise.all([order, order, order].map((each) => startRacer(each)));
  expect(racers).toEqual([0, 0, 0]);
});

test('the next process removes what a killed one left together with its cleaner', () => {
  const { claims, workspace, directory, file } = createPlaces();
  mkdirSync(claims, { recursive: true });
  mkdirSync(directory.path);
  writeFileSync(file.path, file.text);
  const lines = `d ${directory.path}\nf ${file.path} /somewhere\\0012\n`;
  writeFileSync(path.join(claims, '4194999-1-1.claim'), `c-\n${lines}`);
  writeFileSync(path.join(claims, '4194998-1-1.claim'), 'something else');
  const placeholders = new Placeholders(claims);
  placeholders.recover();
  placeholders.close();
  expect(readdirSync(workspace)).toEqual(['a']);
  expect(readdirSync(claims)).toEqual([]);
});

test('what an idle process once needed is left to whoever made it since', () => {
  const { claims, workspace, directory } = createPlaces();
  mkdirSync(claims, { recursive: true });
  mkdirSync(directory.path);
  writeFileSync(path.join(claims, '4194999-1-1.claim'), `i-\nd ${directory.path}\n`);
  new Placeholders(claims).recover();
  expect(readdirSync(workspace)).toEqual(['.conf', 'a']);
});

describe.skipIf(process.getuid?.() !== 0)('in another process namespace', () => {
  const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];

  test('a process leaves those of one outside', async () => {
    const { claims, directory, file } = createPlaces();
    const release = new Placeholders(claims).acquire([directory, file]);
    expect(await startRacer({ claims, placeholders: [], recovers: true }, NAMESPACE)).toBe(0);
    const order = { claims, placeholders: [directory], rounds: 3 };
    expect(await startRacer(order, NAMESPACE)).toBe(0);
    expect([directory, file].map((each) => existsSync(each.path))).toEqual([true, true]);
    release();
    expect([directory, file].map((each) => existsSync(each.path))).toEqual([false, false]);
  });

  test('those of a process stay until it has not renewed its claim for long', async () => {
    const { claims, workspace, directory, file } = createPlaces();
    await startOwner({ claims, placeholders: [directory, file] }, NAMESPACE);
    new Placeholders(claims).recover();
    expect(readdirSync(workspace)).toEqual(['.conf', 'a', 'common']);
    const anHourAgo = Date.now() / 1000 - 3600;
    for (const name of readdirSync(claims)) {
      utimesSync(path.join(claims, name), anHourAgo, anHourAgo);
    }
    new Placeholders(claims).recover();
    expect(readdirSync(workspace)).toEqual(['a']);
  });
});

/** Starts a process that acquires placeholders and releases them, again and again; its exit code is how often one was missing. */
async function startRacer(order: object, prefix: readonly string[] = []): Promise<number | null> {
  const script = fileURLToPath(new URL('./own-placeholders.ts', import.meta.url));
  const [program, ...args] = [...prefix, process.execPath, '--import', 'jiti/register', script];
  const racer = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  onTestFinished(() => void racer.kill('SIGKILL'));
  racer.stdin.write(`${JSON.stringify(order)}\n`);
  const [code] = await once(racer, 'exit');
  return code;
}

/** Starts a process that acquires placeholders and tracks the group of a program that waits. */
async function startOwner(order: object, prefix: readonly string[] = []) {
  const script = fileURLToPath(new URL('./own-placeholders.ts', import.meta.url));
  const [program, ...args] = [...prefix, process.execPath, '--import', 'jiti/register', script];
  const owner = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
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
