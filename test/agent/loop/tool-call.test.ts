import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/base/json.ts';
import type { HostOptions } from '../../../src/host/create-host.ts';
import type { HookEvent } from '../../../src/hooks/facts.ts';
import type { HandlerSource } from '../../../src/hooks/handler.ts';
import type { RunResult } from '../../../src/agent/runtime-event.ts';
import { createAgentFixture, type Reaction, type AgentFixture } from '../agent-fixture.ts';
import {
  answersIn,
  calls,
  either,
  moment,
  named,
  on,
  slowHook,
  createModelRecorder,
  type ModelRecorder,
  listTexts,
} from '../scripted-session.ts';

interface Played {
  readonly stage: AgentFixture;
  readonly spoken: ModelRecorder;
  readonly result: RunResult | null;
  file(name: string): string | null;
}

type Call = readonly [string, unknown];

/** A turn for each of these lists of calls, and one in which the model is done. */
async function play(
  turns: readonly (readonly Call[])[],
  react: Reaction = () => undefined,
  options: HostOptions = {},
): Promise<Played> {
  const fixture = createAgentFixture(react);
  fixture.write('notes.txt', 'hello\n');
  fixture.write('sub/keep', '');
  const recorder = createModelRecorder([...turns.map((each) => calls(...each)), { text: 'Done.' }]);
  const host = await fixture.open({
    model: recorder.model,
    permissionMode: 'bypassPermissions',
    ...options,
  });
  const { result } = await host.start({ prompt: 'go' });
  const file = (name: string): string | null => {
    const directory = path.join(fixture.workspace, name);
    return existsSync(directory) ? readFileSync(directory, 'utf8') : null;
  };
  return { stage: fixture, spoken: recorder, result, file };
}

const write = (name: string, content = name): Call => ['Write', { file_path: name, content }];
const bash = (command: string): Call => ['Bash', { command }];

/** Puts an answer in the place of what one command of a call gave. */
function replacing(command: string, output: unknown): HandlerSource {
  return slowHook('PostToolUse', async () => undefined, {
    run: ({ tool }) =>
      isRecord(tool?.input) && tool.input['command'] === command
        ? { decision: { output } }
        : undefined,
  });
}

describe('a hook that denies a call', () => {
  it('gives the model its reason, in Claude’s wording, and marks the result as denied', async () => {
    const {
      result,
      spoken: recorder,
      file,
      stage: fixture,
    } = await play(
      [[bash('touch x')]],
      on('PreToolUse', { effect: 'deny', reason: 'no touching' }),
    );
    expect(answersIn(recorder)).toEqual(['PreToolUse:Bash hook error: no touching']);
    expect(file('x')).toBe(null);
    expect(result?.denials).toEqual([
      {
        callId: 'call_1',
        tool: 'Bash',
        input: expect.objectContaining({ command: 'touch x' }),
        reason: 'PreToolUse:Bash hook error: no touching',
      },
    ]);
    expect(named(fixture, 'PostToolUseFailure')).toMatchObject([{ denied: true, durationMs: 0 }]);
    expect(named(fixture, 'PermissionRequest')).toEqual([]);
  });

  it('gives the reason alone for a tool that works on files', async () => {
    const { spoken: recorder } = await play(
      [[write('x')]],
      on('PreToolUse', { effect: 'deny', reason: 'hands off' }),
    );
    expect(answersIn(recorder)).toEqual(['hands off']);
  });
});

describe('a hook that rewrites a call', () => {
  it('changes what is run', async () => {
    const { file, stage: fixture } = await play(
      [[write('x', 'one')]],
      on('PreToolUse', ({ tool }) => ({
        input: { ...(tool.input as object), content: 'two' },
      })),
    );
    expect(file('x')).toBe('two');
    expect(named(fixture, 'PostToolUse')[0]?.tool.input).toMatchObject({ content: 'two' });
  });

  it('is checked by the tool again', async () => {
    const { spoken: recorder, file } = await play(
      [[write('x')]],
      on('PreToolUse', { effect: 'allow', input: { file_path: 7 } }),
    );
    expect(answersIn(recorder)).toEqual([
      expect.stringMatching(/^PreToolUse hook for Write returned updatedInput .*file_path/s),
    ]);
    expect(file('x')).toBe(null);
  });

  it('is checked by the rules again: a deny rule holds for the rewritten call', async () => {
    const { spoken: recorder, file } = await play(
      [[bash('touch harmless')]],
      on('PreToolUse', { effect: 'allow', input: { command: 'touch harmful' } }),
      { deny: ['Bash(touch harmful)'] },
    );
    expect(file('harmful')).toBe(null);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('denied by the rule')]);
  });
});

