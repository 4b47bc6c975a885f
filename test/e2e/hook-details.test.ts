import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, nodeHook, write } from '../cli/temp-workspace.ts';
import { bash, DONE, runScript, toolEnds } from './agent-run.ts';
import { claudeHooks, logOf } from './hook-log.ts';
import { flagsFor, startService } from './service.ts';

const STREAM = ['go', '--output', 'stream-json'];

describe('an updatedToolOutput of 60 KB', () => {
  it.each([
    [
      'Bash',
      { command: 'echo hi' },
      `{ stdout: text, stderr: '', interrupted: false, isImage: false }`,
    ],
    [
      'Read',
      { file_path: 'a.txt' },
      `{ type: 'text', file: { filePath: 'a.txt', content: text, numLines: 6000, startLine: 1, totalLines: 6000 } }`,
    ],
  ])('of %s is kept in a file, and the model reads a preview', async (name, input, output) => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    const body = `const text = Array.from({ length: 6000 }, (_, line) => 'line ' + (1000 + line)).join('\\n');
const hookSpecificOutput = { hookEventName: 'PostToolUse', updatedToolOutput: ${output} };
process.stdout.write(JSON.stringify({ hookSpecificOutput }));`;
    const hook = write(workspace.directory, 'output.cjs', nodeHook(body));
    claudeHooks(workspace, { PostToolUse: `node '${hook}'` });
    const result = await runScript(workspace, [{ tools: [{ name, input }] }, DONE], STREAM);
    const [end] = toolEnds(result);
    const shown =
      /^<persisted-output>\nOutput too large \(58\.6KB\)\. Full output saved to: (.*)\n\nPreview \(first 2KB\):\nline 1000\n/;
    const { text } = Object(end?.['output']) as { text: string };
    const [, file = ''] = shown.exec(text) ?? [text];
    expect(text.length).toBeLessThan(3000);
    expect(path.dirname(file)).toBe(
      path.join(workspace.home, '.hookline/sessions', String(end?.['sessionId']), 'tool-results'),
    );
    expect(readFileSync(file, 'utf8')).toMatch(/^line 1000\n[^]*\nline 6999$/);
  });
});

describe('a prompt that a hook halts with continue: false', () => {
  it('stays, with what the hook did, for the next one', async () => {
    const workspace = createTempWorkspace();
    const answer = `{"continue":false,"stopReason":"not before noon"}`;
    claudeHooks(workspace, {
      UserPromptSubmit: `grep -q '"prompt":"first' && printf '%s' '${answer}' || true`,
    });
    const service = await startService([{ text: 'Now.' }]);
    const halted = await runHookline(
      ['run', 'first', '--json', ...flagsFor(service)],
      at(workspace),
    );
    expect(service.requests()).toEqual([]);
    const { sessionId, reason } = JSON.parse(halted.stdout);
    expect(reason).toBe('Operation stopped by hook: not before noon');
    const resume = ['run', 'second', '--resume', sessionId, ...flagsFor(service)];
    expect(await runHookline(resume, at(workspace))).toMatchObject({ stdout: 'Now.\n' });
    const [request] = service.requests();
    expect(request?.messages.map(({ text }) => text)).toEqual([
      'first\nOperation stopped by hook: not before noon\nsecond',
    ]);
  });
});

describe('effort', () => {
  it.each([
    ['of a flag', ['--effort', 'low'], {}, 'low'],
    ['of a variable', [], { CLAUDE_CODE_EFFORT_LEVEL: 'max' }, 'max'],
    ['of a model without levels', [], {}, ''],
  ])('%s is in payload and environment of hooks', async (_, flags, env, expected) => {
    const workspace = createTempWorkspace();
    const log = path.join(workspace.directory, 'log');
    const hook = write(
      workspace.directory,
      'effort.cjs',
      nodeHook(`const line = JSON.stringify([input.effort?.level ?? '', process.env.CLAUDE_EFFORT ?? '']);
require('node:fs').appendFileSync(${JSON.stringify(log)}, line + '\\n');`),
    );
    const record = `node '${hook}'`;
    claudeHooks(workspace, { UserPromptSubmit: record, PreToolUse: record, Stop: record });
    await runScript(workspace, [bash('echo hi'), DONE], ['go', ...flags], { env });
    const both = JSON.stringify([expected, expected]);
    expect(logOf(workspace)).toEqual(['["",""]', both, both]);
  });

  it('of a flag is sent to the service', async () => {
    const service = await startService([{ text: 'Done.' }]);
    const workspace = createTempWorkspace();
    const args = ['run', 'go', '--effort', 'low', ...flagsFor(service)];
    expect(await runHookline(args, at(workspace))).toMatchObject({ code: 0 });
    const [request] = service.mock.getRequests();
    expect(request?.body).toMatchObject({ reasoning_effort: 'low' });
  });
});
