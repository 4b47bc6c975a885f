import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bashTool } from '../../../src/agent/tools/bash.ts';
import { bashOutputTool, killShellTool } from '../../../src/agent/tools/background-shells.ts';
import { Shells, type ShellState } from '../../../src/agent/tools/shell/shells.ts';
import type { ToolOutput } from '../../../src/agent/tools/tool.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
import { createDirectory, until, write } from '../../base/directory.ts';
import { isAlive, pidsIn } from '../../process/programs.ts';
import { createToolFixture, use } from './fixture.ts';

function start(toolContext: ToolContext, command: string): Promise<ToolOutput> {
  return use(bashTool, toolContext, { command, run_in_background: true });
}

function read(toolContext: ToolContext, filter?: string): Promise<ToolOutput> {
  return use(bashOutputTool, toolContext, {
    bash_id: 'bash_1',
    ...(filter === undefined ? {} : { filter }),
  });
}

function isOver(toolContext: ToolContext, id = 'bash_1'): Promise<void> {
  return until(() => toolContext.shells.find(id)?.status !== 'running');
}

/** A command that prints its pid and then waits for a file. */
const WAITING = 'echo $$; until [ -e go ]; do sleep 0.01; done; echo gone; exit 3';

describe('a command in the background', () => {
  test('is started at once and has an ID', async () => {
    const { toolContext } = createToolFixture();
    expect(await start(toolContext, 'sleep 100')).toEqual({
      response: {
        stdout: '',
        stderr: '',
        interrupted: false,
        isImage: false,
        noOutputExpected: false,
        backgroundTaskId: 'bash_1',
      },
      text: 'Command running in background with ID: bash_1. BashOutput reads what it prints, KillShell ends it.',
      success: true,
    });
    await start(toolContext, 'sleep 101');
    const running = { status: 'running', exitCode: null };
    expect(toolContext.shells.list()).toEqual([
      { id: 'bash_1', command: 'sleep 100', ...running },
      { id: 'bash_2', command: 'sleep 101', ...running },
    ]);
  });

  test('is read piece by piece until it has ended', async () => {
    const { toolContext, start: directory } = createToolFixture();
    await start(toolContext, WAITING);
    let printedOutput = '';
    await until(async () => {
      printedOutput += (await read(toolContext)).text;
      return pidsIn(printedOutput).length === 1;
    });
    expect((await read(toolContext)).text).toBe('<status>running</status>\n\n(no new output)');
    write(path.join(directory, 'go'), '');
    await isOver(toolContext);
    expect(await read(toolContext)).toEqual({
      response: {
        shellId: 'bash_1',
        command: WAITING,
        status: 'failed',
        exitCode: 3,
        stdout: 'gone',
        stderr: '',
      },
      text: '<status>failed</status>\n\n<exit_code>3</exit_code>\n\n<stdout>\ngone\n</stdout>',
      success: true,
    });
  });

  test('is filtered in linear time', async () => {
    const { toolContext } = createToolFixture();
    await start(toolContext, `echo error one; echo fine; echo ${'a'.repeat(5000)}; echo ERROR two`);
    await isOver(toolContext);
    const { text } = await read(toolContext, '(?i)^error|(a+)+$$b');
    expect(text).toContain('<stdout>\nerror one\nERROR two\n</stdout>');
    expect((await read(toolContext)).text).toContain('(no new output)');
  });

  test('keeps its output when the filter is no regular expression', async () => {
    const { toolContext } = createToolFixture();
    await start(toolContext, 'echo a');
    await isOver(toolContext);
    expect((await read(toolContext, '(')).error).toMatch(
      /^expected "filter" to be a regular expression without look-around/,
    );
    expect((await read(toolContext)).text).toContain('<stdout>\na\n</stdout>');
  });

  test('that prints a lot keeps the beginning and the end', async () => {
    const { toolContext } = createToolFixture();
    await start(toolContext, 'echo begin; yes | head -c 20000000; echo end');
    await isOver(toolContext);
    const { text } = await read(toolContext);
    expect(text).toMatch(/<stdout>\nbegin\ny\n.*\[output of .* cut here\].*y\nend\n/s);
    expect(text.length).toBeLessThan(30_200);
  });

  test('is killed with all that it started', async () => {
    const { toolContext } = createToolFixture();
    await start(toolContext, 'trap "" TERM; echo $$; sleep 100 & echo $!; wait; wait; sleep 100');
    let text = '';
    await until(async () => {
      text += `${(await read(toolContext)).text}\n`;
      return pidsIn(text).length === 2;
    });
    const message = 'Successfully killed shell: bash_1 (trap "" TERM';
    const killed = await use(killShellTool, toolContext, { shell_id: 'bash_1' });
    expect(killed.text.startsWith(message)).toBe(true);
    expect(killed.response).toEqual({ message: killed.text, shell_id: 'bash_1' });
    expect(pidsIn(text).filter(isAlive)).toEqual([]);
    expect((await use(killShellTool, toolContext, { shell_id: 'bash_1' })).error).toBe(
      'Shell bash_1 is not running, so it cannot be killed: killed.',
    );
  });

  test('does not move the agent, and outlives the call that started it', async () => {
    const { toolContext, moves } = createToolFixture({}, { 'd/x': '' });
    const stopping = new AbortController();
    const input = { command: 'cd d; sleep 100', run_in_background: true };
    await use(bashTool, toolContext, input, { signal: stopping.signal });
    stopping.abort();
    expect(toolContext.shells.find('bash_1')?.status).toBe('running');
    await toolContext.shells.kill('bash_1');
    expect(moves).toEqual([]);
  });

  test('that cannot be started has failed with the reason', async () => {
    const { toolContext } = createToolFixture();
    const shells = new Shells();
    const missingDirectory = path.join(toolContext.cwd(), 'gone');
    shells.start({
      command: 'ls',
      cwd: missingDirectory,
      env: toolContext.environment(),
      prelude: '',
    });
    await until(() => shells.find('bash_1')?.status === 'failed');
    expect(shells.readNew('bash_1')?.text).toContain(
      `working directory ${missingDirectory} does not exist`,
    );
  });

  test.each([
    [bashOutputTool, { bash_id: 'bash_7' }],
    [killShellTool, { shell_id: 'bash_7' }],
  ])('that does not exist cannot be used', async (tool, input) => {
    const { toolContext } = createToolFixture();
    const unknown = 'No background shell has the ID bash_7;';
    expect(tool.prepare(input, toolContext)).toBe(`${unknown} none was started.`);
    await start(toolContext, 'true');
    expect(tool.prepare(input, toolContext)).toBe(`${unknown} there are bash_1.`);
  });
});

