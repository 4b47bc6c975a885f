import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { deadService } from '../agent/models/services.ts';
import { type HooklineResult, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { bash, DONE, errorOf, runScript, toolEnds, transcriptOf } from './agent-run.ts';
import { flagsFor, type SentMessage, type Service, startService } from './service.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];
const STREAM = ['--output', 'stream-json'];

function runAgainst(
  workspace: TempWorkspace,
  service: Pick<Service, 'url'>,
  args: readonly string[] = [],
) {
  return runHookline(['run', 'do it', ...flagsFor(service), ...args], at(workspace));
}

/** Resumes the last session; returns what the model is then sent. */
async function resume(workspace: TempWorkspace): Promise<readonly SentMessage[]> {
  const service = await startService([{ text: 'Resumed.' }]);
  const args = ['run', 'go on', '--continue', ...flagsFor(service)];
  expect(await runHookline(args, at(workspace))).toEqual({
    code: 0,
    stdout: 'Resumed.\n',
    stderr: '',
  });
  const { messages = [] } = service.requests()[0] ?? {};
  expect(messages.at(-1)).toMatchObject({ role: 'user', text: expect.stringMatching(/go on$/) });
  return messages;
}

function lastResult(service: Service): string {
  return service.requests().at(-1)?.messages.at(-1)?.text ?? '';
}

describe('a model that misbehaves', () => {
  it('a stream that is cut is requested again, and nothing of the first is kept', async () => {
    const workspace = createTempWorkspace();
    const service = await startService([{ text: 'The whole answer.' }]);
    service.mock.prependFixture({
      match: { sequenceIndex: 0 },
      response: { content: 'Half of an answer that never '.repeat(5) },
      truncateAfterChunks: 4,
      chunkSize: 4,
      latency: 10,
    });
    const result = await runAgainst(workspace, service);
    expect(result).toMatchObject({ code: 0, stdout: 'The whole answer.\n' });
    expect(result.stderr).toMatch(
      /^The OpenAI-compatible server sent an incomplete or invalid answer.* Retrying in .*\.\n$/,
    );
    expect(service.requests()).toHaveLength(2);
    expect((await resume(workspace)).map(({ text }) => text)).toEqual([
      'do it',
      'The whole answer.',
      'go on',
    ]);
  });

  it('arguments that are no JSON are an error for the model, which may try again', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'the content of a\n' });
    const service = await startService([{ text: 'I saw it.' }]);
    service.mock.prependFixture({
      match: { sequenceIndex: 0 },
      response: { toolCalls: [{ id: 'c1', name: 'Read', arguments: '{"file_path": "a.t' }] },
    });
    const result = await runAgainst(workspace, service);
    expect(result).toEqual({ code: 0, stdout: 'I saw it.\n', stderr: '' });
    expect(lastResult(service)).toBe(
      'The arguments of Read are not valid JSON: {"file_path": "a.t',
    );
    expect(await resume(workspace)).toHaveLength(5);
  });

  it.each([
    [{ file_path: 7 }, /file_path/],
    [{}, /file_path/],
    [['a.txt'], /object/],
    [null, /file_path|object/],
    ['{"file_path":', /not valid JSON/],
  ])('arguments %j that do not fit are named', async (input, pattern) => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    const turns = [{ tools: [{ name: 'Read', input }] }, DONE];
    const result = await runScript(workspace, turns, ['do it', ...STREAM]);
    expect(result.code).toBe(0);
    expect(errorOf(toolEnds(result)[0])).toMatch(pattern);
    await resume(workspace);
  });

  it('an unknown tool is named, with the existing ones', async () => {
    const workspace = createTempWorkspace();
    const turns = [{ tools: [{ name: 'Bsh', input: { command: 'ls' } }] }, DONE];
    const result = await runScript(workspace, turns, ['do it', ...STREAM]);
    expect(result.code).toBe(0);
    expect(errorOf(toolEnds(result)[0])).toMatch(/Bsh.*Bash/);
    await resume(workspace);
  });

  it('an answer with nothing in it ends the run', async () => {
    const workspace = createTempWorkspace();
    expect(await runScript(workspace, [{}], ['do it'])).toMatchObject({ code: 0, stdout: '' });
    await resume(workspace);
  });
});

