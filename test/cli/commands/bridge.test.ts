import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTempHome,
  findClosedPort,
  forward,
  getPort,
  listen,
  readEvents,
  readPayloads,
  serveBridge,
  type TempHome,
} from '../../bridge/temp-home.ts';
import { jsonOf, runHookline } from '../hookline.ts';

const run = ({ home }: TempHome, ...args: readonly string[]) =>
  runHookline(['bridge', ...args], { cwd: home, home });

const runFile = ({ stateDirectory }: TempHome) => path.join(stateDirectory, 'run', 'bridge');

describe('hookline bridge serve', () => {
  it('says in a private file where it runs, with new secrets at every start', async () => {
    const home = createTempHome();
    const first = await serveBridge(home);
    expect(statSync(runFile(home)).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(runFile(home))).mode & 0o777).toBe(0o700);
    expect(first).toMatchObject({ pid: first.child.pid, version: '0.1.0' });
    expect((await run(home, 'stop')).code).toBe(0);
    expect(() => readFileSync(runFile(home))).toThrow('ENOENT');
    const second = await serveBridge(home);
    const secretsOf = ({ clientSecret, serverSecret, token }: typeof first) => [
      clientSecret,
      serverSecret,
      token,
    ];
    expect(new Set([...secretsOf(first), ...secretsOf(second)]).size).toBe(6);
  });

  it('takes the events first that wait in files', async () => {
    const home = createTempHome();
    const port = String(await findClosedPort());
    await forward(home, 'claude-hook', ['--port', port], '{"n":1}');
    await serveBridge(home);
    expect(readPayloads(await readEvents(home))).toEqual(['{"n":1}']);
  });

  it('takes files that are written while it runs', async () => {
    const home = createTempHome();
    await serveBridge(home);
    await forward(home, 'claude-hook', ['--port', String(await findClosedPort())], '{"n":1}');
    await expect.poll(async () => readPayloads(await readEvents(home))).toEqual(['{"n":1}']);
  });

  it('says where the bridge of the same home runs instead of starting another', async () => {
    const home = createTempHome();
    const { port, pid } = await serveBridge(home);
    const second = await run(home, 'serve', '--port', '0');
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `hookline: a bridge of this home already runs on http://127.0.0.1:${port} (pid ${pid})\n  Use it, or stop it with \`hookline bridge stop\`.\n`,
    });
  });

  it('starts only one of many that start at the same time', async () => {
    const home = createTempHome();
    const codes: (number | null)[] = [];
    const starts = Array.from({ length: 4 }, async () => {
      codes.push((await run(home, 'serve', '--port', '0')).code);
    });
    await expect.poll(() => codes).toEqual([1, 1, 1]);
    await run(home, 'stop');
    await Promise.all(starts);
    expect(codes).toEqual([1, 1, 1, 0]);
  });

  it('replaces the run file of a bridge that was killed, and writes a lost one again', async () => {
    const home = createTempHome();
    const first = await serveBridge(home);
    first.child.kill('SIGKILL');
    await new Promise((resolve) => first.child.on('close', resolve));
    const second = await serveBridge(home);
    expect(second.pid).not.toBe(first.pid);
    rmSync(runFile(home));
    await expect
      .poll(() => statSync(runFile(home), { throwIfNoEntry: false })?.isFile())
      .toBe(true);
  });

  it('refuses a port that is taken, and arguments that are none', async () => {
    const home = createTempHome();
    const taken = getPort(await listen());
    const refused = await run(home, 'serve', '--port', String(taken));
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`port ${taken} is in use`),
    });
    for (const args of [
      ['--port', 'x'],
      ['--port', '70000'],
      ['--idle-exit', 'soon'],
    ]) {
      expect((await run(home, 'serve', ...args)).code).toBe(2);
    }
  });

  it('takes events of agents that are registered', async () => {
    const home = createTempHome();
    await run(home, 'drain');
    const config = path.join(home.stateDirectory, 'config.json');
    writeFileSync(config, JSON.stringify({ bridge: { agents: ['my-agent'] } }));
    const { port } = await serveBridge(home);
    const answer = await fetch(`http://127.0.0.1:${port}/my-agent-hook`);
    expect(answer.status).toBe(200);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops on %s and removes its run file',
    async (signal) => {
      const home = createTempHome();
      const { child } = await serveBridge(home);
      child.kill(signal);
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).toBe(0);
      expect(() => readFileSync(runFile(home))).toThrow('ENOENT');
    },
  );

  it('stops when nobody asks anything for the time of --idle-exit', async () => {
    const home = createTempHome();
    expect((await run(home, 'serve', '--port', '0', '--idle-exit', '1s')).code).toBe(0);
  });
});

describe('hookline bridge status', () => {
  it('shows where it runs and what it received', async () => {
    const home = createTempHome();
    expect(await run(home, 'status')).toMatchObject({
      code: 1,
      stdout: 'No bridge is running. Start one with `hookline bridge serve`.\n',
    });
    const { port, pid } = await serveBridge(home);
    await forward(home, 'claude-hook', ['--port', String(port)], '{}');
    expect(jsonOf(await run(home, 'status', '--json'))).toMatchObject({
      running: true,
      answers: true,
      port,
      pid,
      version: '0.1.0',
    });
    const shown = (await run(home, 'status')).stdout;
    expect(shown).toContain(`runs on http://127.0.0.1:${port} (pid ${pid})`);
    expect(shown).not.toMatch(/[0-9a-f]{48}/);
  });
});

describe('hookline bridge stop', () => {
  it('is refused inside an agent session', async () => {
    const home = createTempHome();
    const { child } = await serveBridge(home);
    const { code, stderr } = await runHookline(['bridge', 'stop'], {
      cwd: home.home,
      home: home.home,
      env: { HOOKLINE_SESSION: 's' },
    });
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('inside an agent session'),
    });
    expect(child.exitCode).toBeNull();
  });

  it('says when there is none', async () => {
    const home = createTempHome();
    expect(await run(home, 'stop')).toMatchObject({ code: 0, stdout: 'No bridge is running.\n' });
  });
});

describe('hookline bridge drain', () => {
  it('says how many events it took and what it could not read', async () => {
    const home = createTempHome();
    const port = String(await findClosedPort());
    await forward(home, 'claude-hook', ['--port', port], '[{"n":1},{"n":2}]');
    expect(await run(home, 'drain')).toEqual({
      code: 0,
      stdout: 'Imported 2 events.\n',
      stderr: '',
    });
    expect(jsonOf(await run(home, 'drain', '--json'))).toEqual({ events: 0, problems: [] });
    writeFileSync(path.join(home.events, 'cline-hook-events.json'), '[{"n":3}, oops]');
    const drained = await run(home, 'drain');
    expect(drained).toMatchObject({ code: 1, stdout: 'Imported 1 event.\n' });
    expect(drained.stderr).toContain('element 1 is not JSON');
  });

  it('is not needed before the trace is shown', async () => {
    const home = createTempHome();
    await forward(
      home,
      'claude-hook',
      ['--port', String(await findClosedPort())],
      '{"hook_event_name":"Stop"}',
    );
    const options = { cwd: home.home, home: home.home };
    const { stdout } = await runHookline(['trace', 'export'], options);
    expect(JSON.parse(stdout)).toMatchObject({ agent: 'claude', event: 'Stop' });
  });
});