describe('answers of hooks to a call', () => {
  it('stand after its result: context before and after it, and objections', async () => {
    const { spoken: recorder } = await play(
      [[['Read', { file_path: 'notes.txt' }]]],
      either(
        on('PreToolUse', { context: 'before' }),
        on('PostToolUse', { context: 'after', effect: 'deny', reason: 'not nice' }),
      ),
    );
    const [, , message] = recorder.requests[1]?.messages ?? [];
    expect(message?.content.map((block) => ('text' in block ? block.text : block.type))).toEqual([
      'tool_result',
      '<system-reminder>\nPreToolUse:Read hook additional context: before\n(from inline:PreToolUse)\n</system-reminder>',
      expect.stringContaining('not nice'),
      '<system-reminder>\nPostToolUse:Read hook additional context: after\n(from inline:PostToolUse)\n</system-reminder>',
    ]);
  });

  it('may replace the result of the tool', async () => {
    const { spoken: recorder } = await play(
      [[['Read', { file_path: 'notes.txt' }]]],
      on('PostToolUse', { output: 'nothing to see' }),
    );
    expect(answersIn(recorder)).toEqual(['nothing to see']);
  });

  it('may replace the result in the tool’s own shape', async () => {
    const { spoken: recorder } = await play(
      [[bash('echo secret')]],
      on('PostToolUse', { output: { stdout: 'redacted', stderr: '', interrupted: false } }),
    );
    expect(answersIn(recorder)).toEqual(['redacted']);
  });

  it('replace the result of their own part of a call, and the model reads the other parts, too', async () => {
    const { spoken: recorder } = await play(
      [[['run_commands', { commands: ['echo one', 'echo two', 'echo three; exit 3'] }]]],
      () => undefined,
      { sources: [replacing('echo two', { stdout: 'short', stderr: '', interrupted: false })] },
    );
    expect(answersIn(recorder)).toEqual([
      '[1/3] Bash echo one\none\n\n[2/3] Bash echo two\nshort\n\n[3/3] Bash echo three; exit 3\nExit code 3\nthree',
    ]);
  });

  it('may replace the result of a failed call', async () => {
    const { spoken: recorder } = await play(
      [[bash('echo secret; exit 3')]],
      on('PostToolUseFailure', { output: 'it failed' }),
    );
    expect(answersIn(recorder)).toEqual(['it failed']);
  });

  it('counts for a call that failed, too', async () => {
    const { spoken: recorder, stage: fixture } = await play(
      [[bash('exit 3')]],
      on('PostToolUseFailure', { context: 'try harder' }),
    );
    expect(named(fixture, 'PostToolUseFailure')).toMatchObject([
      { interrupted: false, result: { success: false } },
    ]);
    expect(JSON.stringify(recorder.requests[1]?.messages)).toContain(
      'PostToolUseFailure:Bash hook additional context: try harder',
    );
  });

  it('end the run after the call when they stop', async () => {
    const {
      result,
      spoken: recorder,
      file,
    } = await play(
      [[write('x')]],
      on('PostToolUse', { stop: { reason: 'that was it', pending: 'run' } }),
    );
    expect(result).toMatchObject({ ending: 'stopped_by_hook', reason: 'that was it' });
    expect(file('x')).toBe('x');
    expect(recorder.requests).toHaveLength(1);
  });
});

describe('a command that moves the agent', () => {
  it('fires CwdChanged, and later calls start from there', async () => {
    const { stage: fixture, file } = await play([[bash('cd sub')], [write('here')]]);
    const sub = path.join(fixture.workspace, 'sub');
    expect(named(fixture, 'CwdChanged')).toMatchObject([{ from: fixture.workspace, to: sub }]);
    expect(named(fixture, 'PreToolUse').map(({ cwd }) => cwd)).toEqual([fixture.workspace, sub]);
    expect(file('sub/here')).toBe('here');
  });
});

