import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../../src/agent/models/scripted.ts';
import {
  createAgentFixture,
  label,
  loggingScript,
  loggingSettings,
  type AgentFixture,
} from './agent-fixture.ts';

const CLAUDE_EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'PermissionRequest',
  'PreCompact',
  'PostCompact',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'CwdChanged',
  'SessionEnd',
];
const CLINE_HOOKS = [
  'TaskStart',
  'TaskResume',
  'TaskCancel',
  'TaskComplete',
  'TaskError',
  'SessionShutdown',
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'PreCompact',
];

/** Background events have no fixed position. */
const ASIDE = ['InstructionsLoaded', 'DirectoryAdded', 'Notification'];

function staged(react?: Parameters<typeof createAgentFixture>[0]): AgentFixture {
  const fixture = createAgentFixture(react);
  fixture.write('~/.claude/settings.json', loggingSettings(CLAUDE_EVENTS));
  for (const name of CLINE_HOOKS) {
    fixture.write(`~/Documents/Cline/Hooks/${name}`, loggingScript(name));
  }
  fixture.write('notes.txt', 'hello\n');
  return fixture;
}

function order(fixture: AgentFixture): readonly string[] {
  return fixture.fired.filter(({ name }) => !ASIDE.includes(name)).map(label);
}

describe('every event fires at its moment', () => {
  it('in a new task', async () => {
    const fixture = staged();
    fixture.write('sub/keep', '');
    const host = await fixture.open({
      model: createScriptedModel([
        { text: 'Reading.', tools: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
        { tools: [{ name: 'Bash', input: { command: 'cd sub' } }] },
        { tools: [{ name: 'Write', input: { file_path: 'x.txt', content: 'x' } }] },
        { text: 'Done.' },
      ]),
      allow: ['Bash(cd sub)'],
    });
    const { result } = await host.start({ prompt: 'look at the notes' });
    await host.dispose();
    expect(result).toMatchObject({ status: 'completed', ending: 'done', text: 'Done.' });
    expect(order(fixture)).toEqual([
      'SessionStart startup',
      'TaskStart',
      'UserPromptSubmit',
      'RunStart',
      'ModelRequest',
      'ModelResponse',
      'MessageDisplay',
      'PreToolUse Read',
      'PostToolUse Read',
      'PostToolBatch',
      'ModelRequest',
      'ModelResponse',
      'PreToolUse Bash',
      'PostToolUse Bash',
      'CwdChanged',
      'PostToolBatch',
      'ModelRequest',
      'ModelResponse',
      'PreToolUse Write',
      'PermissionRequest Write',
      'PostToolUseFailure Write',
      'PostToolBatch',
      'ModelRequest',
      'ModelResponse',
      'MessageDisplay',
      'Stop',
      'TaskComplete',
      'RunEnd completed',
      'SessionEnd other',
    ]);
    expect(linesOf(fixture, 'claude')).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PostToolBatch',
      'PreToolUse',
      'PostToolUse',
      'CwdChanged',
      'PostToolBatch',
      'PreToolUse',
      'PermissionRequest',
      'PostToolBatch',
      'Stop',
      'SessionEnd',
    ]);
    expect(linesOf(fixture, 'cline')).toEqual([
      'TaskStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PostToolUse',
      'PreToolUse',
      'PostToolUse',
      'PreToolUse',
      'TaskComplete',
      'SessionShutdown',
    ]);
  });

  it('in a resumed task', async () => {
    const fixture = staged();
    const model = createScriptedModel([{ text: 'One.' }, { text: 'Two.' }]);
    const first = await fixture.open({ model });
    const { sessionId } = await first.start({ prompt: 'one' });
    await first.dispose();
    fixture.fired.length = 0;
    const second = await fixture.open({ model });
    const { result } = await second.start({ prompt: 'two', resume: sessionId });
    await second.dispose();
    expect(result).toMatchObject({ sessionId, status: 'completed', text: 'Two.' });
    expect(order(fixture)).toEqual([
      'SessionStart resume',
      'TaskResume',
      'UserPromptSubmit',
      'RunStart',
      'ModelRequest',
      'ModelResponse',
      'MessageDisplay',
      'Stop',
      'TaskComplete',
      'RunEnd completed',
      'SessionEnd other',
    ]);
    const request = fixture.fired.find(({ name }) => name === 'ModelRequest');
    expect(request).toMatchObject({
      request: {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'one' }] },
          { role: 'assistant', content: [{ type: 'text', text: 'One.' }] },
          { role: 'user', content: [{ type: 'text', text: 'two' }] },
        ],
      },
    });
  });

  it('in a task that is cancelled while a command runs', async () => {
    const fixture = staged();
    const host = await fixture.open({
      model: createScriptedModel([
        { tools: [{ name: 'Bash', input: { command: 'echo begun; sleep 100' } }] },
      ]),
      permissionMode: 'bypassPermissions',
    });
    let id = '';
    host.subscribe((event) => {
      if (event.type === 'session-start') id = event.sessionId;
      if (event.type === 'tool-delta') void host.abort(id, 'the person had enough');
    });
    const { result } = await host.start({ prompt: 'wait' });
    await host.dispose();
    expect(result).toMatchObject({
      status: 'aborted',
      ending: 'aborted',
      reason: 'the person had enough',
    });
    expect(order(fixture)).toEqual([
      'SessionStart startup',
      'TaskStart',
      'UserPromptSubmit',
      'RunStart',
      'ModelRequest',
      'ModelResponse',
      'PreToolUse Bash',
      'PostToolUseFailure Bash',
      'RunEnd aborted',
      'SessionEnd other',
    ]);
    expect(fixture.log().filter((line) => line.startsWith('cline:Task'))).toEqual([
      'cline:TaskStart',
      'cline:TaskCancel',
    ]);
  });

  it('in a task whose model fails', async () => {
    const fixture = staged();
    const host = await fixture.open({
      model: createScriptedModel([
        { failure: { class: 'authentication_failed', message: 'the key is wrong', status: 401 } },
      ]),
    });
    const { result } = await host.start({ prompt: 'go' });
    await host.dispose();
    expect(result).toMatchObject({ status: 'failed', ending: 'model_failed' });
    expect(order(fixture)).toEqual([
      'SessionStart startup',
      'TaskStart',
      'UserPromptSubmit',
      'RunStart',
      'ModelRequest',
      'RunEnd failed',
      'SessionEnd other',
    ]);
    expect(fixture.log()).toContain('claude:StopFailure');
    expect(fixture.log()).toContain('cline:TaskError');
    expect(fixture.fired.find(({ name }) => name === 'RunEnd')).toMatchObject({
      errorClass: 'authentication_failed',
    });
  });

  it('in a task with a sub-agent and a compaction', async () => {
    const fixture = staged();
    const order1 = { description: 'look', prompt: 'read the notes', subagent_type: 'Explore' };
    const host = await fixture.open({
      model: createScriptedModel([
        { tools: [{ name: 'Agent', input: order1 }], usage: { inputTokens: 190_000 } },
        { tools: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
        { text: 'They say hello.' },
        { text: 'The summary.' },
        { text: 'Done.' },
      ]),
    });
    const { result } = await host.start({ prompt: 'delegate' });
    await host.dispose();
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(order(fixture)).toEqual([
      'SessionStart startup',
      'TaskStart',
      'UserPromptSubmit',
      'RunStart',
      'ModelRequest',
      'ModelResponse',
      'PreToolUse Agent',
      'SubagentStart in a sub-agent',
      'RunStart in a sub-agent',
      'ModelRequest in a sub-agent',
      'ModelResponse in a sub-agent',
      'PreToolUse Read in a sub-agent',
      'PostToolUse Read in a sub-agent',
      'PostToolBatch in a sub-agent',
      'ModelRequest in a sub-agent',
      'ModelResponse in a sub-agent',
      'MessageDisplay in a sub-agent',
      'SubagentStop in a sub-agent',
      'RunEnd completed in a sub-agent',
      'PostToolUse Agent',
      'PostToolBatch',
      'PreCompact',
      'SessionStart compact',
      'PostCompact',
      'ModelRequest',
      'ModelResponse',
      'MessageDisplay',
      'Stop',
      'TaskComplete',
      'RunEnd completed',
      'SessionEnd other',
    ]);
    const inside = fixture.fired.filter(({ agent }) => agent.parentId !== null);
    const parents = new Set(inside.map(({ agent }) => agent.parentId));
    expect([...parents]).toEqual([result?.sessionId]);
    expect(path.isAbsolute(inside[0]?.transcriptPath ?? '')).toBe(true);
  });
});

/** Hooks of one event run side by side, so that only those of one dialect have an order. */
function linesOf(fixture: AgentFixture, dialect: string): readonly string[] {
  const own = fixture.log().filter((line) => line.startsWith(`${dialect}:`));
  return own.map((line) => line.slice(dialect.length + 1));
}
