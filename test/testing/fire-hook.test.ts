import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fireHook } from '../../src/testing/fire-hook.ts';
import { createDirectory, createHookScript, write } from './case-fixture.ts';

const SHOWS = `#!/usr/bin/env node
const payload = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify({ contextModification: JSON.stringify([payload, process.cwd(), process.env.TEST_A]) }));
`;

describe('fireHook', () => {
  it('runs one file with the event that it is named after', async () => {
    const directory = createDirectory({
      PreToolUse: createHookScript({ cancel: true, errorMessage: 'no' }),
    });
    const hook = path.join(directory, 'PreToolUse');
    expect(await fireHook({ hook, tool: 'write_to_file', input: { path: 'a.js' } })).toMatchObject({
      event: 'PreToolUse',
      effect: 'deny',
      reasons: [{ text: 'no' }],
    });
  });

  it('runs a file of any name with an event that is named', async () => {
    const workspace = createDirectory();
    const hook = write(createDirectory(), 'my-hook.js', SHOWS);
    const { context } = await fireHook({
      hook,
      event: 'UserPromptSubmit',
      prompt: 'hello',
      workspace,
      env: { TEST_A: 'b' },
    });
    expect(JSON.parse(context[0]?.text ?? '')).toMatchObject([
      { userPromptSubmit: { prompt: 'hello' }, workspaceRoots: [workspace] },
      workspace,
      'b',
    ]);
  });

  it('marks the session, and keeps keys of model providers unless they are passed', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'secret');
    vi.stubEnv('GEMINI_API_KEY', 'secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    const hook = write(
      createDirectory(),
      'TaskStart.js',
      `const { OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_API_KEY, HOOKLINE_SESSION } = process.env;
      const seen = [OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_API_KEY, typeof HOOKLINE_SESSION];
      console.log(JSON.stringify({ context: JSON.stringify(seen) }));`,
    );
    const { context } = await fireHook({
      hook,
      env: { ANTHROPIC_API_KEY: 'given' },
      settings: { 'env.pass': ['GEMINI_API_KEY'] },
    });
    expect(JSON.parse(context[0]?.text ?? '')).toEqual([null, 'secret', 'given', 'string']);
  });

  it.each([
    ['TaskCancel', { event: 'RunEnd' }],
    ['SessionShutdown', { event: 'SessionEnd' }],
  ])('derives the event from %s', async (name, verdict) => {
    const hook = write(createDirectory(), name, createHookScript({}));
    expect(await fireHook({ hook })).toMatchObject({
      ...verdict,
      outcomes: [{ status: 'decided' }],
    });
  });

  it('runs a PostToolUse hook after a failure', async () => {
    const hook = write(
      createDirectory(),
      'PostToolUse',
      createHookScript({ contextModification: 'seen' }),
    );
    expect(await fireHook({ hook, success: false, result: 'failed' })).toMatchObject({
      event: 'PostToolUseFailure',
      context: [{ text: 'seen' }],
    });
  });

  it('runs the hooks of a directory that are for the event, and no others', async () => {
    const hook = createDirectory({
      PreToolUse: createHookScript({ contextModification: 'one' }),
      'PreToolUse.sh': createHookScript({ contextModification: 'two' }),
      PostToolUse: createHookScript({ cancel: true }),
    });
    const verdict = await fireHook({ hook, event: 'PreToolUse' });
    expect(verdict.context.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('obeys settings', async () => {
    const hook = write(createDirectory(), 'PreToolUse', '#!/bin/sh\nsleep 60\n');
    const settings = { 'hooks.timeoutMs': 200, 'hooks.onFailure': 'block' } as const;
    expect(await fireHook({ hook, settings })).toMatchObject({
      effect: 'deny',
      outcomes: [{ failure: { kind: 'timeout' } }],
    });
  });

  it('is an error when there is nothing to run, with what was ignored', async () => {
    const hook = createDirectory({ 'PreToolUse.txt': '' });
    await expect(fireHook({ hook, event: 'PreToolUse' })).rejects.toMatchObject({
      code: 'HOOK_UNKNOWN',
      hint: 'PreToolUse.txt its extension .txt is not supported',
    });
    await expect(fireHook({ hook: path.join(hook, 'PreToolUse') })).rejects.toMatchObject({
      code: 'HOOK_UNKNOWN',
    });
  });

  it('is an error when the file’s name is no event and none is given', async () => {
    const hook = write(createDirectory(), 'guard.sh', createHookScript({}));
    await expect(fireHook({ hook })).rejects.toMatchObject({ code: 'EVENT_UNKNOWN' });
  });
});
