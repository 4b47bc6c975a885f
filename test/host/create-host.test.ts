import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SESSION_MARKER } from '../../src/host/hook-set.ts';
import { until, write } from '../base/directory.ts';
import { deciding } from '../hooks/handlers.ts';
import { answering, createTempWorkspace, HOOKS, hostIn } from './temp-workspace.ts';

const CALL = {
  name: 'PreToolUse',
  tool: { callId: 'c', name: 'Bash', input: { command: 'ls' } },
} as const;
const HOOK = `ws/${HOOKS}/PreToolUse.mjs`;

describe('the trace', () => {
  test('has one entry for each dispatch after the host is closed', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: answering({ cancel: true, errorMessage: 'no' }),
    });
    const host = await hostIn(workspace, { trust: 'all' });
    await host.engine.dispatch(CALL);
    await host.engine.dispatch(CALL);
    await host.dispose();
    const lines = readFileSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'), 'utf8');
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { event: 'PreToolUse', effect: 'deny', outcomes: [{ exitCode: 0 }] },
      { event: 'PreToolUse', effect: 'deny' },
    ]);
  });

  test('can be switched off', async () => {
    const workspace = createTempWorkspace({ [HOOK]: answering({}) });
    const host = await hostIn(workspace, { trust: 'all', flags: { 'trace.enabled': false } });
    await host.engine.dispatch(CALL);
    await host.dispose();
    expect(() => readFileSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'))).toThrow(
      'ENOENT',
    );
  });

  test('that cannot be written is reported once and changes no verdict', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: answering({ cancel: true, errorMessage: 'no' }),
      'home/.hookline/trace': 'a file',
    });
    const notices: string[] = [];
    const host = await hostIn(workspace, {
      trust: 'all',
      onNotice: (notice) => notices.push(notice),
    });
    expect((await host.engine.dispatch(CALL)).effect).toBe('deny');
    expect((await host.engine.dispatch(CALL)).effect).toBe('deny');
    await host.dispose();
    expect(notices).toEqual([expect.stringMatching(/^the trace in .* cannot be written: /)]);
  });
});

describe('notices', () => {
  async function noticesOf(files: Readonly<Record<string, string>>): Promise<string[]> {
    const notices: string[] = [];
    await hostIn(createTempWorkspace(files), { onNotice: (notice) => notices.push(notice) });
    return notices;
  }

  test('report a broken configuration', async () => {
    expect(await noticesOf({ 'home/.hookline/config.json': '{oops' })).toEqual([
      expect.stringContaining('should be a JSON object'),
    ]);
  });

  test('about a personal hook are kept for the next subscriber', async () => {
    const workspace = createTempWorkspace({ 'home/.cline/hooks/TaskStart.mjs': '' });
    const file = path.join(workspace.home, '.cline/hooks/TaskStart.mjs');
    await hostIn(workspace, { onNotice: () => undefined });
    write(file, '// changed\n');
    await hostIn(workspace);
    const events: string[] = [];
    await hostIn(workspace, { onNotice: (notice) => events.push(notice) });
    expect(events).toEqual([`your own hook changed since the last run: ${file}`]);
  });

  test('report a personal hook that is new or has changed', async () => {
    const workspace = createTempWorkspace({ 'home/.cline/hooks/TaskStart.mjs': '' });
    const file = path.join(workspace.home, '.cline/hooks/TaskStart.mjs');
    const collectNotices = async (): Promise<string[]> => {
      const notices: string[] = [];
      await (await hostIn(workspace, { onNotice: (notice) => notices.push(notice) })).dispose();
      return notices;
    };
    await collectNotices();
    expect(await collectNotices()).toEqual([]);
    write(file, '// changed');
    expect(await collectNotices()).toEqual([`your own hook changed since the last run: ${file}`]);
    write(path.join(workspace.home, '.cline/hooks/TaskCancel.mjs'), '');
    expect(await collectNotices()).toEqual([
      `new hook of your own since the last run: ${path.join(workspace.home, '.cline/hooks/TaskCancel.mjs')}`,
    ]);
  });

  test('report a trust record that cannot be believed', async () => {
    const notices = await noticesOf({ 'home/.hookline/trust.json': 'no json' });
    expect(notices).toEqual([expect.stringContaining('trust.json')]);
  });
});

