import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ChatInTmux, type ChatOptions, editor, hasTmux, STATUS } from '../cli/chat/tmux.ts';
import { runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  type TempWorkspace,
  trust,
  write,
  nodeHook,
} from '../cli/temp-workspace.ts';
import { isAlive, until } from '../process/programs.ts';
import { bash, written } from './agent-run.ts';

const LINE = '─'.repeat(80);
const ESCAPE = '\u001B';

function sessionStartHook(command: string): string {
  return JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } });
}

/** A place whose repository is a real one, with something in it. */
function createGitWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace({ 'a.txt': 'one\n' });
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.test'];
    spawnSync('git', [...identity, ...args], { cwd: workspace.repo });
  };
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'first');
  return workspace;
}

async function openChat(workspace: TempWorkspace, options: ChatOptions): Promise<ChatInTmux> {
  const chat = new ChatInTmux(workspace, options);
  await chat.shows('context');
  return chat;
}

describe.skipIf(!hasTmux)('chat in a terminal (skipped without tmux)', () => {
  it('shows an answer as it is meant, and waits for the next prompt', async () => {
    const text =
      '# Title\n\nHello **you**:\n\n- one\n- two\n\n```js\nconst a = 1;\n```\n\nThat is `all`.';
    const chat = await openChat(createTempWorkspace(), { turns: [{ text }] });
    await chat.is(editor());
    chat.say('hi there');
    await chat.is(
      `\n> hi there\n\nTitle\n\nHello you:\n\n- one\n- two\n\n\`\`\`js\n  const a = 1;\n\`\`\`\n\nThat is all.\n${editor()}`,
    );
  });

  it('fires idle_prompt when it has waited for input after a run, and again after the next', async () => {
    const workspace = createTempWorkspace();
    const log = path.join(workspace.directory, 'log');
    const command = `cat >> '${log}'`;
    const hooks = {
      Notification: [{ matcher: 'idle_prompt', hooks: [{ type: 'command', command }] }],
    };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    write(workspace.home, '.hookline/config.json', JSON.stringify({ 'chat.idleMs': 1000 }));
    const chat = await openChat(workspace, { turns: [{ text: 'One.' }, { text: 'Two.' }] });
    const readLog = (): readonly string[] =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
        : [];
    chat.say('first');
    await chat.shows('One.');
    await until(() => readLog().length > 0);
    expect(JSON.parse(readLog()[0] ?? '')).toMatchObject({
      hook_event_name: 'Notification',
      message: 'Hookline is waiting for your input',
      notification_type: 'idle_prompt',
    });
    chat.say('second');
    await chat.shows('Two.');
    await until(() => readLog().length > 1);
  });

  it('shows a command before it runs, and runs it when it is allowed', async () => {
    const workspace = createTempWorkspace();
    const chat = await openChat(workspace, { turns: [bash('touch made.txt'), { text: 'Made.' }] });
    chat.say('make it');
    await chat.is(
      [
        '\n> make it\n',
        'Bash … (esc to cancel)',
        LINE,
        'Allow this command?',
        '$ touch made.txt',
        '(No rule allows Bash with command touch made.txt, and in the mode default it',
        'needs approval.)',
        '> Allow once (y)',
        '  Allow for this session (a) Bash(touch made.txt)',
        '  Deny with a reason (n)',
        '↑↓ select · Enter confirm · Esc deny',
        LINE,
        STATUS,
      ].join('\n'),
    );
    expect(existsSync(path.join(workspace.repo, 'made.txt'))).toBe(false);
    chat.press('y');
    await chat.is(
      `\n> make it\n\n• Bash touch made.txt: (Bash completed with no output)\nMade.\n${editor()}`,
    );
    expect(existsSync(path.join(workspace.repo, 'made.txt'))).toBe(true);
  });

  it('does not ask again for what was allowed for the session', async () => {
    const turns = [bash('touch made.txt'), bash('touch made.txt'), { text: 'Made twice.' }];
    const chat = await openChat(createTempWorkspace(), { turns });
    chat.say('make it');
    await chat.shows('Allow this command?');
    chat.press('a');
    const call = '• Bash touch made.txt: (Bash completed with no output)';
    await chat.is(`\n> make it\n\n${call}\n${call}\nMade twice.\n${editor()}`);
  });

  it('shows what an edit changes, and passes the reason of a denial to the agent', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'one\ntwo\nthree\n' });
    const edit = { file_path: 'a.txt', old_string: 'two', new_string: 'zwei' };
    const readTurn = { tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
    const turns = [readTurn, { tools: [{ name: 'Edit', input: edit }] }, { text: 'Then not.' }];
    const chat = await openChat(workspace, { turns });
    chat.say('translate');
    await chat.shows('Allow this edit to a.txt?');
    expect(chat.screen()).toContain('a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n');
    chat.press('n');
    await chat.shows('Denied. Reason for the agent (optional)');
    chat.say('English only');
    await chat.is(
      [
        '\n> translate\n',
        '• Read a.txt (4 lines)',
        '✗ Edit a.txt',
        '  You denied this: English only',
        'Then not.',
        editor(),
      ].join('\n'),
    );
    expect(readFileSync(path.join(workspace.repo, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  it('prints hooks in one short line, and all details at one key', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({ contextModification: 'Mind the tests.' }),
      [`${HOOKS}/UserPromptSubmit`]: answering({}),
    });
    trust(workspace);
    const turns = [bash('true'), { text: 'Done.' }];
    const chat = await openChat(workspace, { turns, args: ['--allow', 'Bash'] });
    chat.say('go');
    const quiet = `\n> go\n\n• Bash true: (Bash completed with no output)\nDone.\n\n2 hooks, slowest 0 ms (ctrl+o)\n${editor()}`;
    await chat.is(quiet);
    chat.press('C-o');
    await chat.is(
      [
        '\n> go\n',
        '• Bash true: (Bash completed with no output)',
        '  (Bash completed with no output)',
        'Done.',
        '',
        '2 hooks, slowest 0 ms (ctrl+o)',
        '  UserPromptSubmit: pass (1 hook run)',
        '    ✓ cline:workspace:UserPromptSubmit: pass 0 ms',
        '  PreToolUse: pass (1 hook run)',
        '    context for the model: Mind the tests. (cline:workspace:PreToolUse)',
        '    ✓ cline:workspace:PreToolUse: pass 0 ms',
        editor(),
      ].join('\n'),
    );
    chat.press('C-o');
    await chat.is(quiet);
  });

  it('shows failures and denials of hooks at once, and hooks that wait for trust', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({ cancel: true, errorMessage: 'Not on a Monday.' }),
      [`${HOOKS}/UserPromptSubmit`]: '#!/bin/sh\nexit 3\n',
    });
    trust(workspace);
    const chat = await openChat(workspace, { turns: [bash('true'), { text: 'So not.' }] });
    chat.say('go');
    await chat.shows('So not.');
    expect(chat.screen()).toContain('hook failed: cline:workspace:UserPromptSubmit:');
    expect(chat.screen().replaceAll(/\s+/g, ' ')).toContain(
      'denied (cline:workspace:PreToolUse): PreToolUse:Bash hook error: Not on a Monday.',
    );
    expect(chat.screen().replaceAll(/\s+/g, ' ')).toContain(
      'exited with code 3 and gave no answer Exit with 0 and print one JSON object:',
    );
  });

  it('warns of a mistyped key of an answer, and names the hook that refuses a prompt', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({ cancle: true }),
      [`${HOOKS}/UserPromptSubmit`]: nodeHook(
        `const cancel = input.userPromptSubmit.prompt.includes('never');
        console.log(JSON.stringify({ cancel, errorMessage: 'Not on a Monday.' }));`,
      ),
    });
    trust(workspace);
    const chat = await openChat(workspace, { turns: [bash('true'), { text: 'Done so.' }] });
    chat.say('go');
    await chat.shows('Done so.');
    expect(chat.screen().replaceAll(/\s+/g, ' ')).toContain(
      'hook warning: cline:workspace:PreToolUse: unknown field "cancle", not read: did you mean "cancel"?',
    );
    chat.say('never');
    await chat.shows('refused (cline:workspace:UserPromptSubmit)');
    await chat.shows('Not on a Monday.');
  });

  it('trusts hooks that the user has reviewed', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/UserPromptSubmit`]: answering({}) });
    const chat = await openChat(workspace, {
      turns: [{ text: 'One.' }, { text: 'Two.' }],
      rows: 40,
    });
    chat.say('first');
    await chat.shows('1 hook not run');
    expect(chat.screen()).toContain('cline:workspace:UserPromptSubmit needs review: /trust');
    chat.say('/trust');
    await chat.shows('Trust 1 hook to run with your permissions?');
    expect(chat.screen()).toContain('│ #!/bin/sh');
    chat.press('y');
    await chat.shows('Trusted 1 hook.');
    chat.say('second');
    await chat.shows('1 hook, slowest');
  });

  it('trusts nothing inside another session', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/UserPromptSubmit`]: answering({}) });
    const chat = await openChat(workspace, { env: { HOOKLINE_SESSION: 'other' } });
    chat.say('/trust');
    await chat.shows('cannot run inside an agent session');
    expect(existsSync(path.join(workspace.home, '.hookline', 'trust.json'))).toBe(false);
  });

  it('names a slow hook while it runs', async () => {
    const waits = `#!/bin/sh\ncat > /dev/null\nuntil [ -e ../go ]; do sleep 0.02; done\n`;
    const workspace = createTempWorkspace({ [`${HOOKS}/UserPromptSubmit`]: waits });
    trust(workspace);
    const chat = await openChat(workspace, { turns: [{ text: 'At last.' }] });
    chat.say('go');
    await chat.shows('waiting for cline:workspace:UserPromptSubmit …');
    write(workspace.directory, 'go', '');
    await chat.shows('At last.');
    expect(chat.screen()).not.toContain('waiting for');
  });

  it('cancels the run with all that it started at Ctrl-C, and leaves at the second', async () => {
    const workspace = createTempWorkspace();
    const command = 'echo $$ > pid; exec sleep 1000';
    const chat = await openChat(workspace, { turns: [bash(command)], args: ['--allow', 'Bash'] });
    chat.say('wait');
    const pid = Number(await written(path.join(workspace.repo, 'pid')));
    chat.press('C-c');
    await chat.shows(/^interrupted by the user$/mu);
    await until(() => !isAlive(pid));
    chat.type('x');
    await chat.shows('> x');
    chat.press('C-c');
    await chat.shows(/^>$/mu);
    chat.press('C-c');
    await chat.shows('Press Ctrl+C again or Ctrl+D to exit');
    chat.press('C-c');
    await chat.shows('exit 0');
  });

  it('sends the agent what is typed while it works', async () => {
    const workspace = createTempWorkspace();
    const command = 'touch started; until [ -e ../go ]; do sleep 0.02; done';
    const turns = [bash(command), { text: 'I heard you.' }];
    const chat = await openChat(workspace, { turns, args: ['--allow', 'Bash'] });
    chat.say('begin');
    await until(() => existsSync(path.join(workspace.repo, 'started')));
    chat.say('and mind the gap');
    await chat.shows('> and mind the gap (queued)');
    write(workspace.directory, 'go', '');
    await chat.shows('I heard you.');
    expect(chat.screen()).toContain('\n> and mind the gap\n');
    expect(chat.screen()).not.toContain('(queued)');
  });

  it('gives back what did not reach the agent any more when the run is cancelled', async () => {
    const workspace = createTempWorkspace();
    const turns = [bash('touch started; sleep 1000')];
    const chat = await openChat(workspace, { turns, args: ['--allow', 'Bash'] });
    chat.say('begin');
    await until(() => existsSync(path.join(workspace.repo, 'started')));
    chat.say('mind the gap');
    await chat.shows('> mind the gap (queued)');
    chat.press('Escape');
    await chat.is(
      [
        '\n> begin\n',
        '✗ Bash touch started; sleep 1000: Command was aborted before completion',
        'interrupted by the user',
        editor(STATUS, 'mind the gap'),
      ].join('\n'),
    );
  });

  it('understands a command that is sent while the agent works, and sends one by one', async () => {
    const workspace = createTempWorkspace({ '.claude/commands/review.md': 'Review it well.' });
    const command = 'touch started; until [ -e ../go ]; do sleep 0.02; done';
    const turns = [bash(command), { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];
    const chat = await openChat(workspace, { turns, args: ['--allow', 'Bash'], rows: 40 });
    chat.say('begin');
    await until(() => existsSync(path.join(workspace.repo, 'started')));
    chat.say('/review');
    await chat.shows('> /review (queued)');
    chat.say('then rest');
    await chat.shows('> then rest (queued)');
    write(workspace.directory, 'go', '');
    await chat.shows('Three.');
    expect(chat.screen()).toContain('One.\n\n> /review\n\nTwo.\n\n> then rest\n\nThree.\n');
    const { stdout } = await runHookline(['sessions', 'list', '--json'], at(workspace));
    const [session] = JSON.parse(stdout).sessions;
    const { stdout: report } = await runHookline(['sessions', 'show', session.id], at(workspace));
    expect(report).toContain('Review it well.');
  });

  it('sends what is typed while the conversation is compacted', async () => {
    const waits = `#!/bin/sh\ncat > /dev/null\ntouch ../compacting\nuntil [ -e ../go ]; do sleep 0.02; done\n`;
    const workspace = createTempWorkspace({ [`${HOOKS}/PreCompact`]: waits });
    trust(workspace);
    const turns = [{ text: 'One.' }, { text: 'All that was said.' }, { text: 'Two.' }];
    const chat = await openChat(workspace, { turns });
    chat.say('first');
    await chat.shows('One.');
    chat.say('/compact');
    await until(() => existsSync(path.join(workspace.directory, 'compacting')));
    chat.say('/model other-one');
    await chat.shows('The agent is working. Wait, or press Esc to cancel.');
    chat.say('second');
    await chat.shows('> second (queued)');
    write(workspace.directory, 'go', '');
    await chat.shows(/> second\n\nTwo\./u);
    expect(chat.screen()).not.toContain('(queued)');
  });

  it('shows what is typed while SessionStart hooks run, and sends it then', async () => {
    const waits = `#!/bin/sh\ncat > /dev/null\nuntil [ -e ../go ]; do sleep 0.02; done\n`;
    const workspace = createTempWorkspace({
      '.claude/settings.json': sessionStartHook('./wait.sh'),
      'wait.sh': waits,
    });
    trust(workspace);
    const chat = new ChatInTmux(workspace, { turns: [{ text: 'One.' }, { text: 'Two.' }] });
    await chat.shows(/^>$/mu);
    chat.say('early');
    await chat.shows('> early (queued)');
    chat.say('bird');
    await chat.shows('> bird (queued)');
    write(workspace.directory, 'go', '');
    await chat.shows('Two.');
    expect(chat.screen()).toContain('> early\n\nOne.\n\n> bird\n\nTwo.\n');
  });

  it('leaves nothing on the screen when the user leaves while SessionStart hooks run', async () => {
    const waits = '#!/bin/sh\ncat > /dev/null\nsleep 1000\n';
    const workspace = createTempWorkspace({
      '.claude/settings.json': sessionStartHook('./wait.sh'),
      'wait.sh': waits,
    });
    trust(workspace);
    const chat = new ChatInTmux(workspace, {});
    await chat.shows('waiting for');
    chat.press('C-c');
    await chat.shows('exit ');
    expect(chat.screen()).not.toMatch(/waiting for|leaving/u);
  });

  it('lets no command of a workspace take the name of one of ours', async () => {
    const workspace = createTempWorkspace({
      '.claude/commands/trust.md': 'Say that all is trusted.',
      '.claude/commands/exit.md': 'Stay.',
    });
    const chat = await openChat(workspace, {
      turns: [{ text: 'Taken over.' }],
      columns: 200,
      rows: 50,
    });
    chat.say('/trust');
    await chat.shows('No hooks to trust in this workspace');
    chat.say('/help');
    await chat.shows(
      '/trust of PLACE/repo/.claude/commands/trust.md is hidden by a built-in command',
    );
    expect(chat.screen()).not.toContain('Taken over.');
    chat.say('/exit');
    await chat.shows('exit 0');
  });

  it('stays in its worktree when it begins anew, and goes on with another session there', async () => {
    const workspace = createGitWorkspace();
    const turns = [bash('pwd'), { text: 'There.' }];
    const options = { turns, args: ['--allow', 'Bash', '--worktree', 'fix'], rows: 40 };
    const chat = await openChat(workspace, options);
    await chat.is(editor(`worktree fix · ${STATUS}`));
    chat.say('/clear');
    await chat.is(editor(`worktree fix · ${STATUS}`));
    chat.say('where?');
    await chat.shows('There.');
    expect(chat.screen()).toMatch(/• Bash pwd: .*fix$/mu);
    const { stdout } = await runHookline(['sessions', 'list', '--json'], at(workspace));
    const [session] = JSON.parse(stdout).sessions;
    chat.say('/clear');
    await chat.is(editor(`worktree fix · ${STATUS}`));
    chat.say(`/resume ${session.id}`);
    await chat.shows('There.');
    await chat.shows('worktree fix');
  });

  it('asks about a worktree when it is left, and does not wait for a user who is gone', async () => {
    const workspace = createTempWorkspace();
    const copy = path.join(workspace.directory, 'copy');
    write(copy, 'a.txt', 'one\n');
    const hooks = [{ type: 'command', command: `echo ${copy}` }];
    const settings = { hooks: { WorktreeCreate: [{ hooks }] } };
    write(workspace.repo, '.claude/settings.json', JSON.stringify(settings));
    trust(workspace);
    const worktreeChat = await openChat(workspace, { args: ['--worktree', 'copy'] });
    worktreeChat.press('C-d');
    await worktreeChat.shows('Keep the worktree');
    expect(worktreeChat.screen()).not.toContain('Other');
    worktreeChat.press('C-c');
    await worktreeChat.shows('exit 0');
    const closed = await openChat(workspace, { args: ['--worktree', 'copy'] });
    closed.press('C-d');
    await closed.shows('Keep the worktree');
    const pid = closed.pid();
    closed.hangUp();
    await until(() => !isAlive(pid));
    expect(existsSync(copy)).toBe(true);
  });

  it('gives the terminal back when it is killed in the middle of a run', async () => {
    const workspace = createTempWorkspace();
    const chat = await openChat(workspace, {
      turns: [bash('echo $PPID > pid; trap "" TERM; sleep 1000')],
      args: ['--allow', 'Bash'],
    });
    chat.say('begin');
    const pid = Number(await written(path.join(workspace.repo, 'pid')));
    process.kill(pid, 'SIGTERM');
    await chat.shows('exit 130');
    chat.say('typed again');
    await chat.shows('typed again');
  });

  it('goes on with an earlier session, and begins anew', async () => {
    const workspace = createTempWorkspace();
    const first = await openChat(workspace, { turns: [{ text: 'The answer is 42.' }] });
    first.say('what is it?');
    await first.shows('The answer is 42.');
    first.press('C-d');
    await first.shows('exit 0');
    const chat = await openChat(workspace, { turns: [{ text: 'Again 42.' }, { text: 'New.' }] });
    chat.say('/resume');
    await chat.shows('Resume which session?');
    chat.press('1');
    await chat.is(`\n> what is it?\n\nThe answer is 42.\n${editor()}`);
    chat.say('again?');
    await chat.shows('Again 42.');
    chat.say('/clear');
    await chat.is(editor());
  });

  it('resumes by a flag', async () => {
    const workspace = createTempWorkspace();
    const first = await openChat(workspace, { turns: [{ text: 'The answer is 42.' }] });
    first.say('what is it?');
    await first.shows('The answer is 42.');
    first.say('/exit');
    await first.shows('exit 0');
    const chat = await openChat(workspace, { args: ['--continue'] });
    await chat.is(`\n> what is it?\n\nThe answer is 42.\n${editor()}`);
  });

  it('switches the model, and compacts the conversation', async () => {
    const turns = [{ text: 'One.' }, { text: 'All that was said.' }, { text: 'Two.' }];
    const chat = await openChat(createTempWorkspace(), { turns });
    chat.say('/model other-one');
    await chat.is(`Switched to other-one.\n${editor(STATUS.replace('scripted', 'other-one'))}`);
    chat.say('first');
    await chat.shows('One.');
    chat.say('/compact');
    await chat.shows('Conversation compacted');
    chat.say('second');
    await chat.shows('Two.');
    chat.say('/cost');
    await chat.shows(/tokens +[\d,]+ in, [\d,]+ out/u);
  });

  it('gives up a model switch at Ctrl-C while a hook runs', async () => {
    const hooks = [{ type: 'command', command: 'touch ../asked; sleep 1000' }];
    const settings = JSON.stringify({ hooks: { PreModelSwitch: [{ hooks }] } });
    const workspace = createTempWorkspace({ '.claude/settings.json': settings });
    trust(workspace);
    const chat = await openChat(workspace, { turns: [{ text: 'Still me.' }] });
    chat.say('/model other-one');
    await until(() => existsSync(path.join(workspace.directory, 'asked')));
    chat.say('who are you?');
    await chat.shows('> who are you? (queued)');
    chat.press('C-c');
    await chat.is(`interrupted by the user\n\n> who are you?\n\nStill me.\n${editor()}`);
  });

  it('cancels while it asks, and runs nothing', async () => {
    const workspace = createTempWorkspace();
    const chat = await openChat(workspace, { turns: [bash('touch made.txt'), { text: 'Next.' }] });
    chat.say('make it');
    await chat.shows('Allow this command?');
    chat.press('C-c');
    await chat.shows(/^interrupted by the user$/mu);
    await chat.shows(/^>$/mu);
    chat.say('go on');
    await chat.shows('Next.');
    expect(existsSync(path.join(workspace.repo, 'made.txt'))).toBe(false);
  });

  it('says why it cannot start, and gives the terminal back', async () => {
    const chat = new ChatInTmux(createTempWorkspace(), { args: ['--resume', 'nothing'] });
    await chat.shows('exit 2');
    expect(chat.screen()).toContain('hookline: ');
    chat.say('typed again');
    await chat.shows('typed again');
  });

  it('suggests a similar command, and lists all of them', async () => {
    const chat = await openChat(
      createTempWorkspace({ '.claude/commands/review.md': 'Review it.' }),
      {
        turns: [{ text: 'Reviewed.' }],
        rows: 40,
      },
    );
    chat.say('/cots');
    await chat.shows('Unknown command /cots. Did you mean /cost?');
    chat.say('/reviw');
    await chat.shows('Unknown command /reviw. Did you mean /review?');
    chat.say('/help');
    await chat.shows('/resume   resume an earlier session');
    chat.say('/review');
    await chat.shows('Reviewed.');
  });

  it('draws everything anew when the window changes, also when it is narrow', async () => {
    const text = 'A sentence that is certainly longer than forty columns, and then some.';
    const chat = await openChat(createTempWorkspace(), { turns: [{ text }] });
    chat.say('hi');
    await chat.shows('some.');
    chat.resize(40, 12);
    const line = '─'.repeat(40);
    await chat.is(
      [
        '\n> hi\n',
        'A sentence that is certainly longer than',
        'forty columns, and then some.',
        `${line}\n>\n${line}`,
        'scripted · ask first · 0% context ·',
        '$0.0000 · /help',
      ].join('\n'),
    );
  });

  it('folds a long paste, sends all of it, and refuses one that is too long for any model', async () => {
    const workspace = createTempWorkspace();
    const chat = await openChat(workspace, { turns: [{ text: 'Read.' }] });
    chat.paste(Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n'));
    await chat.shows('[paste #1 +50 lines]');
    chat.paste('x'.repeat(10 * 1024 * 1024));
    await chat.shows('Paste of 10,485,760 characters exceeds the model');
    await chat.shows('[paste #1 +50 lines]');
    chat.press('Enter');
    await chat.shows('Read.');
    const { stdout } = await runHookline(['sessions', 'list', '--json'], at(workspace));
    const [session] = JSON.parse(stdout).sessions;
    const { stdout: report } = await runHookline(['sessions', 'show', session.id], at(workspace));
    expect(report).toContain('line 0\n');
    expect(report).toContain('line 49\n');
  });

  it('accepts several lines', async () => {
    const chat = await openChat(createTempWorkspace(), { turns: [{ text: 'Both.' }] });
    chat.say('one\\');
    chat.type('two');
    await chat.shows(/> one *\n +two/u);
    chat.press('Enter');
    await chat.is(`\n> one\n  two\n\nBoth.\n${editor()}`);
  });

  it('completes commands and files', async () => {
    const chat = await openChat(createTempWorkspace({ 'src/main.ts': '' }), {});
    chat.type('/hel');
    await chat.shows('show commands and keys');
    chat.press('Tab');
    await chat.shows('> /help');
    chat.press('C-c');
    chat.type('look at @sr');
    await chat.shows('src/');
    chat.press('Tab');
    await chat.shows('> look at @src/');
    chat.type('m');
    await chat.shows('main.ts');
    chat.press('Tab');
    await chat.shows('> look at @src/main.ts');
  });

  it('brings back what was typed in earlier sessions, from a file that only the user can read', async () => {
    const workspace = createTempWorkspace();
    const first = await openChat(workspace, { turns: [{ text: 'Yes.' }] });
    first.say('remember me');
    await first.shows('Yes.');
    first.press('C-d');
    await first.shows('exit 0');
    const file = path.join(workspace.home, '.hookline', 'chat-history');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const chat = await openChat(workspace, {});
    chat.press('Up');
    await chat.is(editor(STATUS, 'remember me'));
  });

  it('cycles through the permission modes at a key', async () => {
    const chat = await openChat(createTempWorkspace(), {});
    chat.press('BTab');
    await chat.is(editor('scripted · accept edits · 0% context · $0.0000 · /help'));
    chat.press('BTab');
    await chat.is(editor('scripted · plan mode · 0% context · $0.0000 · /help'));
    chat.press('BTab');
    await chat.is(editor());
  });

  it('asks the questions of the agent', async () => {
    const options = [
      { label: 'Red', description: 'like fire' },
      { label: 'Blue', description: 'like water' },
    ];
    const question = { question: 'Which colour?', header: 'Colour', options, multiSelect: false };
    const ask = { tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] };
    const chat = await openChat(createTempWorkspace(), { turns: [ask, { text: 'Blue it is.' }] });
    chat.say('paint');
    await chat.shows('Which colour?');
    chat.press('Down', 'Enter');
    await chat.is(`\n> paint\n\n• Which colour? → Blue\nBlue it is.\n${editor()}`);
  });

  it('lets no answer control the terminal, and prints no secret', async () => {
    const key = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
    const text = `Red \u001B[31malert\u001B[2J and \u202Eback, with ${key} in it.`;
    const chat = await openChat(createTempWorkspace(), { turns: [{ text }] });
    chat.say('hi');
    await chat.shows('in it.');
    expect(chat.screen()).toContain(
      'Red \\u{1b}[31malert\\u{1b}[2J and \\u{202e}back, with [redacted] in it.',
    );
    expect(chat.all()).not.toContain(key);
  });

  it('uses no colours when they are switched off', async () => {
    const chat = await openChat(createTempWorkspace(), {
      turns: [{ text: '# Hi\n\n`x`' }],
      env: { NO_COLOR: '1' },
    });
    chat.say('hi');
    await chat.shows('Hi');
    // Inverse for the cursor, and what ends it.
    const codes = chat.screen('-e').split(ESCAPE).slice(1);
    const colours = codes.filter((code) => !/^\[(?:0|7|27|39|49)?m/u.test(code));
    expect(colours).toEqual([]);
  });

  it('leaves nothing running when the terminal is closed, and the session can be resumed', async () => {
    const workspace = createTempWorkspace();
    const command = 'echo $$ > pid; exec sleep 1000';
    const chat = await openChat(workspace, { turns: [bash(command)], args: ['--allow', 'Bash'] });
    chat.say('wait');
    const pid = Number(await written(path.join(workspace.repo, 'pid')));
    const chatPid = chat.pid();
    expect(isAlive(chatPid)).toBe(true);
    chat.hangUp();
    await until(() => !isAlive(pid) && !isAlive(chatPid));
    const resumed = await openChat(workspace, {
      turns: [{ text: 'Here again.' }],
      args: ['--continue'],
    });
    await resumed.shows('> wait');
    resumed.say('still there?');
    await resumed.shows('Here again.');
  });
});

