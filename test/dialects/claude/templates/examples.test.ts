import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { readEvent } from '../../../../src/cli/event-options.ts';
import { CLAUDE_EVENT_NAMES, type ClaudeEvent } from '../../../../src/dialects/claude/events.ts';
import type { Host } from '../../../../src/host/create-host.ts';
import type { Verdict } from '../../../../src/hooks/decision.ts';
import { CLAUDE_EXAMPLES } from '../../../../src/dialects/claude/templates/examples.ts';
import { CLAUDE_HOOK_LANGUAGES } from '../../../../src/dialects/claude/templates/plan.ts';
import { REASONS } from '../../../../src/dialects/claude/templates/example.ts';
import {
  SCRIPT_LANGUAGE_NAMES,
  SCRIPT_LANGUAGES,
  type ScriptLanguage,
} from '../../../../src/dialects/templates.ts';
import {
  createTempWorkspace,
  hasPrograms,
  openWorkspaceHost,
  programPath,
  type TempWorkspace,
  trustWorkspaceHooks,
  write,
} from '../../template-fixture.ts';

const TYPESCRIPT = `node --import '${import.meta.resolve('../../../fixtures/typescript/register.mjs')}'`;

/** What is seen when an example gets the event that its author suggests for a trial. */
const SEEN: Readonly<Partial<Record<ClaudeEvent, Partial<VerdictSummary>>>> = {
  PreToolUse: { effect: 'deny', reasons: [REASONS.deletes] },
  PermissionRequest: { effect: 'allow' },
  PostToolUse: { context: ['Write took 6 s. Prefer something narrower next time.'] },
  PostToolUseFailure: {
    context: ['Find the cause of this failure before you try the same again.'],
  },
  UserPromptSubmit: { effect: 'deny', reasons: [REASONS.key] },
  SessionStart: {
    context: [
      expect.stringMatching(
        /^Today is \w{3} \w{3} \d\d \d{4}\.\nThe git branch is feature\/one\.$/u,
      ),
    ],
  },
  Stop: { effect: 'deny', reasons: [REASONS.unfinished] },
  SubagentStart: { context: ['Name every file that you change in your report.'] },
};

const LOGGED: Readonly<Partial<Record<ClaudeEvent, string>>> = {
  PermissionDenied: 'an example reason',
  PostToolBatch: 'Write',
  TaskCreated: 'an item',
  StopFailure: 'unknown',
  SubagentStop: 'done',
  SessionEnd: 'other',
  Notification: 'an example message',
  FileChanged: '/example/package.json',
  CwdChanged: '/example/below',
};

interface VerdictSummary {
  readonly effect: string;
  readonly reasons: readonly string[];
  readonly context: readonly unknown[];
  readonly outcomes: readonly unknown[];
}

const CLEAN = { status: 'decided', failure: null, notes: [], exitCode: 0, stderr: '' };
const QUIET: VerdictSummary = { effect: 'pass', reasons: [], context: [], outcomes: [CLEAN] };

function summarizeVerdict({ effect, outcomes, reasons, context }: Verdict): VerdictSummary {
  return {
    effect,
    reasons: reasons.map(({ text }) => text),
    context: context.map(({ text }) => text),
    outcomes: outcomes.map(({ status, failure, notes, exitCode, stderr }) => ({
      status,
      failure,
      notes,
      exitCode,
      stderr,
    })),
  };
}

// It needs a repository with a commit, and has a test of its own.
const EVENTS = CLAUDE_EVENT_NAMES.filter((event) => event !== 'WorktreeCreate');

function scriptOf(workspace: TempWorkspace, language: ScriptLanguage, event: ClaudeEvent): string {
  const { extension } = CLAUDE_HOOK_LANGUAGES[language];
  return path.join(workspace.root, '.claude', 'hooks', `${event}${extension}`);
}

