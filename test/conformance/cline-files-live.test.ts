import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../base/directory.ts';
import { readSurroundings } from '../../src/host/surroundings.ts';
import { createHost, type Host, type HostOptions } from '../../src/host/create-host.ts';
import { readCase } from '../../src/testing/case.ts';
import { formatDifference } from '../../src/testing/expectation.ts';
import { runCase } from '../../src/testing/run-case.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';

const HOOKS = '.clinerules/hooks';

function createDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-live-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function writeHook(root: string, name: string, text: string): string {
  const file = path.join(root, HOOKS, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

function createHookScript(answer: object): string {
  return `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(answer)}'\n`;
}

async function openHost(root: string, options: HostOptions = {}): Promise<Host> {
  const home = createDirectory();
  const surroundings = { ...readSurroundings(), home, env: { ...process.env, HOME: home } };
  const host = await createHost({
    cwd: root,
    roots: [root],
    trust: 'all',
    surroundings,
    ...options,
  });
  onTestFinished(() => host.dispose());
  return host;
}

interface Fired {
  readonly fire: object;
  readonly expect: object;
  /** Names of roots, each with the same hook. */
  readonly roots?: readonly string[];
  readonly hook: readonly [name: string, text: string];
}

async function differencesOf({ fire, expect: expected, hook, roots }: Fired): Promise<string[]> {
  const directory = createDirectory();
  const directories = roots?.map((root) => path.join('roots', root)) ?? ['workspace'];
  for (const place of directories) writeHook(path.join(directory, place), ...hook);
  writeFileSync(path.join(directory, 'case.json'), JSON.stringify({ fire, expect: expected }));
  const result = await runCase(readCase(directory), { trust: 'all' });
  return result.differences.map(formatDifference);
}

describe('a large payload', () => {
  const prompt = 'lorem ipsum '.repeat(22_000);
  const fire = { event: 'UserPromptSubmit', prompt };

  it('arrives whole', async () => {
    const text = `#!/usr/bin/env node
const { prompt } = JSON.parse(require('node:fs').readFileSync(0, 'utf8')).userPromptSubmit;
console.log(JSON.stringify({ contextModification: String(prompt.length) }));
`;
    const expected = { context: [String(prompt.length)] };
    expect(
      await differencesOf({ fire, expect: expected, hook: ['UserPromptSubmit', text] }),
    ).toEqual([]);
  });

  it('may be left unread by a hook that exits at once, twenty times over', async () => {
    const root = createDirectory();
    writeHook(root, 'UserPromptSubmit', `#!/bin/sh\necho '{"contextModification": "quick"}'\n`);
    const { engine } = await openHost(root);
    for (let turn = 0; turn < 20; turn++) {
      const verdict = await engine.dispatch(createSampleEvent('UserPromptSubmit', { prompt }));
      expect(verdict).toMatchObject({
        context: [{ text: 'quick' }],
        outcomes: [{ failure: null }],
      });
    }
  });
});

it('a long notification is cut, and says so', async () => {
  const text = `#!/usr/bin/env node
const { message, messageTruncated } = JSON.parse(require('node:fs').readFileSync(0, 'utf8')).notification;
require('node:fs').writeFileSync('seen.json', JSON.stringify([message.length, message.slice(-16), messageTruncated]));
`;
  const fire = { event: 'Notification', facts: { message: 'x'.repeat(8100) } };
  const expectedPayload = { json: [8015, 'x\n...[truncated]', true] };
  const expected = { files: { '$WORKSPACE/seen.json': expectedPayload } };
  expect(await differencesOf({ fire, expect: expected, hook: ['Notification', text] })).toEqual([]);
});

describe('a root whose name has', () => {
  it.each([
    ['a double quote', 'say "hi"'],
    ['a back-quote', 'a`touch pwned`b'],
    ['a command substitution', '$(touch pwned)'],
    ['a pipe, a redirection and a wildcard', 'a | b > c *'],
    ['a newline', 'one\ntwo'],
    ['a tab', 'one\ttwo'],
    ['a backslash before a quote', String.raw`one\'two`],
    ['a leading dash', '-rf'],
  ])('%s works', async (_, name) => {
    const text = `#!/usr/bin/env node
require('node:fs').readFileSync(0);
console.log(JSON.stringify({ contextModification: require('node:path').basename(process.cwd()) }));
`;
    const fire = { event: 'PreToolUse' };
    const expected = { context: [name] };
    expect(
      await differencesOf({ fire, expect: expected, hook: ['PreToolUse', text], roots: [name] }),
    ).toEqual([]);
  });
});

describe('what vanishes between discovery and run', () => {
  it('as a hook is a failure to start', async () => {
    const root = createDirectory();
    const file = writeHook(root, 'PreToolUse', createHookScript({ cancel: true }));
    const { engine } = await openHost(root);
    rmSync(file);
    const { effect, outcomes } = await engine.dispatch(createSampleEvent('PreToolUse'));
    expect({ effect, failures: outcomes.map(({ failure }) => failure?.kind) }).toEqual({
      effect: 'pass',
      failures: ['spawn'],
    });
  });

  it('as a whole root is a failure to start that names the directory', async () => {
    const root = createDirectory();
    writeHook(root, 'PreToolUse', createHookScript({ cancel: true }));
    const { engine } = await openHost(root);
    rmSync(root, { recursive: true });
    const { outcomes } = await engine.dispatch(createSampleEvent('PreToolUse'));
    expect(outcomes).toMatchObject([
      { status: 'failed', failure: { kind: 'spawn', message: expect.stringContaining(root) } },
    ]);
  });
});

describe('an abort', () => {
  it('ends a running hook with all that it started, and fires TaskCancel', async () => {
    const root = createDirectory();
    writeHook(root, 'PreToolUse', '#!/bin/sh\nsleep 60 &\necho $! > child.pid\nwait\n');
    writeHook(root, 'TaskCancel', '#!/bin/sh\ncat > cancelled.json\n');
    const { engine } = await openHost(root);
    const controller = new AbortController();
    const dispatched = engine.dispatch(createSampleEvent('PreToolUse'), { signal: controller.signal });
    const child = await eventually(() => readPid(path.join(root, 'child.pid')));
    controller.abort();
    await expect(dispatched).rejects.toThrow();
    await eventually(() => expect(isAlive(child)).toBe(false));
    await engine.dispatch(createSampleEvent('RunEnd', { status: 'aborted', reason: 'Ctrl-C' }));
    expect(JSON.parse(readFileSync(path.join(root, 'cancelled.json'), 'utf8'))).toMatchObject({
      reason: 'Ctrl-C',
    });
  });
});

function readPid(file: string): number {
  const pid = Number(readFileSync(file, 'utf8'));
  expect(pid).toBeGreaterThan(1);
  return pid;
}

function isAlive(pid: number): boolean {
  if (existsSync(`/proc/${pid}/stat`)) {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a hook that is added while the host runs', () => {
  it('is seen without a restart, beside one of the same event', async () => {
    const root = createDirectory();
    writeHook(root, 'PreToolUse', createHookScript({ contextModification: 'first' }));
    const { engine } = await openHost(root, { watch: true });
    const contexts = async (): Promise<string[]> => {
      const { context } = await engine.dispatch(createSampleEvent('PreToolUse'));
      return context.map(({ text }) => text);
    };
    expect(await contexts()).toEqual(['first']);
    writeHook(root, 'PreToolUse.sh', createHookScript({ contextModification: 'second' }));
    await eventually(async () => expect(await contexts()).toEqual(['first', 'second']));
  });

  it('does not affect a dispatch that is under way', async () => {
    const root = createDirectory();
    writeHook(
      root,
      'PreToolUse',
      '#!/bin/sh\ntouch started\nwhile [ ! -e go ]; do sleep 0.05; done\necho \'{"contextModification": "first"}\'\n',
    );
    const { engine, rescan } = await openHost(root);
    const dispatched = engine.dispatch(createSampleEvent('PreToolUse'));
    await eventually(() => expect(existsSync(path.join(root, 'started'))).toBe(true));
    writeHook(root, 'PreToolUse.sh', createHookScript({ contextModification: 'second' }));
    rescan();
    writeFileSync(path.join(root, 'go'), '');
    expect((await dispatched).context.map(({ text }) => text)).toEqual(['first']);
  });
});
