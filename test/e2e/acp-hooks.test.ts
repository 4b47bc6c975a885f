import { existsSync } from 'node:fs';
import path from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import {
  answering,
  createTempWorkspace,
  GLOBAL_HOOKS,
  HOOKS,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import { startEditor, joinAgentText } from './acp-editor.ts';
import { bash, DONE } from './agent-run.ts';
import { claudeHooks } from './hook-log.ts';

test('hooks that allow a prompt send no update', async () => {
  const workspace = createTempWorkspace();
  claudeHooks(workspace, { UserPromptSubmit: 'cat > /dev/null', Stop: 'cat > /dev/null' });
  const editor = await startEditor(workspace, [DONE]);
  await editor.say(await editor.open(), 'hi');
  expect(editor.updates()).toStrictEqual([
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Done.' } },
  ]);
});

test('a hook that denies a call is reported at the call', async () => {
  const workspace = createTempWorkspace();
  write(
    workspace.home,
    `${GLOBAL_HOOKS}/PreToolUse`,
    answering({ cancel: true, errorMessage: 'not on Mondays' }),
  );
  const editor = await startEditor(workspace, [bash('ls'), DONE]);
  await editor.say(await editor.open(), 'look');
  expect(editor.updates().at(1)).toMatchObject({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call_1',
    status: 'failed',
    content: [
      {
        type: 'content',
        content: {
          type: 'text',
          text: expect.stringMatching(/not on Mondays \(cline:global:PreToolUse\)/),
        },
      },
    ],
    rawOutput: expect.stringContaining('not on Mondays'),
  });
});

test('a hook that refuses a prompt or ends a run is named', async () => {
  for (const [event, command] of [
    ['UserPromptSubmit', 'cat > /dev/null; echo not today >&2; exit 2'],
    ['PreToolUse', `cat > /dev/null; echo '{"continue": false, "stopReason": "not today"}'`],
  ] as const) {
    const workspace = createTempWorkspace();
    claudeHooks(workspace, { [event]: command });
    const editor = await startEditor(workspace, [bash('ls'), DONE]);
    await editor.say(await editor.open(), 'hi');
    expect(joinAgentText(editor.updates())).toMatch(
      new RegExp(`not today[^]*\\(claude:user:${event}:cat\\)`),
    );
  }
});

test('a mistyped key of an answer, and a failure with its hint, are warnings', async () => {
  const workspace = createTempWorkspace();
  write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({ cancle: true }));
  write(workspace.home, `${GLOBAL_HOOKS}/UserPromptSubmit`, '#!/bin/sh\nexit 3\n');
  const editor = await startEditor(workspace, [bash('ls'), DONE]);
  await editor.say(await editor.open(), 'look');
  const text = joinAgentText(editor.updates());
  expect(text).toContain(
    '> The hook cline:global:PreToolUse: unknown field "cancle", not read: did you mean "cancel"?',
  );
  expect(text).toContain('> Exit with 0 and print one JSON object: {"cancel": true,');
});

test('an untrusted hook is reported once, as a quotation', async () => {
  const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering({}) });
  const editor = await startEditor(workspace, [bash('ls'), bash('pwd'), DONE]);
  await editor.say(await editor.open(), 'look');
  const [, ...reports] = joinAgentText(editor.updates()).split('> The hook ');
  expect(reports).toStrictEqual([
    'cline:workspace:PreToolUse was not run: untrusted: it was never trusted here. `hookline trust` shows it and lets it run.\n\nDone.',
  ]);
});

test('an editor that supports notices gets notices: a hook’s message, and its failure', async () => {
  const workspace = createTempWorkspace();
  const message = JSON.stringify({ systemMessage: 'mind the gap' });
  claudeHooks(workspace, {
    UserPromptSubmit: `cat > /dev/null; echo '${message}'`,
    Stop: 'cat > /dev/null; echo broken >&2; exit 1',
  });
  const editor = await startEditor(workspace, [DONE], {
    capabilities: { session: { notices: {} } },
  });
  await editor.say(await editor.open(), 'hi');
  const notices = editor
    .updates()
    .flatMap((update) => (update.sessionUpdate === 'notice' ? [update] : []));
  expect(notices.map(({ severity, title }) => [severity, title.slice(0, 26)])).toStrictEqual([
    ['info', 'UserPromptSubmit (claude:u'],
    ['warning', 'The hook claude:user:Stop:'],
  ]);
  expect(joinAgentText(editor.updates())).toBe('Done.');
});

test('a hook that fails again is reported again', async () => {
  const workspace = createTempWorkspace();
  claudeHooks(workspace, { Stop: 'cat > /dev/null; echo broken >&2; exit 1' });
  const editor = await startEditor(workspace, [DONE, DONE]);
  const sessionId = await editor.open();
  await editor.say(sessionId, 'hi');
  await editor.say(sessionId, 'again');
  const [, ...reports] = joinAgentText(editor.updates()).split('> The hook claude:user:Stop:');
  expect(reports.length).toBe(2);
});