describe('discovery', () => {
  test('everything found and everything ignored is listed', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: '',
      [`ws/${HOOKS}/README.md`]: '',
      'home/.cline/hooks/Nonsense': '',
    });
    const host = await hostIn(workspace);
    expect(host.hooks().map(({ hook }) => hook.id)).toEqual(['cline:workspace:PreToolUse.mjs']);
    expect(host.ignored().map(({ path: file }) => path.basename(file))).toEqual([
      'Nonsense',
      'README.md',
    ]);
    expect(host.workspaceRoots).toEqual([workspace.root]);
  });

  test('a hook that was deleted after discovery is a failed outcome', async () => {
    const workspace = createTempWorkspace({ [HOOK]: answering({}) });
    const host = await hostIn(workspace, { trust: 'all' });
    rmSync(path.join(workspace.base, HOOK));
    expect((await host.engine.dispatch(CALL)).outcomes).toMatchObject([{ status: 'failed' }]);
  });

  test('handlers of the host itself come after those of files', async () => {
    const workspace = createTempWorkspace({ [HOOK]: answering({ contextModification: 'file' }) });
    const own = { handlers: () => [deciding('own', { context: 'own' })] };
    const host = await hostIn(workspace, { trust: 'all', sources: [own] });
    expect((await host.engine.dispatch(CALL)).context.map(({ text }) => text)).toEqual([
      'file',
      'own',
    ]);
  });

  test('a host that is closed while ConfigChange hooks run does not report the change', async () => {
    const settings = (command: string): string =>
      JSON.stringify({ hooks: { ConfigChange: [{ hooks: [{ type: 'command', command }] }] } });
    const command = ': > asked; sleep 60';
    const workspace = createTempWorkspace({ 'ws/.claude/settings.json': settings(command) });
    const notices: string[] = [];
    const host = await hostIn(workspace, {
      trust: 'all',
      watch: true,
      onNotice: (notice) => notices.push(notice),
    });
    write(path.join(workspace.root, '.claude/settings.json'), settings(`${command} `));
    await until(() => existsSync(path.join(workspace.root, 'asked')));
    await host.dispose();
    expect(notices).toEqual([]);
  });

  test('a watching host sees hooks appear, change and vanish, also in a directory that did not exist', async () => {
    const workspace = createTempWorkspace();
    const host = await hostIn(workspace, { trust: 'all', watch: true });
    const contextNow = async (): Promise<string | undefined> =>
      (await host.engine.dispatch(CALL)).context[0]?.text;
    expect(await contextNow()).toBeUndefined();
    const file = path.join(workspace.base, HOOK);
    write(file, answering({ contextModification: 'one' }));
    await until(async () => (await contextNow()) === 'one');
    write(file, answering({ contextModification: 'two' }));
    await until(async () => (await contextNow()) === 'two');
    rmSync(file);
    await until(() => host.hooks().length === 0);
  });

  test('a dispatch under way is not touched by a change of the files', async () => {
    const workspace = createTempWorkspace({
      [HOOK]: `
        import { existsSync, writeFileSync } from 'node:fs';
        writeFileSync('started', '');
        const wait = setInterval(() => {
          if (!existsSync('go')) return;
          clearInterval(wait);
          console.log(JSON.stringify({ contextModification: 'old' }));
        }, 10);
      `,
    });
    const host = await hostIn(workspace, { trust: 'all' });
    const dispatched = host.engine.dispatch(CALL);
    await until(() => exists(path.join(workspace.root, 'started')));
    rmSync(path.join(workspace.base, HOOK));
    host.rescan();
    write(path.join(workspace.root, 'go'), '');
    expect((await dispatched).context).toEqual([
      { hook: 'cline:workspace:PreToolUse.mjs', text: 'old' },
    ]);
    expect((await host.engine.dispatch(CALL)).outcomes).toEqual([]);
  });
});

test('a hook receives the moment of its session and runs in its own root', async () => {
  const workspace = createTempWorkspace({
    [HOOK]: `
      let text = '';
      process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
        const { taskId, cwd, workspaceRoots } = JSON.parse(text);
        const told = { taskId, cwd, workspaceRoots, here: process.cwd() };
        console.log(JSON.stringify({ context: JSON.stringify(told) }));
      });
    `,
    'ws/deep/x': '',
  });
  const host = await hostIn(workspace, {
    trust: 'all',
    cwd: path.join(workspace.root, 'deep'),
    moment: { taskId: 'task 7' },
  });
  const { context } = await host.engine.dispatch(CALL);
  expect(JSON.parse(context[0]?.text ?? '')).toEqual({
    taskId: 'task 7',
    cwd: path.join(workspace.root, 'deep'),
    workspaceRoots: [workspace.root],
    here: workspace.root,
  });
  expect(SESSION_MARKER).toBe('HOOKLINE_SESSION');
});

test('hooks of several roots each run in theirs, in declared order', async () => {
  const here = `console.log(JSON.stringify({ context: process.cwd() }))`;
  const workspace = createTempWorkspace({
    'home/.cline/hooks/PreToolUse.mjs': here,
    [HOOK]: here,
    [`other/${HOOKS}/PreToolUse.mjs`]: here,
  });
  const other = path.join(workspace.base, 'other');
  const host = await hostIn(workspace, { trust: 'all', roots: [workspace.root, other] });
  expect((await host.engine.dispatch(CALL)).context).toEqual([
    { hook: 'cline:home:PreToolUse.mjs', text: workspace.root },
    { hook: 'cline:workspace:PreToolUse.mjs', text: workspace.root },
    { hook: 'cline:workspace@other:PreToolUse.mjs', text: other },
  ]);
});

function exists(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}

test('a changed script that an entry of the user’s own settings runs is reported', async () => {
  const settings = {
    hooks: {
      Stop: [{ hooks: [{ type: 'command', command: 'sh ~/.claude/hooks/done.sh | cat' }] }],
    },
  };
  const workspace = createTempWorkspace({
    'home/.claude/settings.json': JSON.stringify(settings),
    'home/.claude/hooks/done.sh': 'echo 1',
  });
  const newNotices: string[] = [];
  const options = { onOwnHookNews: (each: string) => newNotices.push(each) };
  await hostIn(workspace, options);
  write(path.join(workspace.home, '.claude/hooks/done.sh'), 'echo 2');
  await hostIn(workspace, options);
  expect(newNotices).toEqual([
    `your own hook changed since the last run: ${path.join(workspace.home, '.claude/hooks/done.sh')}`,
  ]);
});
