import path from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { startHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import { startEditor, joinAgentText } from './acp-editor.ts';
import { DONE } from './agent-run.ts';

/** Sends each line once the one before it was answered, and leaves after the last. */
async function talk(
  workspace: TempWorkspace,
  lines: readonly string[],
): Promise<readonly unknown[]> {
  const script = write(workspace.directory, 'script.json', JSON.stringify([DONE]));
  const child = startHookline(['acp', '--script', script], at(workspace), {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let answers = '';
  child.stdout?.on('data', (chunk: Buffer) => (answers += chunk.toString()));
  for (const [sent, line] of lines.entries()) {
    child.stdin?.write(`${line}\n`);
    await until(() => answers.split('\n').length === sent + 2);
  }
  child.stdin?.end(UNANSWERED.map((line) => `${line}\n`).join(''));
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  return [...codesOf(answers), code];
}

const UNANSWERED = [
  '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"no"}}',
  '{"jsonrpc":"2.0","method":"nonsense"}',
  '{"jsonrpc":"2.0","id":99,"result":{}}',
  '{"jsonrpc":"2.0","id":98,"method":"session/li',
];

function codesOf(stdout: string): readonly unknown[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ id, error }) => [id, error?.code ?? 'fine']);
}

test('garbage is answered with errors, and the rest is served', async () => {
  const events = await talk(createTempWorkspace(), [
    'this is no JSON',
    '[1, 2]',
    '42',
    '{"id":"x"',
    '\u0000\u0001',
    '{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}',
    '{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":1}}',
    '{"jsonrpc":"2.0","id":3,"method":"session/dance","params":{}}',
    '{"jsonrpc":"2.0","id":4,"method":"session/new","params":{"cwd":5}}',
    '{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"no","prompt":[]}}',
    '{"jsonrpc":"2.0","id":6,"method":"session/load","params":{"sessionId":"../..","cwd":"/","mcpServers":[]}}',
    '{"jsonrpc":"2.0","id":7,"method":"session/list","params":{}}',
  ]);
  expect(events).toStrictEqual([
    [null, -32_700],
    [null, -32_600],
    [null, -32_600],
    [null, -32_700],
    [null, -32_700],
    [1, -32_600],
    [2, 'fine'],
    [3, -32_601],
    [4, -32_602],
    [5, -32_002],
    [6, -32_002],
    [7, 'fine'],
    [null, -32_700],
    0,
  ]);
});

test('wrong requests say what is wrong, and the session goes on', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [{ text: 'Fine.' }]);
  const sessionId = await editor.open();
  const { session } = methods.agent;
  const { agent } = editor;
  const missing = path.join(workspace.directory, 'missing');
  const failing = [
    agent.request(session.new, { cwd: 'relative', mcpServers: [] }),
    agent.request(session.new, { cwd: missing, mcpServers: [] }),
    agent.request(session.setMode, { sessionId, modeId: 'reckless' }),
    agent.request(session.setConfigOption, { sessionId, configId: 'colour', value: 'red' }),
    agent.request(session.prompt, { sessionId, prompt: [] }),
    agent.request(session.list, { cursor: 'x' }),
  ];
  const settled = await Promise.allSettled(failing);
  const outcomes = settled.map((each) =>
    each.status === 'rejected' ? String(each.reason) : 'fine',
  );
  expect(outcomes.map((text) => text.replace('RequestError: ', ''))).toStrictEqual([
    'a session needs absolute paths of directories that exist, found "relative"',
    `a session needs absolute paths of directories that exist, found "${missing}"`,
    'mode "reckless" not found',
    'option "colour" not found',
    'the prompt is empty',
    '"x" is not a cursor of this list',
  ]);
  expect(await editor.say(sessionId, 'hi')).toBe('end_turn');
  expect(joinAgentText(editor.updates())).toBe('Fine.');
});

test('a second prompt is refused while one is worked on', async () => {
  const workspace = createTempWorkspace();
  const ask = { tools: [{ name: 'Write', input: { file_path: 'a', content: '' } }] };
  const editor = await startEditor(workspace, [ask, DONE], {
    async approve({ sessionId }) {
      await expect(editor.say(sessionId, 'and another')).rejects.toMatchObject({ code: -32_600 });
      return { outcome: { outcome: 'selected', optionId: 'reject' } };
    },
  });
  expect(await editor.say(await editor.open(), 'write')).toBe('end_turn');
  expect(editor.asked.length).toBe(1);
});

test('a model that fails is an error with its message', async () => {
  const editor = await startEditor(createTempWorkspace(), [
    { failure: { class: 'authentication_failed', message: 'No.' } },
  ]);
  await expect(editor.say(await editor.open(), 'hi')).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringContaining('No.'),
  });
});

test('a message larger than any should be ends the connection, and says so', async () => {
  const workspace = createTempWorkspace();
  const child = startHookline(['acp'], at(workspace), { stdio: ['pipe', 'ignore', 'pipe'] });
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stdin?.on('error', () => undefined);
  child.stdin?.write(Buffer.alloc(33 * 1024 * 1024, 'x'));
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  expect([code, text]).toStrictEqual([
    0,
    'note: the connection broke: Incoming ACP data exceeds the configured 33554432 byte limit\n',
  ]);
});

test('a signal ends the sessions', async () => {
  const editor = await startEditor(createTempWorkspace(), [DONE]);
  await editor.open();
  const closed = new Promise((resolve) => {
    editor.child.on('close', resolve);
  });
  editor.child.kill('SIGTERM');
  expect(await closed).toBe(130);
});

test('what code in the process writes to stdout goes to stderr', async () => {
  const workspace = createTempWorkspace();
  // Prints once the protocol owns stdout.
  const noisy = write(
    workspace.directory,
    'noisy.cjs',
    `const { write } = process.stdout;
const timer = setInterval(() => {
  if (process.stdout.write === write) return;
  clearInterval(timer);
  console.log('noise');
}, 5);`,
  );
  const editor = await startEditor(workspace, [{ text: 'Fine.' }], {
    env: { NODE_OPTIONS: `--require ${noisy}` },
  });
  const sessionId = await editor.open();
  await until(() => editor.stderr().includes('noise\n'));
  expect(await editor.say(sessionId, 'hi')).toBe('end_turn');
  expect(await editor.leave()).toBe(0);
});

test('a session that another process has open is not loaded', async () => {
  const workspace = createTempWorkspace();
  const one = await startEditor(workspace, [DONE]);
  const sessionId = await one.open();
  await one.say(sessionId, 'hi');
  const other = await startEditor(workspace, [DONE]);
  const load = { sessionId, cwd: workspace.repo, mcpServers: [] };
  await expect(other.agent.request(methods.agent.session.load, load)).rejects.toMatchObject({
    code: -32_600,
    data: { code: 'SESSION_BUSY' },
  });
  expect(await one.leave()).toBe(0);
  await other.agent.request(methods.agent.session.load, load);
  expect(await other.say(sessionId, 'again')).toBe('end_turn');
});
