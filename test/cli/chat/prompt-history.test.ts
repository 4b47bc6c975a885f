import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { PromptHistory } from '../../../src/cli/chat/prompt-history.ts';
import { until } from '../../process/programs.ts';
import { createTempWorkspace } from '../temp-workspace.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

function historyFile(): string {
  const { home } = createTempWorkspace();
  vi.stubEnv('HOOKLINE_HOME', home);
  return path.join(home, 'chat-history');
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

it('keeps prompts for the next session, in a file that only the user can read', async () => {
  const file = historyFile();
  new PromptHistory().append('one\nin two lines');
  await until(() => statSync(file, { throwIfNoEntry: false }) !== undefined);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(new PromptHistory().prompts).toEqual(['one\nin two lines']);
});

it('keeps no secret', async () => {
  const file = historyFile();
  const key = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  new PromptHistory().append(`my key is ${key}, use it`);
  await until(() => statSync(file, { throwIfNoEntry: false }) !== undefined);
  expect(linesOf(file)).toEqual(['"my key is [redacted], use it"']);
});

it('is bounded, and leaves out what it cannot read', () => {
  const file = historyFile();
  const prompts = Array.from({ length: 250 }, (_, at) => JSON.stringify(`prompt ${at}`));
  writeFileSync(file, [...prompts, 'no JSON', '7', ''].join('\n'), { mode: 0o644 });
  const { prompts: rest } = new PromptHistory();
  expect([rest.length, rest[0], rest.at(-1)]).toEqual([98, 'prompt 152', 'prompt 249']);
  expect(linesOf(file)).toEqual(rest.map((prompt) => JSON.stringify(prompt)));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
