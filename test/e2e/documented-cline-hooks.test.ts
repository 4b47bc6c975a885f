import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentOf, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  hasProgram,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import { DocumentedGuide, listMisfits, parseShape } from './documented-guide.ts';
import { flagsFor, startService } from './service.ts';

const GUIDE = new DocumentedGuide('cline-hooks');
const CREATING = GUIDE.take('Creating Hooks');
const PRE_FLOW = GUIDE.take('PreToolUse Hook Flow');
const POST_FLOW = GUIDE.take('PostToolUse Hook Flow');
const INPUT = GUIDE.take('Input (via stdin as JSON)');
const OUTPUT = GUIDE.take('Output (via stdout as JSON)');
const VALIDATION = GUIDE.take('1. Validation - Block Invalid Operations');
const CONTEXT_BUILDING = GUIDE.take('2. Context Building - Learn from Operations');
const PERFORMANCE = GUIDE.take('3. Performance Monitoring');
const LOGGING = GUIDE.take('4. Logging and Telemetry');
const SETTING_UP = GUIDE.take('Setting Up Global Hooks');
const GLOBAL_POLICY = GUIDE.take('Example: Global + Workspace Hooks', 0);
const PROJECT_RULE = GUIDE.take('Example: Global + Workspace Hooks', 1);

const GLOBAL = 'Documents/Cline/Hooks';
const hasJq = hasProgram('bash') && hasProgram('jq');

