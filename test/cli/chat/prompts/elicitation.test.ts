import { expect, it } from 'vitest';
import { createTerminalUser } from '../../../../src/cli/chat/prompts/terminal-user.ts';
import { KEYS, openScreen } from '../fixture.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'who you are' },
    age: { type: 'integer' },
    color: { type: 'string', enum: ['red', 'blue'] },
    isSure: { type: 'boolean', title: 'Sure' },
    note: { type: 'string' },
  },
  required: ['name', 'age'],
};

const FORM = { server: 'shop', message: 'Tell me of you.', mode: 'form', schema: SCHEMA } as const;

function openUserPrompts() {
  const fixture = openScreen();
  return { ...fixture, user: createTerminalUser(fixture.screen, () => '/') };
}

it('fills in a form field by field, and asks again for what does not fit', async () => {
  const { user, terminal, drew } = openUserPrompts();
  const answer = user.elicit?.(FORM, new AbortController().signal);
  await drew('Requested: name, age, color, isSure, note');
  terminal.press('y');
  await drew('name: who you are');
  terminal.type('Ada');
  terminal.press(KEYS.enter);
  await drew('age');
  terminal.type('old');
  terminal.press(KEYS.enter);
  await drew('Expected a whole number.');
  terminal.type('36');
  terminal.press(KEYS.enter);
  await drew('color (optional)');
  terminal.press(KEYS.down, KEYS.enter);
  await drew('Sure (optional)');
  terminal.press(KEYS.enter);
  await drew('note (optional)');
  terminal.press(KEYS.enter);
  expect(await answer).toEqual({
    action: 'accept',
    content: { name: 'Ada', age: 36, color: 'blue', isSure: true },
  });
});

it('declines at a key, and cancels at another', async () => {
  const { user, terminal, drew } = openUserPrompts();
  const { signal } = new AbortController();
  const declined = user.elicit?.(FORM, signal);
  await drew('MCP server shop requests input');
  terminal.press('n');
  expect(await declined).toEqual({ action: 'decline' });
  const cancelled = user.elicit?.({ ...FORM, server: 'bank' }, signal);
  await drew('MCP server bank requests input');
  terminal.press(KEYS.escape);
  expect(await cancelled).toEqual({ action: 'cancel' });
});

it('shows the page that a server wants to open', async () => {
  const { user, terminal, drew } = openUserPrompts();
  const page = {
    server: 'shop',
    message: 'Sign in.',
    mode: 'url',
    url: 'https://shop.test/in',
  } as const;
  const answer = user.elicit?.(page, new AbortController().signal);
  await drew('Open this page: https://shop.test/in');
  terminal.press('y');
  expect(await answer).toEqual({ action: 'accept' });
});

it('accepts several answers, and a free text', async () => {
  const { user, terminal, drew } = openUserPrompts();
  const options = [
    { label: 'Tea', description: 'hot' },
    { label: 'Milk', description: 'cold' },
  ];
  const question = { question: 'What to drink?', header: 'Drink', options, multiSelect: true };
  const many = user.answer([question], new AbortController().signal);
  await drew('What to drink?');
  terminal.press(KEYS.space, KEYS.down, KEYS.space, KEYS.enter);
  expect(await many).toEqual({ 'What to drink?': 'Tea, Milk' });
  const one = { ...question, question: 'And now?', multiSelect: false };
  const own = user.answer([one], new AbortController().signal);
  await drew('And now?');
  terminal.press('o');
  await drew('Esc dismiss');
  terminal.type('Coffee');
  terminal.press(KEYS.enter);
  expect(await own).toEqual({ 'And now?': 'Coffee' });
});

it('asks one question at a time, and drops one that is not wanted any more', async () => {
  const { user, terminal, drew } = openUserPrompts();
  const stop = new AbortController();
  const facts = { tool: 'Bash', reason: '', suggestions: [], agentId: 'a' };
  const first = user.approve({ ...facts, callId: '1', input: { command: 'one' } }, stop.signal);
  const other = new AbortController();
  const second = user.approve({ ...facts, callId: '2', input: { command: 'two' } }, other.signal);
  await drew('$ one');
  stop.abort();
  expect(await first).toEqual({ isAllowed: false });
  await drew('$ two');
  terminal.press(KEYS.enter);
  expect(await second).toEqual({ isAllowed: true });
});
