import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import { readEvent } from '../../../../src/cli/event-options.ts';
import { findUncovered } from '../../../../src/cli/output/describe-hooks.ts';
import { FILE_HOOK_NAMES, type FileHookName } from '../../../../src/dialects/cline-files/events.ts';
import type { Host } from '../../../../src/host/create-host.ts';
import { typescriptLoader } from '../../../../src/host/dialect-machine.ts';
import type { Verdict } from '../../../../src/hooks/decision.ts';
import type { FiredEvent } from '../../../../src/hooks/facts.ts';
import { HOOK_EXAMPLES } from '../../../../src/dialects/cline-files/templates/examples.ts';
import {
  SCRIPT_LANGUAGE_NAMES,
  SCRIPT_LANGUAGES,
  type ScriptLanguage,
  type Trial,
} from '../../../../src/dialects/templates.ts';
import { HOOK_LANGUAGES } from '../../../../src/dialects/cline-files/templates/plan.ts';
import {
  createTempWorkspace,
  hasPrograms,
  openWorkspaceHost,
  programPath,
  type TempWorkspace,
  trustWorkspaceHooks,
  write,
} from '../../template-fixture.ts';

const REFUSED = {
  delete: 'This command would delete far too much. Name the directory that is meant.',
  key: 'The prompt contains a private key. Remove it, and treat the key as leaked.',
};

/** What is seen when an example gets the event that its author suggests for a trial. */
const SEEN: Readonly<Record<FileHookName, { refusal?: string; context?: RegExp; log?: string }>> = {
  TaskStart: {
    context: /^Today is \w{3} \w{3} \d\d \d{4}\. The git branch is feature\/one\.$/u,
  },
  TaskResume: {
    context: /^This task has been idle for \d+ day\(s\): check what has changed since\.$/u,
  },
  TaskCancel: { log: 'TaskCancel "cancelled"' },
  TaskComplete: { log: 'TaskComplete "done"' },
  TaskError: { log: 'TaskError "an example error"' },
  PreToolUse: { refusal: REFUSED.delete },
  PostToolUse: {
    context: /^write_to_file took 6 s\. Prefer something narrower next time\.$/u,
  },
  UserPromptSubmit: { refusal: REFUSED.key },
  Notification: { log: 'Notification "an example message"' },
  PreCompact: {
    context:
      /^Keep from these 42 messages: the open questions, and every file that was changed\.$/u,
  },
  SessionShutdown: { log: 'SessionShutdown "other"' },
};

const SDK_MOMENTS: ReadonlySet<FileHookName> = new Set(['TaskError', 'SessionShutdown']);

const COMMANDS = {
  'rm -rf /': 'deny',
  'cd /tmp && sudo rm -r -f --no-preserve-root /*': 'deny',
  'rm -rf "$HOME"\necho done': 'deny',
  'rm -fr ~/; ls': 'deny',
  'rm -rf /tmp/build': 'pass',
  'rm -rf ./ ~/.cache/x': 'pass',
  'npm run farm -- -r /': 'pass',
};

const NEEDED: Readonly<Record<ScriptLanguage, string>> = {
  bash: '[needs bash and jq]',
  python: '[needs python3]',
  node: '',
  ts: '[after a build]',
};

function canRun(language: ScriptLanguage): boolean {
  const hasLoader = language !== 'ts' || existsSync(typescriptLoader) || hasPrograms(['bun']);
  return hasLoader && hasPrograms(SCRIPT_LANGUAGES[language]);
}

function fileOf(workspace: TempWorkspace, language: ScriptLanguage, event: FileHookName): string {
  const { extension } = HOOK_LANGUAGES[language];
  const folder = extension === '' ? '.clinerules' : '.cline';
  return path.join(workspace.root, folder, 'hooks', `${event}${extension}`);
}

function writeAll(workspace: TempWorkspace, language: ScriptLanguage): void {
  for (const event of FILE_HOOK_NAMES) {
    write(fileOf(workspace, language, event), HOOK_LANGUAGES[language].write(event), 0o755);
  }
}

function trialEvent(event: FileHookName): FiredEvent {
  const { flags, facts }: Trial = HOOK_EXAMPLES[event].trial;
  return { ...readEvent({ ...flags, event }), ...facts };
}

