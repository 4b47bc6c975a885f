import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  environmentOf,
  hooklineProgram,
  resultOf,
  runHookline,
  startHookline,
} from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import { isAlive, until } from '../process/programs.ts';
import { bash, DONE, linesOf, type Script, scripted, startScript, written } from './agent-run.ts';
import { claudeHooks, logCommand, logging, logOf } from './hook-log.ts';
import { flagsFor, startService } from './service.ts';

// The commands print process ids, which are others in a sandbox.
const ALLOW_ALL = ['--permission-mode', 'bypassPermissions', '--sandbox', 'off'];

/** A shell that prints its own pid and that of a child, and then runs for long. */
const LONG = 'sleep 100 & echo "$$ $!" > pids; wait';

function sleeping(): Script {
  return [
    { text: 'First I look.', tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { text: 'Now I wait.', tools: [{ name: 'Bash', input: { command: LONG } }] },
    DONE,
  ];
}

/** The pids of the command that runs, once it does; it is ended with the test. */
async function pidsIn(file: string): Promise<readonly number[]> {
  const pids = (await written(file)).split(' ').map(Number);
  onTestFinished(() => pids.filter(isAlive).forEach((pid) => process.kill(pid, 'SIGKILL')));
  return pids;
}

async function untilGone(pids: readonly number[]): Promise<void> {
  await until(() => !pids.some(isAlive));
}

function start(
  workspace: TempWorkspace,
  turns: Script,
  args: readonly string[] = [],
): ChildProcess {
  return startScript(workspace, turns, ['wait for it', ...ALLOW_ALL, ...args]);
}

/** What the model is sent when the last session is resumed. */
async function resume(workspace: TempWorkspace) {
  const service = await startService([{ text: 'I know it all.' }]);
  const args = ['run', 'go on', '--continue', ...flagsFor(service)];
  const result = await runHookline(args, at(workspace));
  expect(result).toMatchObject({ code: 0, stdout: 'I know it all.\n' });
  return service.requests()[0]?.messages ?? [];
}

describe('kill -9 in the middle of a tool call', () => {
  it('loses no earlier message, and pairs the open call with a result', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'the content of a\n' });
    const child = start(workspace, sleeping());
    const ending = resultOf(child);
    await pidsIn(path.join(workspace.repo, 'pids'));
    child.kill('SIGKILL');
    expect(await ending).toMatchObject({ code: null, stdout: '' });
    expect(await resume(workspace)).toEqual([
      { role: 'user', text: 'wait for it', calls: [] },
      { role: 'assistant', text: 'First I look.', calls: ['Read'] },
      { role: 'tool', text: expect.stringContaining('the content of a'), calls: [] },
      { role: 'assistant', text: 'Now I wait.', calls: ['Bash'] },
      {
        role: 'tool',
        text: 'No result: the call was interrupted before it was done.',
        calls: [],
      },
      { role: 'user', text: 'go on', calls: [] },
    ]);
  });
});

