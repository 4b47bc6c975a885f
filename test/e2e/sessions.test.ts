import { cpSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HooklineResult, jsonOf, resultOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, hasProgram, write } from '../cli/temp-workspace.ts';
import {
  bash,
  DONE,
  linesOf,
  runScript,
  readMessagesText,
  startScript,
  storedLines,
  toolEnds,
  transcriptOf,
  written,
} from './agent-run.ts';
import { claudeHooks, logCommand, logging, loggingClaude, logOf } from './hook-log.ts';
import { flagsFor, startService } from './service.ts';

const JSON_OUTPUT = ['--output', 'json'];

async function sessionOf(running: Promise<HooklineResult>): Promise<string> {
  return jsonOf(await running).sessionId;
}

describe('resuming a session', () => {
  it('sends the model all earlier messages', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'the content of a\n' });
    const readTurn = { text: 'I read.', tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
    await runScript(workspace, [readTurn, { text: 'It is read.' }], ['read a']);
    const service = await startService([{ text: 'As I said: it is read.' }]);
    const flags = ['-P', 'anthropic', '--base-url', service.url, '--key', 'k'];
    const result = await runHookline(['run', 'again', '--continue', ...flags], at(workspace));
    expect(result).toEqual({ code: 0, stdout: 'As I said: it is read.\n', stderr: '' });
    expect(service.requests()[0]?.messages).toEqual([
      { role: 'user', text: 'read a', calls: [] },
      { role: 'assistant', text: 'I read.', calls: ['Read'] },
      { role: 'tool', text: expect.stringContaining('the content of a'), calls: [] },
      { role: 'assistant', text: 'It is read.', calls: [] },
      { role: 'user', text: 'again', calls: [] },
    ]);
  });

  it('--continue uses the session of this directory that was used last', async () => {
    const workspace = createTempWorkspace();
    const first = await sessionOf(runScript(workspace, [DONE], ['one', ...JSON_OUTPUT]));
    const second = await sessionOf(runScript(workspace, [DONE], ['two', ...JSON_OUTPUT]));
    await runScript(workspace, [DONE], ['one again', '--resume', first]);
    const args = ['three', '--continue', ...JSON_OUTPUT];
    expect(await sessionOf(runScript(workspace, [DONE], args))).toBe(first);
    expect(second).not.toBe(first);
    const elsewhere = await runScript(workspace, [DONE], args, { cwd: workspace.home });
    expect(elsewhere).toEqual({
      code: 2,
      stdout: '',
      stderr: `hookline: no session is stored for ${workspace.home}\n  \`hookline sessions list\` shows all that are.\n`,
    });
  });

  it('--resume accepts the unique beginning of an id', async () => {
    const workspace = createTempWorkspace();
    const id = await sessionOf(runScript(workspace, [DONE], ['one', ...JSON_OUTPUT]));
    const args = ['two', '--resume', id.slice(0, 8), ...JSON_OUTPUT];
    expect(await sessionOf(runScript(workspace, [DONE], args))).toBe(id);
    expect(await runScript(workspace, [DONE], ['two', '--resume', 'nothing'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'hookline: session "nothing" not found\n  List the stored sessions with `hookline sessions list`.\n',
    });
    expect(await runScript(workspace, [DONE], ['two', '--resume', '../../etc'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('session "../../etc" not found'),
    });
  });

  it('--fork goes on in a copy and leaves the original as it was', async () => {
    const workspace = createTempWorkspace();
    const id = await sessionOf(runScript(workspace, [DONE], ['one', ...JSON_OUTPUT]));
    const before = readFileSync(transcriptOf(workspace, id), 'utf8');
    const args = ['two', '--resume', id.slice(0, 10), '--fork', ...JSON_OUTPUT];
    const copy = await sessionOf(runScript(workspace, [{ text: 'Forked.' }], args));
    expect(copy).not.toBe(id);
    expect(readFileSync(transcriptOf(workspace, id), 'utf8')).toBe(before);
    expect(readMessagesText(workspace, copy)).toMatch(/one.*Done\..*two.*Forked\./);
    const { code, stderr } = await runScript(workspace, [DONE], ['two', '--fork']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'hookline: --fork requires a session\n  Pass --resume ID or --continue.\n',
    });
  });

  it('fires TaskStart once and TaskResume when it is resumed', async () => {
    const workspace = createTempWorkspace();
    logging(workspace, 'TaskStart', '`TaskStart ${input.taskStart.taskMetadata.initialTask}`');
    logging(workspace, 'TaskResume', '`TaskResume ${input.taskId}`');
    logging(workspace, 'TaskComplete', '`TaskComplete ${input.taskId}`');
    claudeHooks(workspace, {
      SessionStart: logCommand(
        workspace,
        '$(cat | sed -n \'s/.*"source":"\\([a-z]*\\)".*/\\1/p\')',
      ),
    });
    await runScript(workspace, [DONE], ['one']);
    await runScript(workspace, [DONE], ['two', '--continue']);
    await runScript(workspace, [DONE], ['three', '--continue', '--fork']);
    const tasks = logOf(workspace);
    expect(tasks.map((line) => line.replace(/\d+/, 'ID'))).toEqual([
      'startup',
      'TaskStart one',
      'TaskComplete ID',
      'resume',
      'TaskResume ID',
      'TaskComplete ID',
      'fork',
      'TaskResume ID',
      'TaskComplete ID',
    ]);
    expect(tasks[2]?.split(' ')[1]).toBe(tasks[4]?.split(' ')[1]);
  });

  it('without a prompt asks the model to go on, and counts as a resumed task', async () => {
    const workspace = createTempWorkspace();
    await runScript(workspace, [DONE], ['one']);
    logging(workspace, 'TaskResume', '"TaskResume"');
    loggingClaude(workspace, ['UserPromptSubmit'], '"UserPromptSubmit"');
    const service = await startService([{ text: 'There is more.' }]);
    const args = ['run', '--continue', ...flagsFor(service)];
    expect(await runHookline(args, at(workspace))).toMatchObject({
      code: 0,
      stdout: 'There is more.\n',
    });
    expect(service.requests()[0]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    expect(logOf(workspace)).toEqual(['TaskResume']);
  });

  it('asks hooks again about a call that one of them deferred', async () => {
    const workspace = createTempWorkspace();
    const answer = (permissionDecision: string): string =>
      JSON.stringify({
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision },
      });
    claudeHooks(workspace, { PreToolUse: `cat > /dev/null; printf '%s' '${answer('defer')}'` });
    const deferred = await runScript(
      workspace,
      [bash('touch made'), DONE],
      ['one', ...JSON_OUTPUT],
    );
    expect(deferred.code).toBe(0);
    const { sessionId, ending, deferred: call } = jsonOf(deferred);
    expect({ ending, call }).toEqual({
      ending: 'tool_deferred',
      call: { id: 'call_1', name: 'Bash', input: { command: 'touch made' } },
    });
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
    const later = await runScript(workspace, [DONE], ['--resume', sessionId]);
    expect(later).toMatchObject({ code: 0, stdout: '' });
    expect(later.stderr).toContain(
      `deferred: Bash; decide with: hookline run --resume ${sessionId}`,
    );
    claudeHooks(workspace, { PreToolUse: `cat > /dev/null; printf '%s' '${answer('allow')}'` });
    const allowed = await runScript(workspace, [DONE], ['--resume', sessionId]);
    expect(allowed).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(true);
  });

  it('goes on in its directory, but not outside of the start directory', async () => {
    const workspace = createTempWorkspace({ 'sub/a.txt': 'a\n', '../other/b.txt': 'b\n' });
    const id = await sessionOf(
      runScript(workspace, [bash('cd sub'), DONE], ['one', ...JSON_OUTPUT]),
    );
    const pwd = [bash('pwd'), DONE];
    const args = ['two', '--resume', id, '--output', 'stream-json'];
    const standing = async (cwd: string) =>
      toolEnds(await runScript(workspace, pwd, args, { cwd }))[0]?.['output'];
    const { repo, directory } = workspace;
    expect(await standing(repo)).toMatchObject({ text: path.join(repo, 'sub') });
    const other = path.join(directory, 'other');
    expect(await standing(other)).toMatchObject({ text: other });
  });

  it('lets only one process have a session at a time', async () => {
    const workspace = createTempWorkspace();
    const id = await sessionOf(runScript(workspace, [DONE], ['one', ...JSON_OUTPUT]));
    const [started, go] = ['started', 'go'].map((name) => path.join(workspace.repo, name));
    const waiting = bash(`echo x > started; until [ -e go ]; do sleep 0.05; done; echo over`);
    const args = ['two', '--resume', id, '--permission-mode', 'bypassPermissions'];
    const child = startScript(workspace, [waiting, { text: 'I had it.' }], args);
    const first = resultOf(child);
    await written(started ?? '');
    const second = await runScript(workspace, [DONE], ['three', '--resume', id]);
    expect(second).toEqual({
      code: 2,
      stdout: '',
      stderr: `hookline: the session ${id} is in use by process ${child.pid}\n  Wait until it has ended or end it, or continue with a copy: \`--fork\`.\n`,
    });
    const copied = await runScript(
      workspace,
      [{ text: 'A copy.' }],
      ['three', '--resume', id, '--fork'],
    );
    expect(copied).toMatchObject({ code: 0, stdout: 'A copy.\n' });
    write(path.dirname(go ?? ''), 'go', '');
    expect(await first).toEqual({ code: 0, stdout: 'I had it.\n', stderr: '' });
    expect(readMessagesText(workspace, id)).not.toContain('three');
    expect(await runScript(workspace, [DONE], ['four', '--resume', id])).toMatchObject({ code: 0 });
  });
});

