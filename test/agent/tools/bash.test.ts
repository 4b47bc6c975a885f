import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bashTool } from '../../../src/agent/tools/bash.ts';
import type { ToolOutput } from '../../../src/agent/tools/tool.ts';
import { createDirectory, until, withEnoughTime } from '../../base/directory.ts';
import { hasProgram } from '../../cli/temp-workspace.ts';
import { isAlive, pidsIn } from '../../process/programs.ts';
import { createToolFixture, use, type Watching } from './fixture.ts';

function response(stdout: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    stdout,
    stderr: '',
    interrupted: false,
    isImage: false,
    noOutputExpected: false,
    ...more,
  };
}

function done(stdout: string): ToolOutput {
  return { response: response(stdout), text: stdout, success: true, exitCode: 0 };
}

function failed(error: string, exitCode: number): ToolOutput {
  return { response: undefined, text: error, success: false, error, exitCode };
}

function run(command: string, watching: Watching = {}): Promise<ToolOutput> {
  return use(bashTool, createToolFixture().toolContext, { command }, watching);
}

/** Some keywords and features are bash's own. */
const inBash = hasProgram('bash') ? test : test.skip;
const where = hasProgram('bash') ? '' : ' (skipped without bash)';

describe('what a command prints', () => {
  test('is returned as a whole, stderr in its place among stdout', async () => {
    expect(await run('echo hi; echo oops >&2; echo bye')).toEqual(done('hi\noops\nbye'));
  });

  test('has Claude’s keys in Claude’s order', async () => {
    const { response: input } = await run('echo three');
    expect(JSON.stringify(input)).toBe(
      '{"stdout":"three","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}',
    );
  });

  test('is replaced by a note when it is empty', async () => {
    expect(await run('true')).toEqual({ ...done(''), text: '(Bash completed with no output)' });
  });

  test('keeps its indentation and loses only the empty lines around it', async () => {
    expect(await run(String.raw`printf '\n \n  a\n\n b \n\n'`)).toEqual(done('  a\n\n b'));
  });

  test.each([
    ['colours', String.raw`printf '\033[31mred\033[0m'`, 'red'],
    ['links and titles', String.raw`printf '\033]0;t\007\033]8;;http://x\007y\033]8;;\007'`, 'y'],
    ['a progress bar', String.raw`printf '10%%\r50%%\r100%%\r\nend'`, '100%\nend'],
    ['line ends of Windows', String.raw`printf 'a\r\nb\r\n'`, 'a\nb'],
    ['bytes that are no text', String.raw`printf 'a\000\001\377\376b'`, 'a\uFFFDb'],
    ['text beyond ASCII', 'echo "héllo 🎉"', 'héllo 🎉'],
  ])('is readable although it has %s', async (_what, command, text) => {
    expect(await run(command)).toEqual(done(text));
  });

  inBash(`may go to /dev/stdout and /dev/stderr by name${where}`, async () => {
    const command = 'echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr';
    expect((await run(command)).text.split('\n').toSorted()).toEqual(['a', 'b', 'c', 'c']);
  });

  test('is reported while the command runs', async () => {
    const reports: string[] = [];
    await run('echo one', { onProgress: (line) => reports.push(line) });
    expect(reports).toEqual(['one']);
  });
});

