import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../../src/bridge/protocol.ts';
import { hooklineProgram, resultOf, runHookline } from '../../cli/hookline.ts';
import {
  createTempHome,
  findClosedPort,
  forward,
  listDirectory,
  readArray,
  readEvents,
  readPayloads,
  serveBridge,
  SILENT,
  type TempHome,
} from '../temp-home.ts';

const EVENT =
  '{ "hook_event_name": "PreToolUse",\n "session_id": "s1", "big": 12345678901234567890 }';

async function forwardToNobody(home: TempHome, input: string | Uint8Array, args: string[] = []) {
  const port = String(await findClosedPort());
  return forward(home, 'claude-hook', ['--port', port, ...args], input);
}

const eventsFile = ({ events }: TempHome) => path.join(events, 'claude-hook-events.json');
const errorsFile = ({ events }: TempHome) => path.join(events, 'claude-hook-events-errors.json');

describe('a forwarder without a bridge', () => {
  it('stores the event in the agent’s file and says nothing', async () => {
    const home = createTempHome();
    expect(await forwardToNobody(home, EVENT)).toEqual(SILENT);
    expect(readArray(eventsFile(home))).toEqual([
      {
        hook_event_name: 'PreToolUse',
        session_id: 's1',
        big: Number('12345678901234567890'),
        __hook_timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        __hook_received: expect.any(Number),
        __hook_id: expect.stringMatching(/^[\w-]{36}$/),
      },
    ]);
    expect(statSync(eventsFile(home)).mode & 0o777).toBe(0o600);
    expect(statSync(home.events).mode & 0o777).toBe(0o700);
    expect(readFileSync(eventsFile(home), 'utf8')).toContain('12345678901234567890');
  });

  it('writes why to the errors file, in the form that its readers know', async () => {
    const home = createTempHome();
    await forwardToNobody(home, EVENT);
    expect(readArray(errorsFile(home))).toEqual([
      {
        timestamp: expect.stringMatching(/Z$/),
        context: 'http_send_failed',
        error: {
          message: expect.stringMatching(/^connect ECONNREFUSED/),
          name: 'Error',
          code: 'ECONNREFUSED',
        },
        additionalData: { path: 'claude-hook', dataLength: Buffer.byteLength(EVENT) },
        __hook_error_logged: expect.any(Number),
      },
    ]);
  });

  it.each([
    ['text', 'not JSON'],
    ['JSON that is no object', '42'],
    ['an array with something else in it', '[1,{"a":2}]'],
    ['half an object', '{"a":'],
  ])('stores %s as it is', async (_name, input) => {
    const home = createTempHome();
    expect(await forwardToNobody(home, input)).toEqual(SILENT);
    const [element] = readArray(eventsFile(home));
    expect(element?.['__hook_raw']).toBe(input);
  });

  it('stores each event of an array, with an id of its own', async () => {
    const home = createTempHome();
    await forwardToNobody(home, '[{"a":1},{"a":2}]');
    const elements = readArray(eventsFile(home));
    expect(elements.map(({ a }) => a)).toEqual([1, 2]);
    const [one = '', other = ''] = elements.map((element) => String(element['__hook_id']));
    expect(one.replace(/\.0$/, '')).toBe(other.replace(/\.1$/, ''));
  });

  it('stores nothing for an empty input, and says so in the errors file', async () => {
    const home = createTempHome();
    expect(await forwardToNobody(home, ' \n')).toEqual(SILENT);
    expect(listDirectory(home.events)).toEqual(['claude-hook-events-errors.json']);
  });

  it('takes the directory of --dir, with ~ as the home, and remembers it', async () => {
    const home = createTempHome();
    await forwardToNobody(home, EVENT, ['--dir', '~/elsewhere']);
    const directory = path.join(home.home, 'elsewhere');
    expect(readArray(path.join(directory, 'claude-hook-events.json'))).toHaveLength(1);
    await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
    expect(await readEvents(home)).toHaveLength(1);
  });

  it('forwards in spite of arguments that it does not know', async () => {
    const home = createTempHome();
    expect(await forwardToNobody(home, EVENT, ['--verbose', '--port', '99999'])).toEqual(SILENT);
    expect(readArray(eventsFile(home))).toHaveLength(1);
  });

  it('stores in the state directory what cannot be stored in its own', async () => {
    const home = createTempHome();
    mkdirSync(path.dirname(home.events), { recursive: true });
    writeFileSync(home.events, 'a file');
    expect(await forwardToNobody(home, EVENT)).toEqual(SILENT);
    const spare = path.join(home.stateDirectory, 'hook-events', 'claude-hook-events.json');
    expect(readArray(spare)).toHaveLength(1);
  });

  it('goes on when its input is never closed', async () => {
    const home = createTempHome();
    const program = path.join(path.dirname(hooklineProgram()), 'claude-hook.js');
    const args = [program, '--port', String(await findClosedPort())];
    const child = spawn(process.execPath, args, { env: { HOME: home.home } });
    child.stdin.write('{"a":1}');
    expect(await resultOf(child)).toEqual(SILENT);
    expect(readArray(eventsFile(home)).map(({ a }) => a)).toEqual([1]);
    expect(readArray(errorsFile(home)).map(({ context }) => context)).toContain('stdin_read_error');
  });

  it('uses a file as its input', async () => {
    const home = createTempHome();
    const input = path.join(home.home, 'event.json');
    writeFileSync(input, EVENT);
    const program = path.join(path.dirname(hooklineProgram()), 'cline-hook.js');
    const child = spawn(process.execPath, [program, '--ports', String(await findClosedPort())], {
      env: { HOME: home.home },
      stdio: [openSync(input, 'r'), 'pipe', 'pipe'],
    });
    expect(await resultOf(child)).toEqual(SILENT);
    expect(readArray(path.join(home.events, 'cline-hook-events.json'))).toHaveLength(1);
  });
});

