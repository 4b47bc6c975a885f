import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultOf, runHookline } from '../cli/hookline.ts';
import {
  createTempHome,
  findClosedPort,
  forward,
  getPort,
  listen,
  readArray,
  readEvents,
  readPayloads,
  serveBridge,
  SILENT,
} from './temp-home.ts';

/** Runs a client that was built to the description of the package that no longer exists. */
function runMinimalHook(agent: string, port: number, directory: string, input: string) {
  const program = path.join(import.meta.dirname, 'minimal-hook.ts');
  const args = ['--import', 'jiti/register', program, agent, String(port), directory];
  const child = spawn(process.execPath, args);
  child.stdin.end(input);
  return resultOf(child);
}

describe('a client of the older package', () => {
  it('posts to our bridge, and writes no file', async () => {
    const home = createTempHome();
    const { port } = await serveBridge(home);
    const directory = path.join(home.home, '.a24z', 'hooks');
    // As a real Cline sends it: without a session id.
    const event = '{"taskId":"t1","hookName":"PreToolUse","preToolUse":{"toolName":"read_file"}}';
    expect(await runMinimalHook('cline', port, directory, event)).toEqual(SILENT);
    expect(() => readFileSync(path.join(directory, 'cline-hook-events.json'))).toThrow('ENOENT');
    const events = await readEvents(home);
    expect(readPayloads(events)).toEqual([event]);
    expect(events).toMatchObject([{ agent: 'cline', event: 'PreToolUse', isVerified: false }]);
  });

  it('writes files that we take over, once', async () => {
    const home = createTempHome();
    const directory = path.join(home.home, '.principle', 'hooks');
    const port = await findClosedPort();
    for (const n of [1, 2, 3]) {
      await runMinimalHook('claude', port, directory, `{"hook_event_name":"Stop","n":${n}}`);
    }
    await runMinimalHook('claude', port, directory, 'no JSON');
    const drain = () => runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
    expect((await drain()).stdout).toBe('Imported 4 events.\n');
    expect((await drain()).stdout).toBe('Imported 0 events.\n');
    expect((await readEvents(home)).map(({ event }) => event)).toEqual([
      'Stop',
      'Stop',
      'Stop',
      null,
    ]);
    // It still finds an array to append to.
    await runMinimalHook('claude', port, directory, '{"hook_event_name":"Stop","n":4}');
    expect((await drain()).stdout).toBe('Imported 1 event.\n');
  });

  it('reads the files that our forwarder writes', async () => {
    const home = createTempHome();
    const port = await findClosedPort();
    await forward(home, 'claude-hook', ['--port', String(port)], '{"session_id":"s","n":1}');
    await runMinimalHook('claude', port, home.events, '{"session_id":"s","n":2}');
    await forward(home, 'claude-hook', ['--port', String(port)], '{"session_id":"s","n":3}');
    const elements = readArray(path.join(home.events, 'claude-hook-events.json'));
    expect(elements.map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(elements.every((element) => typeof element['__hook_received'] === 'number')).toBe(true);
    const errors = readArray(path.join(home.events, 'claude-hook-events-errors.json'));
    expect(errors.map(({ context }) => context)).toEqual(Array(3).fill('http_send_failed'));
  });
});

describe('our forwarder', () => {
  it.each([
    ['of 2025', { success: true, message: 'Event processed' }],
    [
      'of 2026',
      { success: true, provider: 'claude', duration: 3, message: 'Event processed successfully' },
    ],
  ])('posts to a server %s as its own clients do', async (_name, answer) => {
    const home = createTempHome();
    const received: { url: string; type: string; body: string }[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { url = '', headers } = request;
        received.push({ url, type: headers['content-type'] ?? '', body });
        response.setHeader('Access-Control-Allow-Origin', '*');
        response.setHeader('Content-Type', 'application/json; charset=utf-8');
        response.end(JSON.stringify(answer));
      });
    });
    const port = getPort(await listen(server));
    const closed = await findClosedPort();
    const event = '{ "session_id": "s",\n "hook_event_name": "Stop" }\n';
    const args = [
      '--wait',
      '60000',
      '--port',
      `${closed},${port}`,
      '--dir',
      path.join(home.home, 'd'),
    ];
    expect(await forward(home, 'claude-hook', args, event)).toEqual(SILENT);
    expect(received).toEqual([{ url: '/claude-hook', type: 'application/json', body: event }]);
  });
});
