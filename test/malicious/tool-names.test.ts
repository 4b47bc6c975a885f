import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';

const DENY = `echo '{"cancel":true,"errorMessage":"guarded"}'; exit 0`;
const TOOL = `tool=$(sed -n 's/.*"toolName":"\\([^"]*\\)".*/\\1/p')`;
const PATCH = '*** Begin Patch\n*** Add File: secret.txt\n+x\n*** End Patch';

/** A guard in the user's home that denies these names. */
function writeGuard({ home }: TempWorkspace, names: string, more = ''): void {
  const text = `#!/bin/sh\n${more}\n${TOOL}\ncase "$tool" in ${names}) ${DENY} ;; esac\n`;
  write(home, `${GLOBAL_HOOKS}/PreToolUse`, text);
}

/** Lets a model make one call, or several, with every call allowed that no hook denies. */
async function callTool(workspace: TempWorkspace, name: string, input: object) {
  return callTools(workspace, [{ name, input }]);
}

async function callTools(
  workspace: TempWorkspace,
  calls: readonly { readonly name: string; readonly input: object }[],
) {
  const turns = [...calls.map((call) => ({ tools: [call] })), { text: 'done' }];
  write(workspace.directory, 'turns.json', JSON.stringify(turns));
  const script = path.join(workspace.directory, 'turns.json');
  const flags = ['--script', script, '--permission-mode', 'bypassPermissions'];
  return runHookline(['run', 'go', ...flags], at(workspace));
}

test.each<[string, string, string, object]>([
  // Three names of the SDK's tools make its profile that one.
  [
    'write_to_file',
    'known="run_commands read_files ask_question"',
    'write_to_file',
    { path: 'secret.txt', content: 'x' },
  ],
  ['write_to_file|replace_in_file|apply_patch', '', 'apply_patch', { input: PATCH }],
  ['apply_patch', 'known="write_to_file replace_in_file"', 'apply_patch', { input: PATCH }],
  [
    'editor',
    'known="write_to_file read_file execute_command"',
    'Write',
    { file_path: 'secret.txt', content: 'x' },
  ],
  [
    'write_to_file',
    'known="run_commands read_files ask_question"',
    'Write',
    { file_path: 'secret.txt', content: 'x' },
  ],
  [
    '*write*',
    'known=".tool_call.name // .preToolUse.toolName"',
    'write_to_file',
    { path: 'secret.txt', content: 'x' },
  ],
])('a guard for %s (with %j) stops a model that calls %s', async (names, more, name, input) => {
  const workspace = createTempWorkspace();
  writeGuard(workspace, names, more);
  await callTool(workspace, name, input);
  expect(existsSync(path.join(workspace.repo, 'secret.txt'))).toBe(false);
});

test('a call that no guard denies is made', async () => {
  const workspace = createTempWorkspace();
  writeGuard(workspace, 'execute_command');
  await callTool(workspace, 'write_to_file', { path: 'secret.txt', content: 'x' });
  expect(existsSync(path.join(workspace.repo, 'secret.txt'))).toBe(true);
});

test('files beside a guard that cannot be read neither stop nor weaken it', async () => {
  const workspace = createTempWorkspace();
  const { home } = workspace;
  const text = `#!/bin/sh\n${TOOL}\n: rules loop pipe\n[ "$tool" = run_commands ] && { ${DENY}; }\nexit 0\n`;
  write(home, `${GLOBAL_HOOKS}/PreToolUse`, text);
  spawnSync('mkfifo', [path.join(home, GLOBAL_HOOKS, 'pipe')]);
  symlinkSync('loop', path.join(home, GLOBAL_HOOKS, 'loop'));
  write(home, `${GLOBAL_HOOKS}/rules`, '\0execute_command');
  const input = ['--tool', 'Bash', '--input', '{"command":"ls"}', '--json'];
  const verdict: Verdict = jsonOf(
    await runHookline(['hooks', 'fire', 'PreToolUse', ...input], at(workspace)),
  );
  expect(verdict.effect).toBe('deny');
});

test('hooks list and hooks explain say in which vocabularies a guard is asked', async () => {
  const workspace = createTempWorkspace();
  writeGuard(workspace, 'write_to_file|run_commands');
  const list = await runHookline(['hooks', 'list'], at(workspace));
  const listed = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
  const call = ['PreToolUse', '--tool', 'Read', '--input', '{"file_path":"a"}'];
  const explained = await runHookline(['hooks', 'explain', ...call], at(workspace));
  expect(list.stdout).toContain(
    'its text names tools of both vocabularies, so it is asked in classic and sdk',
  );
  expect(listed).toMatchObject({ hooks: [{ profile: 'classic', vocabularies: 'classic, sdk' }] });
  const why = 'its text names tools of both vocabularies';
  expect(explained.stdout).toContain(
    `asked in the classic vocabulary about read_file: ${why} · asked in the sdk vocabulary about read_files: ${why}`,
  );
  const fired = await runHookline(['hooks', 'fire', ...call], at(workspace));
  expect(fired.stdout).toMatch(/PreToolUse \(classic\): pass.*PreToolUse \(sdk\): pass/su);
});

test('a guard that does not know the name under which it sees a tool is warned about everywhere', async () => {
  const workspace = createTempWorkspace({
    'a.ipynb': JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 }),
  });
  writeGuard(workspace, 'write_to_file');
  const warning =
    'suspicious: it sees NotebookEdit as replace_in_file, a name that its text does not know; its text names write_to_file';
  const notebook = path.join(workspace.repo, 'a.ipynb');
  const source = { new_source: 'x', cell_type: 'code', edit_mode: 'insert' };
  const input = { notebook_path: notebook, ...source };
  const call = ['PreToolUse', '--tool', 'NotebookEdit', '--input', JSON.stringify(input)];
  const fired = await runHookline(['hooks', 'fire', ...call], at(workspace));
  expect(fired).toMatchObject({ code: 0, stdout: expect.stringContaining(warning) });
  const explained = await runHookline(['hooks', 'explain', ...call], at(workspace));
  expect(explained.stdout).toContain(warning);
  const calls = [
    { name: 'Read', input: { file_path: notebook } },
    { name: 'NotebookEdit', input },
  ];
  const run = await callTools(workspace, calls);
  expect(run.stderr.split(warning)).toHaveLength(2);
  const trace = path.join(workspace.home, '.hookline', 'trace', 'trace.jsonl');
  expect(readFileSync(trace, 'utf8')).toContain(warning);
  write(
    workspace.home,
    '.hookline/config.json',
    JSON.stringify({ hooks: { overrides: { 'cline:global:PreToolUse': { onFailure: 'block' } } } }),
  );
  const before = readFileSync(notebook, 'utf8');
  expect(before).toContain('"x"');
  const denied = await runHookline(['hooks', 'fire', ...call, '--json'], at(workspace));
  expect(jsonOf(denied)).toMatchObject({ effect: 'deny', outcomes: [{ status: 'failed' }] });
  await callTools(workspace, calls);
  expect(readFileSync(notebook, 'utf8')).toBe(before);
});
