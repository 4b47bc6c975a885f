import { methods, type CreateElicitationRequest } from '@agentclientprotocol/sdk';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createTempWorkspace, type TempWorkspace } from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import { choosing, startEditor, joinAgentText } from './acp-editor.ts';
import { DONE, storedLines } from './agent-run.ts';
import { claudeHooks } from './hook-log.ts';

const QUESTION = {
  question: 'Which colour?',
  header: 'Colour',
  options: [
    { label: 'Red', description: 'like fire' },
    { label: 'Blue', description: 'like water' },
  ],
  multiSelect: false,
};
const ASK = { tools: [{ name: 'AskUserQuestion', input: { questions: [QUESTION] } }] };

test('the agent introduces itself', async () => {
  const editor = await startEditor(createTempWorkspace(), []);
  const introduced = await editor.agent.request(methods.agent.initialize, { protocolVersion: 7 });
  expect(introduced).toStrictEqual({
    protocolVersion: 1,
    agentInfo: { name: 'hookline', title: 'Hookline', version: expect.any(String) },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        list: {},
        delete: {},
        resume: {},
        close: {},
        additionalDirectories: {},
      },
    },
  });
});

test('modes are offered and set, also as an option', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [DONE], { args: ['--permission-mode', 'plan'] });
  const opened = await editor.agent.request(methods.agent.session.new, {
    cwd: workspace.repo,
    mcpServers: [],
  });
  const { sessionId } = opened;
  expect(opened.modes?.currentModeId).toBe('plan');
  expect(opened.modes?.availableModes.map(({ id }) => id)).toStrictEqual([
    'default',
    'acceptEdits',
    'plan',
    'dontAsk',
    'bypassPermissions',
  ]);
  await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'acceptEdits' });
  await until(() => editor.updates().length === 2);
  expect(editor.updates().at(0)).toStrictEqual({
    sessionUpdate: 'current_mode_update',
    currentModeId: 'acceptEdits',
  });
  const { configOptions } = await editor.agent.request(methods.agent.session.setConfigOption, {
    sessionId,
    configId: 'mode',
    value: 'default',
  });
  expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toStrictEqual([
    ['mode', 'default'],
    ['model', 'scripted'],
  ]);
});

test('slash commands are announced, own ones work, unknown ones are reported', async () => {
  const workspace = createTempWorkspace({ '.claude/commands/greet.md': 'Say hello to $1' });
  const editor = await startEditor(workspace, [{ text: 'Hello Ann.' }, { text: 'A summary.' }]);
  const id = await editor.open();
  const [commands] = editor.allUpdates().flatMap(({ update }) => update);
  expect(commands).toStrictEqual({
    sessionUpdate: 'available_commands_update',
    availableCommands: [
      expect.objectContaining({ name: 'compact' }),
      expect.objectContaining({ name: 'model' }),
      { name: 'greet', description: 'Say hello to $1', input: null },
    ],
  });
  expect(await editor.say(id, '/greet Ann')).toBe('end_turn');
  expect(await editor.say(id, '/compact')).toBe('end_turn');
  expect(await editor.say(id, '/model bigger')).toBe('end_turn');
  expect(await editor.say(id, '/greeet')).toBe('end_turn');
  expect(joinAgentText(editor.updates())).toBe(
    'Hello Ann.\n\n> Conversation compacted.\n\n' +
      'The model is bigger (scripted).' +
      '\n\n> Unknown command /greeet. Did you mean /greet?\n\n',
  );
});

test('questions are asked with buttons', async () => {
  const editor = await startEditor(createTempWorkspace(), [ASK, DONE], { approve: choosing('1') });
  await editor.say(await editor.open(), 'paint it');
  expect(editor.asked.map(({ options }) => options.map(({ name }) => name))).toStrictEqual([
    ['Red', 'Blue', 'Skip'],
  ]);
  expect(JSON.stringify(editor.updates())).toContain('→ Blue');
});

test('questions are asked with a form where the editor has forms', async () => {
  const editor = await startEditor(createTempWorkspace(), [ASK, DONE], {
    capabilities: { elicitation: { form: {} } },
    elicit: () => ({ action: 'accept', content: { answer1: 'Red' } }),
  });
  const sessionId = await editor.open();
  await editor.say(sessionId, 'paint it');
  expect(editor.elicited).toStrictEqual<CreateElicitationRequest[]>([
    {
      mode: 'form',
      sessionId,
      toolCallId: 'call_1',
      message: 'Which colour?',
      requestedSchema: {
        type: 'object',
        properties: {
          answer1: {
            type: 'string',
            title: 'Colour',
            description: 'Which colour?',
            oneOf: [
              { const: 'Red', title: 'Red', description: 'like fire' },
              { const: 'Blue', title: 'Blue', description: 'like water' },
            ],
          },
        },
        required: ['answer1'],
      },
    },
  ]);
  expect(JSON.stringify(editor.updates())).toContain('→ Red');
});