function summarizeVerdict({ outcomes, reasons, context }: Verdict): unknown {
  return {
    outcomes: outcomes.map(({ status, failure, notes, exitCode, stderr }) => ({
      status,
      failure,
      notes,
      exitCode,
      stderr,
    })),
    reasons: reasons.map(({ text }) => text),
    context: context.map(({ text }) => text),
  };
}

const CLEAN = { status: 'decided', failure: null, notes: [], exitCode: 0, stderr: '' };

describe.each(SCRIPT_LANGUAGE_NAMES)('examples in %s', (language) => {
  const needed = NEEDED[language];
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

  it('are found, ready, of their event’s generation, and name nothing that trust does not cover', () => {
    const listed = host.hooks().map(({ hook, found, state }) => ({
      event: hook.eventName,
      state,
      profile: hook.details['profile'],
      notes: hook.notes,
      unbound: findUncovered({ hook, found }, host.trust).names,
    }));
    const state = canRun(language) || language === 'ts' ? 'ready' : 'broken';
    const expected = FILE_HOOK_NAMES.toSorted().map((event) => ({
      event,
      state,
      profile: SDK_MOMENTS.has(event) ? 'sdk' : 'classic',
      notes: [],
      unbound: [],
    }));
    expect(listed).toEqual(expected);
  });

  it.skipIf(!canRun(language))(
    `have a clean answer for every ordinary event ${needed}`,
    async () => {
      const verdicts = await Promise.all(
        FILE_HOOK_NAMES.map(async (event) => host.engine.dispatch(readEvent({ event }))),
      );
      expect(verdicts.map(({ effect }) => effect)).toEqual(FILE_HOOK_NAMES.map(() => 'pass'));
      expect(verdicts.map(summarizeVerdict)).toEqual(
        FILE_HOOK_NAMES.map(() => expect.objectContaining({ outcomes: [CLEAN], reasons: [] })),
      );
    },
  );

  it.skipIf(!canRun(language)).each(FILE_HOOK_NAMES)(
    `do something visible in a trial of %s ${needed}`,
    async (event) => {
      const { refusal, context, log } = SEEN[event];
      const verdict = await host.engine.dispatch(trialEvent(event));
      expect(verdict.effect).toBe(refusal === undefined ? 'pass' : 'deny');
      expect(summarizeVerdict(verdict)).toEqual({
        outcomes: [CLEAN],
        reasons: refusal === undefined ? [] : [refusal],
        context: context === undefined ? [] : [expect.stringMatching(context)],
      });
      if (log !== undefined) expect(lastLogLine(workspace)).toBe(log);
    },
  );

  it.skipIf(!canRun(language))(
    `deny commands that delete everything, and only those ${needed}`,
    async () => {
      const answers = await Promise.all(
        Object.keys(COMMANDS).map(async (command) => {
          const tool = { callId: '1', name: 'Bash', input: { command } };
          const { effect } = await host.engine.dispatch({ name: 'PreToolUse', tool });
          return [command, effect] as const;
        }),
      );
      expect(Object.fromEntries(answers)).toEqual(COMMANDS);
    },
  );

  it.skipIf(!canRun(language))(`refuse an empty prompt ${needed}`, async () => {
    const verdict = await host.engine.dispatch({ name: 'UserPromptSubmit', prompt: ' \n\t' });
    expect(summarizeVerdict(verdict)).toEqual({
      outcomes: [CLEAN],
      reasons: ['The prompt is empty.'],
      context: [],
    });
  });

  it.skipIf(!canRun(language))(
    `print nothing about a task that rested for an hour, or for an unknown time ${needed}`,
    async () => {
      const facts = { prompt: '', messageCount: 1, historyDeleted: false };
      const hourAgo = Date.now() - 3_600_000;
      for (const lastMessageAt of [hourAgo, null]) {
        const verdict = await host.engine.dispatch({ name: 'TaskResume', lastMessageAt, ...facts });
        expect(summarizeVerdict(verdict)).toEqual({ outcomes: [CLEAN], reasons: [], context: [] });
      }
    },
  );

  it.skipIf(!canRun(language))(`log one line whatever the text holds ${needed}`, async () => {
    const result = `two\nlines, "quotes", grüße ${'x'.repeat(300)}`;
    await host.engine.dispatch({ name: 'TaskComplete', result });
    expect(lastLogLine(workspace)).toBe(`TaskComplete ${JSON.stringify(result.slice(0, 200))}`);
  });

  it.skipIf(!canRun(language))(`go on when the log cannot be written ${needed}`, async () => {
    const blocked = createTempWorkspace();
    onTestFinished(() => blocked.remove());
    writeAll(blocked, language);
    write(path.join(blocked.home, '.cline'), 'a file where a directory should be');
    await trustWorkspaceHooks(blocked);
    const other = await openWorkspaceHost(blocked);
    const verdict = await other.engine.dispatch(readEvent({ event: 'TaskComplete' }));
    await other.dispose();
    expect(summarizeVerdict(verdict)).toEqual({
      outcomes: [{ ...CLEAN, stderr: expect.stringMatching(/\S/u) }],
      reasons: [],
      context: [],
    });
  });
});

