import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clineFiles, createHookEngine } from '../../../src/hooks.ts';
import { write } from '../../base/directory.ts';
import { deciding } from '../../hooks/handlers.ts';
import { answering, createTempWorkspace, HOOKS } from '../temp-workspace.ts';

test('five lines add a hook point to a custom agent', async () => {
  const { surroundings, root } = createTempWorkspace({
    [`ws/${HOOKS}/PreToolUse.mjs`]: answering({ cancel: true, errorMessage: 'no' }),
  });
  const engine = createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root], trust: 'all' })],
    moment: { cwd: root, workspaceRoots: [root] },
  });
  onTestFinished(() => engine.close());
  const tool = { callId: '1', name: 'Bash', input: { command: 'ls' } };
  const verdict = await engine.dispatch({ name: 'PreToolUse', tool });
  expect(verdict).toMatchObject({ effect: 'deny', reasons: [{ text: 'no' }] });
});

test('files and custom handlers run side by side; trust is the default', async () => {
  const { surroundings, root } = createTempWorkspace({
    [`ws/${HOOKS}/TaskStart.mjs`]: answering({}),
  });
  const own = deciding('own', { context: 'hello' }, { event: 'TaskStart' });
  const engine = createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root] }), { handlers: () => [own] }],
  });
  onTestFinished(() => engine.close());
  write(path.join(root, HOOKS, 'TaskCancel.mjs'), '');
  expect(await engine.dispatch({ name: 'TaskStart', prompt: 'p' })).toMatchObject({
    context: [{ hook: 'own', text: 'hello' }],
    skipped: [
      { hook: 'cline:workspace:TaskStart.mjs', why: expect.stringMatching(/^untrusted: /) },
    ],
  });
});

const TELLS = `
  let text = '';
  process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
    const { cwd, workspaceRoots, workspaceInfo, taskId, agent_id, preToolUse } = JSON.parse(text);
    const told = { cwd, workspaceRoots, workspaceInfo, taskId, agent_id, path: preToolUse.parameters.path };
    console.log(JSON.stringify({ context: JSON.stringify(told) }));
  });
`;

test('hooks receive the workspace that the source was given, wherever the process runs', async () => {
  const { surroundings, base, root } = createTempWorkspace({
    [`ws/${HOOKS}/PreToolUse.mjs`]: TELLS,
  });
  const engine = createHookEngine({
    sources: [
      clineFiles({
        surroundings: { ...surroundings, cwd: base },
        roots: ['ws'],
        trust: 'all',
        moment: { taskId: 'of the source' },
      }),
    ],
    moment: { sessionId: 'mine' },
  });
  onTestFinished(() => engine.close());
  const input = { file_path: path.join(root, 'src/a.js'), content: 'x' };
  const verdict = await engine.dispatch({
    name: 'PreToolUse',
    tool: { callId: '1', name: 'Write', input },
  });
  expect(JSON.parse(verdict.context[0]?.text ?? '')).toEqual({
    cwd: root,
    workspaceRoots: [root],
    workspaceInfo: { rootPath: root, hint: 'ws' },
    taskId: 'of the source',
    agent_id: 'mine',
    path: 'src/a.js',
  });
});

test('the caller’s moment overrides that of the source', async () => {
  const { surroundings, root } = createTempWorkspace({ [`ws/${HOOKS}/PreToolUse.mjs`]: TELLS });
  const deep = path.join(root, 'deep');
  mkdirSync(deep);
  const engine = createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root], trust: 'all' })],
    moment: { cwd: deep, taskId: 'seven' },
  });
  onTestFinished(() => engine.close());
  const tool = { callId: '1', name: 'Write', input: { file_path: 'a.js', content: 'x' } };
  const verdict = await engine.dispatch({ name: 'PreToolUse', tool });
  expect(JSON.parse(verdict.context[0]?.text ?? '')).toMatchObject({
    cwd: deep,
    workspaceRoots: [root],
    taskId: 'seven',
  });
});

test('problems of settings, trust and directories are reported', () => {
  const { surroundings, root } = createTempWorkspace(
    {
      'ws/.hookline/config.json': '{"hooks": {"nothing": 1}}',
      'home/.hookline/trust.json': 'garbage',
    },
    { HOOKLINE_HOOKS: 'off' },
  );
  const notices: string[] = [];
  createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root] })],
    onNotice: (notice) => notices.push(notice),
  });
  expect(notices).toEqual([
    'hooks are disabled by HOOKLINE_HOOKS: no hook runs, and no plugin on disk is loaded',
    expect.stringContaining('unknown setting "hooks.nothing"'),
    expect.stringContaining('trust.json'),
  ]);
});

test('a path that may hide a hook is reported', () => {
  const { surroundings, root } = createTempWorkspace();
  mkdirSync(path.join(root, HOOKS), { recursive: true });
  symlinkSync('nowhere', path.join(root, HOOKS, 'PreToolUse'));
  const notices: string[] = [];
  createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root] })],
    onNotice: (notice) => notices.push(notice),
  });
  expect(notices).toEqual([
    expect.stringMatching(/^a guard may be missing: .*PreToolUse is a broken link$/),
  ]);
});
