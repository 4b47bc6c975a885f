import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROJECT = path.resolve(import.meta.dirname, '../../..');
const PLUGIN = `
  import { later } from './helper.mjs';
  export default {
    name: 'clumsy',
    manifest: { capabilities: ['tools'] },
    fail() { throw new TypeError('from the plugin'); },
    reject() { later(); },
    throwText() { throw 'only words'; },
  };`;
const HELPER = `export async function later() { throw new RangeError('from its helper'); }`;

let directory = '';
let host = '';
let file = '';

beforeAll(async () => {
  directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-uncaught-')));
  file = path.join(directory, 'clumsy.mjs');
  writeFileSync(file, PLUGIN);
  writeFileSync(path.join(directory, 'helper.mjs'), HELPER);
  const cache = path.join(PROJECT, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const tempDirectory = mkdtempSync(path.join(cache, 'uncaught-host-'));
  await build({
    input: { host: path.join(import.meta.dirname, 'fixtures', 'uncaught-host.ts') },
    platform: 'node',
    external: /^[@a-z]/,
    logLevel: 'silent',
    output: { dir: tempDirectory, format: 'esm', entryFileNames: '[name].mjs' },
  });
  host = path.join(tempDirectory, 'host.mjs');
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  rmSync(path.dirname(host), { recursive: true, force: true });
});

function run(what: string, watched = 'watch', files: readonly string[] = [file]) {
  const args = [host, watched, what, ...files];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n'), stderr };
}

function issue(text: string): string {
  const message = `an error that nothing caught: ${text}`;
  return JSON.stringify({ plugin: 'plugin-0', phase: 'uncaught', level: 'error', message });
}

describe('an error that nothing caught, of a plugin in this process', () => {
  it.each([
    ['plugin', 'from the plugin'],
    ['rejection', 'from its helper'],
  ])('is reported as the plugin’s own, and survived: %s', (what, text) => {
    const { status, lines, stderr } = run(what);
    expect({ status, lines, stderr }).toEqual({
      status: 0,
      lines: [issue(text), 'still here'],
      stderr: '',
    });
  });

  it('is reported to every session that has the plugin', () => {
    const { lines } = run('plugin', 'watch', [file, file]);
    expect(lines.map((line) => line.includes('"uncaught"'))).toEqual([true, true, false]);
  });

  it('is survived also when the session has ended, and its timers have not', () => {
    expect(run('stopped')).toMatchObject({
      status: 0,
      lines: [issue('from the plugin'), 'still here'],
    });
  });

  it('is reported to the sessions that have not ended, when some have', () => {
    const { lines } = run('half', 'watch', [file, file]);
    expect(lines).toEqual([issue('from the plugin').replace('plugin-0', 'plugin-1'), 'still here']);
  });

  it('is reported only a limited number of times', () => {
    const { lines } = run('many');
    expect(lines).toHaveLength(11);
    expect(lines.at(-2)).toContain('further ones are not reported');
  });

  it('is passed to no listener of the program, which may end it', () => {
    expect(run('exit')).toMatchObject({
      status: 0,
      lines: [issue('from the plugin'), 'still here'],
    });
    const { lines } = run('listener');
    expect(lines).toEqual([
      issue('from the plugin'),
      expect.stringMatching(/^listener: .*JSON/),
      'still here',
    ]);
  });

  it('is reported, and left to a program that wants to decide about every error', () => {
    const { lines } = run('capture');
    expect(lines).toEqual([issue('from the plugin'), 'captured: from the plugin', 'still here']);
  });
});

describe('an error that nothing caught, of other code', () => {
  it.each(['own', 'own-rejection', 'text'])('ends the program as without plugins: %s', (what) => {
    const watching = run(what);
    expect(watching).toEqual(run(what, 'no'));
    expect(watching.status).toBe(1);
    expect(watching.stderr).not.toBe('');
  });

  it('is not handled where no plugin was loaded', () => {
    const watching = run('own', 'watch', []);
    expect(watching).toEqual(run('own', 'no', []));
    expect(watching.status).toBe(1);
  });
});