describe('output that is too long', () => {
  test('is saved whole, and cut as Claude cuts it', async () => {
    const spillDirectory = path.join(createDirectory(), 'new', 'place');
    const { toolContext } = createToolFixture({ spillDirectory });
    const output = await use(bashTool, toolContext, {
      command: String.raw`head -c 200000 /dev/zero | tr '\0' y`,
    });
    const [name = ''] = readdirSync(spillDirectory);
    const file = path.join(spillDirectory, name);
    expect(output).toEqual({
      response: response('y'.repeat(30_000), {
        persistedOutputPath: file,
        persistedOutputSize: 200_000,
      }),
      text: `<persisted-output>\nOutput too large (195.3KB). Full output saved to: ${file}\n\nPreview (first 2KB):\n${'y'.repeat(2000)}\n...\n</persisted-output>`,
      success: true,
      exitCode: 0,
    });
    expect(readFileSync(file, 'utf8')).toBe('y'.repeat(200_000));
  });

  test('of 30,000 characters is not too long, and leaves no file', async () => {
    const spillDirectory = createDirectory();
    const { toolContext } = createToolFixture({ spillDirectory });
    const command = 'for i in $(seq 100); do printf "é%.0s" $(seq 300); done';
    expect(await use(bashTool, toolContext, { command })).toEqual(done('é'.repeat(30_000)));
    expect(readdirSync(spillDirectory)).toEqual([]);
  });

  test('of 200 MB takes a file and hardly any memory', async () => {
    const spillDirectory = createDirectory();
    const { toolContext } = createToolFixture({ spillDirectory });
    const before = process.memoryUsage.rss();
    const output = await use(bashTool, toolContext, {
      command: 'yes 0123456789abcde | head -c 200000000; echo; echo end',
    });
    const grownBy = process.memoryUsage.rss() - before;
    const [name = ''] = readdirSync(spillDirectory);
    const { size } = statSync(path.join(spillDirectory, name));
    expect(size).toBeGreaterThan(64 * 1024 * 1024);
    expect(size).toBeLessThan(64 * 1024 * 1024 + 200);
    expect(output.text).toContain('The first 64MB were saved to: ');
    expect(output.text).toContain('Output too large (190.7MB)');
    expect(output.text.length).toBeLessThan(3000);
    expect(grownBy).toBeLessThan(100 * 1024 * 1024);
  });

  test.each([
    ['there is no place for it', null],
    ['the place cannot be written', '/dev/null/no'],
  ])('keeps both ends when %s', async (_when, spillDirectory) => {
    const { toolContext } = createToolFixture({ spillDirectory });
    const output = await use(bashTool, toolContext, {
      command: 'echo begin; yes | head -c 400000; echo end',
    });
    expect(output.text).toMatch(/^begin\ny\n.*\[output of 390\.6KB cut here\].*y\nend$/s);
    expect(output.text.length).toBeLessThan(30_100);
    expect(Object.keys(Object(output.response))).toEqual(Object.keys(response('')));
  });

  test('of a command that failed keeps both ends and the path of the file', async () => {
    const spillDirectory = createDirectory();
    const { toolContext } = createToolFixture({ spillDirectory });
    const { error = '' } = await use(bashTool, toolContext, {
      command: 'echo begin; yes | head -c 400000; echo reason; exit 9',
    });
    const [name = ''] = readdirSync(spillDirectory);
    expect(error.startsWith('Exit code 9\nbegin\ny\n')).toBe(true);
    expect(error.endsWith(`reason\nFull output saved to: ${path.join(spillDirectory, name)}`)).toBe(
      true,
    );
    expect(error.length).toBeLessThan(11_000);
  });
});