describe('a forwarder with a bridge', () => {
  it('posts the bytes of the event as they are, verified by its secret', async () => {
    const home = createTempHome();
    await serveBridge(home);
    expect(await forward(home, 'claude-hook', [], EVENT)).toEqual(SILENT);
    await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
    const events = await readEvents(home);
    expect(readPayloads(events)).toEqual([EVENT]);
    expect(events).toMatchObject([
      { agent: 'claude', event: 'PreToolUse', sessionId: 's1', isVerified: true },
    ]);
  });

  it('exists for every agent', async () => {
    const home = createTempHome();
    const { port } = await serveBridge(home);
    for (const agent of AGENTS) {
      const result = await runHookline(
        [`${agent}-hook`, '--wait', '60000', '--port', String(port)],
        {
          cwd: home.home,
          home: home.home,
          stdin: EVENT,
        },
      );
      expect(result).toEqual(SILENT);
    }
    await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
    const events = await readEvents(home);
    expect(events.map(({ agent }) => agent)).toEqual([...AGENTS]);
  });

  it('stores what the bridge refuses in the file', async () => {
    const home = createTempHome();
    await serveBridge(home);
    expect(await forward(home, 'claude-hook', ['--wait', '60000'], 'not JSON')).toEqual(SILENT);
    expect(readArray(errorsFile(home)).map(({ context }) => context)).toEqual([
      'http_send_failed',
      'json_parse_error',
    ]);
  });

  it('does not store an event twice when the answer comes too late', async () => {
    const home = createTempHome();
    const { child, port } = await serveBridge(home);
    // Stopped, it takes the connection and the request, and answers when it goes on.
    child.kill('SIGSTOP');
    expect(await forward(home, 'claude-hook', [], EVENT)).toEqual(SILENT);
    expect(readArray(eventsFile(home))).toHaveLength(1);
    child.kill('SIGCONT');
    await expect
      .poll(async () => (await fetch(`http://127.0.0.1:${port}/health`)).status)
      .toBe(200);
    await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
    expect(await readEvents(home)).toHaveLength(1);
  });

  it('does not take a run file that others could have written', async () => {
    const home = createTempHome();
    await serveBridge(home);
    chmodSync(path.join(home.stateDirectory, 'run', 'bridge'), 0o644);
    const closed = String(await findClosedPort());
    await forward(home, 'claude-hook', ['--port', closed], EVENT);
    expect(readArray(eventsFile(home))).toHaveLength(1);
  });
});
