import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEventStore } from '../../src/store/event-store.ts';
import { resultOf, runHookline } from '../cli/hookline.ts';
import {
  createTempHome,
  findClosedPort,
  forward,
  readArray,
  readEvents,
  serveBridge,
  SILENT,
  type TempHome,
} from './temp-home.ts';

/** The numbers of a long run: HOOKLINE_TEST_EVENTS=100000 HOOKLINE_TEST_KILLS=20. */
const EVENTS = Number(process.env['HOOKLINE_TEST_EVENTS'] ?? 2000);
const KILLS = Number(process.env['HOOKLINE_TEST_KILLS'] ?? 4);
const PROCESSES = 8;
const HOUR_MS = 3_600_000;

/** Sends events from one process; returns the ids that were acknowledged, each with by whom. */
async function sendEvents({ stateDirectory, events }: TempHome, sender: number, count: number) {
  const program = path.join(import.meta.dirname, 'send-events.ts');
  const args = ['--import', 'jiti/register', program, stateDirectory, events, `s${sender}`];
  const child = spawn(process.execPath, [...args, String(count)]);
  const { code, stdout, stderr } = await resultOf(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
}

/** Kills the bridge at random moments of its life, and starts it again. */
async function killAndRestart(home: TempHome, isDone: () => boolean): Promise<number> {
  let kills = 0;
  while (kills < KILLS && !isDone()) {
    const { child } = await serveBridge(home);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 1000));
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('close', resolve));
    kills++;
  }
  await serveBridge(home);
  return kills;
}

describe('an acknowledged event', () => {
  it(
    'is stored exactly once, although the bridge is killed again and again',
    { timeout: HOUR_MS },
    async () => {
      const home = createTempHome();
      let isDone = false;
      const kills = killAndRestart(home, () => isDone);
      const sent = await Promise.all(
        Array.from({ length: PROCESSES }, (_, at) => sendEvents(home, at, EVENTS / PROCESSES)),
      );
      isDone = true;
      await kills;
      await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
      const acknowledged = sent.flat();
      expect(acknowledged).toHaveLength(EVENTS);
      const stored = (await readEvents(home)).map(({ id }) => id);
      expect(stored.toSorted()).toEqual(acknowledged.map(([id]) => id).toSorted());
      const store = await openEventStore({ directory: home.stateDirectory });
      expect(store.verify()).toMatchObject({ isIntact: true, events: EVENTS, problems: [] });
      await store.close();
      if (process.env['HOOKLINE_TEST_EVENTS'] !== undefined) {
        const byBridge = acknowledged.filter(([, by]) => by === 'bridge').length;
        process.stdout.write(`${byBridge} of ${EVENTS} by the bridge, ${await kills} kills\n`);
      }
    },
  );

  it(
    'reaches the store once and in order when all go to the file',
    { timeout: HOUR_MS },
    async () => {
      const home = createTempHome();
      const port = String(await findClosedPort());
      const count = 200;
      const sendAll = async (sender: number) => {
        for (let n = 0; n < count / PROCESSES; n++) {
          const event = JSON.stringify({ hook_event_name: 'Stop', session_id: `s${sender}`, n });
          expect(await forward(home, 'claude-hook', ['--port', port], event)).toEqual(SILENT);
        }
      };
      await Promise.all(Array.from({ length: PROCESSES }, (_, at) => sendAll(at)));
      const elements = readArray(path.join(home.events, 'claude-hook-events.json'));
      expect(elements).toHaveLength(count);
      await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
      const stored = await readEvents(home);
      expect(stored.map(({ id }) => id)).toEqual(elements.map((element) => element['__hook_id']));
      for (let sender = 0; sender < PROCESSES; sender++) {
        const numbers = stored
          .filter(({ sessionId }) => sessionId === `s${sender}`)
          .map(({ payload }) => JSON.parse(Buffer.from(payload).toString()).n);
        expect(numbers).toEqual(Array.from({ length: count / PROCESSES }, (_, n) => n));
      }
    },
  );
});
