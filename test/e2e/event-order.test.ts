import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultOf } from '../cli/hookline.ts';
import {
  createTempWorkspace,
  GLOBAL_HOOKS,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import { bash, DONE, runScript, type Script, startScript, written } from './agent-run.ts';
import { claudeHooks, logCommand, logOf } from './hook-log.ts';

const CLAUDE = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'CwdChanged',
  'PreCompact',
  'PostCompact',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'SessionEnd',
];
const CLINE = [
  'TaskStart',
  'TaskResume',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PreCompact',
  'TaskComplete',
  'TaskCancel',
  'TaskError',
  'SessionShutdown',
];

/** Personal hooks of both kinds that record their event. */
function logged(): TempWorkspace {
  const workspace = createTempWorkspace({ 'a.txt': 'a\n', 'sub/keep': '' });
  claudeHooks(
    workspace,
    Object.fromEntries(CLAUDE.map((event) => [event, logCommand(workspace, `claude ${event}`)])),
  );
  for (const event of CLINE) {
    const script = `#!/bin/sh\n${logCommand(workspace, `cline ${event}`)}\n`;
    write(workspace.home, `${GLOBAL_HOOKS}/${event}`, script);
  }
  return workspace;
}

/** Hooks of one event run side by side, so that only those of one kind have an order. */
function orderOf(workspace: TempWorkspace, kind: 'claude' | 'cline'): readonly string[] {
  const own = logOf(workspace).filter((line) => line.startsWith(`${kind} `));
  return own.map((line) => line.slice(kind.length + 1));
}

const READ = { name: 'Read', input: { file_path: 'a.txt' } };
const TASK: Script = [
  { text: 'Reading.', tools: [READ] },
  bash('cd sub'),
  { tools: [{ name: 'Write', input: { file_path: 'x.txt', content: 'x' } }] },
  DONE,
];

describe('hooks of `hookline run --script` fire in order', () => {
  it('in a new task, and in the same one resumed', async () => {
    const workspace = logged();
    await runScript(workspace, TASK, ['go', '--allow', 'Bash(cd sub)']);
    expect(orderOf(workspace, 'claude')).toEqual([
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
    expect(orderOf(workspace, 'cline')).toEqual([
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
    const before = logOf(workspace).length;
    await runScript(workspace, [DONE], ['more', '--continue']);
    const resumed = logOf(workspace).slice(before);
    expect(resumed.filter((line) => line.startsWith('claude '))).toEqual(
      ['SessionStart', 'UserPromptSubmit', 'Stop', 'SessionEnd'].map((event) => `claude ${event}`),
    );
    expect(resumed.filter((line) => line.startsWith('cline '))).toEqual(
      ['TaskResume', 'UserPromptSubmit', 'TaskComplete', 'SessionShutdown'].map(
        (event) => `cline ${event}`,
      ),
    );
  });

  it('in a task that is cancelled', async () => {
    const workspace = logged();
    const flags = ['go', '--permission-mode', 'bypassPermissions'];
    const child = startScript(workspace, [bash('echo begun > begun; sleep 100')], flags);
    const ending = resultOf(child);
    await written(path.join(workspace.repo, 'begun'));
    child.kill('SIGINT');
    expect((await ending).code).toBe(130);
    // Hooks of the interrupted call are fired beside the abort, which waits for none of them.
    expect(orderOf(workspace, 'cline').filter((event) => event !== 'PostToolUse')).toEqual([
      'TaskStart',
      'UserPromptSubmit',
      'PreToolUse',
      'TaskCancel',
      'SessionShutdown',
    ]);
  });

  it('in a task whose model fails', async () => {
    const workspace = logged();
    const failing: Script = [
      { failure: { class: 'authentication_failed', message: 'the key is wrong', status: 401 } },
    ];
    expect((await runScript(workspace, failing, ['go'])).code).toBe(1);
    expect(orderOf(workspace, 'claude')).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'StopFailure',
      'SessionEnd',
    ]);
    expect(orderOf(workspace, 'cline')).toEqual([
      'TaskStart',
      'UserPromptSubmit',
      'TaskError',
      'SessionShutdown',
    ]);
  });

  it('in a task with a sub-agent and a compaction', async () => {
    const workspace = logged();
    const order = { description: 'look', prompt: 'read it', subagent_type: 'Explore' };
    await runScript(
      workspace,
      [
        { tools: [{ name: 'Agent', input: order }], usage: { inputTokens: 190_000 } },
        { tools: [READ] },
        { text: 'It says a.' },
        { text: 'The summary.' },
        DONE,
      ],
      ['go'],
    );
    expect(orderOf(workspace, 'claude')).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'SubagentStart',
      'PreToolUse',
      'PostToolUse',
      'PostToolBatch',
      'SubagentStop',
      'PostToolUse',
      'PostToolBatch',
      'PreCompact',
      'SessionStart',
      'PostCompact',
      'Stop',
      'SessionEnd',
    ]);
  });
});
