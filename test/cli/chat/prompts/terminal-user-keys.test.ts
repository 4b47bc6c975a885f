import { expect, it } from 'vitest';
import { createTerminalUser } from '../../../../src/cli/chat/prompts/terminal-user.ts';
import { KEYS, openScreen } from '../fixture.ts';

const PRESSED_C = '\u001B[99;5u';
const RELEASED_C = '\u001B[99;5:3u';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const FACTS = { callId: '1', tool: 'Bash', reason: '', suggestions: [], agentId: 'a' };
const CALL = { ...FACTS, input: { command: 'one' } };

function noteGestures() {
  const noted: string[] = [];
  const note = (name: string) => (): void => void noted.push(name);
  const gestures = {
    interrupt: note('interrupt'),
    leave: note('leave'),
    typed: note('typed'),
    nextMode: note('nextMode'),
    submit: (text: string) => void noted.push(`submit ${text}`),
  };
  return { noted, gestures };
}

function openUserPrompts(now: () => number = () => 0) {
  const { noted, gestures } = noteGestures();
  const fixture = openScreen(gestures, { now, elapsed: now });
  const { signal } = new AbortController();
  return { ...fixture, noted, signal, user: createTerminalUser(fixture.screen, () => '/') };
}

it('ignores the release of a key', () => {
  const { noted, gestures } = noteGestures();
  const { terminal } = openScreen(gestures);
  terminal.press(PRESSED_C, RELEASED_C, '\u001B[100;5:3u', '\u001B[120;1:3u');
  expect(noted).toEqual(['interrupt']);
});

it('answers a question by a key that the terminal sends as an escape code, once', async () => {
  const { user, terminal, drew, signal } = openUserPrompts();
  const answer = user.approve(CALL, signal);
  await drew('$ one');
  terminal.press('\u001B[110;1:3u', '\u001B[121u');
  expect(await answer).toEqual({ isAllowed: true });
});

it('answers a question with no at Ctrl-C and at Ctrl-D', async () => {
  const { user, terminal, drew, noted, signal } = openUserPrompts();
  const first = user.approve(CALL, signal);
  await drew('$ one');
  terminal.press(CTRL_C);
  expect(await first).toEqual({ isAllowed: false });
  const second = user.answer(
    [{ question: 'Who?', header: 'Who', options: [], multiSelect: false }],
    signal,
  );
  await drew('Who?');
  terminal.press(CTRL_D);
  expect(await second).toBeNull();
  expect(noted).toEqual(['interrupt']);
});

it('keeps what was typed when a question is answered with Ctrl-C', async () => {
  const { user, terminal, drew, noted, signal } = openUserPrompts();
  terminal.type('draft');
  const answer = user.approve(CALL, signal);
  await drew('$ one');
  terminal.press(CTRL_C);
  await answer;
  await drew('> draft');
  terminal.press(KEYS.enter);
  expect(noted.at(-1)).toBe('submit draft');
});

it('answers every question with no once the terminal is gone', async () => {
  const { user, screen, drew, signal } = openUserPrompts();
  const open = user.approve(CALL, signal);
  const waiting = user.approve(CALL, signal);
  await drew('$ one');
  screen.dismissAll();
  expect(await Promise.all([open, waiting, user.approve(CALL, signal)])).toEqual([
    { isAllowed: false },
    { isAllowed: false },
    { isAllowed: false },
  ]);
});

it('does not let keys that were typed for the editor answer a question', async () => {
  let now = 1000;
  const { user, terminal, drew, signal } = openUserPrompts(() => now);
  terminal.type('please ');
  const answer = user.approve(CALL, signal);
  await drew('$ one');
  now += 400;
  terminal.press('y');
  now += 400;
  terminal.press(KEYS.enter);
  now += 500;
  terminal.press('n');
  await drew('Denied. Reason for the agent (optional)');
  now += 500;
  terminal.press(KEYS.enter);
  expect(await answer).toEqual({ isAllowed: false });
});

it('offers a free text only where it counts', async () => {
  const { user, terminal, drew, signal } = openUserPrompts();
  const options = [
    { label: 'Yes', description: '' },
    { label: 'No', description: '' },
  ];
  const closed = { question: 'Sure?', header: 'Sure', options, multiSelect: false } as const;
  const answer = user.answer([{ ...closed, isClosed: true }], signal);
  await drew('Sure?');
  terminal.press('o', '2');
  expect(await answer).toEqual({ 'Sure?': 'No' });
});