describe('a call of several parts', () => {
  it('run_commands: every command has its hooks, in the vocabulary of the hook', async () => {
    const { stage: fixture, spoken: recorder } = await play([
      [['run_commands', { commands: ['echo one', 'echo two'] }]],
    ]);
    const parts = fixture.runtimeEvents.flatMap((news) =>
      news.type === 'hook' && news.verdict.event === 'PreToolUse'
        ? news.verdict.outcomes.map(({ part }) => part)
        : [],
    );
    expect(parts).toEqual([0, 1]);
    expect(answersIn(recorder)).toEqual([expect.stringMatching(/one[\s\S]*two/)]);
  });

  it('is denied as a whole when one part is: nothing of it is done', async () => {
    const { file, spoken: recorder } = await play(
      [[['run_commands', { commands: ['touch a', 'touch b'] }]]],
      () => undefined,
      { deny: ['Bash(touch b)'] },
    );
    expect([file('a'), file('b')]).toEqual([null, null]);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('denied by the rule')]);
  });

  it('read_files: all files are read', async () => {
    const { spoken: recorder } = await play([
      [['read_files', { files: [{ path: 'notes.txt' }, { path: 'sub/keep' }] }]],
    ]);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('hello')]);
  });

  it('apply_patch: changes files, each of which is an edit to rules and hooks', async () => {
    const patch = [
      '*** Begin Patch',
      '*** Add File: new.txt',
      '+fresh',
      '*** Update File: notes.txt',
      '@@',
      '-hello',
      '+goodbye',
      '*** End Patch',
    ].join('\n');
    const { file, stage: fixture } = await play([
      [['Read', { file_path: 'notes.txt' }]],
      [['apply_patch', { input: patch }]],
    ]);
    expect([file('new.txt'), file('notes.txt')]).toEqual(['fresh\n', 'goodbye\n']);
    expect(named(fixture, 'PreToolUse').map(({ tool }) => tool.name)).toEqual([
      'Read',
      'apply_patch',
      'apply_patch',
    ]);
  });

  it('MultiEdit: all edits or none', async () => {
    const edits = [
      { old_string: 'hello', new_string: 'good' },
      { old_string: 'good', new_string: 'better' },
    ];
    const { file } = await play([
      [['Read', { file_path: 'notes.txt' }]],
      [['MultiEdit', { file_path: 'notes.txt', edits }]],
    ]);
    expect(file('notes.txt')).toBe('better\n');
    const wrong = [...edits, { old_string: 'nowhere', new_string: 'x' }];
    const other = await play([
      [['Read', { file_path: 'notes.txt' }]],
      [['MultiEdit', { file_path: 'notes.txt', edits: wrong }]],
    ]);
    expect(other.file('notes.txt')).toBe('hello\n');
  });

  it('an allow of a hook does not cover a part for which a rule asks', async () => {
    const fixture = createAgentFixture(on('PreToolUse', { effect: 'allow' }));
    fixture.write(
      '~/.claude/settings.json',
      JSON.stringify({ permissions: { ask: ['Bash(touch b)'] } }),
    );
    const recorder = createModelRecorder([
      calls(['run_commands', { commands: ['touch a', 'touch b'] }]),
      { text: 'Done.' },
    ]);
    const host = await fixture.open({ model: recorder.model });
    await host.start({ prompt: 'go' });
    expect(existsSync(path.join(fixture.workspace, 'b'))).toBe(false);
    expect(answersIn(recorder)).toEqual([
      expect.stringContaining('No user is available to approve it'),
    ]);
  });
});

describe('a tool under any of its names', () => {
  it.each([
    ['Write', { file_path: 'x', content: 'x' }],
    ['write_to_file', { path: 'x', content: 'x' }],
    ['editor', { path: 'x', new_text: 'x' }],
  ])('%s', async (name, input) => {
    const { file, stage: fixture, spoken: recorder } = await play([[[name, input]]]);
    expect([file('x'), answersIn(recorder)]).toEqual(['x', [expect.any(String)]]);
    expect(named(fixture, 'PostToolUse')).toHaveLength(1);
  });
});

