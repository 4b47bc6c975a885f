import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Screen } from '../../src/cli/chat/view/screen.ts';
import { spawnBare } from '../bare.ts';
import { createTempWorkspace } from '../temp-workspace.ts';
import type { Check, Contest, Row, RowOptions } from '../row.ts';

/** How long a user waits for the chat, and whether it ever stumbles. */
export const chatRows: readonly Row[] = [
  {
    name: 'hookline chat, ready for typing',
    bound: { of: 'ratio', atMost: 6, because: 'in a terminal of its own, against `node -e 0`' },
    open: openReady,
  },
  {
    name: 'a streamed answer of 2,000 lines, its longest frame',
    bound: { of: 'check', atMost: 50, because: 'at most 50 ms, whatever the answer is made of' },
    open: async ({ quick }) => openFrames(quick ? 500 : 2000),
  },
];

async function openReady({ project, quick }: RowOptions): Promise<Contest> {
  const program = path.join(project, 'dist', 'bin', 'hookline.js');
  if (!existsSync(program)) throw new Error(`${program} is missing: run \`npm run build\` first`);
  if (spawnSync('script', ['--version']).status !== 0) throw new Error('there is no `script`');
  const place = createTempWorkspace();
  const turns = path.join(place.workspace, 'turns.json');
  writeFileSync(turns, '[{ "text": "Hello." }]');
  const env = { ...place.surroundings.env, TERM: 'xterm' };
  const command = `'${process.execPath}' '${program}' chat --script '${turns}'`;
  let ended: Promise<unknown> = Promise.resolve();
  const open = (): Promise<void> => {
    const terminal = spawn('script', ['-qfec', command, '/dev/null'], {
      cwd: place.workspace,
      env,
    });
    ended = new Promise((resolve) => terminal.on('close', resolve));
    return new Promise((resolve, reject) => {
      let shown = '';
      terminal.stdout.on('data', (chunk: Buffer) => {
        shown += chunk.toString('utf8');
        if (!shown.includes('\n> ')) return;
        terminal.stdin.end('\u0004');
        resolve();
      });
      terminal.on('error', reject);
      terminal.on('close', () => reject(new Error(`the chat ended with: ${shown}`)));
    });
  };
  const call = { file: process.execPath, cwd: place.workspace, env, stdin: '' };
  return {
    samples: quick ? 10 : 40,
    batch: 1,
    us: open,
    bare: () => spawnBare({ ...call, args: ['-e', '0'] }),
    async settle() {
      await ended;
    },
    async close() {
      place.remove();
    },
  };
}

/** What answers are made of, line by line. */
const ANSWERS: Readonly<Record<string, (at: number) => string>> = {
  paragraphs: (at) => `Line ${at} with **bold** and \`code\` words.\n${at % 5 === 4 ? '\n' : ''}`,
  text: (at) => `Line ${at} with **bold** and \`code\` and some more words.\n`,
  code: (at) => `${at === 0 ? '```js\n' : ''}const value${at} = compute(${at}); // line ${at}\n`,
  list: (at) => `- item ${at} with **bold** and \`code\`\n`,
  table: (at) => (at === 0 ? '| a | b |\n|---|---|\n' : `| cell ${at} | **b** |\n`),
};

const LONGEST_FRAME_MS = 50;
const ATTEMPTS = 3;
const PAUSE_MS = 2;

async function openFrames(lines: number): Promise<Check> {
  return {
    async check() {
      const facts: string[] = [];
      const problems: string[] = [];
      for (const [name, line] of Object.entries(ANSWERS)) {
        const longest = await selectCalmest(() => measureLongestFrame(line, lines));
        facts.push(`${name} ${longest.toFixed(0)} ms`);
        if (longest > LONGEST_FRAME_MS) problems.push(`${name} is too slow`);
      }
      return { facts: facts.join(', '), problems };
    },
    close: () => Promise.resolve(),
  };
}

/** Whatever else the machine does makes a frame longer, never shorter. */
async function selectCalmest(measure: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && best > LONGEST_FRAME_MS; attempt++) {
    best = Math.min(best, await measure());
  }
  return best;
}

/** How long the program could do nothing else while an answer came in. */
async function measureLongestFrame(line: (at: number) => string, lines: number): Promise<number> {
  const screen = new Screen(SILENT, ACTIONS, '/');
  const answer = screen.answer();
  let longest = 0;
  for (let at = 0; at < lines; at++) {
    answer.append(line(at));
    const before = performance.now();
    await wait(PAUSE_MS);
    longest = Math.max(longest, performance.now() - before - PAUSE_MS);
  }
  await screen.close();
  return longest;
}

const nothing = (): void => undefined;

const SILENT = {
  columns: 80,
  rows: 24,
  kittyProtocolActive: false,
  start: nothing,
  stop: nothing,
  drainInput: () => Promise.resolve(),
  write: nothing,
  moveBy: nothing,
  hideCursor: nothing,
  showCursor: nothing,
  clearLine: nothing,
  clearFromCursor: nothing,
  clearScreen: nothing,
  setTitle: nothing,
  setProgress: nothing,
};

const ACTIONS = {
  submit: nothing,
  interrupt: nothing,
  escape: nothing,
  leave: nothing,
  cycleMode: nothing,
  unfold: nothing,
  getPasteLimit: () => 0,
  rejectPaste: nothing,
  noteKey: nothing,
};