/** All examples of one language, each with the entry that `hooks new` would write. */
function writeAll(workspace: TempWorkspace, language: ScriptLanguage): void {
  const hooks = CLAUDE_EVENT_NAMES.map((event) => {
    const script = scriptOf(workspace, language, event);
    write(script, CLAUDE_HOOK_LANGUAGES[language].write(event), 0o755);
    const { matcher } = CLAUDE_EXAMPLES[event];
    const own = `"$CLAUDE_PROJECT_DIR"/.claude/hooks/${path.basename(script)}`;
    const command = language === 'ts' ? `${TYPESCRIPT} ${own}` : own;
    // Time enough for a busy machine, also where events share a short one.
    return [event, [{ matcher, hooks: [{ type: 'command', command, timeout: 60 }] }]];
  });
  write(
    path.join(workspace.root, '.claude', 'settings.json'),
    JSON.stringify({ hooks: Object.fromEntries(hooks) }),
  );
}

function canRun(language: ScriptLanguage): boolean {
  return hasPrograms(SCRIPT_LANGUAGES[language]);
}

async function fire(host: Host, event: ClaudeEvent, isTrial: boolean): Promise<Verdict> {
  const { flags, facts } = CLAUDE_EXAMPLES[event].trial;
  const fired = isTrial ? { ...readEvent({ ...flags, event }), ...facts } : readEvent({ event });
  return host.engine.dispatch(fired);
}

test('there is an example for every event', () => {
  expect(Object.keys(CLAUDE_EXAMPLES).toSorted()).toEqual(CLAUDE_EVENT_NAMES.toSorted());
});

describe.each(SCRIPT_LANGUAGE_NAMES)('examples of Claude’s format in %s', (language) => {
  let workspace: TempWorkspace;
  let host: Host;

  beforeAll(async () => {
    workspace = createTempWorkspace();
    writeAll(workspace, language);
    await trustWorkspaceHooks(workspace);
    host = await openWorkspaceHost(workspace);
  });

  afterAll(async () => {
    await host.dispose();
    workspace.remove();
  });

  it('are found and ready, and their matchers fit', () => {
    const listed = host.hooks().map(({ hook, state, why }) => [hook.eventName, state, why]);
    expect(listed.toSorted()).toEqual(
      CLAUDE_EVENT_NAMES.toSorted().map((event) => [event, 'ready', '']),
    );
  });

  it.skipIf(!canRun(language))('do something visible in a trial', async () => {
    const verdicts = await Promise.all(
      EVENTS.map(
        async (event) => [event, summarizeVerdict(await fire(host, event, true))] as const,
      ),
    );
    expect(Object.fromEntries(verdicts)).toEqual(
      Object.fromEntries(EVENTS.map((event) => [event, { ...QUIET, ...SEEN[event] }])),
    );
    const logged = Object.entries(LOGGED).map(
      ([event, text]) => `${event} ${JSON.stringify(text)}`,
    );
    expect(logLines(workspace)).toEqual(expect.arrayContaining(logged));
  });

  it.skipIf(!canRun(language))('print nothing for harmless input', async () => {
    const commands = { 'rm -rf /tmp/build': 'pass', 'sudo rm -r -f --no-preserve-root /*': 'deny' };
    for (const [command, effect] of Object.entries(commands)) {
      const tool = { callId: '1', name: 'Bash', input: { command } };
      const verdict = await host.engine.dispatch({ name: 'PreToolUse', tool });
      expect([command, verdict.effect]).toEqual([command, effect]);
    }
    const secret = { callId: '1', name: 'Read', input: { file_path: '/etc/passwd' } };
    const secretVerdict = await host.engine.dispatch({
      name: 'PermissionRequest',
      tool: secret,
      suggestions: [],
    });
    expect(secretVerdict.effect).toBe('pass');
    const again = await host.engine.dispatch({ name: 'Stop', lastText: 'a TODO', again: true });
    expect(again.effect).toBe('pass');
    const empty = await host.engine.dispatch({ name: 'UserPromptSubmit', prompt: ' \n\t' });
    expect(summarizeVerdict(empty)).toMatchObject({ effect: 'deny', reasons: [REASONS.empty] });
  });

  it.skipIf(!canRun(language))('print what a summary should include', async () => {
    const { changes } = await fire(host, 'PreCompact', false);
    expect(JSON.stringify(changes)).toContain('Keep the open questions');
  });

  it.skipIf(!canRun(language) || !hasPrograms(['git']))(
    'make a worktree where there is a commit, and give the reason where there is none [needs git]',
    async () => {
      const failed = await fire(host, 'WorktreeCreate', false);
      expect(failed.outcomes[0]?.stderr).toMatch(/\S/);
      const other = createTempWorkspace();
      onTestFinished(() => other.remove());
      const worktreeVerdict = await worktreeOf(other, language);
      expect(worktreeVerdict.changes).toMatchObject({
        worktreePath: path.join(other.root, '.claude', 'worktrees', 'example'),
      });
    },
  );
});