describe('a service that refuses', () => {
  it.each([
    [
      401,
      'failed: The OpenAI-compatible server rejected the API key (HTTP 401); set OPENAI_COMPATIBLE_API_KEY, or "model.key" in the configuration, or pass --key.\n',
    ],
    [
      404,
      'failed: The OpenAI-compatible server has no model "gpt-4o" at URL/v1 (HTTP 404); set another with --model, or another address with --base-url.\n',
    ],
    [
      400,
      'failed: The OpenAI-compatible server rejected the request for gpt-4o as invalid (HTTP 400): because\n',
    ],
  ])('with %i is reported in one sentence', async (status, stderr) => {
    const workspace = createTempWorkspace();
    const service = await startService([{ text: 'Never.' }]);
    service.mock.nextRequestError(status, { message: 'because' });
    expect(await runAgainst(workspace, service)).toEqual({
      code: 1,
      stdout: '',
      stderr: stderr.replace('URL', service.url),
    });
    expect(service.requests()).toHaveLength(1);
    expect((await resume(workspace)).map(({ text }) => text)).toEqual(['do it\ngo on']);
  });

  it('with 429 is asked again', async () => {
    const workspace = createTempWorkspace();
    const service = await startService([{ text: 'At last.' }]);
    service.mock.nextRequestError(429, { message: 'slow down' });
    const result = await runAgainst(workspace, service);
    expect(result).toMatchObject({ code: 0, stdout: 'At last.\n' });
    expect(result.stderr).toMatch(
      /^The OpenAI-compatible server rate-limited the request for gpt-4o \(HTTP 429\)\. Retrying in /,
    );
    expect(service.requests()).toHaveLength(2);
  });

  it('for ever, or that does not exist, ends the run after some tries', async () => {
    const [overloaded, unreachable] = [createTempWorkspace(), createTempWorkspace()];
    const service = await startService([]);
    service.mock.clearFixtures();
    service.mock.on({}, { error: { message: 'Overloaded' }, status: 529 });
    const deadUrl = await deadService();
    const [first, second] = await Promise.all([
      runAgainst(overloaded, service),
      runAgainst(unreachable, { url: deadUrl }),
    ]);
    const getLastLine = (result: HooklineResult) => result.stderr.trimEnd().split('\n').at(-1);
    expect(first).toMatchObject({ code: 1, stdout: '' });
    expect(getLastLine(first)).toBe(
      'failed: The OpenAI-compatible server is overloaded and could not serve gpt-4o (HTTP 529).',
    );
    expect(service.requests()).toHaveLength(5);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(getLastLine(second)).toBe(
      `failed: The OpenAI-compatible server cannot be reached at ${deadUrl}/v1 (ECONNREFUSED); check the network, or set another address with --base-url.`,
    );
    await resume(overloaded);
    await resume(unreachable);
  });
});

describe('a script that is wrong', () => {
  it.each([
    [
      '{',
      2,
      /^hookline: .*script\.json: the script is not valid JSON: .*\n {2}A script is a JSON array/,
    ],
    ['{}', 2, /^hookline: .*script\.json: the script must be an array, found object\n/],
    ['[{"txt":"x"}]', 2, /has an unknown field "txt"; did you mean "text"\?\n/],
    ['[]', 1, /^failed: The script has 0 turns and was asked for more; add a turn to it\.\n$/],
  ])('%s', async (text, code, stderr) => {
    const workspace = createTempWorkspace();
    const script = write(workspace.directory, 'script.json', text);
    const result = await runHookline(['run', 'do it', '--script', script], at(workspace));
    expect(result).toEqual({ code, stdout: '', stderr: expect.stringMatching(stderr) });
  });

  it('or missing is named', async () => {
    const workspace = createTempWorkspace();
    const result = await runHookline(['run', 'do it', '--script', 'nowhere.json'], at(workspace));
    expect(result).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^hookline: --script nowhere\.json cannot be read: file not found\n {2}Pass a file with the turns of a scripted model, such as .*\.\n$/,
      ),
    });
  });

  it('or too short leaves what was done', async () => {
    const workspace = createTempWorkspace();
    const result = await runScript(workspace, [bash('echo hi')], ['do it']);
    expect(result).toEqual({
      code: 1,
      stdout: '',
      stderr: 'failed: The script has 1 turn and was asked for more; add a turn to it.\n',
    });
    expect((await resume(workspace)).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });
});

