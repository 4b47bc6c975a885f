import { describe, expect, it } from 'vitest';
import { ChatInTmux, hasTmux } from '../cli/chat/tmux.ts';
import { createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { bash, DONE, linesOf, readMessagesText, runScript, storedLines } from './agent-run.ts';

const HOOK = 'claude:user:PreToolUse:say.sh';
const SCRIPT = [bash('until test -s said; do sleep 0.05; done'), bash('echo next'), DONE];
const BYPASS = ['--permission-mode', 'bypassPermissions'];

/** Answers in the background while the first call runs. */
function answerInBackground(workspace: TempWorkspace, answer: object, more: object = {}): void {
  const { home, repo } = workspace;
  const text = JSON.stringify(answer);
  const script = write(
    home,
    'say.sh',
    `#!/bin/sh\ncat > /dev/null\ntest -e '${repo}/said' && exit\necho '${text}'\necho said > '${repo}/said'\n`,
  );
  const handler = { type: 'command', command: script, async: true, ...more };
  const settings = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [handler] }] } };
  write(home, '.claude/settings.json', JSON.stringify(settings));
}

describe('the systemMessage of a hook in the background', () => {
  it('is printed by run, and stored', async () => {
    const workspace = createTempWorkspace();
    answerInBackground(workspace, { systemMessage: 'the index is ready' });
    const result = await runScript(workspace, SCRIPT, ['go', ...BYPASS]);
    expect(result).toEqual({
      code: 0,
      stdout: 'Done.\n',
      stderr: `PreToolUse (${HOOK}) says: the index is ready\n`,
    });
  });

  it('is in stream-json, in the transcript and in what the model reads', async () => {
    const workspace = createTempWorkspace();
    const specific = { hookEventName: 'PreToolUse', additionalContext: 'use the index' };
    const answer = { systemMessage: 'the index is ready', hookSpecificOutput: specific };
    answerInBackground(workspace, answer);
    const flags = ['go', ...BYPASS, '--output', 'stream-json'];
    const lines = linesOf(await runScript(workspace, SCRIPT, flags));
    const late = lines.filter(({ type, notice }) => type === 'hook-late' && notice !== null);
    expect(late).toMatchObject([{ hook: HOOK, event: 'PreToolUse', notice: 'the index is ready' }]);
    const sessionId = String(lines[0]?.['sessionId']);
    const reminder = (text: string): string =>
      JSON.stringify(`<system-reminder>\n${text}\n(from ${HOOK})\n</system-reminder>`);
    const messages = readMessagesText(workspace, sessionId);
    for (const text of ['use the index', 'the index is ready']) {
      expect(messages.split(reminder(text))).toHaveLength(2);
    }
    const notes = storedLines(workspace, sessionId).filter(({ type }) => type === 'system');
    expect(notes).toMatchObject([{ content: `PreToolUse (${HOOK}) says: the index is ready` }]);
  });
});

describe.skipIf(!hasTmux)('in a chat (skipped without tmux)', () => {
  it('it is shown once', async () => {
    const workspace = createTempWorkspace();
    answerInBackground(workspace, { systemMessage: 'the index is ready' });
    const chat = new ChatInTmux(workspace, { turns: SCRIPT, args: BYPASS });
    await chat.shows('context');
    chat.say('go');
    await chat.shows('Done.');
    expect(chat.screen().split(`PreToolUse (${HOOK}) says: the index is ready`)).toHaveLength(2);
  });

  it('a hook that wakes the agent says why in its own words', async () => {
    const workspace = createTempWorkspace();
    const script =
      '#!/bin/sh\ncat > /dev/null\ntest -e woken && exit\ntouch woken\necho two bugs >&2; exit 2\n';
    const handler = {
      type: 'command',
      command: write(workspace.home, 'review.sh', script),
      asyncRewake: true,
      rewakeMessage: 'The review of your work:',
      rewakeSummary: 'The review found issues',
      cloud: false,
    };
    const settings = { hooks: { Stop: [{ hooks: [handler] }] } };
    write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
    const chat = new ChatInTmux(workspace, { turns: [{ text: 'First.' }, { text: 'Second.' }] });
    await chat.shows('context');
    chat.say('go');
    await chat.shows('Second.');
    expect(chat.screen()).toContain('says: The review found issues');
  });
});
