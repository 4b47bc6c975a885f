import { methods } from '@agentclientprotocol/sdk';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createTempWorkspace, type TempWorkspace } from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import { choosing, startEditor, type TestEditor, joinAgentText } from './acp-editor.ts';
import { bash, type Script } from './agent-run.ts';
import { claudeHooks } from './hook-log.ts';

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
const TURNS: Script = [
  bash('cat token.txt'),
  { thinking: `So it is ${TOKEN} then.`, text: `It is ${TOKEN} there.` },
];

/** A workspace with a secret in it, and a hook that repeats it. */
function createWorkspaceWithSecret(): TempWorkspace {
  const workspace = createTempWorkspace({ 'token.txt': `token: ${TOKEN}\n` });
  const message = JSON.stringify({ systemMessage: `seen ${TOKEN} today` });
  claudeHooks(workspace, { UserPromptSubmit: `cat > /dev/null; echo '${message}'` });
  return workspace;
}

async function openAndPrompt(args: readonly string[]): Promise<TestEditor> {
  const editor = await startEditor(createWorkspaceWithSecret(), TURNS, {
    args: ['--allow', 'Bash(cat token.txt)', ...args],
  });
  expect(await editor.say(await editor.open(), 'look')).toBe('end_turn');
  return editor;
}

test('no secret is sent in the text of the agent, a tool or a hook', async () => {
  const editor = await openAndPrompt([]);
  const [said] = editor.updates();
  const result = editor.updates().find((each) => 'status' in each && each.status === 'completed');
  expect(said).toMatchObject({
    content: { text: expect.stringContaining('seen [redacted] today') },
  });
  expect(result).toMatchObject({
    content: [{ content: { text: '```console\ntoken: [redacted]\n```' } }],
    rawOutput: 'token: [redacted]',
  });
  expect(joinAgentText(editor.updates().slice(1))).toBe('It is [redacted] there.');
  expect(JSON.stringify(editor.allUpdates())).not.toContain(TOKEN);
});

test('--raw switches redaction off', async () => {
  const editor = await openAndPrompt(['--raw']);
  expect(joinAgentText(editor.updates())).toContain(`It is ${TOKEN} there.`);
  expect(JSON.stringify(editor.updates())).not.toContain('[redacted]');
});

test('a call that needs approval is sent exactly as it would happen', async () => {
  const workspace = createTempWorkspace();
  const file = path.join(workspace.repo, 'note.txt');
  const command = `touch made-by-${TOKEN}`;
  const call = { name: 'Write', input: { file_path: file, content: TOKEN } };
  const editor = await startEditor(
    workspace,
    [{ tools: [call] }, bash(command), { text: 'Done.' }],
    {
      approve: choosing('reject'),
    },
  );
  await editor.say(await editor.open(), 'write it');
  const [edit, run] = editor.asked;
  expect(edit?.toolCall.content?.at(0)).toStrictEqual({
    type: 'diff',
    path: file,
    oldText: null,
    newText: TOKEN,
  });
  expect(run?.toolCall).toMatchObject({ title: `\`${command}\``, rawInput: { command } });
  expect(titlesIn(editor)).toStrictEqual(['Write note.txt', '`touch made-by-[redacted]`']);
});

test('an editor gets a call before the question about it, however long redaction takes', async () => {
  const titlesWhenAsked: (readonly string[])[] = [];
  const editor = await startEditor(
    createTempWorkspace(),
    [bash(`touch ${TOKEN}`), { text: 'Done.' }],
    {
      async approve() {
        // The client may handle notifications and requests side by side.
        await expect.poll(() => titlesIn(editor)).toHaveLength(1);
        titlesWhenAsked.push(titlesIn(editor));
        return choosing('reject')();
      },
    },
  );
  await editor.say(await editor.open(), 'touch it');
  expect(titlesWhenAsked).toStrictEqual([['`touch [redacted]`']]);
});

function titlesIn(editor: TestEditor): readonly string[] {
  return editor
    .updates()
    .flatMap((update) => (update.sessionUpdate === 'tool_call' ? [update.title] : []));
}

test('a stored session is listed and loaded without secrets, in its order', async () => {
  const workspace = createTempWorkspace();
  const first = await startEditor(workspace, [{ text: `I know ${TOKEN} now.` }]);
  const sessionId = await first.open();
  await first.say(sessionId, `keep ${TOKEN} safe`);
  expect(await first.leave()).toBe(0);

  const editor = await startEditor(workspace, []);
  const { sessions } = await editor.agent.request(methods.agent.session.list, {
    cwd: workspace.repo,
  });
  expect(sessions.map(({ title }) => title)).toStrictEqual(['keep [redacted] safe']);
  const request = { sessionId, cwd: workspace.repo, mcpServers: [] };
  await editor.agent.request(methods.agent.session.load, request);
  await until(() => editor.updates().length === 2);
  expect(editor.updates()).toStrictEqual([
    {
      sessionUpdate: 'user_message_chunk',
      content: { type: 'text', text: 'keep [redacted] safe' },
    },
    {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: 'I know [redacted] now.' },
    },
  ]);
});

test('an error and a refusal hold no secret either', async () => {
  const workspace = createTempWorkspace();
  claudeHooks(workspace, {
    PreModelSwitch: `cat > /dev/null; echo "not with ${TOKEN} here" >&2; exit 2`,
  });
  const failure = { class: 'authentication_failed' as const, message: `the key ${TOKEN} is wrong` };
  const editor = await startEditor(workspace, [{ failure }]);
  const sessionId = await editor.open();
  await expect(editor.say(sessionId, 'hi')).rejects.toMatchObject({
    message: expect.stringContaining('the key [redacted] is wrong'),
  });
  const change = { sessionId, configId: 'model', value: 'other' };
  await expect(
    editor.agent.request(methods.agent.session.setConfigOption, change),
  ).rejects.toMatchObject({ message: expect.stringContaining('not with [redacted] here') });
});
