import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHost } from '../../src/host/create-host.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  HOOKS,
  nodeHook,
  PRE_TOOL_USE,
  trust,
  write,
} from '../cli/temp-workspace.ts';

const MEBI = 1024 * 1024;

describe('the facts of an event', () => {
  it('may be 100 MB', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/PreToolUse`,
      nodeHook(
        'console.log(JSON.stringify({ context: String(input.preToolUse.parameters.content.length) }));',
      ),
    );
    const input = { path: 'a.txt', content: 'x'.repeat(100 * MEBI) };
    const tool = { callId: '1', name: 'write_to_file', input };
    const facts = write(workspace.directory, 'facts.json', JSON.stringify({ tool }));
    const result = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--facts', facts, '--json'],
      at(workspace),
    );
    expect(jsonOf(result).context).toMatchObject([{ text: String(100 * MEBI) }]);
    const trace = path.join(workspace.home, '.hookline/trace/trace.jsonl');
    expect(readFileSync(trace, 'utf8').length).toBeLessThan(64 * 1024);
  });

  it.each(['fire', 'explain'])(
    'may not be nested so deep that it cannot be sent: %s',
    async (verb) => {
      const workspace = createTempWorkspace();
      write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({}));
      const deep = '['.repeat(20_000) + ']'.repeat(20_000);
      const { code, stdout, stderr } = await runHookline(
        ['hooks', verb, 'PreToolUse', '--tool', 'Write', '--input', `{"content":${deep}}`],
        at(workspace),
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('--input is nested deeper than 1000 levels');
    },
  );

  it('keeps lone surrogates, NUL and every other character on the way to a hook', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/UserPromptSubmit`,
      nodeHook('console.log(JSON.stringify({ context: input.userPromptSubmit.prompt }));'),
    );
    const prompt = 'a\uD800b\u0000c\u2028d\u{1F600}\r\n';
    const facts = write(workspace.directory, 'facts.json', JSON.stringify({ prompt }));
    const result = await runHookline(
      ['hooks', 'fire', 'UserPromptSubmit', '--facts', facts, '--json'],
      at(workspace),
    );
    expect(jsonOf(result).context).toEqual([
      { hook: 'cline:global:UserPromptSubmit', text: prompt },
    ]);
  });

  it('is taken from a file with a byte-order mark', async () => {
    const workspace = createTempWorkspace();
    const facts = write(workspace.directory, 'facts.json', '\uFEFF{"prompt": "hello"}\r\n');
    const { code } = await runHookline(
      ['hooks', 'fire', 'UserPromptSubmit', '--facts', facts],
      at(workspace),
    );
    expect(code).toBe(0);
  });

  it.each([
    ['null', 'expected an object, found null'],
    ['{}', '"hookName" should name a Cline hook, found undefined'],
    ['{"hookName": 5}', '"hookName" should name a Cline hook, found 5'],
    ['{"hookName": "PreToolUse"', 'is not valid JSON'],
    ['', 'is not valid JSON'],
  ])('must be a payload: %s', async (stdin, says) => {
    const { code, stdout, stderr } = await runHookline(
      ['hooks', 'fire', '--payload', '-'],
      at(createTempWorkspace(), { stdin }),
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  it('may be a payload whose fields all have the wrong type', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({ cancel: true }));
    const stdin = JSON.stringify({
      hookName: 'PreToolUse',
      preToolUse: [],
      tool_call: 'x',
      workspaceRoots: {},
      timestamp: {},
      model: 7,
      taskId: null,
    });
    const { code, stderr } = await runHookline(
      ['hooks', 'fire', '--payload', '-'],
      at(workspace, { stdin }),
    );
    expect([1, 2]).toContain(code);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

describe('a path with spaces, quotes and newlines', () => {
  it('is a workspace like any other', async () => {
    const workspace = createTempWorkspace();
    const name = `a b 'c' "d"\n$(touch pwned) ;e`;
    const repo = path.join(workspace.directory, name);
    write(repo, `${HOOKS}/PreToolUse`, answering({ cancel: true, errorMessage: 'no' }));
    write(repo, '.git/HEAD', '');
    const there = { ...workspace, repo };
    trust(there);
    const [fired, list] = await Promise.all([
      runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(there)),
      runHookline(['hooks', 'list', '--json'], at(there)),
    ]);
    expect(fired.code).toBe(1);
    expect(jsonOf(fired)).toMatchObject({ effect: 'deny', outcomes: [{ status: 'decided' }] });
    expect(jsonOf(list)).toMatchObject({ roots: [repo], hooks: [{ state: 'ready' }] });
  });
});

describe('a hook that is deleted between discovery and run', () => {
  it('is a failed outcome when it is the user’s own, and untrusted when it is the workspace’s', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering({ cancel: true }) });
    const own = write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({ cancel: true }));
    trust(workspace);
    const env = { PATH: process.env['PATH'], HOME: workspace.home };
    const host = await createHost({
      cwd: workspace.repo,
      surroundings: {
        cwd: workspace.repo,
        env,
        platform: process.platform,
        home: workspace.home,
        nodePath: process.execPath,
      },
    });
    rmSync(own);
    rmSync(path.join(workspace.repo, HOOKS, 'PreToolUse'));
    const event = { name: 'PreToolUse', tool: { callId: '1', name: 'Write', input: {} } } as const;
    const verdict = await host.engine.dispatch(event);
    await host.dispose();
    expect(verdict).toMatchObject({
      effect: 'pass',
      outcomes: [
        {
          hook: 'cline:global:PreToolUse',
          status: 'failed',
          failure: { kind: 'spawn', message: `Could not start ${own}: there is no such file.` },
        },
      ],
      skipped: [{ hook: PRE_TOOL_USE, why: expect.stringMatching(/^untrusted: /) }],
    });
  });
});
