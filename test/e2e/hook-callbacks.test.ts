import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooklineProgram, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  HOOKS,
  PRE_TOOL_USE,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { bash, DONE, linesOf, runScript } from './agent-run.ts';
import { claudeHooks } from './hook-log.ts';
import { flagsFor, startService } from './service.ts';

const STREAM = ['--output', 'stream-json'];
const HOOKLINE = `"${process.execPath}" "${hooklineProgram()}"`;

/** A bash hook that calls its session once, for the first tool call. */
function callingHook(words: string): string {
  return `#!/bin/bash
cat > /dev/null
[ -e called ] && exit 0
touch called
${HOOKLINE} session ${words} --json >&2
`;
}

describe('a bash hook that calls its session', () => {
  it('steers it: the next model request has the message', async () => {
    const service = await startService([
      { tools: [{ name: 'Bash', input: { command: 'echo hi' } }] },
      { text: 'Done.' },
    ]);
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: callingHook('steer "also check the licence"'),
    });
    trust(workspace);
    const args = ['run', 'go', '--allow', 'Bash', ...flagsFor(service)];
    const { code, stdout } = await runHookline(args, at(workspace));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Done.\n' });
    const [first, second] = service.requests().map(({ messages }) => JSON.stringify(messages));
    expect(first).not.toContain('also check the licence');
    expect(second).toContain('also check the licence');
  });

  it('sends a prompt, which runs after the run', async () => {
    const workspace = createTempWorkspace();
    const script = write(workspace.home, 'call.sh', callingHook('send "and now the tests"'));
    claudeHooks(workspace, { PreToolUse: script });
    const turns = [bash('echo hi'), { text: 'First.' }, { text: 'Second.' }];
    const result = await runScript(workspace, turns, ['go', '--allow', 'Bash', ...STREAM]);
    const prompts = linesOf(result).filter(({ type }) => type === 'run-start');
    expect(prompts.map(({ prompt }) => prompt)).toEqual(['go', 'and now the tests']);
    const notices = linesOf(result).filter(({ type }) => type === 'notice');
    expect(notices.map(({ text }) => text)).toEqual([
      'claude:user:PreToolUse:call.sh sent a prompt: and now the tests',
    ]);
  });

  it.each(['SessionStart', 'UserPromptSubmit', 'Stop'])(
    'sends a prompt at %s, which runs after that of the user',
    async (event) => {
      const workspace = createTempWorkspace();
      const script = write(workspace.home, 'call.sh', callingHook('send "and now the tests"'));
      claudeHooks(workspace, { [event]: script });
      const result = await runScript(workspace, [DONE, DONE], ['go', ...STREAM]);
      const prompts = linesOf(result).filter(({ type }) => type === 'run-start');
      expect(prompts.map(({ prompt }) => prompt)).toEqual(['go', 'and now the tests']);
      expect(result.code).toBe(0);
    },
  );

  const LATE = 'the session ended before it could run the queued prompt: "and now the tests"';

  it.each([
    ['blocks the prompt', 'UserPromptSubmit', 'exit 2'],
    ['aborts the run', 'PreToolUse', `${HOOKLINE} session abort`],
  ])('is reported when it sends a prompt and then %s', async (_, event, then) => {
    const workspace = createTempWorkspace();
    const hook = `${callingHook('send "and now the tests"')}${then}\n`;
    claudeHooks(workspace, { [event]: write(workspace.home, 'call.sh', hook) });
    const turns = [bash('echo hi'), DONE];
    const result = await runScript(workspace, turns, ['go', '--allow', 'Bash', ...STREAM]);
    const texts = linesOf(result).map(({ text }) => text);
    expect(texts).toContain(LATE);
  });

  it('learns at SessionEnd that its prompt will not run', async () => {
    const workspace = createTempWorkspace();
    const hook = `${callingHook('send "and now the tests"')}echo $? > answer\n`;
    claudeHooks(workspace, { SessionEnd: write(workspace.home, 'call.sh', hook) });
    const result = await runScript(workspace, [DONE], ['go', ...STREAM]);
    expect(linesOf(result).map(({ text }) => text)).toContain(LATE);
    expect(readFileSync(path.join(workspace.repo, 'answer'), 'utf8')).toBe('1\n');
  });

  it('aborts it', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: callingHook('abort "the build is broken"'),
    });
    trust(workspace);
    const result = await runScript(workspace, [bash('echo hi'), DONE], ['go', ...STREAM]);
    expect(linesOf(result).find(({ type }) => type === 'run-end')).toMatchObject({
      result: { status: 'aborted', reason: 'the build is broken' },
    });
  });

  it('cannot do so from a sandbox, and is told why', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: callingHook('state') });
    write(workspace.home, '.hookline/config.json', '{"hooks":{"sandbox":"workspace"}}');
    trust(workspace);
    const result = await runScript(workspace, [bash('echo hi'), DONE], ['go', ...STREAM]);
    const hook = linesOf(result).find(({ type }) => type === 'hook');
    expect(JSON.stringify(hook)).toContain('no such variable');
  });
});

describe('a command of the agent', () => {
  it.each(['off', 'auto'])('gets no way to call the session, with the sandbox %s', async (mode) => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: '#!/bin/sh\ncat > /dev/null\n',
    });
    trust(workspace);
    const turns = [bash('echo "[$HOOKLINE_CALLBACK]"'), DONE];
    const args = ['go', '--allow', 'Bash', '--sandbox', mode, ...STREAM];
    // As if this session ran inside a hook of another one.
    const env = { HOOKLINE_CALLBACK: 'token@/socket' };
    const result = await runScript(workspace, turns, args, { env });
    expect(linesOf(result).find(({ type }) => type === 'tool-end')).toMatchObject({
      output: { text: '[]' },
    });
  });
});

describe('hookline session', () => {
  it('says what it needs when it is called outside of a hook', async () => {
    const workspace = createTempWorkspace();
    const { code, stdout, stderr } = await runHookline(['session', 'state'], at(workspace));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('expected the address of a session in HOOKLINE_CALLBACK');
  });

  it('names the hook in the result of the one that it belongs to', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: callingHook('state') });
    trust(workspace);
    const result = await runScript(workspace, [bash('echo hi'), DONE], ['go', ...STREAM]);
    const outcome = linesOf(result).find(({ type }) => type === 'hook');
    expect(JSON.stringify(outcome)).toContain(PRE_TOOL_USE);
    expect(JSON.stringify(outcome)).toContain(String.raw`\"isRunning\": true`);
  });
});
