import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CombinedHookRunner, StdioHookRunner } from '../../../src/hooks.ts';
import { createDirectory, write } from '../../base/directory.ts';
import { answering } from '../places.ts';

const DATA = { toolName: 'write_to_file', parameters: { path: 'a.js', content: 'x' } };
const GUARD = `
  let text = '';
  process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
    const { preToolUse, cwd, timestamp } = JSON.parse(text);
    const cancel = preToolUse.parameters.path.endsWith('.js');
    console.error('looked at ' + preToolUse.toolName);
    console.log(JSON.stringify({ cancel, errorMessage: cancel ? 'only TypeScript' : '', context: [cwd, process.cwd(), timestamp > 1e12].join() }));
  });
`;

function script(text: string, name = 'guard.mjs'): string {
  return write(path.join(createDirectory(), name), text);
}

describe('a hook that is named by its path', () => {
  test('runs without any trust, JSON in and JSON out', async () => {
    const file = script(GUARD);
    const runner = new StdioHookRunner({ name: 'PreToolUse', path: file });
    expect(runner).toMatchObject({ name: 'PreToolUse', id: `file:${file}`, path: file });
    expect(await runner.run(DATA)).toMatchObject({
      cancel: true,
      shouldContinue: false,
      errorMessage: 'only TypeScript',
      verdict: { outcomes: [{ exitCode: 0, stderr: 'looked at write_to_file\n' }] },
    });
    const typed = { ...DATA, parameters: { ...DATA.parameters, path: 'a.ts' } };
    expect(await runner.run(typed)).toMatchObject({ cancel: false, errorMessage: '' });
  });

  test('is told the directory that the caller knows, runs there, and knows the time', async () => {
    const cwd = createDirectory();
    const runner = new StdioHookRunner({
      name: 'PreToolUse',
      path: script(GUARD),
      moment: { cwd },
    });
    expect((await runner.run(DATA)).contextModification).toBe(`${cwd},${cwd},true`);
  });

  test('may be called anything; its extension or first line says what runs it', async () => {
    const file = script(`#!/usr/bin/env node\n${answering({ context: 'ran' })}`, 'my guard');
    const runner = new StdioHookRunner({ name: 'TaskStart', path: file });
    expect(await runner.run({ taskMetadata: { initialTask: '' } })).toMatchObject({
      contextModification: 'ran',
    });
  });

  test('has a time limit', async () => {
    const file = script('setInterval(() => {}, 1000)');
    const runner = new StdioHookRunner({ name: 'PreToolUse', path: file, timeoutMs: 300 });
    expect((await runner.run(DATA)).verdict.outcomes[0]?.failure?.kind).toBe('timeout');
  });

  test.each([
    ['is not there', 'gone.mjs', 'is not there'],
    ['is a directory', '.', 'is a directory'],
  ])('that %s is refused at once', (_, name, why) => {
    const file = path.join(createDirectory(), name);
    expect(() => new StdioHookRunner({ name: 'PreToolUse', path: file })).toThrow(
      expect.objectContaining({
        code: 'HOOK_UNKNOWN',
        message: expect.stringContaining(why),
      }),
    );
  });

  test('combines with others, whichever directory they know', async () => {
    const cwd = createDirectory();
    const rewriting = script(
      answering({ overrideInput: { path: path.join(cwd, 'b.ts'), content: 'y' } }),
    );
    const runners = [rewriting, script(answering({ context: 'seen' }))].map(
      (file) => new StdioHookRunner({ name: 'PreToolUse', path: file, moment: { cwd } }),
    );
    const output = await new CombinedHookRunner('PreToolUse', runners).run(DATA);
    expect(output.contextModification).toBe('seen');
    expect(output.verdict.input).toEqual({ path: 'b.ts', content: 'y' });
  });
});