/** Runs calls of Cline's tools in an empty home with these samples; returns what the model got. */
async function runCalls(
  calls: readonly (readonly [name: string, input: object])[],
  hooks: Readonly<Record<string, string>>,
  workspaceHook?: string,
) {
  const workspace = createTempWorkspace();
  for (const [event, sample] of Object.entries(hooks)) {
    write(workspace.home, `${GLOBAL}/${event}`, sample);
  }
  if (workspaceHook !== undefined) {
    write(workspace.repo, '.clinerules/hooks/PreToolUse', workspaceHook);
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

const { hookName, ...COMMON } = parseShape(INPUT);
const EVENTS = String(hookName).split('|');
const OWN_KEYS = EVENTS.map((event) => `${event[0]?.toLowerCase()}${event.slice(1)}`);

it('every sample of the guide is tried', () => {
  expect(GUIDE.listUntaken()).toEqual([]);
});

describe.skipIf(!hasJq)('samples of the published guide (skipped without bash and jq)', () => {
  it.each([CREATING, SETTING_UP])(
    'a hook is created in the directory that is there, and runs (%#)',
    async (commands) => {
      const { workspace } = await runCalls([createFile('a.ts')], {});
      // The editor, in which a user types the hook.
      write(workspace.directory, 'hook.sh', answering({ cancel: true, errorMessage: 'not here' }));
      write(workspace.directory, 'bin/nano', `#!/bin/sh\ncat ../hook.sh > "$1"\n`);
      const env = environmentOf({
        home: workspace.home,
        env: { PATH: `${workspace.directory}/bin:${process.env['PATH']}` },
      });
      const created = spawnSync('bash', ['-e', '-c', commands], { cwd: workspace.repo, env });
      expect(created.status).toBe(0);
      const fired = await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace));
      expect(jsonOf(fired)).toMatchObject({
        effect: 'deny',
        reasons: [{ hook: 'cline:global:PreToolUse', text: 'not here' }],
      });
    },
  );

  it.each([
    ['PreToolUse', 'preToolUse', PRE_FLOW],
    ['PostToolUse', 'postToolUse', POST_FLOW],
  ])(
    '%s adds context to the next request, and the call stays as it was',
    async (event, key, flow) => {
      expect(flow).toContain('Next API request includes this context');
      const workspace = createTempWorkspace();
      const hook = `#!/usr/bin/env bash
path=$(jq -r '.${key}.parameters.path')
[[ -e $path ]] && state=there || state=missing
echo "{\\"cancel\\": false, \\"contextModification\\": \\"$path is $state\\"}"
`;
      write(workspace.home, `${GLOBAL}/${event}`, hook);
      const service = await startService([
        {
          tools: [
            { name: 'write_to_file', input: { path: 'a.txt', content: 'as the model wrote' } },
          ],
        },
        { text: 'Done.' },
      ]);
      const flags = [...flagsFor(service), '--permission-mode', 'acceptEdits'];
      const args = ['run', 'go', ...flags, '--toolset', 'cline-classic'];
      expect(await runHookline(args, at(workspace))).toMatchObject({ code: 0 });
      const context = `a.txt is ${event === 'PreToolUse' ? 'missing' : 'there'}`;
      const requests = service.requests().map((request) => JSON.stringify(request.messages));
      expect(requests.map((text) => text.includes(context))).toEqual([false, true]);
      expect(readFileSync(path.join(workspace.repo, 'a.txt'), 'utf8')).toBe('as the model wrote');
    },
  );

  it.each(EVENTS)('%s reads the input as documented', async (event) => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL}/${event}`, '#!/bin/sh\ncat > "$HOME/input.json"\n');
    await runHookline(['hooks', 'fire', event], at(workspace));
    const input = JSON.parse(readFileSync(path.join(workspace.home, 'input.json'), 'utf8'));
    const own = `${event[0]?.toLowerCase()}${event.slice(1)}`;
    const others = OWN_KEYS.filter((key) => key !== own);
    const shape = Object.entries(COMMON).filter(([key]) => !others.includes(key));
    expect(listMisfits({ ...Object.fromEntries(shape), hookName: event }, input)).toEqual([]);
    expect(others.filter((key) => key in input)).toEqual([]);
  });

  it.each([true, false])('the output counts as documented: cancel %j', async (cancel) => {
    const shape = parseShape(OUTPUT);
    const output = { cancel, contextModification: 'know this', errorMessage: 'not here' };
    expect(listMisfits(shape, output)).toEqual([]);
    expect(Object.keys(output)).toEqual(Object.keys(shape));
    const { result, transcript } = await runCalls([createFile('a.ts')], {
      PreToolUse: answering(output),
    });
    expect(transcript).toContain('know this');
    expect(result.stderr.includes('not here')).toBe(cancel);
    expect(transcript.includes('not here')).toBe(cancel);
  });

  it('the validation blocks .js files, with its message and its context', async () => {
    const { workspace, result, transcript } = await runCalls(
      [createFile('a.js'), createFile('b.ts')],
      { PreToolUse: VALIDATION },
    );
    expect([hasFile(workspace, 'a.js'), hasFile(workspace, 'b.ts')]).toEqual([false, true]);
    expect(result.stderr).toContain('Cannot create .js files in TypeScript project');
    expect(transcript).toContain('Use .ts/.tsx extensions only');
  });

  it('the context building tells the model what was created', async () => {
    const { transcript } = await runCalls([createFile('b.ts')], { PostToolUse: CONTEXT_BUILDING });
    expect(transcript).toContain(
      "Created 'b.ts'. Maintain consistency with this file's patterns in future operations.",
    );
  });

  it('the performance monitoring says nothing about a fast call', async () => {
    const { result, transcript } = await runCalls([createFile('b.ts')], {
      PostToolUse: PERFORMANCE,
    });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(transcript).not.toContain('Consider optimizing');
  });

  it('the performance monitoring names a slow call and its time', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL}/PostToolUse`, PERFORMANCE);
    const facts = write(workspace.directory, 'facts.json', '{"durationMs": 6001}');
    const args = ['hooks', 'fire', 'PostToolUse', '--tool', 'execute_command', '--facts', facts];
    expect(jsonOf(await runHookline([...args, '--json'], at(workspace)))).toMatchObject({
      effect: 'pass',
      context: [
        {
          text: "Tool 'execute_command' took 6001ms. Consider optimizing future similar operations.",
        },
      ],
    });
  });

  it('the logging writes a line for each call, into a directory that is there', async () => {
    const { workspace, result } = await runCalls([createFile('a.ts'), createFile('b.ts')], {
      PostToolUse: LOGGING,
    });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const log = readFileSync(
      path.join(workspace.home, '.cline/hook-logs/tool-usage.jsonl'),
      'utf8',
    );
    const entries = JSON.parse(`[${log.trim().replaceAll(/\}\n\{/g, '},{')}]`);
    expect(entries).toMatchObject([
      { postToolUse: { toolName: 'write_to_file', parameters: { path: 'a.ts' }, success: true } },
      { postToolUse: { toolName: 'write_to_file', parameters: { path: 'b.ts' }, success: true } },
    ]);
  });

  it('global policy and project rule both count', async () => {
    const { workspace, result } = await runCalls(
      [createFile('package.json'), createFile('a.js'), createFile('a.ts')],
      { PreToolUse: GLOBAL_POLICY },
      PROJECT_RULE,
    );
    const files = ['package.json', 'a.js', 'a.ts'].map((name) => hasFile(workspace, name));
    expect(files).toEqual([false, false, true]);
    expect(result.stderr).toContain('Global policy: Cannot modify package.json');
    expect(result.stderr).toContain('Project rule: Use .ts files only');
  });
});
