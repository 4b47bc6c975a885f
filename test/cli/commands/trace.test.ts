import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../src/store/driver.ts';
import { type NewEvent, openEventStore } from '../../../src/store/event-store.ts';
import { until } from '../../base/directory.ts';
import { createEvent } from '../../store/new-event.ts';
import { jsonOf, runHookline, startHookline } from '../hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  type TempWorkspace,
  write,
} from '../temp-workspace.ts';

/** A home whose store has these events. */
async function createHome(...events: readonly Partial<NewEvent>[]): Promise<TempWorkspace> {
  const workspace = createTempWorkspace();
  await store(workspace, ...events);
  return workspace;
}

async function store(
  { home }: TempWorkspace,
  ...events: readonly Partial<NewEvent>[]
): Promise<void> {
  const opened = await openEventStore({ directory: path.join(home, '.hookline') });
  await opened.append(events.map((fields) => createEvent(fields)));
  await opened.close();
}

/** The ids that `trace list` prints, together. */
async function listIds(workspace: TempWorkspace, ...flags: readonly string[]): Promise<string> {
  const result = await runHookline(['trace', 'list', '--json', ...flags], at(workspace));
  expect(result).toMatchObject({ code: 0, stderr: '' });
  const { events } = jsonOf(result) as { events: { id: string }[] };
  return events.map(({ id }) => id).join('');
}

const HOUR_MS = 60 * 60 * 1000;

