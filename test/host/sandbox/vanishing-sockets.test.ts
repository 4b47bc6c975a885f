import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bashOutputTool } from '../../../src/agent/tools/background-shells.ts';
import { bashTool } from '../../../src/agent/tools/bash.ts';
import { openHooks } from '../../../src/host/open-hooks.ts';
import { openPermissions } from '../../../src/host/open-permissions.ts';
import { createHookSandboxes } from '../../../src/host/sandbox/hook-sandboxes.ts';
import { openSandbox } from '../../../src/host/sandbox/open-sandbox.ts';
import { createToolFixture, use } from '../../agent/tools/fixture.ts';
import { createDirectory, eventually } from '../../base/directory.ts';
import { createTempWorkspace } from '../temp-workspace.ts';

const COMMANDS = 200;
const BACKGROUND_COMMANDS = 25;
const HOOKS = 50;
const AT_ONCE = 4;

/** Binds sockets and removes them a moment later: some under new names, some under the same one. */
const BINDER = `
const { createServer } = require('node:net');
const [directory, below] = process.argv.slice(1);
let count = 0;
function bind(name) {
  const server = createServer().on('error', () => bind(name)).listen(name(), () => {
    setTimeout(() => server.close(() => bind(name)), Math.random() * 12);
  });
}
for (const parent of [directory, directory, below, below]) {
  bind(() => parent + '/new-' + process.pid + '-' + (count += 1));
  const same = parent + '/same-' + process.pid + '-' + (count += 1);
  bind(() => same);
}
process.stdout.write('bound');
`;

async function startBinder(): Promise<void> {
  const below = path.join(createDirectory(), 'deep', 'er');
  mkdirSync(below, { recursive: true });
  const binder = spawn(process.execPath, ['-e', BINDER, '--', tmpdir(), below]);
  onTestFinished(async () => {
    const isClosed = once(binder, 'close');
    binder.kill('SIGKILL');
    await isClosed;
    // A killed process leaves the files of its sockets, which every later sandbox would have to hide.
    const left = readdirSync(tmpdir()).filter((name) => name.includes(`-${binder.pid}-`));
    for (const name of left) rmSync(path.join(tmpdir(), name), { force: true });
  });
  await new Promise((resolve) => binder.stdout.once('data', resolve));
}

/** Runs a task with each number, some at a time. */
async function repeat(count: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    for (let index = next++; index < count; index = next++) await task(index);
  });
  await Promise.all(lanes);
}

async function openSession() {
  const { root, surroundings } = createTempWorkspace();
  const opened = openHooks({ surroundings, roots: [root] });
  const { permissions } = openPermissions(opened);
  const session = await openSandbox({ opened, permissions, mode: 'on', notice: () => undefined });
  onTestFinished(() => session.close());
  const { toolContext } = createToolFixture({
    cwd: () => root,
    workspaceRoots: [root],
    sandbox: session,
  });
  return { opened, root, context: toolContext };
}

test('commands run once each while other programs make and remove sockets', async () => {
  const { root, context } = await openSession();
  await startBinder();
  await repeat(COMMANDS, async (index) => {
    const command = `echo ${index} >> runs; echo ran`;
    expect(await use(bashTool, context, { command })).toMatchObject({ text: 'ran', success: true });
  });
  const runs = readFileSync(path.join(root, 'runs'), 'utf8').trim().split('\n').map(Number);
  expect(runs.toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: COMMANDS }, (_, index) => index),
  );
});

test('background commands do', async () => {
  const { context } = await openSession();
  await startBinder();
  await repeat(BACKGROUND_COMMANDS, async () => {
    const { response } = await use(bashTool, context, {
      command: 'echo ran',
      run_in_background: true,
    });
    const id = (response as { readonly backgroundTaskId: string }).backgroundTaskId;
    await eventually(() => expect(context.shells.find(id)?.status).not.toBe('running'));
    expect(context.shells.find(id)).toMatchObject({ status: 'completed', exitCode: 0 });
    expect((await use(bashOutputTool, context, { bash_id: id })).text).toContain('ran');
  });
});

test('hooks do', async () => {
  const { opened, root } = await openSession();
  const sandboxes = createHookSandboxes(() => opened);
  onTestFinished(() => sandboxes.close());
  await startBinder();
  await repeat(HOOKS, async () => {
    const program = { file: '/bin/sh', args: ['-c', 'echo ran'], cwd: root, env: {} };
    const result = await sandboxes.run('workspace')({ ...program, stdin: '', timeoutMs: 60_000 });
    expect({ ...result, stderr: result.stderr.text, stdout: result.stdout.text }).toMatchObject({
      ending: 'exit',
      exitCode: 0,
      stderr: '',
      stdout: 'ran\n',
    });
  });
});

test('a hook that prints what bubblewrap prints is not started again', async () => {
  const { opened, root } = await openSession();
  const sandboxes = createHookSandboxes(() => opened);
  onTestFinished(() => sandboxes.close());
  const script = `echo run >> runs; echo "bwrap: Can't make a sandbox in a sandbox" >&2; exit 1`;
  const program = { file: '/bin/sh', args: ['-c', script], cwd: root, env: {} };
  const result = await sandboxes.run('workspace')({ ...program, stdin: '', timeoutMs: 60_000 });
  expect(result).toMatchObject({ ending: 'exit', exitCode: 1 });
  expect(readFileSync(path.join(root, 'runs'), 'utf8')).toBe('run\n');
});