describe('how a command ends', () => {
  test.each([
    ['exit 3', 'Exit code 3', 3],
    ['echo out; echo err >&2; exit 1', 'Exit code 1\nout\nerr', 1],
    ['grep -q nothing /dev/null', 'Exit code 1', 1],
    ['kill -KILL $$', 'Exit code 137', 137],
    ['set -e; false; echo never', 'Exit code 1', 1],
    ['exec sh -c "exit 4"', 'Exit code 4', 4],
    ['(exit 5)', 'Exit code 5', 5],
    ['true\nfalse', 'Exit code 1', 1],
    ['trap "exit 6" EXIT', 'Exit code 6', 6],
  ])('%s', async (command, error, exitCode) => {
    expect(await run(command)).toEqual(failed(error, exitCode));
  });

  inBash(`with a syntax error says where${where}`, async () => {
    const { error = '', exitCode } = await run('echo before\nif then');
    expect(exitCode).toBe(2);
    expect(error).toMatch(/^Exit code 2\n(?:before\n)?bash: .*syntax error/s);
  });

  test.each([
    ['an unclosed quote', "echo 'a"],
    ['an unclosed bracket', 'echo $(('],
    ['a stray bracket', 'echo a )'],
    ['an unknown program', 'no-such-program-at-all'],
    ['an unset variable under set -u', 'set -u; echo $NOT_SET'],
  ])('%s is a failure with a reason', async (_what, command) => {
    const { error = '', success } = await run(command);
    expect(success).toBe(false);
    expect(error).toMatch(hasProgram('bash') ? /^Exit code \d+\nbash: / : /^Exit code \d+\n.+/);
  });

  test.each([
    ['quotes', `echo "it's" 'a "b"' \\$c \`echo d\``, 'it\'s a "b" $c d'],
    ['a here-document', "cat <<'E'\n$a `b` 'c'\nE\necho d", "$a `b` 'c'\nd"],
    ['a here-document that ends the command', 'cat <<E\na\nE', 'a'],
    ['a comment at its end', 'echo a # and no more', 'a'],
    ['a line that goes on', 'echo a \\\n b', 'a b'],
    ['an unset variable', 'echo "[$NOT_SET]" "$#" "$1"', '[] 0'],
    ['a function and a job', 'f() { echo f; }; f & wait; echo g', 'f\ng'],
    ['a loop over lines', 'printf "a\\nb\\n" | while read -r x; do echo "<$x>"; done', '<a>\n<b>'],
    ['noclobber', 'set -C; echo a', 'a'],
    ['stdout closed', 'echo a; exec >&-; true', 'a'],
  ])('with %s works as in a shell', async (_what, command, stdout) => {
    expect(await run(command)).toEqual(done(stdout));
  });

  inBash.each([
    ['set -x', 'set -x; echo a 2>&1', '+++ echo a\na'],
    ['process substitution', 'cat <(echo a) <(echo b)', 'a\nb'],
  ])(`with %s works as in bash${where}`, async (_what, command, stdout) => {
    expect(await run(command)).toEqual(done(stdout));
  });

  test('may be longer than an argument of a program', async () => {
    const text = 'x'.repeat(300_000);
    expect(await run(`cat <<'E' | wc -c\n${text}\nE`)).toEqual(done('300001'));
  });

  test('has an empty input, under any of its names', async () => {
    expect(await run('cat; cat /dev/stdin; read -r x; echo "$?[$x]"')).toEqual(done('1[]'));
  });

  test('does not see more of the environment than it gets', async () => {
    const { toolContext } = createToolFixture({
      environment: () => ({ PATH: '/usr/bin:/bin', COLOUR: 'blue' }),
    });
    const command =
      'env | cut -d= -f1 | sort | grep -vx -e _ -e SHLVL -e PWD -e OLDPWD -e HOOKLINE_PROCESS';
    expect(await use(bashTool, toolContext, { command })).toEqual(done('COLOUR\nPATH'));
  });

  test('runs in sh when there is no bash', async () => {
    const programs = createDirectory();
    for (const name of ['sh', 'cat']) symlinkSync(`/bin/${name}`, path.join(programs, name));
    const { toolContext, moves, start } = createToolFixture({
      environment: () => ({ PATH: programs }),
    });
    mkdirSync(path.join(start, 'd'));
    const command = 'cd d; echo "$0" "$#"; echo err >&2; exit 7';
    expect(await use(bashTool, toolContext, { command })).toEqual(
      failed('Exit code 7\nsh 0\nerr', 7),
    );
    expect(moves).toEqual([path.join(start, 'd')]);
  });
});

describe('the shell text of hooks', () => {
  function after(prelude: string, command: string) {
    return use(bashTool, createToolFixture({ shellPrelude: () => prelude }).toolContext, {
      command,
    });
  }

  test('sets variables, exported or not, and leaves no exit code', async () => {
    const prelude = 'export E=one\nM=plain\nfalse';
    expect(await after(prelude, 'echo "E=$E M=$M X=$?"')).toEqual(done('E=one M=plain X=0'));
  });

  inBash(`with a syntax error is seen, and the command runs all the same${where}`, async () => {
    const { text, success } = await after('if then', 'echo ran');
    expect(success).toBe(true);
    expect(text).toMatch(/^bash: .*syntax error.*\nran$/s);
  });

  test('may end in a comment or a backslash', async () => {
    expect(await after('A=1 # one', 'echo $A')).toEqual(done('1'));
    expect(await after('A=1 \\', 'echo $A')).toEqual(done('1'));
  });

  test('cannot be seen in the list of processes', async () => {
    const { text } = await after('SECRET=hunter2', 'cat /proc/$$/cmdline /proc/$PPID/cmdline');
    expect(text).not.toContain('hunter2');
  });
});