describe('trace list', () => {
  it('filters by everything that an event has', async () => {
    const now = Date.now();
    const workspace = await createHome(
      { id: '1', sessionId: 'abc-1', at: now - 30 * HOUR_MS },
      { id: '2', sessionId: 'abd-2', agent: 'codex', at: now - 5 * HOUR_MS },
      { id: '3', workspace: '/elsewhere', event: null, foreignEvent: 'beforeShell', at: now },
      { id: '4', agent: 'hookline', effect: 'deny', hooks: ['guard'], at: now },
      { id: '5', agent: 'hookline', effect: 'pass', hooks: ['guard'], hasFailed: true, at: now },
    );
    expect({
      all: await listIds(workspace),
      limit: await listIds(workspace, '--limit', '2'),
      session: await listIds(workspace, '--session', 'abc-1'),
      beginning: await listIds(workspace, '--session', 'abd'),
      agent: await listIds(workspace, '--agent', 'codex'),
      event: await listIds(workspace, '--event', 'beforeShell'),
      hook: await listIds(workspace, '--hook', 'guard'),
      effect: await listIds(workspace, '--effect', 'deny'),
      failed: await listIds(workspace, '--failed'),
      ago: await listIds(workspace, '--since', '6h'),
      since: await listIds(workspace, '--since', new Date(now - 40 * HOUR_MS).toISOString()),
      workspace: await listIds(workspace, '--workspace', '/work'),
      several: await listIds(workspace, '--agent', 'hookline', '--failed', '--since', '1d'),
    }).toEqual({
      all: '12345',
      limit: '45',
      session: '1',
      beginning: '2',
      agent: '2',
      event: '3',
      hook: '45',
      effect: '4',
      failed: '5',
      ago: '2345',
      since: '12345',
      workspace: '1245',
      several: '5',
    });
  });

  it('prints a table, in which unverified events and failures stand out', async () => {
    const workspace = await createHome(
      { id: 'first-event-id', agent: 'claude', isVerified: false, paths: ['/work/app/a.ts'] },
      {
        id: 'second-event-id',
        agent: 'hookline',
        effect: 'deny',
        hooks: ['guard'],
        hasFailed: true,
      },
    );
    const { stdout } = await runHookline(['trace', 'list'], at(workspace, { env: { TZ: 'UTC' } }));
    expect(stdout).toBe(
      `TIME                 AGENT                EVENT       TOOL  EFFECT        SESSION    ID             DETAILS
2026-09-21 14:13:20  claude (unverified)  PreToolUse  Bash  -             session-1  first-event-i  a.ts
2026-09-21 14:13:20  hookline             PreToolUse  Bash  deny, failed  session-1  second-event-  guard
`,
    );
  });

  it('says that there is nothing, and how much there is elsewhere', async () => {
    const workspace = createTempWorkspace();
    const empty = await runHookline(['trace', 'list'], at(workspace));
    expect(empty).toMatchObject({ code: 0, stdout: expect.stringContaining('No events yet') });
    await store(workspace, {});
    const other = await runHookline(['trace', 'list', '--agent', 'droid'], at(workspace));
    expect(other).toMatchObject({ code: 0, stdout: 'No event matches; 1 event in all.\n' });
  });

  it.each([
    [['--limit', 'many'], '--limit must be a number of events, found "many"'],
    [['--since', 'yesterday'], '--since must be a time, found "yesterday"'],
    [['--since', '2026-13-45'], '--since must be a time, found "2026-13-45"'],
    [['--effect', 'maybe'], 'Allowed choices are pass, allow, ask, defer, deny'],
    [['--as', 'xml'], 'Allowed choices are agent-monitoring'],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr } = await runHookline(
      ['trace', 'list', ...flags],
      at(createTempWorkspace()),
    );
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('trace show', () => {
  it('shows an event by the beginning of its id, with its payload', async () => {
    const workspace = await createHome({ id: 'abc-1' }, { id: 'abd-2', tool: 'Read' });
    const one = await runHookline(['trace', 'show', 'abd'], at(workspace));
    expect(one.stdout).toContain('Tool       Read');
    expect(one.stdout).toContain('"hook_event_name": "PreToolUse"');
    const last = await runHookline(['trace', 'show', 'last', '--json'], at(workspace));
    expect(jsonOf(last)).toMatchObject({ id: 'abd-2', data: { hook_event_name: 'PreToolUse' } });
    const many = await runHookline(['trace', 'show', 'ab'], at(workspace));
    expect(many).toMatchObject({ code: 2, stderr: expect.stringContaining('several events') });
    const none = await runHookline(['trace', 'show', 'x'], at(workspace));
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('"x" not found') });
  });
});

describe('trace export', () => {
  it('prints one line for each event, its payload as a JSON value where it is JSON', async () => {
    const workspace = await createHome(
      { id: '1', paths: ['/work/app/a.ts'], payload: Buffer.from('{"a":[1,null]}') },
      { id: '2', payload: Buffer.from('not json') },
      { id: '3', payload: Buffer.from('"text"') },
      { id: '4', payload: new Uint8Array([255, 0]) },
    );
    const { stdout } = await runHookline(['trace', 'export', '--json'], at(workspace));
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toEqual({
      specversion: '1.0',
      id: '1',
      source: '/agents/claude',
      type: 'hookline.event.PreToolUse',
      time: '2026-09-21T14:13:20.000Z',
      subject: 'session-1',
      datacontenttype: 'application/json',
      data: { a: [1, null] },
      sequence: 1,
      agent: 'claude',
      event: 'PreToolUse',
      foreignevent: 'PreToolUse',
      sessionid: 'session-1',
      workspace: '/work/app',
      tool: 'Bash',
      paths: ['/work/app/a.ts'],
      effect: null,
      hooks: [],
      failed: false,
      verified: true,
      origin: 'bridge',
      receivedtime: expect.stringMatching(/^2\d{3}-.*Z$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(lines.map(({ data, datacontenttype }) => [data, datacontenttype]).slice(1)).toEqual([
      ['not json', 'text/plain'],
      ['text', 'application/json'],
      ['/wA=', 'application/octet-stream'],
    ]);
  });

  it('redacts secrets in payloads, paths and names, unless --raw is given', async () => {
    const secret = `sk-ant-api03-${'a1B2'.repeat(24)}`;
    const workspace = await createHome({
      paths: [`/work/${secret}`],
      foreignEvent: secret,
      payload: Buffer.from(JSON.stringify({ deep: [{ command: `K=${secret} x` }], [secret]: 1 })),
    });
    for (const command of ['export', 'list', 'show last']) {
      const args = ['trace', ...command.split(' ')];
      const shown = await runHookline(args, at(workspace));
      const raw = await runHookline([...args, '--raw', '--json'], at(workspace));
      expect(shown.stdout).not.toContain('a1B2a1B2');
      expect(raw.stdout).toContain(secret);
    }
  });
});

describe('trace tail', () => {
  it('prints the last events, then those of other processes, until it is interrupted', async () => {
    const workspace = await createHome({ id: 'old' });
    const child = startHookline(['trace', 'tail', '--json', '--limit', '1'], at(workspace));
    onTestFinished(() => void child.kill('SIGKILL'));
    let stdout = '';
    child.stdout?.on('data', (text: Buffer) => (stdout += text.toString()));
    const listed = (): readonly string[] =>
      stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id);
    await until(() => listed().length === 1);
    await store(workspace, { id: 'new' });
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({}));
    await runHookline(['hooks', 'fire', 'PreToolUse'], at(workspace));
    await until(() => listed().length === 3);
    expect(listed().slice(0, 2)).toEqual(['old', 'new']);
    child.kill('SIGINT');
    await until(() => child.exitCode !== null);
    expect(child.exitCode).toBe(0);
  });

  it('ends when nobody reads it any more', async () => {
    const workspace = await createHome({ id: 'old' });
    const child = startHookline(['trace', 'tail'], at(workspace));
    onTestFinished(() => void child.kill('SIGKILL'));
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.stdout?.destroy();
    await store(workspace, { id: 'new' });
    await until(() => child.exitCode !== null);
  });
});

describe('trace verify', () => {
  it('exits with 0 for an intact chain and with 1 for a changed one', async () => {
    const workspace = await createHome({}, {}, {});
    const intact = await runHookline(['trace', 'verify'], at(workspace));
    expect(intact).toMatchObject({ code: 0, stdout: 'The chain is intact: 3 events.\n' });
    const file = await openDatabase(path.join(workspace.home, '.hookline/events.db'));
    file.exec("UPDATE events SET payload = x'7b7d' WHERE sequence = 2");
    file.close();
    const changed = await runHookline(['trace', 'verify'], at(workspace));
    expect(changed).toMatchObject({ code: 1, stdout: expect.stringContaining('event 2 (') });
    const json = await runHookline(['trace', 'verify', '--json'], at(workspace));
    expect(jsonOf(json)).toMatchObject({
      isIntact: false,
      problems: [{ kind: 'changed', sequence: 2 }],
    });
  });
});

describe('trace purge', () => {
  it('removes a session, what is old, or all, and the chain stays intact', async () => {
    const now = Date.now();
    const workspace = await createHome(
      { id: '1', sessionId: 'abc', at: now },
      { id: '2', sessionId: 'old', at: now - 50 * HOUR_MS },
      { id: '3', sessionId: 'new', at: now },
    );
    const purge = async (...flags: readonly string[]) =>
      (await runHookline(['trace', 'purge', '--yes', ...flags], at(workspace))).stdout;
    expect(await purge('--session', 'ab')).toBe('Removed 1 event.\n');
    expect(await purge('--before', '2d')).toBe('Removed 1 event.\n');
    expect(await listIds(workspace)).toBe('3');
    expect(await purge('--all', '--json')).toContain('"removed": 1');
    const verified = await runHookline(['trace', 'verify'], at(workspace));
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('3 removed') });
  });

  it('needs to know what to remove, and a confirmation', async () => {
    const workspace = await createHome({ id: '1' });
    const nothing = await runHookline(['trace', 'purge', '--yes'], at(workspace));
    expect(nothing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected --session'),
    });
    const both = await runHookline(['trace', 'purge', '--all', '--session', 'x'], at(workspace));
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('expected --session') });
    const unasked = await runHookline(['trace', 'purge', '--all'], at(workspace));
    expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining('pass --yes') });
    expect(await listIds(workspace)).toBe('1');
  });

  it('is refused inside of a session', async () => {
    const workspace = await createHome({ id: '1' });
    const args = ['trace', 'purge', '--all', '--yes'];
    const inside = await runHookline(args, at(workspace, { env: { HOOKLINE_SESSION: 'x' } }));
    expect(inside).toMatchObject({ code: 1, stderr: expect.stringContaining('trace purge') });
    expect(await listIds(workspace)).toBe('1');
  });
});

