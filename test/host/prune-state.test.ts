import { existsSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { pruneState } from '../../src/host/prune-state.ts';
import { createDirectory, write } from '../base/directory.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = Date.now();

function stateWith(ages: Readonly<Record<string, number>>): string {
  const state = createDirectory({ 'trust.json': '{}' });
  for (const [name, days] of Object.entries(ages)) {
    const file = path.join(state, name);
    write(file, 'x');
    const then = new Date(NOW - days * DAY_MS);
    utimesSync(file, then, then);
    utimesSync(path.dirname(file), then, then);
  }
  return state;
}

test('files of old sessions are removed, and nothing else', async () => {
  const state = stateWith({
    'transcripts/-ws/old.jsonl': 31,
    'transcripts/-ws/new.jsonl': 29,
    'session-env/gone/setup-hook-0.sh': 40,
    'tool-results/gone/hook.txt': 40,
    'trust-objects/kept': 400,
  });
  await pruneState(state, NOW);
  const removedFiles = [
    'transcripts/-ws/old.jsonl',
    'session-env/gone/setup-hook-0.sh',
    'tool-results/gone',
  ];
  expect(removedFiles.map((name) => existsSync(path.join(state, name)))).toEqual([
    false,
    false,
    false,
  ]);
  const rest = ['transcripts/-ws/new.jsonl', 'trust-objects/kept', 'trust.json'];
  expect(rest.map((name) => existsSync(path.join(state, name)))).toEqual([true, true, true]);
});

test('pruning runs once a day', async () => {
  const state = stateWith({ 'transcripts/a/first.jsonl': 31 });
  await pruneState(state, NOW);
  write(path.join(state, 'transcripts/a/second.jsonl'), 'x');
  const then = new Date(NOW - 31 * DAY_MS);
  utimesSync(path.join(state, 'transcripts/a/second.jsonl'), then, then);
  await pruneState(state, NOW + DAY_MS / 2);
  expect(existsSync(path.join(state, 'transcripts/a/second.jsonl'))).toBe(true);
  await pruneState(state, NOW + 2 * DAY_MS);
  expect(existsSync(path.join(state, 'transcripts/a/second.jsonl'))).toBe(false);
});

test('an obstacle is reported', async () => {
  const state = createDirectory({ file: '' });
  expect(await pruneState(path.join(state, 'file'), NOW)).toContain('could not be removed');
});
