import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { copyWorkspace, hookline, installCommand } from '../run-hookline.ts';

const MESSAGE = 'Read docs/builds.md before you try again.';
const place = copyWorkspace(import.meta.dirname);
const searchPath = [installCommand(place), process.env['PATH']].join(path.delimiter);
equal(hookline(place, ['trust', '--yes']).status, 0);

const script = path.join(import.meta.dirname, 'turns.json');
const flags = ['--script', script, '--allow', 'Bash', '--output', 'stream-json'];
const { stdout } = hookline(place, ['run', ...flags, 'Build it'], { searchPath });
const events: readonly Record<string, unknown>[] = stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
deepEqual(
  events.filter(({ type }) => type === 'notice').map(({ text }) => text),
  [`cline:workspace:PostToolUse steered the agent: ${MESSAGE}`],
);
const start = events.find(({ type }) => type === 'session-start');
ok(readFileSync(String(start?.['transcriptPath']), 'utf8').includes(MESSAGE));
