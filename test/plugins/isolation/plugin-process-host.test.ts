import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../base/directory.ts';
import { findChildProgram } from '../../../src/plugins/isolation/plugin-process.ts';
import { builtChild, createIsolationFixture, isAlive, openText } from './isolated.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../..');
let host = '';

/** A host that is a program of its own, so that it can be killed. */
beforeAll(async () => {
  const cache = path.join(PROJECT, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(path.join(cache, 'isolation-host-'));
  await build({
    input: { host: path.join(import.meta.dirname, 'fixtures', 'host.ts') },
    platform: 'node',
    external: /^[@a-z]/,
    logLevel: 'silent',
    output: { dir: directory, format: 'esm', entryFileNames: '[name].mjs' },
  });
  host = path.join(directory, 'host.mjs');
});
afterAll(() => rmSync(path.dirname(host), { recursive: true, force: true }));

interface RunningHost {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

async function startHost(directory: string, plugin: string, then: string): Promise<RunningHost> {
  const file = path.join(directory, 'plugin.mjs');
  writeFileSync(file, plugin);
  const { file: program } = await builtChild();
  const child = spawn(process.execPath, [host, program, file, then], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, ended: exitCode };
}

function pidFile(directory: string): string {
  return path.join(directory, 'pid');
}

const PLUGIN = (body: string) => `
  import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  console.log('printed at import');
  export default {
    name: 'orphan',
    manifest: { capabilities: ['hooks'] },
    hooks: {
      beforeTool() {
        const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
        console.log('printed in a hook');
        writeFileSync('pid', process.pid + ' ' + pid);
        ${body}
      },
    },
  };`;

describe('the host of a plugin in a process of its own', () => {
  it.each([
    ['waits', 'return new Promise(() => {});'],
    ['is in an endless loop', 'while (true) {}'],
  ])('leaves nothing behind when it is killed while the plugin %s', async (_how, body) => {
    const { directory } = createIsolationFixture();
    const { child, ended } = await startHost(directory, PLUGIN(body), 'wait');
    // The file exists before its text is written.
    await eventually(() => expect(readFileSync(pidFile(directory), 'utf8')).toMatch(/^\d+ \d+$/u));
    const pids = readFileSync(pidFile(directory), 'utf8').split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    child.kill('SIGKILL');
    await ended;
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]));
  });

  it('leaves nothing behind when it exits by itself, and waits for nothing', async () => {
    const { directory } = createIsolationFixture();
    const { ended, output } = await startHost(directory, PLUGIN('return {};'), 'leave');
    expect(await ended).toBe(0);
    const pids = readFileSync(pidFile(directory), 'utf8').split(' ').map(Number);
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]));
    expect(output()).toBe('');
  });

  it('waits for a call, and ends a plugin while nothing else keeps the process alive', async () => {
    const { directory } = createIsolationFixture();
    const body = 'return new Promise((resolve) => setTimeout(() => resolve({ skip: true }), 100));';
    const { ended, output } = await startHost(directory, PLUGIN(body), 'end');
    expect(await ended).toBe(0);
    // Nothing that the plugin printed is on it.
    expect(output()).toBe('{"skip":true}\nended\n');
  });
});

describe('the program of a plugin’s process', () => {
  it('is found beside the sources, and runs from there', async () => {
    const program = findChildProgram();
    expect(path.relative(PROJECT, program.file)).toBe(path.join('src', 'plugin-child.ts'));
    const text = `export default { name: 'plain', manifest: { capabilities: ['tools'] } };`;
    expect(await openText(text, { program })).toMatchObject({
      kind: 'loaded',
      plugin: { name: 'plain' },
    });
  });
});
