import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';

const GLOBAL = 'Documents/Cline/Hooks';

/** Each is a sample of Cline's documentation, unchanged. */
function readSample(name: string): string {
  return readFileSync(
    path.join(import.meta.dirname, 'documented-cline-hooks', `${name}.sh`),
    'utf8',
  );
}

/** Runs calls of Cline's tools in an empty home with these samples; returns what the model got. */
async function runCalls(
  calls: readonly (readonly [name: string, input: object])[],
  hooks: Readonly<Record<string, string>>,
  workspaceHook?: string,
) {
  const workspace = createTempWorkspace();
  for (const [event, sample] of Object.entries(hooks)) {
    write(workspace.home, `${GLOBAL}/${event}`, readSample(sample));
  }
  if (workspaceHook !== undefined) {
    write(workspace.repo, '.clinerules/hooks/PreToolUse', readSample(workspaceHook));
    await runHookline(['trust', '--yes'], at(workspace));
  }
  const tools = calls.map(([name, input]) => ({ name, input }));
  write(workspace.directory, 'turns.json', JSON.stringify([{ tools }, { text: 'Done.' }]));
  const flags = ['--script', '../turns.json', '--permission-mode', 'acceptEdits'];
  const result = await runHookline(['run', ...flags, 'go'], at(workspace));
  const { stdout } = await runHookline(['sessions', 'show', '--json'], at(workspace));
  return { workspace, result, transcript: stdout };
}

function hasFile({ repo }: TempWorkspace, name: string): boolean {
  return existsSync(path.join(repo, name));
}

const createFile = (file: string) => ['write_to_file', { path: file, content: 'x' }] as const;

test('the validation blocks .js files, with its message and its context', async () => {
  const { workspace, result, transcript } = await runCalls(
    [createFile('a.js'), createFile('b.ts')],
    { PreToolUse: 'validation' },
  );
  expect([hasFile(workspace, 'a.js'), hasFile(workspace, 'b.ts')]).toEqual([false, true]);
  expect(result.stderr).toContain('Cannot create .js files in TypeScript project');
  expect(transcript).toContain('Use .ts/.tsx extensions only');
});

test('the context building tells the model what was created', async () => {
  const { transcript } = await runCalls([createFile('b.ts')], { PostToolUse: 'context-building' });
  expect(transcript).toContain(
    "Created 'b.ts'. Maintain consistency with this file's patterns in future operations.",
  );
});

test('the performance monitoring says nothing about a fast call', async () => {
  const { result, transcript } = await runCalls([createFile('b.ts')], {
    PostToolUse: 'performance-monitoring',
  });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(transcript).not.toContain('Consider optimizing');
});

test('the logging writes a line for each call, into a directory that is there', async () => {
  const { workspace, result } = await runCalls([createFile('a.ts'), createFile('b.ts')], {
    PostToolUse: 'logging',
  });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  const log = readFileSync(path.join(workspace.home, '.cline/hook-logs/tool-usage.jsonl'), 'utf8');
  const entries = JSON.parse(`[${log.trim().replaceAll(/\}\n\{/g, '},{')}]`);
  expect(entries).toMatchObject([
    { postToolUse: { toolName: 'write_to_file', parameters: { path: 'a.ts' }, success: true } },
    { postToolUse: { toolName: 'write_to_file', parameters: { path: 'b.ts' }, success: true } },
  ]);
});

test('global policy and project rule both count', async () => {
  const { workspace, result } = await runCalls(
    [createFile('package.json'), createFile('a.js'), createFile('a.ts')],
    { PreToolUse: 'global-policy' },
    'project-rule',
  );
  const files = ['package.json', 'a.js', 'a.ts'].map((name) => hasFile(workspace, name));
  expect(files).toEqual([false, false, true]);
  expect(result.stderr).toContain('Global policy: Cannot modify package.json');
  expect(result.stderr).toContain('Project rule: Use .ts files only');
});

test('the first session creates the directory of global hooks', async () => {
  const { workspace } = await runCalls([createFile('a.ts')], {});
  expect(existsSync(path.join(workspace.home, GLOBAL))).toBe(true);
});
