import { statSync } from 'node:fs';
import type { Model } from '../../src/agent/models/model.ts';
import { createScriptedModel } from '../../src/agent/models/scripted.ts';
import { createTempWorkspace, openHost } from '../temp-workspace.ts';
import { createReadingTurns, refuseUnlessDone, writeFiles } from '../reading.ts';
import type { Check, Row } from '../row.ts';

const TURNS = 2000;
// Until then caches fill and the compiler still works.
const WARM_TURNS = 400;
const TURNS_BETWEEN_LOOKS = 200;
const MAX_HEAP_PER_TRANSCRIPT_BYTE = 1;

export const longSessionRows: readonly Row[] = [
  {
    name: '2,000 turns in one session: memory grows no faster than the transcript',
    bound: { of: 'check', atMost: 0, because: 'bytes of the heap for each byte of the transcript' },
    open: openLongSession,
  },
];

/** What one look at the session finds. */
interface Look {
  readonly turn: number;
  readonly heap: number;
  readonly transcript: number;
  readonly at: number;
}

async function openLongSession(): Promise<Check> {
  const place = createTempWorkspace();
  writeFiles(place);
  return {
    async check() {
      const looks: Look[] = [];
      let transcript = '';
      const model = createWatchedModel((turn) => looks.push(measureMemory(turn, transcript)));
      const host = await openHost(place, { model, maxTurns: TURNS + 1 });
      const { sessionId, transcriptPath } = await host.start({});
      transcript = transcriptPath ?? '';
      refuseUnlessDone(await host.send(sessionId, 'read them all'));
      await host.dispose();
      return judge(looks);
    },
    async close() {
      place.remove();
    },
  };
}

/** A model that is never full, and lets somebody look each time that many turns have passed. */
function createWatchedModel(look: (turn: number) => void): Model {
  const model = createScriptedModel(createReadingTurns(TURNS), { contextTokens: Infinity });
  let turn = 0;
  return {
    ...model,
    stream(request, signal) {
      if (turn > 0 && turn % TURNS_BETWEEN_LOOKS === 0) look(turn);
      turn += 1;
      return model.stream(request, signal);
    },
  };
}

function measureMemory(turn: number, transcript: string): Look {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  return { turn, heap: heapUsed, transcript: statSync(transcript).size, at: performance.now() };
}

function judge(looks: readonly Look[]): Awaited<ReturnType<Check['check']>> {
  const warm = looks.find(({ turn }) => turn === WARM_TURNS);
  const last = looks.at(-1);
  if (warm === undefined || last?.turn !== TURNS) {
    return { facts: '', problems: ['nothing was measured'] };
  }
  const turns = last.turn - warm.turn;
  const heap = (last.heap - warm.heap) / turns;
  const transcript = (last.transcript - warm.transcript) / turns;
  const times = looks
    .slice(1)
    .map(({ at }, index) => (at - (looks[index]?.at ?? at)) / TURNS_BETWEEN_LOOKS);
  return {
    facts: `a turn adds ${Math.round(heap)} bytes to the heap, ${Math.round(transcript)} to the transcript; ms per turn: ${times.map((ms) => ms.toFixed(2)).join(' ')}`,
    problems:
      heap > transcript * MAX_HEAP_PER_TRANSCRIPT_BYTE
        ? ['memory grows faster than the transcript']
        : [],
  };
}
