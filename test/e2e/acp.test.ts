import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { createTempWorkspace, write } from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import { choosing, startEditor, joinAgentText } from './acp-editor.ts';
import { bash, DONE } from './agent-run.ts';
import { claudeHooks, logCommand, logOf } from './hook-log.ts';

const WRITE = { name: 'Write', input: { file_path: 'note.txt', content: 'new\n' } };

test('a prompt is streamed and ends its turn', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [{ thinking: 'Hm.', text: 'Hello there.' }]);
  const id = await editor.open();
  expect(await editor.say(id, 'hi')).toBe('end_turn');
  expect(editor.updates()).toStrictEqual([
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hello ' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'there.' } },
  ]);
  expect(await editor.leave()).toBe(0);
  expect(editor.stderr()).toBe('');
});

test('a call that needs approval is sent with its change, and denied', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [{ tools: [WRITE] }, DONE], {
    approve: choosing('reject'),
  });
  const id = await editor.open();
  expect(await editor.say(id, 'write it')).toBe('end_turn');
  const file = path.join(workspace.repo, 'note.txt');
  const diff = { type: 'diff', path: file, oldText: null, newText: 'new\n' };
  expect(editor.asked).toStrictEqual([
    {
      sessionId: id,
      toolCall: {
        toolCallId: 'call_1',
        title: 'Write note.txt',
        name: 'Write',
        kind: 'edit',
        status: 'pending',
        locations: [{ path: file }],
        rawInput: { file_path: file, content: 'new\n' },
        content: [diff, expect.objectContaining({ type: 'content' })],
      },
      options: [
        { optionId: 'allow', kind: 'allow_once', name: 'Allow' },
        { optionId: 'allow-always', kind: 'allow_always', name: 'Allow all edits' },
        { optionId: 'reject', kind: 'reject_once', name: 'Reject' },
      ],
    },
  ]);
  const [started, ended] = editor.updates();
  expect(started).toStrictEqual({
    sessionUpdate: 'tool_call',
    toolCallId: 'call_1',
    title: 'Write note.txt',
    name: 'Write',
    kind: 'edit',
    status: 'in_progress',
    locations: [{ path: file }],
    content: [diff],
    rawInput: WRITE.input,
  });
  expect(ended).toStrictEqual({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call_1',
    status: 'failed',
    content: [
      diff,
      {
        type: 'content',
        content: { type: 'text', text: '```\nThe user denied this call.\n```' },
      },
    ],
    rawOutput: 'The user denied this call.',
  });
  expect(joinAgentText(editor.updates())).toBe('Done.');
  expect(existsSync(file)).toBe(false);
});

test('a call that is always allowed changes the mode, and is not asked again', async () => {
  const workspace = createTempWorkspace();
  const second = { name: 'Write', input: { file_path: 'other.txt', content: 'x' } };
  const editor = await startEditor(workspace, [{ tools: [WRITE] }, { tools: [second] }, DONE], {
    approve: choosing('allow-always'),
  });
  const id = await editor.open();
  expect(await editor.say(id, 'write both')).toBe('end_turn');
  expect(editor.asked.length).toBe(1);
  expect(readFileSync(path.join(workspace.repo, 'other.txt'), 'utf8')).toBe('x');
  expect(editor.updates()).toContainEqual({
    sessionUpdate: 'current_mode_update',
    currentModeId: 'acceptEdits',
  });
});

test('the output of a command is sent, and rules that are suggested can be taken over', async () => {
  const workspace = createTempWorkspace();
  const turns = [bash('touch made && echo one'), DONE];
  const editor = await startEditor(workspace, turns, { approve: choosing('allow') });
  const id = await editor.open();
  await editor.say(id, 'run it');
  const [request] = editor.asked;
  expect(request?.toolCall.title).toBe('`touch made && echo one`');
  expect(request?.options.map(({ name }) => name)).toStrictEqual([
    'Allow',
    'Always allow Bash(touch made)',
    'Reject',
  ]);
  expect(editor.updates().at(-2)).toMatchObject({
    sessionUpdate: 'tool_call_update',
    status: 'completed',
    content: [{ content: { text: '```console\none\n```' } }],
  });
});

