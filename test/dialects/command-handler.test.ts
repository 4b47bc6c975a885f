import { describe, expect, test } from 'vitest';
import {
  type Codec,
  createCommandHandler,
  type CommandTarget,
} from '../../src/dialects/command-handler.ts';
import type { Outcome } from '../../src/hooks/decision.ts';
import type { LateOutcome } from '../../src/hooks/dispatch-record.ts';
import type { Answer, HandlerInput } from '../../src/hooks/handler.ts';
import { createDirectory } from '../base/directory.ts';
import { bash, handler, MOMENT } from '../hooks/handlers.ts';
import { createTempWorkspace, hostIn } from '../host/temp-workspace.ts';

const INPUT: HandlerInput = {
  event: { ...MOMENT, ...bash('ls') },
  tool: { name: 'Bash', input: { command: 'ls' }, part: null },
};

const echo: Codec = {
  encode: ({ tool }) => JSON.stringify(tool),
  decode: (_input, { stdout }) => ({ decision: { context: stdout.text } }),
};

const SCRIPT = 'process.stdin.pipe(process.stdout)';

interface Wanted {
  readonly script?: string;
  readonly codec?: Codec;
  readonly timeoutMs?: number;
  readonly cwd?: string;
}

function target({ script = SCRIPT, codec = echo, timeoutMs = 30_000, cwd }: Wanted): CommandTarget {
  const { run: _run, sandbox: _sandbox, ...rest } = handler('node', () => ({}));
  return {
    ...rest,
    codec,
    program: () => ({
      file: process.execPath,
      args: ['-e', script],
      cwd: cwd ?? createDirectory(),
      env: {},
      timeoutMs,
    }),
  };
}

async function run(wanted: Wanted, signal = new AbortController().signal): Promise<Answer> {
  return (await createCommandHandler(target(wanted)).run(INPUT, signal)) ?? {};
}

/** Fires at a command of Claude's settings: only these may go on in the background. */
async function fireClaude(command: string) {
  const late: Outcome[] = [];
  const settings = { hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] } };
  const workspace = createTempWorkspace({ 'ws/.claude/settings.json': JSON.stringify(settings) });
  const onLate = ({ outcome }: LateOutcome): void => void late.push(outcome);
  const { engine } = await hostIn(workspace, { trust: 'all', onLate });
  const verdict = await engine.dispatch({ name: 'UserPromptSubmit', prompt: 'hi' });
  await engine.idle();
  return { verdict, late };
}

describe('a program as a handler', () => {
  test('gets the encoded input on stdin and its output is decoded', async () => {
    const stdout = JSON.stringify(INPUT.tool);
    expect(await run({})).toEqual({
      decision: { context: stdout },
      program: { exitCode: 0, stdout, stderr: '' },
    });
  });

  test('that moves to the background goes on, and is decoded when it ends', async () => {
    const text =
      '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"done"}}';
    const { verdict, late } = await fireClaude(
      `echo '{"async":true}'; cat > /dev/null; echo '${text}'`,
    );
    expect(verdict.outcomes).toMatchObject([{ status: 'background', decision: {} }]);
    expect(verdict.context).toEqual([]);
    expect(late).toMatchObject([
      {
        status: 'decided',
        decision: { context: 'done' },
        exitCode: 0,
        stdout: `{"async":true}\n${text}\n`,
        stderr: '',
      },
    ]);
  });

  test('that does not move to the background is waited for', async () => {
    const { verdict, late } = await fireClaude('echo a line');
    expect(verdict.outcomes).toMatchObject([
      { status: 'decided', exitCode: 0, stdout: 'a line\n', stderr: '' },
    ]);
    expect(verdict.context.map(({ text }) => text)).toEqual(['a line']);
    expect(late).toEqual([]);
  });

  test('that cannot be started is a failure', async () => {
    const answer = await run({ cwd: '/nowhere/at/all' });
    expect(answer).toMatchObject({
      failure: { kind: 'spawn', message: expect.stringContaining('/nowhere/at/all') },
      program: { exitCode: null, stdout: '', stderr: '' },
    });
  });

  test('that takes too long is a failure, whatever it printed', async () => {
    const script = 'process.stdout.write("{}"); setInterval(() => {}, 1000)';
    expect(await run({ script, timeoutMs: 1500 })).toMatchObject({
      failure: {
        kind: 'timeout',
        message: 'did not finish within 1500 ms and was ended with everything it started',
      },
    });
  });

  test('that is aborted is a failure', async () => {
    const controller = new AbortController();
    const script = 'setInterval(() => {}, 1000)';
    const running = run({ script }, controller.signal);
    controller.abort();
    expect(await running).toMatchObject({
      failure: { kind: 'killed', message: 'was ended because the dispatch was aborted' },
    });
  });

  test('keeps head and tail of long output in its report', async () => {
    const { program } = await run({ script: 'process.stdout.write("a".repeat(5e6) + "END")' });
    expect(program?.stdout.length).toBeLessThan(70_000);
    expect(program?.stdout).toMatch(
      /^aaa.*\n\[\.\.\. cut: 5000003 bytes in all \.\.\.\]\naaa.*END$/s,
    );
  });

  test('bytes that are no UTF-8 do not disturb it', async () => {
    const script = 'process.stdout.write(Buffer.from([0x61, 0xff, 0xfe, 0xf0, 0x9f]))';
    expect((await run({ script })).decision?.context).toMatch(/^a\ufffd/);
  });

  test('a codec that throws is a failure, and nothing is left running', async () => {
    const codec: Codec = {
      encode() {
        throw new TypeError('circular');
      },
      decode: () => ({}),
    };
    expect(await run({ codec })).toMatchObject({
      failure: { message: expect.stringContaining('circular') },
      program: { exitCode: null },
    });
  });
});

test('one input is encoded once for all programs that share an encoder', async () => {
  let encoded = 0;
  const counting: Codec = {
    ...echo,
    encode: (input) => {
      encoded++;
      return echo.encode(input);
    },
  };
  const sharing: Codec = { ...counting, decode: () => ({}) };
  const other: Codec = { ...counting, encode: (input) => counting.encode(input) };
  const input = { ...INPUT };
  const { signal } = new AbortController();
  await Promise.all(
    [counting, counting, sharing, other].map(async (codec) =>
      createCommandHandler(target({ codec })).run(input, signal),
    ),
  );
  expect(encoded).toBe(2);
});