async function worktreeOf(workspace: TempWorkspace, language: ScriptLanguage): Promise<Verdict> {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  const commit = ['commit', '--quiet', '--allow-empty', '--message', 'one'];
  spawnSync('git', ['init', '--quiet', workspace.root]);
  spawnSync('git', ['-C', workspace.root, ...identity, ...commit]);
  writeAll(workspace, language);
  await trustWorkspaceHooks(workspace);
  const host = await openWorkspaceHost(workspace);
  const verdict = await fire(host, 'WorktreeCreate', false);
  await host.dispose();
  return verdict;
}

function logLines({ home }: TempWorkspace): readonly string[] {
  const log = readFileSync(path.join(home, '.claude', 'hook-logs', 'events.log'), 'utf8');
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z /u;
  return log
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(time, ''));
}

test.skipIf(!hasPrograms(['bash']))(
  'a bash guard denies without jq, and any other example fails with a message [needs bash]',
  async () => {
    const workspace = createTempWorkspace();
    onTestFinished(() => workspace.remove());
    const programs = path.join(workspace.home, 'bin');
    mkdirSync(programs);
    symlinkSync(programPath('bash'), path.join(programs, 'bash'));
    writeAll(workspace, 'bash');
    await trustWorkspaceHooks(workspace);
    const host = await openWorkspaceHost(workspace, programs);
    const guarded = await fire(host, 'PreToolUse', true);
    const watched = await fire(host, 'PostToolUse', true);
    await host.dispose();
    const stderr = expect.stringContaining('jq is not installed');
    expect(guarded.effect).toBe('deny');
    expect(guarded.outcomes).toMatchObject([{ status: 'decided', exitCode: 2, stderr }]);
    expect(watched.effect).toBe('pass');
    expect(watched.outcomes).toMatchObject([{ status: 'failed', exitCode: 1, stderr }]);
  },
);

test('the TypeScript examples have no type errors', () => {
  const workspace = createTempWorkspace();
  onTestFinished(() => workspace.remove());
  writeAll(workspace, 'ts');
  const compiler = path.resolve('node_modules/typescript/bin/tsc');
  const types = ['--types', 'node', '--typeRoots', path.resolve('node_modules/@types')];
  const rules = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
  const files = CLAUDE_EVENT_NAMES.map((event) => scriptOf(workspace, 'ts', event));
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, ...rules, '--skipLibCheck', ...types, ...files],
    { encoding: 'utf8', cwd: workspace.root },
  );
  expect(stdout).toBe('');
});

test('every example explains in comments what comes in and what may go out', () => {
  for (const language of SCRIPT_LANGUAGE_NAMES) {
    for (const event of CLAUDE_EVENT_NAMES) {
      const text = CLAUDE_HOOK_LANGUAGES[language].write(event);
      const { reads, answers } = CLAUDE_EXAMPLES[event];
      const missing = [...reads, ...answers].flat().filter((words) => !text.includes(words));
      expect({ language, event, missing }).toEqual({ language, event, missing: [] });
    }
  }
});