test('the message of a background hook is sent when it arrives', async () => {
  const workspace = createTempWorkspace();
  const message = JSON.stringify({ systemMessage: 'the build is green' });
  const command = `cat > /dev/null; until [ -e '${workspace.repo}/go' ]; do sleep 0.05; done; echo '${message}'`;
  const hooks = { UserPromptSubmit: [{ hooks: [{ type: 'command', command, async: true }] }] };
  write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
  const editor = await startEditor(workspace, [DONE]);
  await editor.say(await editor.open(), 'hi');
  expect(joinAgentText(editor.updates())).toBe('Done.');
  write(workspace.repo, 'go', '');
  await until(() => joinAgentText(editor.updates()) !== 'Done.');
  expect(joinAgentText(editor.updates())).toMatch(
    /^Done\.\n\n> UserPromptSubmit \(claude:user:UserPromptSubmit:\S+\) says: the build is green\n\n$/u,
  );
});

test('a prompt that a hook refuses ends its turn, and the reason is sent', async () => {
  const workspace = createTempWorkspace();
  claudeHooks(workspace, { UserPromptSubmit: 'cat > /dev/null; echo "no such words" >&2; exit 2' });
  const editor = await startEditor(workspace, [DONE]);
  expect(await editor.say(await editor.open(), 'hi')).toBe('end_turn');
  expect(joinAgentText(editor.updates())).toContain('no such words');
});

test('only the text that hooks made of the model’s answer is sent', async () => {
  const workspace = createTempWorkspace();
  const display = {
    hookSpecificOutput: { hookEventName: 'MessageDisplay', displayContent: '***' },
  };
  claudeHooks(workspace, { MessageDisplay: `cat > /dev/null; echo '${JSON.stringify(display)}'` });
  const editor = await startEditor(workspace, [{ text: 'The password is secret.' }]);
  await editor.say(await editor.open(), 'hi');
  expect(joinAgentText(editor.updates())).toBe('***');
});

test('a hook that would change the model’s text, and may not run, does not hold it up', async () => {
  const hooks = { MessageDisplay: [{ hooks: [{ type: 'command', command: 'cat' }] }] };
  const workspace = createTempWorkspace({ '.claude/settings.json': JSON.stringify({ hooks }) });
  const editor = await startEditor(workspace, [{ text: 'Hello there.' }]);
  await editor.say(await editor.open(), 'hi');
  const streamed = editor
    .updates()
    .flatMap((update) => (update.sessionUpdate === 'agent_message_chunk' ? [update.content] : []))
    .filter((content) => content.type === 'text' && !content.text.includes('> '));
  expect(streamed).toStrictEqual([
    { type: 'text', text: 'Hello ' },
    { type: 'text', text: 'there.' },
  ]);
});

test('nothing of an untrusted workspace runs: no hook, no MCP server', async () => {
  const workspace = createTempWorkspace();
  const traces = ['cline', 'claude', 'server'].map((name) => path.join(workspace.directory, name));
  const [cline = '', claude = '', server = ''] = traces;
  const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: `touch '${claude}'` }] }] };
  const mcpServers = { ours: { command: 'touch', args: [server] } };
  write(workspace.repo, `${HOOKS}/PreToolUse`, `#!/bin/sh\ntouch '${cline}'\necho '{}'\n`);
  write(workspace.repo, '.claude/settings.json', JSON.stringify({ hooks }));
  write(workspace.repo, '.mcp.json', JSON.stringify({ mcpServers }));
  const runAll = async (): Promise<string> => {
    const editor = await startEditor(workspace, [bash('ls'), DONE]);
    await editor.say(await editor.open(), 'look');
    expect(await editor.leave()).toBe(0);
    return joinAgentText(editor.updates());
  };
  const text = await runAll();
  expect(traces.filter((file) => existsSync(file))).toStrictEqual([]);
  expect(text).toContain('The hook cline:workspace:PreToolUse was not run: untrusted');
  expect(text).toContain('The hook claude:project:SessionStart:touch was not run: untrusted');
  expect(text).toContain('the MCP server ours (.mcp.json:1) is not started (untrusted');
  trust(workspace);
  await runAll();
  expect(traces.filter((file) => existsSync(file))).toStrictEqual(traces);
});

test('a hook may keep the model, and the editor gets the reason', async () => {
  const workspace = createTempWorkspace();
  claudeHooks(workspace, {
    PreModelSwitch: 'cat > /dev/null; echo "this one is fine" >&2; exit 2',
  });
  const editor = await startEditor(workspace, [DONE]);
  const sessionId = await editor.open();
  const change = { sessionId, configId: 'model', value: 'other' };
  await expect(
    editor.agent.request(methods.agent.session.setConfigOption, change),
  ).rejects.toMatchObject({ code: -32_600, message: expect.stringContaining('this one is fine') });
});

test('a model switch is cancelled while its hook runs, and the model stays', async () => {
  const workspace = createTempWorkspace();
  const startedFile = path.join(workspace.directory, 'started');
  claudeHooks(workspace, { PreModelSwitch: `touch '${startedFile}'; sleep 60` });
  const editor = await startEditor(workspace, [DONE]);
  const sessionId = await editor.open();
  const promptEnd = editor.say(sessionId, '/model other');
  await until(() => existsSync(startedFile));
  await editor.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await promptEnd).toBe('cancelled');
  await editor.say(sessionId, '/model');
  expect(joinAgentText(editor.updates())).toBe('The model is scripted (scripted).');
});
