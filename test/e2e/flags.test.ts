import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, resultOf, runHookline, startHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, trust, write } from '../cli/temp-workspace.ts';
import {
  bash,
  DONE,
  errorOf,
  linesOf,
  runScript,
  readMessagesText,
  type Script,
  scripted,
  startScript,
  toolEnds,
  transcriptOf,
  written,
} from './agent-run.ts';
import { claudeHooks, logging, loggingClaude, logOf } from './hook-log.ts';
import { flagsFor, startService } from './service.ts';

const STREAM = ['--output', 'stream-json'];

const CHANGES: Script = [
  { tools: [{ name: 'Write', input: { file_path: 'new.txt', content: 'new' } }] },
  bash('touch made'),
  { tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
  DONE,
];

describe('--permission-mode', () => {
  it.each([
    ['default', [], ['Write', 'Bash']],
    ['plan', [], ['Write', 'Bash']],
    ['dontAsk', [], ['Write', 'Bash']],
    ['acceptEdits', ['new.txt', 'made'], []],
    ['bypassPermissions', ['new.txt', 'made'], []],
  ])('%s', async (mode, made, denied) => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    const args = ['go', '--permission-mode', mode, ...STREAM];
    const result = await runScript(workspace, CHANGES, args);
    expect(result.code).toBe(0);
    expect(
      ['new.txt', 'made'].filter((name) => existsSync(path.join(workspace.repo, name))),
    ).toEqual(made);
    const lines = linesOf(result);
    expect(lines[0]).toMatchObject({ type: 'session-start', permissionMode: mode });
    const refused = toolEnds(result).filter(({ deniedBy }) => deniedBy !== null);
    expect(refused.map(({ tool }) => tool)).toEqual(denied);
    expect(lines.at(-1)).toMatchObject({
      denials: denied.map((tool) => expect.objectContaining({ tool })),
    });
    for (const end of refused) expect(errorOf(end)).toMatch(/./);
  });

  it('states in the system prompt that no user can be asked', async () => {
    const workspace = createTempWorkspace();
    const result = await runScript(workspace, [bash('touch made'), DONE], ['go', ...STREAM]);
    expect(errorOf(toolEnds(result)[0])).toBe(
      'No rule allows Bash with command touch made, and in the mode default it needs approval. No user is available to approve it, so the call is denied.',
    );
    expect(result.stderr).toContain('denied: Bash: No rule allows Bash with command touch made');
  });

  it('tells the user how a call that was denied without a question can be allowed', async () => {
    const turns = [bash('touch made'), bash('touch more'), DONE];
    const { stderr } = await runScript(createTempWorkspace(), turns, ['go']);
    expect(stderr.split('\n').map((line) => line.split(':', 1)[0])).toEqual([
      'denied',
      'denied',
      'note',
      '',
    ]);
    expect(stderr).toContain('note: a non-interactive run cannot ask: allow calls with --allow');
  });

  it('refuses an unknown mode', async () => {
    const workspace = createTempWorkspace();
    const result = await runScript(workspace, [DONE], ['go', '--permission-mode', 'yolo']);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('--permission-mode must be default, acceptEdits, plan,');
  });
});

