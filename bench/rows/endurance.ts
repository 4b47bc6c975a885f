import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { Host } from '../../src/host/create-host.ts';
import {
  createTempWorkspace,
  openHost,
  type TempWorkspace,
  trustEverything,
  writeProgram,
} from '../temp-workspace.ts';
import type { Check, Row } from '../row.ts';

const BLOCKS = 40;
const PROMPTS_PER_BLOCK = 475;
const TOOL_CALLS_PER_BLOCK = 25;
// As many before they count: until then caches fill and the compiler still works.
const WARM_BLOCKS = 20;
const MAX_HEAP_BYTES_PER_DISPATCH = 32;
const MAX_RSS_GROWTH = 0.1;

export const enduranceRows: readonly Row[] = [
  {
    name: '10,000 dispatches, 500 of them to programs',
    bound: { of: 'check', atMost: 0, because: 'flat memory, nothing left behind' },
    open: openEndurance,
  },
];

async function openEndurance(): Promise<Check> {
  const place = createTempWorkspace();
  writeProgram(path.join(place.workspace, '.clinerules', 'hooks', 'PreToolUse'), 'echo');
  await trustEverything(place);
  await openWhatStaysOpen(place);
  return {
    async check() {
      const before = await openThings();
      const host = await openHost(place, { sources: [{ handlers: () => [PROMPT_HANDLER] }] });
      const uses = await runBlocks(host, place);
      await host.dispose();
      const left = findNewThings(before, await openThings());
      return {
        facts: `RSS after each fifth: ${uses
          .filter((_, at) => at >= WARM_BLOCKS && at % 4 === 3)
          .map(({ rss }) => formatMegabytes(rss))
          .join(' ')} MB`,
        problems: [...describeGrowth(uses), ...left.map((thing) => `left behind: ${thing}`)],
      };
    },
    async close() {
      place.remove();
    },
  };
}

/** Node.js opens some things with the first program and the first module, and keeps them. */
async function openWhatStaysOpen(place: TempWorkspace): Promise<void> {
  const host = await openHost(place);
  await host.engine.dispatch(TOOL_CALL);
  await host.dispose();
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

interface MemoryUse {
  readonly rss: number;
  readonly heap: number;
}

/** The memory in use after each block. */
async function runBlocks(host: Host, { home }: TempWorkspace): Promise<MemoryUse[]> {
  const uses: MemoryUse[] = [];
  const { signal } = new AbortController();
  for (let block = 0; block < BLOCKS; block++) {
    for (let call = 0; call < PROMPTS_PER_BLOCK; call++) {
      await host.engine.dispatch(PROMPT, { signal });
    }
    for (let call = 0; call < TOOL_CALLS_PER_BLOCK; call++) {
      await host.engine.dispatch(TOOL_CALL, { signal });
    }
    await isTraceWritten(path.join(home, '.hookline', 'trace'));
    uses.push(measureMemory());
  }
  return uses;
}

const QUIET_MS = 150;

/** Entries that wait to be written are in use, not lost. */
async function isTraceWritten(directory: string): Promise<void> {
  let before = -1;
  for (let now = getSize(directory); now !== before; now = getSize(directory)) {
    before = now;
    await wait(QUIET_MS);
  }
}

function getSize(directory: string): number {
  const files = readdirSync(directory).map((name) => statSync(path.join(directory, name)).size);
  return files.reduce((sum, size) => sum + size, 0);
}

function measureMemory(): MemoryUse {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed };
}

function describeGrowth(uses: readonly MemoryUse[]): string[] {
  const [warm, last] = [uses[WARM_BLOCKS], uses.at(-1)];
  if (warm === undefined || last === undefined) return ['nothing was measured'];
  const dispatches = (BLOCKS - WARM_BLOCKS - 1) * (PROMPTS_PER_BLOCK + TOOL_CALLS_PER_BLOCK);
  const bytesPerDispatch = (last.heap - warm.heap) / dispatches;
  return [
    ...(bytesPerDispatch > MAX_HEAP_BYTES_PER_DISPATCH
      ? [`a dispatch keeps ${Math.round(bytesPerDispatch)} bytes`]
      : []),
    ...(last.rss > warm.rss * (1 + MAX_RSS_GROWTH)
      ? [`RSS grew from ${formatMegabytes(warm.rss)} to ${formatMegabytes(last.rss)} MB`]
      : []),
  ];
}

/** Everything that this process holds open: timers, handles, files, children. */
async function openThings(): Promise<readonly string[]> {
  await wait(50);
  return [
    ...process.getActiveResourcesInfo(),
    ...listQuietly('/proc/self/fd').map(() => 'file descriptor'),
    ...listChildPids().map(() => 'child process'),
  ];
}

function listChildPids(): string[] {
  return listQuietly(`/proc/self/task`).flatMap((thread) =>
    readQuietly(`/proc/self/task/${thread}/children`)
      .split(' ')
      .filter((pid) => pid.trim() !== ''),
  );
}

function findNewThings(before: readonly string[], after: readonly string[]): string[] {
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

function formatMegabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