describe('a command that does not end', () => {
  test('is ended when its time is up, with all it started', async () => {
    const { toolContext, start } = createToolFixture();
    const command = 'trap "" TERM; echo $$; sleep 100 & echo $!; setsid sleep 100 & wait; wait';
    const { output, timeout } = await withEnoughTime(
      500,
      async (limitMs) => ({
        timeout: limitMs,
        output: await use(bashTool, toolContext, { command, timeout: limitMs }),
      }),
      (input) => pidsIn(input.output.text).length === 2,
    );
    expect(
      output.error?.startsWith(`Command timed out after ${timeout / 1000}s and was ended`),
    ).toBe(true);
    expect(output.success).toBe(false);
    const pids = pidsIn(output.text);
    expect(pids).toHaveLength(2);
    await until(() => pids.every((pid) => !isAlive(pid)));
    expect(toolContext.cwd()).toBe(start);
  });

  test('is ended when the user interrupts it', async () => {
    const stopping = new AbortController();
    const output = await run('echo $$; sleep 100', {
      signal: stopping.signal,
      onProgress: () => stopping.abort(),
    });
    const [pid = 0] = pidsIn(output.text);
    const error = `${pid}\n<error>Command was aborted before completion</error>`;
    expect(output).toEqual({
      response: response(String(pid), { interrupted: true }),
      text: error,
      success: false,
      error,
      interrupted: true,
    });
    expect(isAlive(pid)).toBe(false);
  });

  test('is not started when the user has interrupted already', async () => {
    const { toolContext, start } = createToolFixture();
    const signal = AbortSignal.abort();
    const output = await use(bashTool, toolContext, { command: 'touch made' }, { signal });
    expect(output).toMatchObject({ success: false, interrupted: true });
    expect(existsSync(path.join(start, 'made'))).toBe(false);
  });

  test('but leaves a daemon that holds its output is not waited for', async () => {
    const output = await run('sleep 100 & echo $!');
    const [pid = 0] = pidsIn(output.text);
    process.kill(pid);
    expect(output).toEqual(done(String(pid)));
  });

  test('leaves no files behind', async () => {
    const temporary = createDirectory();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    await run('exec sleep 0');
    await use(bashTool, createToolFixture().toolContext, { command: 'sleep 100', timeout: 100 });
    expect(readdirSync(temporary).filter((name) => name.includes('shell'))).toEqual([]);
  });
});

describe('programs that a command leaves running', () => {
  const PROGRAM = `sh -c 'echo $$ > new; mv new begun; exec sleep 100' > out 2>&1`;
  const HAS_BEGUN = 'until [ -e begun ]; do sleep 0.01; done';

  async function leave(started: string, more: Readonly<Record<string, unknown>> = {}) {
    const { toolContext, start } = createToolFixture();
    const command = `${started.replace('PROGRAM', () => PROGRAM)}\n${HAS_BEGUN}`;
    await use(bashTool, toolContext, { command, ...more });
    const startedFile = path.join(start, 'begun');
    await until(() => existsSync(startedFile));
    const pid = Number(readFileSync(startedFile, 'utf8'));
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    return { toolContext, pid };
  }

  test.each([
    ['in the background', 'PROGRAM &', {}],
    ['in a subshell', '(PROGRAM &)', {}],
    ['of a command in the background', 'PROGRAM &', { run_in_background: true }],
  ])('%s goes on, and ends with the session', async (_name, command, more) => {
    const { toolContext, pid } = await leave(command, more);
    await use(bashTool, toolContext, { command: 'true' });
    expect(isAlive(pid)).toBe(true);
    await until(() => toolContext.shells.list().every(({ status }) => status !== 'running'));
    await toolContext.shells.closeAll();
    await until(() => !isAlive(pid));
  });

  const DETACHED: readonly (readonly [string, string])[] = [
    ['nohup', 'nohup PROGRAM &'],
    ...(hasProgram('setsid') ? [['setsid', 'setsid PROGRAM &'] as const] : []),
    ...(hasProgram('bash') ? [['disown', 'PROGRAM & disown'] as const] : []),
  ];

  test.each(DETACHED)(
    'with %s outlives the session, which its user asked for',
    async (_name, command) => {
      const { toolContext, pid } = await leave(command);
      const other = await use(bashTool, toolContext, { command: 'sleep 100 & echo $!' });
      const [ended = 0] = pidsIn(other.text);
      await toolContext.shells.closeAll();
      await until(() => !isAlive(ended));
      expect(isAlive(pid)).toBe(true);
    },
  );
});