describe('a dispatch', () => {
  it('of hooks fire is stored with tool, files, verdict and hooks; those of explain and test are not', async () => {
    const workspace = createTempWorkspace();
    const hook = write(
      workspace.home,
      `${GLOBAL_HOOKS}/PreToolUse`,
      answering({ cancel: true, errorMessage: 'no' }),
    );
    const call = ['--tool', 'write_to_file', '--input', '{"path":"src/a.js","content":"x"}'];
    await runHookline(['hooks', 'explain', 'PreToolUse', ...call], at(workspace));
    expect(existsSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'))).toBe(false);
    await runHookline(['hooks', 'fire', 'PreToolUse', ...call], at(workspace));
    const result = await runHookline(
      ['trace', 'list', '--json', '--workspace', '.'],
      at(workspace),
    );
    const { events } = jsonOf(result) as { events: unknown[] };
    expect(events).toEqual([
      expect.objectContaining({
        agent: 'hookline',
        event: 'PreToolUse',
        tool: 'Write',
        paths: [path.join(workspace.repo, 'src/a.js')],
        workspace: workspace.repo,
        effect: 'deny',
        hooks: ['cline:global:PreToolUse'],
        failed: false,
        verified: true,
        origin: 'dispatch',
      }),
    ]);
    expect(hook).toContain('PreToolUse');
    expect(readdirSync(path.join(workspace.home, '.hookline/trace'))).toEqual([]);
  });

  it('of an older version is imported once', async () => {
    const workspace = createTempWorkspace();
    const line = {
      type: 'dispatch',
      id: 'old-1',
      at: new Date().toISOString(),
      event: 'PreToolUse',
      sessionId: 's',
      cwd: '/work',
      root: '/work',
      effect: 'deny',
      outcomes: [{ hook: 'a', status: 'failed', effect: 'deny', durationMs: 1 }],
      data: { name: 'PreToolUse', cwd: '/work', tool: { name: 'Read', input: { file_path: 'x' } } },
    };
    const late = { ...line, type: 'late' };
    const call = { type: 'call', at: line.at, sessionId: 's', cwd: '/work', root: null, hook: 'a' };
    const text = [line, late, { ...call, call: 'steer', text: null, answer: true }]
      .map((each) => `${JSON.stringify(each)}\n`)
      .join('');
    for (let time = 0; time < 2; time++) {
      write(workspace.home, '.hookline/trace/trace.1.jsonl', text);
      const { stdout } = await runHookline(['trace', 'export'], at(workspace));
      const events = stdout
        .trimEnd()
        .split('\n')
        .map((each) => JSON.parse(each));
      expect(events.map(({ id, foreignevent }) => [id, foreignevent])).toEqual([
        ['old-1', null],
        [expect.stringMatching(/^[0-9a-f]{40}$/), 'late answer'],
        [expect.stringMatching(/^[0-9a-f]{40}$/), 'call: steer'],
      ]);
      expect(events[0]).toMatchObject({ tool: 'Read', paths: ['/work/x'], failed: true });
    }
  });
});