/** A place where a hook wants every switch of the model confirmed; with others. */
function askBeforeTools(
  workspace: TempWorkspace,
  others: Readonly<Record<string, string>> = {},
): TempWorkspace {
  const decision = { hookEventName: 'PreModelSwitch', permissionDecision: 'ask' };
  const answer = JSON.stringify({ hookSpecificOutput: decision });
  claudeHooks(workspace, { PreModelSwitch: `cat > /dev/null; echo '${answer}'`, ...others });
  return workspace;
}

test('a question outside of any call is not attached to the previous call', async () => {
  const editor = await startEditor(askBeforeTools(createTempWorkspace()), [ASK, DONE], {
    capabilities: { elicitation: { form: {} } },
    elicit: () => ({ action: 'accept', content: { answer1: 'Yes' } }),
  });
  const sessionId = await editor.open();
  await editor.say(sessionId, 'paint it');
  await editor.say(sessionId, '/model other');
  const calls = editor.elicited.map((asked) => ('toolCallId' in asked ? asked.toolCallId : null));
  expect(calls).toStrictEqual(['call_1', null]);
});

test('nor at one that was cancelled before it could ask', async () => {
  const workspace = createTempWorkspace();
  const startedFile = path.join(workspace.directory, 'started');
  askBeforeTools(workspace, { PreToolUse: `touch '${startedFile}'; sleep 60` });
  const editor = await startEditor(workspace, [ASK, DONE], { approve: choosing('0') });
  const sessionId = await editor.open();
  const promptEnd = editor.say(sessionId, 'paint it');
  await until(() => existsSync(startedFile));
  await editor.agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await promptEnd).toBe('cancelled');
  expect(await editor.say(sessionId, '/model other')).toBe('end_turn');
  const calls = editor.asked.map(({ toolCall }) => toolCall.toolCallId);
  expect(calls).toStrictEqual(['question-Model']);
});

test('what is mentioned, embedded and attached reaches the agent', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [DONE]);
  const sessionId = await editor.open();
  const file = path.join(workspace.repo, 'a.ts');
  await editor.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [
      { type: 'text', text: 'Compare ' },
      { type: 'resource_link', name: 'a.ts', uri: `file://${file}` },
      { type: 'text', text: ' with this:' },
      { type: 'resource', resource: { uri: 'zed:///selection', text: 'let a;' } },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
    ],
  });
  expect(typedIn(workspace, sessionId)).toStrictEqual([
    {
      type: 'text',
      text: `Compare @${file} with this:[zed:///selection](zed:///selection)\n\n<context ref="zed:///selection">\nlet a;\n</context>`,
    },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  ]);
  expect(joinAgentText(editor.updates())).toContain('> audio cannot be sent to the model');
});

function typedIn(workspace: TempWorkspace, sessionId: string): unknown {
  return storedLines(workspace, sessionId).find(({ type }) => type === 'user')?.message?.content;
}

test('the agent’s list is sent as a plan', async () => {
  const todos = [
    { content: 'Look', status: 'completed', activeForm: 'Looking' },
    { content: 'Leap', status: 'pending', activeForm: 'Leaping' },
  ];
  const create = { name: 'TaskCreate', input: { subject: 'Read', description: '' } };
  const update = { name: 'TaskUpdate', input: { taskId: '1', status: 'in_progress' } };
  const editor = await startEditor(createTempWorkspace(), [
    { tools: [{ name: 'TodoWrite', input: { todos } }] },
    { tools: [create] },
    { tools: [update] },
    DONE,
  ]);
  await editor.say(await editor.open(), 'plan it');
  const priority = 'medium';
  expect(editor.updates().slice(0, -1)).toStrictEqual([
    {
      sessionUpdate: 'plan',
      entries: [
        { content: 'Look', status: 'completed', priority },
        { content: 'Leap', status: 'pending', priority },
      ],
    },
    { sessionUpdate: 'plan', entries: [{ content: 'Read', status: 'pending', priority }] },
    { sessionUpdate: 'plan', entries: [{ content: 'Read', status: 'in_progress', priority }] },
  ]);
});

test('a run that is out of turns says so', async () => {
  const globTurn = { tools: [{ name: 'Glob', input: { pattern: '*' } }] };
  const editor = await startEditor(createTempWorkspace(), [globTurn, globTurn], {
    args: ['--max-turns', '1'],
  });
  expect(await editor.say(await editor.open(), 'go')).toBe('max_turn_requests');
});

test('a session is closed, resumed without its history, and deleted', async () => {
  const workspace = createTempWorkspace();
  const editor = await startEditor(workspace, [{ text: 'One.' }]);
  const sessionId = await editor.open();
  await editor.say(sessionId, 'hi');
  await editor.agent.request(methods.agent.session.close, { sessionId });
  await expect(editor.say(sessionId, 'hi')).rejects.toMatchObject({ code: -32_002 });
  await editor.agent.request(methods.agent.session.resume, { sessionId, cwd: workspace.repo });
  expect(await editor.say(sessionId, 'again')).toBe('end_turn');
  expect(joinAgentText(editor.updates())).toBe('One.One.');
  await editor.agent.request(methods.agent.session.delete, { sessionId });
  const { sessions } = await editor.agent.request(methods.agent.session.list, {});
  expect(sessions).toStrictEqual([]);
});