describe('all shells of a session', () => {
  test('emit their state when they start and end', async () => {
    const { toolContext } = createToolFixture();
    const reports: ShellState[] = [];
    const stop = toolContext.shells.onChange((shell) => reports.push(shell));
    await start(toolContext, 'exit 0');
    await until(() => reports.length === 2);
    stop();
    await start(toolContext, 'true');
    const shell = { id: 'bash_1', command: 'exit 0' };
    expect(reports).toEqual([
      { ...shell, status: 'running', exitCode: null },
      { ...shell, status: 'completed', exitCode: 0 },
    ]);
  });

  test('end with it, and none can be started afterwards', async () => {
    const { toolContext, start: directory } = createToolFixture();
    const temporary = createDirectory();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    await start(toolContext, 'echo $$ > one; sleep 100');
    await start(toolContext, 'trap "" TERM; echo $$ > two; sleep 100');
    await until(() => existsSync(path.join(directory, 'one')));
    await until(() => existsSync(path.join(directory, 'two')));
    await toolContext.shells.closeAll();
    expect(toolContext.shells.list().map(({ status }) => status)).toEqual(['killed', 'killed']);
    expect((await start(toolContext, 'true')).error).toBe(
      'The session has ended; nothing can be started in the background.',
    );
    expect(readdirSync(temporary)).toEqual([]);
  });
});

/** Leads commands into a temporary directory that they can spoil. */
function temporaryDirectory(): string {
  const directory = path.join(createDirectory(), 'tmp');
  mkdirSync(directory);
  vi.stubEnv('TMPDIR', directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  return directory;
}

describe('the temporary files of a command', () => {
  test('is deleted, whatever the command has made of it', async () => {
    const { toolContext } = createToolFixture();
    const directory = temporaryDirectory();
    const command = `(cd ${directory}/hookline-shell-* && mkdir -p cwd/more)`;
    expect(await use(bashTool, toolContext, { command })).toMatchObject({
      success: true,
      exitCode: 0,
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('stays when it cannot be removed, and the command has ended all the same', async () => {
    const { toolContext } = createToolFixture();
    const directory = temporaryDirectory();
    const changes: ShellState[] = [];
    toolContext.shells.onChange((shell) => void changes.push(shell));
    // Whatever is below a link to itself can neither be found nor removed, not even by root.
    const spoil = `mv ${directory} ${directory}.old; ln -s tmp ${directory}; echo done`;
    await start(toolContext, spoil);
    await until(() => changes.length === 2);
    const endedShell = { id: 'bash_1', command: spoil, status: 'completed', exitCode: 0 };
    expect(changes[1]).toEqual(endedShell);
    expect(await toolContext.shells.kill('bash_1')).toMatchObject(endedShell);
    rmSync(directory);
    renameSync(`${directory}.old`, directory);
    expect(await use(bashTool, toolContext, { command: spoil })).toMatchObject({
      text: expect.stringContaining('done'),
      success: true,
      exitCode: 0,
    });
  });
});

test('output without end is kept on disk up to a limit, with a note where it was cut', async () => {
  const spillDirectory = createDirectory();
  const maxOutputBytes = 1024 * 1024;
  const { toolContext } = createToolFixture({ spillDirectory, maxOutputBytes });
  await start(toolContext, 'yes endless');
  const listFiles = (): string[] => readdirSync(spillDirectory);
  const isCut = (name: string): boolean =>
    readFileSync(path.join(spillDirectory, name), 'utf8').includes('[output cut here: at most 1MB');
  await until(() => listFiles().some(isCut));
  const { text } = await use(bashOutputTool, toolContext, { bash_id: 'bash_1' });
  const [name = ''] = listFiles();
  const file = path.join(spillDirectory, name);
  expect(text).toContain(`The first 1MB were saved to: ${file}`);
  await toolContext.shells.kill('bash_1');
  expect(listFiles()).toEqual([name]);
  expect(statSync(file).size).toBeLessThan(maxOutputBytes + 200);
});

test('a listener that fails does not end the process', async () => {
  const shells = new Shells();
  onTestFinished(() => shells.closeAll());
  const rejections: unknown[] = [];
  const listen = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen));
  shells.onChange(({ status }) => {
    if (status !== 'running') throw new TypeError('not now');
  });
  const order = { command: 'true', cwd: createDirectory(), prelude: '' };
  shells.start({ ...order, env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' } });
  await until(() => shells.find('bash_1')?.status === 'completed');
  await new Promise((resolve) => void setImmediate(resolve));
  expect(rejections).toEqual([]);
});
