import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CombinedHookRunner, StdioHookRunner } from '../../../src/hooks.ts';
import { createDirectory, write } from '../../base/directory.ts';
import { answering } from '../temp-workspace.ts';

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

  test('receives the directory that the caller knows, runs there, and knows the time', async () => {
    const cwd = createDirectory();
    const runner = new StdioHookRunner({
      name: 'PreToolUse',
      path: script(GUARD),
      moment: { cwd },
    });
    expect((await runner.run(DATA)).contextModification).toBe(`${cwd},${cwd},true`);
  });

  test('may be called anything; its extension or first line decides what runs it', async () => {
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
    ['is not there', 'gone.mjs', 'does not exist'],
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

describe('the environment of a hook that is named by its path', () => {
  const SHOWS = `
    const { HOOKLINE_SESSION, OPENAI_API_KEY, TEST_OTHER } = process.env;
    process.stdin.resume().on('end', () =>
      console.log(JSON.stringify({ context: JSON.stringify([HOOKLINE_SESSION, OPENAI_API_KEY ?? null, TEST_OTHER]) })),
    );
  `;

  function withVariables(variables: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
  }

  async function shown(env: Readonly<Record<string, string>>): Promise<unknown> {
    const moment = { sessionId: 'seven' };
    const options = { name: 'PreToolUse', path: script(SHOWS), moment, env } as const;
    return JSON.parse((await new StdioHookRunner(options).run(DATA)).contextModification);
  }

  test('says that it runs in a session, and has no keys of model providers', async () => {
    withVariables({ OPENAI_API_KEY: 'secret', TEST_OTHER: 'there' });
    expect(await shown({})).toEqual(['seven', null, 'there']);
  });

  test('has what the caller adds, keys too', async () => {
    withVariables({ OPENAI_API_KEY: 'secret' });
    const added = { OPENAI_API_KEY: 'meant', TEST_OTHER: 'added' };
    expect(await shown(added)).toEqual(['seven', 'meant', 'added']);
  });

  test('may say that no hook runs', async () => {
    withVariables({ HOOKLINE_HOOKS: 'off' });
    const file = script(GUARD);
    const output = await new StdioHookRunner({ name: 'PreToolUse', path: file }).run(DATA);
    expect(output).toMatchObject({
      cancel: false,
      verdict: {
        outcomes: [],
        skipped: [{ hook: `file:${file}`, why: 'hooks are disabled by HOOKLINE_HOOKS' }],
      },
    });
  });
});

describe('several that are named by their paths', () => {
  test('keep what their programs wrote, under their own ids', async () => {
    const files = [script(GUARD), script('process.exit(3)')];
    const runners = files.map((file) => new StdioHookRunner({ name: 'PreToolUse', path: file }));
    const output = await new CombinedHookRunner('PreToolUse', runners).run(DATA);
    expect(output.verdict.outcomes).toMatchObject([
      { hook: `file:${files[0]}`, exitCode: 0, stderr: 'looked at write_to_file\n' },
      { hook: `file:${files[1]}`, exitCode: 3, failure: { kind: 'exit' } },
    ]);
  });

  test('run each in the directory that it knows', async () => {
    const directories = [createDirectory(), createDirectory()];
    const runners = directories.map(
      (cwd) => new StdioHookRunner({ name: 'PreToolUse', path: script(GUARD), moment: { cwd } }),
    );
    const output = await new CombinedHookRunner('PreToolUse', runners).run(DATA);
    expect(output.contextModification.split('\n\n')).toEqual(
      directories.map((cwd) => `${cwd},${cwd},true`),
    );
    expect(output.verdict.outcomes).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
  });
});

test('an unknown hook name is refused, any spelling of a known one is understood', () => {
  const file = script(GUARD);
  // @ts-expect-error: a caller without types may write anything.
  expect(() => new StdioHookRunner({ name: 'Nope', path: file })).toThrow(
    expect.objectContaining({ code: 'EVENT_UNKNOWN', hint: expect.stringContaining('TaskStart') }),
  );
  // @ts-expect-error: a spelling that the types do not offer.
  expect(new StdioHookRunner({ name: 'pretooluse', path: file }).name).toBe('PreToolUse');
});