describe('Ctrl-C', () => {
  it('ends a command with all that it started, fires hooks, and leaves a session that can be resumed', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'the content of a\n' });
    logging(
      workspace,
      'TaskCancel',
      '`TaskCancel ${input.taskCancel.taskMetadata.completionStatus}`',
    );
    logging(workspace, 'TaskComplete', '"TaskComplete"');
    claudeHooks(workspace, {
      Stop: logCommand(workspace, 'Stop'),
      SessionEnd: logCommand(workspace, 'SessionEnd'),
    });
    const child = start(workspace, sleeping());
    const ending = resultOf(child);
    const pids = await pidsIn(path.join(workspace.repo, 'pids'));
    child.kill('SIGINT');
    expect(await ending).toEqual({
      code: 130,
      stdout: 'Now I wait.\n',
      stderr: 'interrupted by the user\n',
    });
    await untilGone(pids);
    expect(logOf(workspace)).toEqual(['TaskCancel cancelled', 'SessionEnd']);
    const messages = await resume(workspace);
    expect(messages.map(({ role, calls }) => [role, ...calls].join(' '))).toEqual([
      'user',
      'assistant Read',
      'tool',
      'assistant Bash',
      'tool',
      'user',
    ]);
    expect(messages[4]?.text).toContain('aborted before completion');
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s does the same', async (signal) => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    const child = start(workspace, sleeping());
    const ending = resultOf(child);
    const pids = await pidsIn(path.join(workspace.repo, 'pids'));
    child.kill(signal);
    expect(await ending).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('interrupted'),
    });
    await untilGone(pids);
    expect(await resume(workspace)).toHaveLength(6);
  });

  it.each(['PreToolUse', 'UserPromptSubmit', 'TaskStart', 'TaskComplete'])(
    'while a hook of %s runs ends its whole tree',
    async (event) => {
      const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
      const file = path.join(workspace.directory, 'pids');
      const hook = `#!/bin/sh\nsleep 100 & echo "$$ $!" > '${file}'\nwait\n`;
      write(workspace.home, `${GLOBAL_HOOKS}/${event}`, hook);
      logging(workspace, 'TaskCancel', '"TaskCancel"');
      const child = start(workspace, [bash('echo hi'), DONE]);
      const ending = resultOf(child);
      const pids = await pidsIn(file);
      child.kill('SIGINT');
      expect(await ending).toMatchObject({
        code: 130,
        stderr: 'interrupted by the user\n',
      });
      await untilGone(pids);
      expect(logOf(workspace)).toEqual(['TaskCancel']);
      write(workspace.home, `${GLOBAL_HOOKS}/${event}`, '#!/bin/sh\necho "{}"\n');
      expect((await resume(workspace)).at(-1)?.text).toBe('go on');
    },
  );

  it('while the session is being opened ends the hook and says so', async () => {
    const workspace = createTempWorkspace();
    const file = path.join(workspace.directory, 'pids');
    claudeHooks(workspace, { SessionStart: `sleep 100 & echo "$$ $!" > '${file}'; wait` });
    const child = start(workspace, [DONE]);
    const ending = resultOf(child);
    const pids = await pidsIn(file);
    child.kill('SIGINT');
    expect(await ending).toMatchObject({ code: 130, stdout: '' });
    await untilGone(pids);
  });

  it('while the model answers ends the request', async () => {
    const workspace = createTempWorkspace();
    const service = await startService([]);
    const { mock } = service;
    mock.prependFixture({
      match: {},
      response: { content: 'word '.repeat(5000) },
      latency: 50,
      chunkSize: 5,
    });
    const child = startHookline(
      ['run', 'go', ...flagsFor(service), '--output', 'stream-json'],
      at(workspace),
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const ending = resultOf(child);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    await until(() => output.includes('text-delta'));
    child.kill('SIGINT');
    const result = await ending;
    expect(result).toMatchObject({ code: 130, stderr: '' });
    expect(linesOf(result).at(-1)).toMatchObject({
      type: 'result',
      status: 'aborted',
      ending: 'aborted',
      reason: 'interrupted by the user',
    });
    mock.clearFixtures();
    mock.on({}, { content: 'I know it all.' });
    const args = ['run', 'go on', '--continue', ...flagsFor(service)];
    expect(await runHookline(args, at(workspace))).toMatchObject({
      code: 0,
      stdout: 'I know it all.\n',
    });
  });

  it('while it waits to ask an overloaded model again ends the waiting', async () => {
    const workspace = createTempWorkspace();
    const service = await startService([]);
    service.mock.clearFixtures();
    service.mock.on({}, { error: { message: 'slow down' }, status: 429, retryAfter: 50 });
    const child = startHookline(['run', 'go', ...flagsFor(service)], at(workspace), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ending = resultOf(child);
    let report = '';
    child.stderr?.on('data', (chunk: Buffer) => (report += chunk.toString('utf8')));
    await until(() => report.includes('Retrying in 50'));
    child.kill('SIGINT');
    const { code, stderr } = await ending;
    expect(code).toBe(130);
    expect(stderr.split('\n').at(-2)).toBe('interrupted by the user');
    expect((await resume(workspace)).at(-1)?.text).toBe('go\ngo on');
  });

  it('while a sub-agent works ends that, too', async () => {
    const workspace = createTempWorkspace();
    const order = { description: 'wait', prompt: 'wait', subagent_type: 'general-purpose' };
    const turns = [{ tools: [{ name: 'Agent', input: order }] }, bash(LONG), DONE];
    const child = start(workspace, turns);
    const ending = resultOf(child);
    const pids = await pidsIn(path.join(workspace.repo, 'pids'));
    child.kill('SIGINT');
    expect(await ending).toMatchObject({ code: 130 });
    await untilGone(pids);
    expect((await resume(workspace)).map(({ role, calls }) => [role, ...calls].join(' '))).toEqual([
      'user',
      'assistant Agent',
      'tool',
      'user',
    ]);
  });

  it('twice does not wait for programs that do not end', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    const stubborn = `trap '' TERM INT; echo "$$ $$" > pids; while :; do sleep 0.05; done`;
    const child = start(workspace, [bash(stubborn), DONE]);
    const ending = resultOf(child);
    const pids = await pidsIn(path.join(workspace.repo, 'pids'));
    // Two at once may be one to the system.
    const again = setInterval(() => child.kill('SIGINT'), 20);
    onTestFinished(() => clearInterval(again));
    expect(await ending).toMatchObject({ code: 130 });
    await untilGone(pids);
    expect((await resume(workspace)).at(-1)?.text).toBe('go on');
  });
});

describe('the end of a run', () => {
  it('is the end of its commands in the background', async () => {
    const workspace = createTempWorkspace();
    const command = { command: LONG, run_in_background: true };
    const wait = bash('until [ -s pids ]; do sleep 0.05; done');
    const turns = [{ tools: [{ name: 'Bash', input: command }] }, wait, DONE];
    const ending = resultOf(start(workspace, turns));
    const pids = await pidsIn(path.join(workspace.repo, 'pids'));
    expect(await ending).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
    await untilGone(pids);
  });
});

describe('a reader that closes its end', () => {
  it('gets what it read, and the task is done all the same', async () => {
    const workspace = createTempWorkspace();
    const turns = [bash('seq 1 2000 > numbers; cat numbers'), bash('echo x > last'), DONE];
    const args = scripted(workspace, turns, ['go', ...ALLOW_ALL, '--output', 'stream-json']);
    const quoted = [process.execPath, hooklineProgram(), ...args].map((word) => `'${word}'`);
    const line = `{ ${quoted.join(' ')}; echo $? > code; } | head -1`;
    const child = spawn('sh', ['-c', line], {
      cwd: workspace.repo,
      env: environmentOf({ home: workspace.home }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = await resultOf(child);
    expect(JSON.parse(stdout)).toMatchObject({ type: 'session-start' });
    expect(stderr).toBe('');
    expect(readFileSync(path.join(workspace.repo, 'code'), 'utf8')).toBe('0\n');
    expect(readFileSync(path.join(workspace.repo, 'last'), 'utf8')).toBe('x\n');
    expect((await resume(workspace)).at(-2)?.text).toBe('Done.');
  });
});