describe('a stored session', () => {
  it('has a transcript that is named after it, so that hooks find the session in its path', async () => {
    const workspace = createTempWorkspace();
    const log = path.join(workspace.directory, 'log');
    const name = `basename "$(node -pe 'JSON.parse(fs.readFileSync(0)).transcript_path')" .jsonl`;
    claudeHooks(workspace, { Stop: `${name} >> '${log}'` });
    const id = await sessionOf(runScript(workspace, [DONE], ['one', ...JSON_OUTPUT]));
    await runScript(workspace, [DONE], ['two', '--resume', id]);
    expect(readFileSync(log, 'utf8')).toBe(`${id}\n${id}\n`);
  });

  it('with the name of an earlier version, or of the session it was copied from, is read and resumed', async () => {
    const workspace = createTempWorkspace();
    const id = await sessionOf(runScript(workspace, [DONE], ['one', ...JSON_OUTPUT]));
    const file = transcriptOf(workspace, id);
    const directory = path.dirname(file);
    cpSync(directory, path.join(path.dirname(directory), 'a-copy'), { recursive: true });
    const former = path.join(directory, 'transcript.jsonl');
    renameSync(file, former);
    for (const [session, stored] of [
      [id, former],
      ['a-copy', path.join(path.dirname(directory), 'a-copy', `${id}.jsonl`)],
    ] as const) {
      expect(await runScript(workspace, [DONE], ['two', '--resume', session])).toMatchObject({
        code: 0,
        stderr: '',
      });
      const prompts = readFileSync(stored, 'utf8').matchAll(/"content":"(one|two)"/g);
      expect([...prompts].map(([, prompt]) => prompt)).toEqual(['one', 'two']);
      const shown = await runHookline(['sessions', 'show', session], at(workspace));
      expect(shown.stdout).toMatch(/> one[^]*> two/);
    }
    expect(existsSync(file)).toBe(false);
  });

  it(`can be read by a hook that reads the transcript${hasProgram('jq') ? '' : ' (with grep, as jq is missing)'}`, async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'aaa\n' });
    const query = hasProgram('jq')
      ? `jq -r 'select(.type=="user") | .message.content | strings'`
      : `grep -o '"content":"[^"]*"' | head -1 | cut -d'"' -f4`;
    const file = `file=$(sed -n 's/.*"transcript_path":"\\([^"]*\\)".*/\\1/p')`;
    const found = `$(cat "$file" | ${query})`;
    claudeHooks(workspace, {
      PreToolUse: `${file}; echo "${found}" >> '${path.join(workspace.directory, 'log')}'`,
    });
    const readTurn = { tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
    expect(await runScript(workspace, [readTurn, DONE], ['what a hook greps for'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(logOf(workspace)).toEqual(['what a hook greps for']);
  });

  it('is in Claude’s shape, one line for each message, each with its parent', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'aaa\n' });
    const readTurn = { text: 'So.', tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
    const id = await sessionOf(runScript(workspace, [readTurn, DONE], ['go', ...JSON_OUTPUT]));
    const lines = storedLines(workspace, id);
    expect(lines.map(({ type, message }) => [type, message?.role])).toEqual([
      ['user', 'user'],
      ['assistant', 'assistant'],
      ['user', 'user'],
      ['assistant', 'assistant'],
    ]);
    expect(lines.map(({ parentUuid }) => parentUuid)).toEqual([
      null,
      ...lines.slice(0, -1).map(({ uuid }) => uuid),
    ]);
    for (const line of lines) {
      expect(line).toMatchObject({ sessionId: id, cwd: workspace.repo, isSidechain: false });
    }
    expect(lines[2]).toMatchObject({
      message: { content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
      toolUseResult: { file: { content: expect.stringContaining('aaa') } },
    });
  });

  it('is listed and printed after a run', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'aaa\n' });
    const readTurn = { text: 'So.', tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
    const id = await sessionOf(runScript(workspace, [readTurn, DONE], ['go on', ...JSON_OUTPUT]));
    const listed = jsonOf(await runHookline(['sessions', 'list', '--json'], at(workspace)));
    expect(listed.sessions).toEqual([
      {
        id,
        title: null,
        firstPrompt: 'go on',
        startDirectory: workspace.repo,
        model: 'scripted',
        createdAt: expect.any(Number),
        lastUsedAt: expect.any(Number),
        messageCount: 4,
        problem: null,
      },
    ]);
    const { stdout } = await runHookline(['sessions', 'show', id], at(workspace));
    expect(stdout).toMatch(/> go on\n[^]*So\.\n• Read .*a\.txt\n {2}→ .*aaa[^]*Done\./);
  });
});