describe('the working directory', () => {
  test('is kept, also when the command fails or exits', async () => {
    const { toolContext, start, moves } = createToolFixture({}, { 'a b/c/x': '' });
    await use(bashTool, toolContext, { command: 'cd "a b"' });
    await use(bashTool, toolContext, { command: 'cd c; exit 3' });
    expect(moves).toEqual([path.join(start, 'a b'), path.join(start, 'a b/c')]);
    expect(await use(bashTool, toolContext, { command: 'pwd' })).toEqual(
      done(path.join(start, 'a b/c')),
    );
  });

  test('of a subshell, or of a shell that is replaced, does not count', async () => {
    const { toolContext, moves } = createToolFixture({}, { 'd/x': '' });
    await use(bashTool, toolContext, { command: '(cd d); cd d; exec true' });
    expect(moves).toEqual([]);
  });

  test('does not change when a link leads to it', async () => {
    const real = createDirectory();
    const link = path.join(createDirectory(), 'link');
    symlinkSync(real, link);
    const { toolContext, moves } = createToolFixture({
      cwd: () => link,
      startDirectory: link,
      workspaceRoots: [link],
    });
    expect(await use(bashTool, toolContext, { command: 'echo a' })).toEqual(done('a'));
    expect(moves).toEqual([]);
  });

  test('outside the workspace is left again', async () => {
    const elsewhere = createDirectory();
    const { toolContext, start, moves } = createToolFixture({}, { 'd/x': '' });
    await use(bashTool, toolContext, { command: 'cd d' });
    const note = `Shell cwd was reset to ${start}`;
    expect(await use(bashTool, toolContext, { command: `cd ${elsewhere}; echo a` })).toEqual({
      response: response('a', { stderr: note }),
      text: `a\n${note}`,
      success: true,
      exitCode: 0,
    });
    expect(moves).toEqual([path.join(start, 'd'), start]);
    expect(await use(bashTool, toolContext, { command: `cd ${elsewhere}; exit 3` })).toEqual(
      failed(`Exit code 3\n${note}`, 3),
    );
  });

  test('may be one that a user added', async () => {
    const added = createDirectory({ 'd/x': '' });
    const { toolContext, moves } = createToolFixture({ allowedDirectories: () => [added] });
    expect(await use(bashTool, toolContext, { command: `cd ${added}/d && pwd` })).toEqual(
      done(path.join(added, 'd')),
    );
    expect(moves).toEqual([path.join(added, 'd')]);
  });

  test('that the command itself removed is replaced by the start directory', async () => {
    const { toolContext, start } = createToolFixture();
    const command = 'mkdir d; cd d; rmdir ../d';
    const { text, success } = await use(bashTool, toolContext, { command });
    expect({ success, cwd: toolContext.cwd() }).toEqual({ success: true, cwd: start });
    expect(text).not.toContain('pwd');
    const inside = await use(bashTool, toolContext, { command: 'mkdir e; cd e' });
    expect(inside.success).toBe(true);
    const removed = await use(bashTool, toolContext, { command: `rmdir ${start}/e; exit 1` });
    expect(removed.error).toBe(
      `Exit code 1\nThe directory ${start}/e does not exist any more. Shell cwd was reset to ${start}`,
    );
    expect(toolContext.cwd()).toBe(start);
  });

  test('that vanished between two commands is replaced by the start directory', async () => {
    const { toolContext, start } = createToolFixture({}, { 'd/x': '' });
    await use(bashTool, toolContext, { command: 'cd d' });
    rmSync(path.join(start, 'd'), { recursive: true });
    const output = await use(bashTool, toolContext, { command: 'pwd' });
    expect(output.text).toBe(
      `${start}\nThe directory ${start}/d does not exist any more. Shell cwd was reset to ${start}`,
    );
  });

  test('that is gone for good is a failure that names it', async () => {
    const missingDirectory = path.join(createDirectory(), 'gone');
    const { toolContext } = createToolFixture({
      cwd: () => missingDirectory,
      startDirectory: missingDirectory,
    });
    expect((await use(bashTool, toolContext, { command: 'pwd' })).error).toContain(
      `its working directory ${missingDirectory} does not exist.`,
    );
  });
});

describe('a call that cannot work', () => {
  test.each([
    [{}, 'expected "command" to be text, found nothing'],
    [{ command: ' ' }, 'expected "command" to be text that is not empty, found the text " "'],
    [
      { command: 'a\0b' },
      String.raw`expected "command" to be text without NUL characters, found the text "a\u0000b"`,
    ],
    [
      { command: 'a', timeout: 0 },
      'expected "timeout" to be a whole number from 1 on, found a number: 0',
    ],
    [
      { command: 'a', run_in_background: 'x' },
      'expected "run_in_background" to be true or false, found the text "x"',
    ],
  ])('%j', (input, message) => {
    expect(bashTool.prepare(input, createToolFixture().toolContext)).toBe(message);
  });

  test('hooks see what the model gave', () => {
    const input = { command: 'ls', description: 'list', timeout: 5 };
    expect(bashTool.prepare(input, createToolFixture().toolContext)).toMatchObject({ input });
  });
});
