import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { Host } from '../../src/host/create-host.ts';
import { createPlace, openHost, trustEverything, writeProgram } from '../places.ts';
import type { Check, Row } from '../row.ts';

const BLOCKS = 20;
const PROMPTS_PER_BLOCK = 475;
const TOOL_CALLS_PER_BLOCK = 25;
// Until then caches fill and the compiler still works.
const WARM_BLOCKS = 8;
const MAX_GROWTH_BYTES = 6 * 1024 * 1024;

export const enduranceRows: readonly Row[] = [
  {
    name: '10,000 dispatches, 500 of them to programs',
    bound: { of: 'check', atMost: 0, because: 'flat memory, nothing left behind' },
    open: openEndurance,
  },
];

async function openEndurance(): Promise<Check> {
  const place = createPlace();
  writeProgram(path.join(place.workspace, '.clinerules', 'hooks', 'PreToolUse'), 'echo');
  await trustEverything(place);
  return {
    async check() {
      const before = await openThings();
      const host = await openHost(place, { sources: [{ handlers: () => [PROMPT_HANDLER] }] });
      const sizes = await runBlocks(host);
      await host.close();
      const grown = (sizes.at(-1) ?? 0) - (sizes[WARM_BLOCKS] ?? 0);
      const left = newThings(before, await openThings());
      return {
        facts: `RSS after each tenth: ${sizes
          .filter((_, at) => at % 2 === 1)
          .map(megabytes)
          .join(' ')} MB`,
        problems: [
          ...(grown > MAX_GROWTH_BYTES ? [`RSS grew by ${megabytes(grown)} MB`] : []),
          ...left.map((thing) => `left behind: ${thing}`),
        ],
      };
    },
    async close() {
      place.remove();
    },
  };
}

const PROMPT: FiredEvent = { name: 'UserPromptSubmit', prompt: 'rename the function' };
const TOOL_CALL: FiredEvent = {
  name: 'PreToolUse',
  tool: { callId: 'call-1', name: 'read_file', input: { path: 'src/answer.js' } },
};

const PROMPT_HANDLER: Handler = {
  id: 'bench:prompt',
  dialect: 'bench',
  source: 'bench',
  event: 'UserPromptSubmit',
  vocabulary: 'claude',
  onFailure: 'open',
  timeoutMs: 30_000,
  run: async () => ({ decision: { context: 'remember the tests' } }),
};

/** The memory in use after each block. */
async function runBlocks(host: Host): Promise<number[]> {
  const sizes: number[] = [];
  const { signal } = new AbortController();
  for (let block = 0; block < BLOCKS; block++) {
    for (let call = 0; call < PROMPTS_PER_BLOCK; call++) {
      await host.engine.dispatch(PROMPT, { signal });
    }
    for (let call = 0; call < TOOL_CALLS_PER_BLOCK; call++) {
      await host.engine.dispatch(TOOL_CALL, { signal });
    }
    sizes.push(await usedMemory());
  }
  return sizes;
}

async function usedMemory(): Promise<number> {
  await wait(20);
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

/** Everything that this process holds open: timers, handles, files, children. */
async function openThings(): Promise<readonly string[]> {
  await wait(50);
  return [
    ...process.getActiveResourcesInfo(),
    ...listQuietly('/proc/self/fd').map(() => 'file descriptor'),
    ...childPids().map(() => 'child process'),
  ];
}

function childPids(): string[] {
  return listQuietly(`/proc/self/task`).flatMap((thread) =>
    readQuietly(`/proc/self/task/${thread}/children`)
      .split(' ')
      .filter((pid) => pid.trim() !== ''),
  );
}

function newThings(before: readonly string[], after: readonly string[]): string[] {
  const known = [...before];
  return after.filter((thing) => {
    const at = known.indexOf(thing);
    if (at === -1) return true;
    known.splice(at, 1);
    return false;
  });
}

// Only Linux tells; elsewhere the other ways of looking must do.
function listQuietly(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