test('a prompt is cancelled while an approval is pending', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [{ tools: [WRITE] }, DONE], {
    approve: () => new Promise(() => undefined),
  });
  const id = await editor.open();
  const promptEnd = editor.say(id, 'write it');
  await until(() => editor.asked.length === 1);
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
  expect(await promptEnd).toBe('cancelled');
  expect(editor.updates().at(-1)).toMatchObject({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call_1',
    status: 'failed',
  });
});

test('a prompt is cancelled while a command runs, and the session goes on', async () => {
  const workspace = createTempWorkspace();
  const startedFile = path.join(workspace.repo, 'started');
  const turns = [bash(`touch ${startedFile}; sleep 60`), { text: 'Back again.' }];
  const editor = await startEditor(workspace, turns, { approve: choosing('allow') });
  const id = await editor.open();
  const promptEnd = editor.say(id, 'wait');
  await until(() => existsSync(startedFile));
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
  expect(await promptEnd).toBe('cancelled');
  expect(await editor.say(id, 'go on')).toBe('end_turn');
  expect(joinAgentText(editor.updates())).toBe('Back again.');
});

test('a stored session is listed, loaded with all its messages, and continued', async () => {
  const workspace = createTempWorkspace({ 'a.txt': 'first\n' });
  const readCall = { name: 'Read', input: { file_path: 'a.txt' } };
  const first = await startEditor(workspace, [{ tools: [readCall] }, { text: 'I read it.' }]);
  const id = await first.open();
  await first.say(id, 'read a.txt');
  expect(await first.leave()).toBe(0);

  const editor = await startEditor(workspace, [{ text: 'Still here.' }]);
  const { sessions } = await editor.agent.request(methods.agent.session.list, {
    cwd: workspace.repo,
  });
  expect(sessions).toStrictEqual([
    { sessionId: id, cwd: workspace.repo, title: 'read a.txt', updatedAt: expect.any(String) },
  ]);
  const loaded = await editor.agent.request(methods.agent.session.load, {
    sessionId: id,
    cwd: workspace.repo,
    mcpServers: [],
  });
  expect(loaded.modes?.currentModeId).toBe('default');
  await until(() => editor.updates().length === 4);
  expect(editor.updates()).toStrictEqual([
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'read a.txt' } },
    expect.objectContaining({ sessionUpdate: 'tool_call', toolCallId: 'call_1', kind: 'read' }),
    expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed' }),
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'I read it.' } },
  ]);
  expect(await editor.say(id, 'still there?')).toBe('end_turn');
  expect(joinAgentText(editor.updates())).toBe('I read it.Still here.');
});

test('two sessions in two directories work side by side, each with its own hooks', async () => {
  const workspace = createTempWorkspace();
  const other = path.join(workspace.directory, 'other');
  write(other, 'here.txt', 'other\n');
  const editor = await startEditor(workspace, [bash('pwd'), DONE], {
    args: ['--allow', 'Bash(pwd)'],
  });
  const [one, two] = await Promise.all([editor.open(), editor.open(other)]);
  await Promise.all([editor.say(one, 'where?'), editor.say(two, 'where?')]);
  const formatUpdates = (id: string): string => JSON.stringify(editor.updates(id));
  expect([
    formatUpdates(one).includes(workspace.repo),
    formatUpdates(one).includes(other),
  ]).toStrictEqual([true, false]);
  expect([
    formatUpdates(two).includes(workspace.repo),
    formatUpdates(two).includes(other),
  ]).toStrictEqual([false, true]);
});

test('an editor that vanishes ends the run and the sessions, and leaves nothing behind', async () => {
  const workspace = createTempWorkspace();
  claudeHooks(workspace, { SessionEnd: logCommand(workspace, 'ended') });
  const startedFile = path.join(workspace.repo, 'started');
  const editor = await startEditor(workspace, [bash(`echo $$ > ${startedFile}; sleep 60`)], {
    approve: choosing('allow'),
    // The command prints its process id, which is another one in a sandbox.
    args: ['--sandbox', 'off'],
  });
  const id = await editor.open();
  const prompt = editor.say(id, 'wait').catch(() => 'gone');
  await until(() => existsSync(startedFile) && readFileSync(startedFile, 'utf8') !== '');
  const shell = Number(readFileSync(startedFile, 'utf8'));
  expect(await editor.leave()).toBe(0);
  expect(await prompt).toBe('gone');
  expect(logOf(workspace)).toStrictEqual(['ended']);
  expect(() => process.kill(shell, 0)).toThrow('ESRCH');
});