describe('--allow and --deny', () => {
  it('allow what would be asked, and deny what would be allowed', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    const rules = ['--allow', 'Bash(touch:*)', '--allow', 'Write', '--deny', 'Read(./a.txt)'];
    const result = await runScript(workspace, CHANGES, ['go', ...rules, ...STREAM]);
    expect(toolEnds(result).map(({ tool, deniedBy }) => [tool, deniedBy])).toEqual([
      ['Write', null],
      ['Bash', null],
      ['Read', 'rule'],
    ]);
    expect(errorOf(toolEnds(result)[2])).toContain('Read(./a.txt)');
    expect(readFileSync(path.join(workspace.repo, 'new.txt'), 'utf8')).toBe('new');
  });

  it('deny wins over allow and over every mode', async () => {
    const workspace = createTempWorkspace();
    const rules = ['--allow', 'Bash', '--deny', 'Bash(touch:*)'];
    const mode = ['--permission-mode', 'bypassPermissions'];
    await runScript(workspace, [bash('cd . && touch made'), DONE], ['go', ...rules, ...mode]);
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
  });

  it('report a tool that is probably misspelt, in flags and in settings', async () => {
    const permissions = { deny: ['Raed(./.env)', 'mcp__files'], allow: [] };
    const workspace = createTempWorkspace({
      '.claude/settings.json': JSON.stringify({ permissions }),
    });
    const flags = ['--deny', 'bash', '--allow', 'count_words', '--allow', 'WebSearch'];
    const { stderr } = await runScript(workspace, [DONE], ['go', ...flags]);
    const settings = path.join(workspace.repo, '.claude/settings.json');
    expect(stderr)
      .toBe(`note: a guard may be missing: ${settings} line 1: Hookline has no tool "Raed"; did you mean "Read"? (it counts as "Read(./.env)")
note: --deny: Hookline has no tool "bash"; did you mean "Bash"?
`);
  });

  it('say what is wrong with a rule', async () => {
    const workspace = createTempWorkspace();
    const { code, stderr } = await runScript(workspace, [DONE], ['go', '--allow', 'Bash(']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--allow: ') });
  });
});

