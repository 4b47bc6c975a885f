import { describe, expect, it, onTestFinished } from 'vitest';
import type { FiredEvent } from '../../../src/hooks/facts.ts';
import {
  applyDecision,
  EventTransformer,
  HookConfiguration,
  HookExecutor,
  HookManager,
  SupportedAgent,
} from '../../../src/host/embed/hook-manager.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';

const DENY = `{"decision":"block","reason":"no secrets"}`;

function workspaceWith(hooks: unknown): TempWorkspace {
  return createTempWorkspace({ 'ws/.cline/hooks.json': JSON.stringify({ hooks }) });
}

function bash(command: string): FiredEvent<'PreToolUse'> {
  return { name: 'PreToolUse', tool: { callId: 'c1', name: 'Bash', input: { command } } };
}

function command(text: string) {
  return { hooks: [{ type: 'command', command: text }] };
}

function optionsFor({ surroundings, root }: TempWorkspace) {
  return { surroundings, roots: [root], trust: 'all' as const };
}

describe('HookManager', () => {
  it('fires an event at the hooks whose matcher fits, under any name of the tool', async () => {
    const workspace = workspaceWith({
      PreToolUse: [
        { matcher: 'execute_command', ...command(`cat >/dev/null; echo '${DENY}'`) },
        { matcher: 'write_to_file', ...command('exit 1') },
      ],
    });
    const manager = new HookManager(optionsFor(workspace));
    onTestFinished(() => manager.close());
    const verdict = await manager.execute(bash('cat .env'));
    expect(verdict.outcomes.map(({ effect }) => effect)).toEqual(['deny']);
    expect(applyDecision(verdict, { command: 'cat .env' })).toEqual({
      action: 'deny',
      input: { command: 'cat .env' },
      reason: 'no secrets',
      context: [],
      endsTurn: false,
    });
  });

  it('gives the rewritten input, and text for the model', async () => {
    const answer = JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        updatedInput: { command: 'ls -a' },
        additionalContext: 'hidden files count',
      },
    });
    const workspace = workspaceWith({ PreToolUse: [command(`cat >/dev/null; echo '${answer}'`)] });
    const manager = new HookManager(optionsFor(workspace));
    onTestFinished(() => manager.close());
    expect(applyDecision(await manager.execute(bash('ls')), { command: 'ls' })).toEqual({
      action: 'run',
      input: { command: 'ls -a' },
      reason: '',
      context: ['hidden files count'],
      endsTurn: false,
    });
  });
});

describe('HookConfiguration', () => {
  it('lists hooks, and says what is wrong with a file without losing the rest', async () => {
    const workspace = workspaceWith({
      PreToolUse: [command('true'), { hooks: [{ type: 'command' }] }],
      PreToolUsee: [command('true')],
    });
    const configuration = await HookConfiguration.load(optionsFor(workspace));
    onTestFinished(() => configuration.close());
    expect(configuration.hooks.map(({ eventName }) => eventName)).toContain('PreToolUse');
    const problems = configuration.problems.join('\n');
    expect(problems).toContain('"command": expected');
    expect(problems).toContain('did you mean PreToolUse?');
  });
});

describe('HookExecutor', () => {
  const executor = new HookExecutor(new EventTransformer({ cwd: process.cwd() }));

  it.each([
    ['exit 0', { exitCode: 0, stderr: '' }],
    ['echo no >&2; exit 2', { exitCode: 2, decision: { effect: 'deny', reason: '[hook]: no' } }],
    [`cat >/dev/null; echo '${DENY}'`, { decision: { effect: 'deny', reason: 'no secrets' } }],
  ])('runs %s as a hook', async (text, expected) => {
    expect(await executor.execute({ command: text }, bash('ls'))).toMatchObject(expected);
  });

  it('writes the payload on its stdin', async () => {
    const { stdout } = await executor.execute({ command: 'cat' }, bash('ls -l'));
    expect(JSON.parse(stdout)).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls -l' },
    });
  });

  it('reports a command that takes too long, or cannot be started, as a failure', async () => {
    const late = await executor.execute({ command: 'sleep 60', timeout: 0.2 }, bash('ls'));
    expect(late.failure).toMatchObject({ kind: 'timeout' });
    const missing = await executor.execute({ command: '/nowhere/hook' }, bash('ls'));
    expect(missing).toMatchObject({ exitCode: 127, failure: { kind: 'exit' } });
  });

  it('refuses an event that Claude does not have', async () => {
    await expect(
      executor.execute({ command: 'true' }, { name: 'TaskStart', prompt: 'x' }),
    ).rejects.toMatchObject({ code: 'EVENT_UNKNOWN' });
  });
});

describe('EventTransformer', () => {
  const transformer = new EventTransformer({ sessionId: 's', cwd: '/work' });

  it('makes one payload for each part of a call of Cline', async () => {
    const call = { callId: 'c', name: 'run_commands', input: { commands: ['a', 'b'] } };
    const payloads = await transformer.toClaude({ name: 'PreToolUse', tool: call });
    expect(payloads).toMatchObject([
      { session_id: 's', cwd: '/work', tool_name: 'Bash', tool_input: { command: 'a' } },
      { tool_name: 'Bash', tool_input: { command: 'b' } },
    ]);
  });

  it('reads a payload back', async () => {
    const [payload] = await transformer.toClaude(bash('ls'));
    expect(transformer.fromClaude(payload)).toMatchObject({
      name: 'PreToolUse',
      tool: { name: 'Bash', input: { command: 'ls' } },
    });
    expect(() => transformer.fromClaude({})).toThrow(/hook_event_name/u);
  });
});

describe('applyDecision', () => {
  const verdict = {
    event: 'PreToolUse',
    stop: null,
    reasons: [],
    input: null,
    output: null,
    changes: {},
    context: [],
    messages: [],
    outcomes: [],
    skipped: [],
    slowest: null,
  };

  it.each([
    ['pass', 'run'],
    ['allow', 'run'],
    ['ask', 'ask'],
    ['defer', 'deny'],
    ['deny', 'deny'],
    ['stop', 'deny'],
  ] as const)('turns %s into %s', (effect, action) => {
    expect(applyDecision({ ...verdict, effect }, {}).action).toBe(action);
  });
});

it('SupportedAgent has the names of the routes', () => {
  expect(SupportedAgent).toEqual({
    CLAUDE: 'claude',
    GEMINI: 'gemini',
    OPENCODE: 'opencode',
    CLINE: 'cline',
  });
});