describe('an abort while a call runs', () => {
  const createLoggedCall = (command: string): Call => [
    'Bash',
    { command: `echo begun; ${command}` },
  ];

  it('fires hooks of the call, and waits for none of them', async () => {
    const fixture = createAgentFixture();
    const hookStarted = moment<HookEvent>();
    const hookEnded = moment();
    const recorder = createModelRecorder([calls(createLoggedCall('sleep 100'))]);
    const host = await fixture.open({
      model: recorder.model,
      permissionMode: 'bypassPermissions',
      sources: [
        slowHook('PostToolUseFailure', async (event, signal) => {
          hookStarted.reach(event);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          hookEnded.reach();
          return undefined;
        }),
      ],
    });
    host.subscribe((event) => {
      if (event.type === 'tool-delta') void host.abort(event.sessionId, 'enough');
    });
    const { result } = await host.start({ prompt: 'go' });
    expect(result?.status).toBe('aborted');
    expect(await hookStarted.reached).toMatchObject({
      tool: { callId: 'call_1', name: 'Bash', input: { command: 'echo begun; sleep 100' } },
      result: { success: false, error: expect.stringContaining('aborted before completion') },
      interrupted: true,
    });
    await host.dispose();
    await hookEnded.reached;
  });

  it('reaches hooks in Claude’s format as an interruption', async () => {
    const fixture = createAgentFixture();
    const hook = { type: 'command', command: 'cat > "$LOG"' };
    const hooks = { PostToolUseFailure: [{ matcher: 'Bash', hooks: [hook] }] };
    fixture.write('~/.claude/settings.json', JSON.stringify({ hooks }));
    const hookStarted = moment();
    const recorder = createModelRecorder([calls(createLoggedCall('sleep 100'))]);
    const host = await fixture.open({ model: recorder.model, permissionMode: 'bypassPermissions' });
    host.subscribe((event) => {
      if (event.type === 'tool-delta') void host.abort(event.sessionId, 'enough');
      if (event.type === 'hook' && event.verdict.event === 'PostToolUseFailure') {
        hookStarted.reach();
      }
    });
    await host.start({ prompt: 'go' });
    await hookStarted.reached;
    expect(JSON.parse(fixture.log()[0] ?? '')).toMatchObject({
      hook_event_name: 'PostToolUseFailure',
      tool_name: 'Bash',
      tool_use_id: 'call_1',
      is_interrupt: true,
    });
  });

  it('keeps the results of the parts that were done', async () => {
    const fixture = createAgentFixture();
    const commands = ['touch one', 'echo begun; sleep 100'];
    const recorder = createModelRecorder([calls(['run_commands', { commands }])]);
    const host = await fixture.open({ model: recorder.model, permissionMode: 'bypassPermissions' });
    host.subscribe((event) => {
      if (event.type === 'tool-delta') void host.abort(event.sessionId, 'enough');
    });
    await host.start({ prompt: 'go' });
    expect(named(fixture, 'PostToolUse')).toHaveLength(1);
    expect(named(fixture, 'PostToolUseFailure')).toMatchObject([{ interrupted: true }]);
  });
});

describe('an abort after a call was done', () => {
  it('does not hide from the model what was done', async () => {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([calls(write('x')), { text: 'I see.' }]);
    const host = await fixture.open({
      model: recorder.model,
      permissionMode: 'bypassPermissions',
      sources: [
        slowHook('PostToolUse', async ({ sessionId }) => {
          await host.abort(sessionId, 'enough');
          return undefined;
        }),
      ],
    });
    const { result, sessionId } = await host.start({ prompt: 'go' });
    expect(result?.status).toBe('aborted');
    await host.send(sessionId, 'what did you do?');
    expect(answersIn(recorder)).toEqual([expect.stringContaining('created')]);
    const ends = fixture.runtimeEvents.filter(({ type }) => type === 'tool-end');
    expect(ends).toMatchObject([{ callId: 'call_1', deniedBy: null }]);
  });
});

describe('a tool that breaks', () => {
  it('has failed, and the agent goes on', async () => {
    const { spoken: recorder, result } = await play(
      [
        [
          [
            'AskUserQuestion',
            {
              questions: [
                {
                  question: 'Which?',
                  header: 'Which',
                  multiSelect: false,
                  options: [
                    { label: 'a', description: '' },
                    { label: 'b', description: '' },
                  ],
                },
              ],
            },
          ],
        ],
      ],
      () => undefined,
      {
        person: {
          approve: async () => ({ isAllowed: true }),
          answer: async () => {
            throw new Error('the window is gone');
          },
        },
      },
    );
    expect(result).toMatchObject({ ending: 'done', text: 'Done.' });
    expect(answersIn(recorder)).toEqual([expect.stringContaining('the window is gone')]);
    expect(listTexts(recorder.requests[0])).toEqual(['user: go']);
  });
});