describe('--max-turns', () => {
  it('ends a run that takes more, and leaves it to be resumed', async () => {
    const workspace = createTempWorkspace();
    const turns = [bash('echo one'), bash('echo two'), DONE];
    const result = await runScript(workspace, turns, ['go', '--max-turns', '2']);
    expect(result).toEqual({
      code: 1,
      stdout: '',
      stderr: 'turn limit reached: the limit of 2 turns was reached\n',
    });
    const service = await startService([{ text: 'Finished.' }]);
    const args = ['run', '--continue', ...flagsFor(service)];
    expect(await runHookline(args, at(workspace))).toEqual({
      code: 0,
      stdout: 'Finished.\n',
      stderr: '',
    });
    expect(service.requests()[0]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
  });

  it.each(['0', '-1', '1.5', 'many', ''])('refuses %j', async (count) => {
    const workspace = createTempWorkspace();
    expect(await runScript(workspace, [DONE], ['go', `--max-turns=${count}`])).toEqual({
      code: 2,
      stdout: '',
      stderr: `hookline: --max-turns must be a positive integer, found ${JSON.stringify(count)}\n  For example: --max-turns 20\n`,
    });
  });
});

describe('--toolset', () => {
  it.each([
    ['claude', ['Write', 'Edit']],
    ['cline-classic', ['write_to_file', 'replace_in_file']],
    ['cline-sdk', []],
  ])('%s offers as many tools that edit in plan mode as its agent', async (toolset, expected) => {
    const workspace = createTempWorkspace();
    const service = await startService([{ text: 'Planned.' }]);
    const plan = ['--permission-mode', 'plan', '--toolset', toolset];
    await runHookline(['run', 'go', ...flagsFor(service), ...plan], at(workspace));
    const offered = service.requests()[0]?.tools ?? [];
    const editing = ['Write', 'Edit', 'write_to_file', 'replace_in_file', 'editor', 'apply_patch'];
    expect(editing.filter((name) => offered.includes(name))).toEqual(expected);
  });

  it.each([
    ['claude', 'Read', { file_path: 'a.txt' }],
    ['cline-classic', 'read_file', { path: 'a.txt' }],
    ['cline-sdk', 'read_files', { files: [{ path: 'a.txt' }] }],
  ])('%s offers %s, and hooks still see theirs', async (toolset, name, input) => {
    const workspace = createTempWorkspace({ 'a.txt': 'the content of a\n' });
    logging(workspace, 'PreToolUse', '`cline ${input.preToolUse.toolName}`');
    loggingClaude(
      workspace,
      ['PreToolUse'],
      '`claude ${input.tool_name} ${input.tool_input.file_path}`',
    );
    const service = await startService([{ tools: [{ name, input }] }, { text: 'Read.' }]);
    const args = ['run', 'go', ...flagsFor(service), '--toolset', toolset];
    expect(await runHookline(args, at(workspace))).toMatchObject({ code: 0, stdout: 'Read.\n' });
    const [first, second] = service.requests();
    expect(first?.tools).toContain(name);
    expect(first?.tools.includes('Read')).toBe(toolset === 'claude');
    expect(second?.messages.at(-1)?.text).toContain('the content of a');
    expect(logOf(workspace).toSorted()).toEqual([
      `claude Read ${path.join(workspace.repo, 'a.txt')}`,
      'cline read_file',
    ]);
  });
});

describe('--add-dir and --init', () => {
  it('let the agent work elsewhere, and fire hooks', async () => {
    const workspace = createTempWorkspace();
    const other = path.join(workspace.directory, 'other');
    write(other, 'b.txt', 'the content of b\n');
    loggingClaude(
      workspace,
      ['DirectoryAdded', 'Setup', 'SessionStart'],
      '[input.hook_event_name, input.trigger, input.source, input.directory].filter(Boolean).join(" ")',
    );
    const turns = [
      { tools: [{ name: 'Read', input: { file_path: path.join(other, 'b.txt') } }] },
      {
        tools: [{ name: 'Write', input: { file_path: path.join(other, 'c.txt'), content: 'c' } }],
      },
      DONE,
    ];
    const args = ['go', '--add-dir', '../other', '--init', '--permission-mode', 'acceptEdits'];
    const result = await runScript(workspace, turns, [...args, ...STREAM]);
    expect(result.code).toBe(0);
    expect(toolEnds(result).map(({ deniedBy }) => deniedBy)).toEqual([null, null]);
    expect(readFileSync(path.join(other, 'c.txt'), 'utf8')).toBe('c');
    expect(logOf(workspace).toSorted()).toEqual([
      `DirectoryAdded slash_command ${other}`,
      'SessionStart startup',
      'Setup init',
    ]);
  });
});

it('--add-dir refuses what is no directory', async () => {
  const workspace = createTempWorkspace();
  expect(await runScript(workspace, [DONE], ['go', '--add-dir', 'nowhere'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'hookline: --add-dir: "nowhere" is not a directory\n  Pass one that exists.\n',
  });
});

describe('the prompt', () => {
  it('comes from stdin when there is none on the command line', async () => {
    const workspace = createTempWorkspace();
    loggingClaude(workspace, ['UserPromptSubmit'], 'JSON.stringify(input.prompt)');
    const stdin = 'two lines\nof it\n';
    expect(await runScript(workspace, [DONE], [], { stdin })).toMatchObject({ code: 0 });
    expect(logOf(workspace)).toEqual([JSON.stringify('two lines\nof it')]);
    expect(await runScript(workspace, [DONE], [], { stdin: ' \n' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'hookline: `hookline run` requires a prompt\n  Pass it as an argument or on stdin.\n',
    });
    expect(await runScript(workspace, [DONE], [' '])).toMatchObject({ code: 2 });
  });

  it('that does not come can be given up', async () => {
    const workspace = createTempWorkspace();
    const child = startHookline(scripted(workspace, [DONE], []), at(workspace));
    const ending = resultOf(child);
    // More than fits into a pipe: once it is all taken, the program is reading.
    await new Promise((resolve) => child.stdin?.write('x'.repeat(1024 * 1024), resolve));
    child.kill('SIGINT');
    expect(await ending).toEqual({ code: 130, stdout: '', stderr: '' });
  });

  it('may be a command of the project, for which hooks are fired', async () => {
    const workspace = createTempWorkspace({
      '.claude/commands/review.md': 'Review it.\n',
      '.claude/commands/fix.md': '---\ndescription: fixes\n---\nFix the issue $1 in $ARGUMENTS.\n',
    });
    loggingClaude(
      workspace,
      ['UserPromptSubmit', 'UserPromptExpansion'],
      'JSON.stringify([input.hook_event_name, input.prompt, input.command_name ?? null, input.command_args ?? null])',
    );
    const service = await startService([{ text: 'Fixed.' }]);
    const args = ['run', '/fix 12 now', ...flagsFor(service)];
    expect(await runHookline(args, at(workspace))).toMatchObject({ code: 0, stdout: 'Fixed.\n' });
    expect(service.requests()[0]?.messages.map(({ text }) => text.trim())).toEqual([
      'Fix the issue 12 in 12 now.',
    ]);
    expect(logOf(workspace).map((line) => JSON.parse(line))).toEqual([
      ['UserPromptSubmit', '/fix 12 now', null, null],
      ['UserPromptExpansion', '/fix 12 now', 'fix', '12 now'],
    ]);
    expect(await runScript(workspace, [DONE], ['/reveiw'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'refused: Unknown command /reveiw. Did you mean /review?\n',
    });
  });

  it('that a hook refuses ends the run before the model is called', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      'Documents/Cline/Hooks/UserPromptSubmit',
      '#!/bin/sh\necho \'{"cancel":true,"errorMessage":"not today"}\'\n',
    );
    const service = await startService([{ text: 'Never.' }]);
    const result = await runHookline(['run', 'go', ...flagsFor(service)], at(workspace));
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toContain('refused (cline:global:UserPromptSubmit): ');
    expect(result.stderr).toContain('not today');
    expect(service.requests()).toEqual([]);
  });
});

describe('instructions of the project', () => {
  it('is in the system prompt, with what it includes, and hooks are fired for each file', async () => {
    const workspace = createTempWorkspace({
      'CLAUDE.md': 'Say please. @extra.md\n',
      'extra.md': 'Say thanks.\n',
      '.clinerules/rules.md': 'Be short.\n',
    });
    write(workspace.home, '.claude/CLAUDE.md', 'I like tabs.\n');
    loggingClaude(
      workspace,
      ['InstructionsLoaded'],
      '[require("node:path").basename(input.file_path), input.memory_type, input.load_reason].join(" ")',
    );
    const service = await startService([{ text: 'Please.' }]);
    expect(await runHookline(['run', 'go', ...flagsFor(service)], at(workspace))).toMatchObject({
      code: 0,
    });
    const system = service.requests()[0]?.system ?? '';
    for (const text of ['Say please.', 'Say thanks.', 'Be short.', 'I like tabs.']) {
      expect(system).toContain(text);
    }
    expect(logOf(workspace).toSorted()).toEqual([
      'CLAUDE.md Project session_start',
      'CLAUDE.md User session_start',
      'extra.md Project include',
      'rules.md Project session_start',
    ]);
  });

  it('a skill is offered, gives its text, and its hooks count once it is used', async () => {
    const workspace = createTempWorkspace({
      '.claude/skills/careful/SKILL.md': `---
name: careful
description: how to be careful
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo careful with this >&2; exit 2"
---
Look twice.
`,
    });
    trust(workspace);
    const service = await startService([
      { tools: [{ name: 'Bash', input: { command: 'echo before' } }] },
      { tools: [{ name: 'Skill', input: { skill: 'careful' } }] },
      { tools: [{ name: 'Bash', input: { command: 'echo after' } }] },
      { text: 'Careful.' },
    ]);
    const result = await runHookline(['run', 'go', ...flagsFor(service)], at(workspace));
    expect(result).toMatchObject({ code: 0, stdout: 'Careful.\n' });
    const requests = service.requests();
    expect(requests[0]?.system).toContain('careful: how to be careful');
    const results = requests.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? [];
    expect(results.map(({ text }) => text)).toEqual([
      'before',
      expect.stringContaining('Look twice.'),
      expect.stringContaining('careful with this'),
    ]);
  });
});

describe('events around a run', () => {
  it('let hooks change what a user sees, and nothing else', async () => {
    const workspace = createTempWorkspace();
    const answer = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'MessageDisplay', displayContent: 'Well done!' },
    });
    claudeHooks(workspace, { MessageDisplay: `cat > /dev/null; printf '%s' '${answer}'` });
    const result = await runScript(workspace, [DONE], ['go']);
    expect(result).toEqual({ code: 0, stdout: 'Well done!\n', stderr: '' });
    const [session = ''] = readdirSync(path.join(workspace.home, '.hookline/sessions'));
    expect(readMessagesText(workspace, session)).toContain('Done.');
    expect(readMessagesText(workspace, session)).not.toContain('Well done!');
  });

  it('fire hooks for files and settings that change, while they do', async () => {
    const workspace = createTempWorkspace({ 'watched.txt': 'one\n' });
    const log = path.join(workspace.directory, 'log');
    const entry = (name: string) => [
      { matcher: name, hooks: [{ type: 'command', command: `cat >> '${log}'` }] },
    ];
    const settings = { hooks: { FileChanged: entry('watched.txt'), ConfigChange: entry('') } };
    write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
    const waitFor = (word: string) => `until grep -q ${word} '${log}'; do sleep 0.05; done`;
    const turns = [
      bash(`echo two > watched.txt; ${waitFor('FileChanged')}`),
      bash(`echo x > now; ${waitFor('ConfigChange')}`),
      DONE,
    ];
    const child = startScript(workspace, turns, ['go', '--permission-mode', 'bypassPermissions']);
    const ending = resultOf(child);
    await written(path.join(workspace.repo, 'now'));
    write(workspace.home, '.claude/settings.json', JSON.stringify({ ...settings, env: {} }));
    expect(await ending).toMatchObject({ code: 0, stdout: 'Done.\n' });
    const events = logOf(workspace).map((line) => JSON.parse(line));
    const [session = ''] = readdirSync(path.join(workspace.home, '.hookline/sessions'));
    expect(events[0]).toMatchObject({
      session_id: session,
      hook_event_name: 'FileChanged',
      file_path: path.join(workspace.repo, 'watched.txt'),
    });
    expect(events.at(-1)).toMatchObject({
      session_id: session,
      transcript_path: transcriptOf(workspace, session),
      hook_event_name: 'ConfigChange',
      source: 'user_settings',
      file_path: path.join(workspace.home, '.claude/settings.json'),
    });
  });

  it('let a hook ask the model of the run', async () => {
    const workspace = createTempWorkspace();
    const prompt = {
      type: 'prompt',
      prompt: 'Is this call fine? $ARGUMENTS',
      continueOnBlock: true,
    };
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [prompt] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    const service = await startService([
      { tools: [{ name: 'Bash', input: { command: 'echo risky' } }] },
      { text: '{"ok": false, "reason": "the model says no"}' },
      { text: 'Then not.' },
    ]);
    const result = await runHookline(['run', 'go', ...flagsFor(service)], at(workspace));
    expect(result).toMatchObject({ code: 0, stdout: 'Then not.\n' });
    const [, asked, last] = service.requests();
    expect(asked?.messages[0]?.text).toContain('echo risky');
    expect(last?.messages.at(-1)?.text).toContain('the model says no');
  });

  it('fire hooks when the agent is done, and pass the reason why the session ends', async () => {
    const workspace = createTempWorkspace();
    loggingClaude(
      workspace,
      ['SessionStart', 'UserPromptSubmit', 'Stop', 'Notification', 'SessionEnd'],
      '[input.hook_event_name, input.reason, input.message].filter(Boolean).join(" ")',
    );
    expect(jsonOf(await runScript(workspace, [DONE], ['go', '--json']))).toMatchObject({
      status: 'completed',
    });
    expect(logOf(workspace)).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'Stop',
      'SessionEnd other',
    ]);
  });
});

describe('flags that exclude each other', () => {
  it.each([
    [['--resume', 'x', '--continue'], '--resume and --continue cannot be combined'],
    [['--init', '--maintenance'], '--init and --maintenance cannot be combined'],
    [['-P', 'anthropic'], '--script cannot be combined with --provider anthropic'],
  ])('%j', async (flags, message) => {
    const { code, stderr } = await runScript(createTempWorkspace(), [DONE], ['go', ...flags]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `hookline: ${message}\n  Use one of them.\n`,
    });
  });
});