describe('a tool whose answer is odd', () => {
  const SIZE = 50 * 1024 * 1024;

  it('of 50 MB is cut, and the rest can be found', async () => {
    const workspace = createTempWorkspace();
    const command = `head -c ${SIZE} /dev/zero | tr '\\0' x; echo; echo the end`;
    const service = await startService([
      { tools: [{ name: 'Bash', input: { command } }] },
      { text: 'Much.' },
    ]);
    const result = await runAgainst(workspace, service, BYPASS);
    expect(result).toMatchObject({ code: 0, stdout: 'Much.\n' });
    const output = lastResult(service);
    expect(output.length).toBeLessThan(100_000);
    expect(output).toContain('tool-results');
    const [session = ''] = readdirSync(path.join(workspace.home, '.hookline/sessions'));
    expect(statSync(transcriptOf(workspace, session)).size).toBeLessThan(1024 * 1024);
    const messages = await resume(workspace);
    expect(messages[2]?.text).toBe(output);
  });

  it('of 50 MB in a file is refused with the way to read a part', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.repo,
      'large.txt',
      'x'
        .repeat(79)
        .concat('\n')
        .repeat(SIZE / 80),
    );
    const createReadTurn = (input: object) => ({ tools: [{ name: 'Read', input }] });
    const service = await startService([
      createReadTurn({ file_path: 'large.txt' }),
      createReadTurn({ file_path: 'large.txt', offset: 600_000, limit: 2 }),
      { text: 'Large.' },
    ]);
    expect(await runAgainst(workspace, service)).toMatchObject({ code: 0, stdout: 'Large.\n' });
    const [whole, part] =
      service
        .requests()
        .at(-1)
        ?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(whole?.text).toMatch(/exceeds maximum allowed size .* Use offset and limit/);
    expect(part?.text).toContain('600000→');
    await resume(workspace);
  });

  it('that is binary is described in a sentence', async () => {
    const workspace = createTempWorkspace();
    write(workspace.repo, 'b.bin', Uint8Array.from([0, 159, 146, 150, 0, 1, 2, 3, 255, 254]));
    const service = await startService([
      { tools: [{ name: 'Read', input: { file_path: 'b.bin' } }] },
      { tools: [{ name: 'Bash', input: { command: 'cat b.bin' } }] },
      { text: 'Binary.' },
    ]);
    expect(await runAgainst(workspace, service, BYPASS)).toMatchObject({
      code: 0,
      stdout: 'Binary.\n',
    });
    const results =
      service
        .requests()
        .at(-1)
        ?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(results[0]?.text).toContain('b.bin is a binary file, which this tool cannot show.');
    expect(results).toHaveLength(2);
    await resume(workspace);
  });
});

describe('a file that others touch meanwhile', () => {
  const edit = {
    tools: [{ name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } }],
  };
  const createReadTurn = { tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] };

  it.each([
    ['not read before', [edit], /read/i],
    ['changed', [createReadTurn, bash('echo one more > a.txt'), edit], /modified|changed/i],
    ['gone', [createReadTurn, bash('rm a.txt'), edit], /does not exist/i],
    ['a directory now', [createReadTurn, bash('rm a.txt; mkdir a.txt'), edit], /directory/i],
  ])('is not edited when it is %s', async (_what, turns, pattern) => {
    const workspace = createTempWorkspace({ 'a.txt': 'one\n' });
    const result = await runScript(workspace, [...turns, DONE], ['do it', ...BYPASS, ...STREAM]);
    expect(result.code).toBe(0);
    expect(errorOf(toolEnds(result).at(-1))).toMatch(pattern);
    await resume(workspace);
  });
});

describe('a directory that is not as usual', () => {
  it('need not be a git repository', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'one\n' });
    rmSync(path.join(workspace.repo, '.git'), { recursive: true });
    const service = await startService([
      { tools: [{ name: 'Grep', input: { pattern: 'one' } }] },
      { text: 'Found.' },
    ]);
    expect(await runAgainst(workspace, service)).toEqual({
      code: 0,
      stdout: 'Found.\n',
      stderr: '',
    });
    expect(service.requests()[0]?.system).toContain('Git repository: no');
    expect(lastResult(service)).toContain('a.txt');
    await resume(workspace);
  });

  it('may vanish while the agent works in it', async () => {
    const workspace = createTempWorkspace();
    mkdirSync(path.join(workspace.repo, 'sub'));
    const turns = [bash('cd sub'), bash(`rm -r '${workspace.repo}/sub'`), bash('pwd'), DONE];
    const result = await runScript(workspace, turns, ['do it', ...BYPASS, ...STREAM]);
    expect(result.code).toBe(0);
    expect(JSON.stringify(toolEnds(result)[2]?.['output'])).toContain(workspace.repo);
    await resume(workspace);
  });
});