it.skipIf(!hasTmux)('works line by line on a dumb terminal (skipped without tmux)', async () => {
  const turns = [bash('touch made.txt'), { text: 'Made **it**.' }];
  const chat = await openChat(createTempWorkspace(), { turns, env: { TERM: 'dumb' } });
  chat.say('make it');
  await chat.shows('empty line cancels');
  chat.say('y');
  await chat.is(
    [
      '[/help for help]',
      `[${STATUS}]`,
      '> make it',
      '',
      '> make it',
      '',
      'Allow this command?',
      '$ touch made.txt',
      '(No rule allows Bash with command touch made.txt, and in the mode default it nee',
      'ds approval.)',
      '  y) Allow once',
      '  a) Allow for this session Bash(touch made.txt)',
      '  n) Deny with a reason',
      '(key; empty line cancels) ? y',
      '• Bash touch made.txt: (Bash completed with no output)',
      'Made **it**.',
      '>',
    ].join('\n'),
  );
  chat.press('C-d');
  await chat.shows('exit 0');
});

it('needs a terminal, and says what to use without one', async () => {
  expect(await runHookline(['chat'], at(createTempWorkspace()))).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'hookline: `hookline chat` requires a terminal\n  Use `hookline run "…"` for non-interactive runs.\n',
  });
});
