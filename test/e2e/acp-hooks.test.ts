import { methods } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { answering, createPlace, GLOBAL_HOOKS, HOOKS, write } from '../cli/place.ts';
import { startEditor, wordsIn } from './acp-editor.ts';
import { bash, DONE } from './agent-run.ts';
import { claudeHooks } from './hook-log.ts';

test('hooks that are content are not heard of', async () => {
  const place = createPlace();
  claudeHooks(place, { UserPromptSubmit: 'cat > /dev/null', Stop: 'cat > /dev/null' });
  const editor = await startEditor(place, [DONE]);
  await editor.say(await editor.open(), 'hi');
  expect(editor.updates()).toStrictEqual([
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Done.' } },
  ]);
});

test('a hook that denies a call is seen where the call is', async () => {
  const place = createPlace();
  write(
    place.home,
    `${GLOBAL_HOOKS}/PreToolUse`,
    answering({ cancel: true, errorMessage: 'not on Mondays' }),
  );
  const editor = await startEditor(place, [bash('ls'), DONE]);
  await editor.say(await editor.open(), 'look');
  expect(editor.updates().at(1)).toMatchObject({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'call_1',
    status: 'failed',
    rawOutput: expect.stringContaining('not on Mondays'),
  });
});

test('a hook that nobody trusts is told of once, as a quotation', async () => {
  const place = createPlace({ [`${HOOKS}/PreToolUse`]: answering({}) });
  const editor = await startEditor(place, [bash('ls'), bash('pwd'), DONE]);
  await editor.say(await editor.open(), 'look');
  const [, ...told] = wordsIn(editor.updates()).split('> The hook ');
  expect(told).toStrictEqual([
    'cline:workspace:PreToolUse was not run: untrusted: it was never trusted here. `hookline trust` shows it and lets it run.\n\nDone.',
  ]);
});

test('an editor that shows notices gets notices: what a hook says, and that one failed', async () => {
  const place = createPlace();
  const message = JSON.stringify({ systemMessage: 'mind the gap' });
  claudeHooks(place, {
    UserPromptSubmit: `cat > /dev/null; echo '${message}'`,
    Stop: 'cat > /dev/null; echo broken >&2; exit 1',
  });
  const editor = await startEditor(place, [DONE], { capabilities: { session: { notices: {} } } });
  await editor.say(await editor.open(), 'hi');
  const notices = editor
    .updates()
    .flatMap((update) => (update.sessionUpdate === 'notice' ? [update] : []));
  expect(notices.map(({ severity, title }) => [severity, title.slice(0, 26)])).toStrictEqual([
    ['info', 'UserPromptSubmit (claude:u'],
    ['warning', 'The hook claude:user:Stop:'],
  ]);
  expect(wordsIn(editor.updates())).toBe('Done.');
});

test('a prompt that a hook refuses ends its turn, and the reason is shown', async () => {
  const place = createPlace();
  claudeHooks(place, { UserPromptSubmit: 'cat > /dev/null; echo "no such words" >&2; exit 2' });
  const editor = await startEditor(place, [DONE]);
  expect(await editor.say(await editor.open(), 'hi')).toBe('end_turn');
  expect(wordsIn(editor.updates())).toContain('no such words');
});

test('what hooks change of the model’s words is all that is shown of them', async () => {
  const place = createPlace();
  const display = {
    hookSpecificOutput: { hookEventName: 'MessageDisplay', displayContent: '***' },
  };
  claudeHooks(place, { MessageDisplay: `cat > /dev/null; echo '${JSON.stringify(display)}'` });
  const editor = await startEditor(place, [{ text: 'The password is secret.' }]);
  await editor.say(await editor.open(), 'hi');
  expect(wordsIn(editor.updates())).toBe('***');
});

test('a hook may keep the model, and the editor is told why', async () => {
  const place = createPlace();
  claudeHooks(place, { PreModelSwitch: 'cat > /dev/null; echo "this one is fine" >&2; exit 2' });
  const editor = await startEditor(place, [DONE]);
  const sessionId = await editor.open();
  const change = { sessionId, configId: 'model', value: 'other' };
  await expect(
    editor.agent.request(methods.agent.session.setConfigOption, change),
  ).rejects.toMatchObject({ code: -32_600, message: expect.stringContaining('this one is fine') });
});
