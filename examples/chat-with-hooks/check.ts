import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { copyWorkspace, hookline } from '../run-hookline.ts';

const LINE = '─'.repeat(80);
const SCREEN = `
> write the notes and push them

I make the file first.

• Write notes.md: File created successfully at: notes.md
✗ Bash git push
  denied (cline:workspace:PreToolUse): PreToolUse:Bash hook error: Pushing is
the pipeline’s business.
notes.md is there; it is not pushed.

1 hook, slowest 0 ms (ctrl+o)
${LINE}
>
${LINE}
scripted · ask first · 0% context · $0.0000 · /help`;

const PROGRAM = path.resolve(import.meta.dirname, '../../dist/bin/hookline.js');
const SOCKET = `hookline-example-${process.pid}`;
const LIMIT_MS = 20_000;

if (spawnSync('tmux', ['-V']).status === 0) await play();
else process.stdout.write('skipped: there is no tmux to play it in\n');

async function play(): Promise<void> {
  const place = copyWorkspace(import.meta.dirname);
  equal(hookline(place, ['trust', '--yes']).status, 0);
  const size = ['-x', '80', '-y', '24', '-c', place.workspace];
  const env = `env -i PATH='${process.env['PATH']}' HOME='${place.home}' TERM=screen`;
  const chat = `${env} '${process.execPath}' '${PROGRAM}' chat --script turns.json`;
  process.on('exit', () => tmux('kill-server'));
  tmux('-f', '/dev/null', 'new-session', '-d', ...size, chat);
  await shown('ask first');
  tmux('send-keys', 'write the notes and push them', 'Enter');
  await shown('+# Notes');
  tmux('send-keys', 'y');
  const screen = await shown('(ctrl+o)');
  // The chat says once that `trust --yes` had no terminal.
  const answered = screen.replace(/^note: 1 hook [^]*? untrust`\n/u, '');
  equal(answered.replaceAll(/[\d.]+ ms/gu, '0 ms'), SCREEN);
  equal(readFileSync(path.join(place.workspace, 'notes.md'), 'utf8'), '# Notes\n');
  tmux('send-keys', 'C-d');
  await ended();
}

function tmux(...args: readonly string[]): string {
  return spawnSync('tmux', ['-L', SOCKET, ...args], { encoding: 'utf8' }).stdout;
}

/** The screen, once it shows this. */
async function shown(text: string): Promise<string> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const screen = tmux('capture-pane', '-p').trimEnd();
    if (screen.includes(text) && screen.endsWith('/help')) return screen;
    if (performance.now() > end) throw new Error(`${text} was not shown:\n${screen}`);
    await wait(50);
  }
}

/** The terminal closes with the chat. */
async function ended(): Promise<void> {
  while (spawnSync('tmux', ['-L', SOCKET, 'has-session']).status === 0) await wait(50);
}