describe('stream-json', () => {
  it('is lines of JSON with the type first, and hooks with their verdict', async () => {
    const workspace = createTempWorkspace();
    claudeHooks(workspace, {
      PreToolUse: `cat > /dev/null; echo not this >&2; exit 2`,
      Stop: `cat > /dev/null; exit 0`,
    });
    const result = await runScript(
      workspace,
      [bash('echo hi'), DONE],
      ['go', '--output', 'stream-json'],
    );
    for (const line of result.stdout.trimEnd().split('\n')) {
      expect(Object.keys(JSON.parse(line))[0]).toBe('type');
    }
    const lines = linesOf(result);
    const hooks = lines.filter(({ type }) => type === 'hook');
    expect(hooks.map(({ event, effect }) => [event, effect])).toEqual([
      ['PreToolUse', 'deny'],
      ['Stop', 'pass'],
    ]);
    expect(hooks[0]).toEqual({
      type: 'hook',
      sessionId: lines[0]?.['sessionId'],
      agentId: lines[0]?.['sessionId'],
      parentAgentId: null,
      event: 'PreToolUse',
      effect: 'deny',
      stop: null,
      reasons: [{ hook: 'claude:user:PreToolUse:cat', text: expect.stringContaining('not this') }],
      input: null,
      output: null,
      changes: {},
      context: [],
      messages: [],
      outcomes: [
        expect.objectContaining({
          hook: 'claude:user:PreToolUse:cat',
          dialect: 'claude',
          status: 'decided',
          effect: 'deny',
          exitCode: 2,
        }),
      ],
      skipped: [],
      slowest: expect.objectContaining({ hook: 'claude:user:PreToolUse:cat' }),
    });
    expect(lines.find(({ type }) => type === 'tool-end')).toMatchObject({ deniedBy: 'hook' });
  });

  it('distinguishes what a sub-agent does from what its parent does', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'the content of a\n' });
    const order = { description: 'look', prompt: 'look', subagent_type: 'general-purpose' };
    const turns = [
      { text: 'I send one.', tools: [{ name: 'Agent', input: order }] },
      { text: 'I look.', tools: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
      { text: 'It says a.' },
      { text: 'It is a.' },
    ];
    const result = await runScript(workspace, turns, ['go', '--output', 'stream-json']);
    const lines = linesOf(result);
    const id = lines[0]?.['sessionId'];
    const messages = lines.filter(({ type }) => type === 'message-end');
    expect(messages.map(({ shown, parentAgentId }) => [shown, parentAgentId])).toEqual([
      ['I send one.', null],
      ['I look.', id],
      ['It says a.', id],
      ['It is a.', null],
    ]);
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(4);
    expect(lines.at(-1)).toMatchObject({ type: 'result', text: 'It is a.', iterations: 2 });
    const [agentId] = [...new Set(messages.map((line) => line['agentId']))].slice(1);
    const own = path.join(path.dirname(transcriptOf(workspace, String(id))), 'subagents');
    expect(readdirSync(own)).toEqual([`agent-${String(agentId)}.jsonl`]);
  });
});