function lastLogLine({ home }: TempWorkspace): string {
  const log = readFileSync(path.join(home, '.cline', 'hook-logs', 'events.log'), 'utf8');
  const line = log.trimEnd().split('\n').at(-1) ?? '';
  return line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z /u, '');
}

describe('an extensionless node example', () => {
  it.each(['module', 'commonjs', undefined])('runs in a package of type %s', async (type) => {
    const workspace = createTempWorkspace();
    onTestFinished(() => workspace.remove());
    write(path.join(workspace.root, 'package.json'), JSON.stringify({ type }));
    writeAll(workspace, 'node');
    await trustWorkspaceHooks(workspace);
    const host = await openWorkspaceHost(workspace);
    const verdicts = await Promise.all(
      FILE_HOOK_NAMES.map(async (event) => host.engine.dispatch(readEvent({ event }))),
    );
    await host.dispose();
    expect(verdicts.map(summarizeVerdict)).toEqual(
      FILE_HOOK_NAMES.map(() => expect.objectContaining({ outcomes: [CLEAN], reasons: [] })),
    );
  });
});

test.skipIf(!hasPrograms(['bash']))(
  'a bash guard refuses without jq, and any other example reports it and goes on [needs bash]',
  async () => {
    const workspace = createTempWorkspace();
    onTestFinished(() => workspace.remove());
    const programs = path.join(workspace.home, 'bin');
    mkdirSync(programs);
    symlinkSync(programPath('bash'), path.join(programs, 'bash'));
    writeAll(workspace, 'bash');
    await trustWorkspaceHooks(workspace);
    const host = await openWorkspaceHost(workspace, programs);
    const refused = await host.engine.dispatch(trialEvent('PreToolUse'));
    const watched = await host.engine.dispatch(trialEvent('PostToolUse'));
    await host.dispose();
    expect(summarizeVerdict(refused)).toEqual({
      outcomes: [CLEAN],
      reasons: ['PreToolUse: jq is not installed, so this guard refuses.'],
      context: [],
    });
    const stderr = 'PostToolUse: jq is not installed, so this hook does nothing\n';
    expect(summarizeVerdict(watched)).toEqual({
      outcomes: [{ ...CLEAN, stderr }],
      reasons: [],
      context: [],
    });
  },
);

test('the TypeScript examples have no type errors', () => {
  const workspace = createTempWorkspace();
  onTestFinished(() => workspace.remove());
  writeAll(workspace, 'ts');
  const compiler = path.resolve('node_modules/typescript/bin/tsc');
  const types = ['--types', 'node', '--typeRoots', path.resolve('node_modules/@types')];
  const rules = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--skipLibCheck',
  ];
  const files = FILE_HOOK_NAMES.map((event) => fileOf(workspace, 'ts', event));
  const { stdout } = spawnSync(process.execPath, [compiler, ...rules, ...types, ...files], {
    encoding: 'utf8',
    cwd: workspace.root,
  });
  expect(stdout).toBe('');
});

test('every example explains in comments what comes in and what may go out', () => {
  for (const language of SCRIPT_LANGUAGE_NAMES) {
    for (const event of FILE_HOOK_NAMES) {
      const text = HOOK_LANGUAGES[language].write(event);
      const { reads, answers } = HOOK_EXAMPLES[event];
      const missing = [...reads, ...answers].flat().filter((words) => !text.includes(words));
      expect({ language, event, missing }).toEqual({ language, event, missing: [] });
    }
  }
});
