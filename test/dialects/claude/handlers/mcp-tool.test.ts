import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fillFields,
  createMcpToolRun,
  type McpTools,
} from '../../../../src/dialects/claude/handlers/mcp-tool.ts';
import type { McpToolEntry, Limited } from '../../../../src/dialects/claude/entry.ts';
import type { McpCall } from '../../../../src/dialects/ports.ts';
import { mcpEntry } from './handler-entries.ts';
import { runOnce } from './handler-runs.ts';

const PAYLOAD = {
  tool_name: 'Write',
  tool_input: { file_path: '/ws/a.ts', lines: [1, { text: 'two' }], none: null, yes: true },
};

const TOOLS: McpTools = {
  decode: (_input, text) => ({ decision: { context: text } }),
  payload: () => PAYLOAD,
};

function run(
  entry: Partial<Limited<McpToolEntry>>,
  tools: Partial<McpTools>,
  signal?: AbortSignal,
) {
  return runOnce(createMcpToolRun(mcpEntry(entry), { ...TOOLS, ...tools }), signal);
}

describe('a hook that calls an MCP tool', () => {
  test('sends the filled input and reads the text like the output of a program', async () => {
    const calls: McpCall[] = [];
    const answer = await run(
      {
        server: 'files',
        tool: 'check',
        input: { path: '${tool_input.file_path}', deep: [{ n: 1 }] },
      },
      {
        callMcp: (call) => {
          calls.push(call);
          return Promise.resolve({ text: '{"continue":false}', isError: false });
        },
      },
    );
    expect(calls).toEqual([
      { server: 'files', tool: 'check', input: { path: '/ws/a.ts', deep: [{ n: 1 }] } },
    ]);
    expect(answer).toEqual({
      program: { exitCode: null, stdout: '{"continue":false}', stderr: '' },
      decision: { context: '{"continue":false}' },
    });
  });

  test('fails when the server is not connected', async () => {
    expect(await run({}, { callMcp: () => Promise.resolve(null) })).toEqual({
      failure: { kind: 'spawn', message: "MCP server 'files' not connected" },
    });
  });

  test.each([
    ['nothing', undefined, 'undefined'],
    ['text alone', 'fine', 'string'],
    ['an object without text', { isError: false }, 'text: undefined, isError: boolean'],
    ['a wrong mark', { text: '', isError: 'no' }, 'text: string, isError: string'],
  ])('fails with a sentence when the host answers with %s', async (_, answer, found) => {
    const callMcp: unknown = () => Promise.resolve(answer);
    expect(await run({}, { callMcp: callMcp as McpTools['callMcp'] })).toEqual({
      failure: {
        kind: 'output',
        message: `the host should answer for MCP tool 'check' of server 'files' with { text: string, isError: boolean } or null, found ${found}`,
      },
    });
  });

  test('fails when the host cannot call tools', async () => {
    expect(await run({}, {})).toEqual({
      failure: {
        kind: 'spawn',
        message:
          "this host cannot call MCP tools, so tool 'check' of server 'files' was not called",
      },
    });
  });

  test.each([
    [' broken \n', 'broken'],
    ['', '(no text)'],
  ])('fails when the tool answers with the error %j', async (text, output) => {
    expect(await run({}, { callMcp: () => Promise.resolve({ text, isError: true }) })).toEqual({
      program: { exitCode: null, stdout: text, stderr: '' },
      failure: {
        kind: 'exit',
        message: `MCP tool 'check' of server 'files' answered with an error: ${output}`,
      },
    });
  });

  test('fails when the port rejects or throws', async () => {
    const failure = { kind: 'threw', message: 'broken pipe' };
    const error = new TypeError('broken pipe');
    expect(await run({}, { callMcp: () => Promise.reject(error) })).toEqual({ failure });
    const callMcp = (): never => {
      throw error;
    };
    expect(await run({}, { callMcp })).toEqual({ failure });
  });

  test('times out although the port does not listen to its signal', async () => {
    const signals: AbortSignal[] = [];
    const answer = await run(
      { timeoutMs: 20 },
      {
        callMcp: (_call, signal) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    );
    expect(answer).toEqual({
      failure: { kind: 'timeout', message: 'did not answer within 20 ms' },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('is ended when the dispatch is aborted, whatever the port then answers', async () => {
    const controller = new AbortController();
    const answer = await run(
      {},
      {
        callMcp: (_call, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new TypeError('other words')));
            controller.abort();
          }),
      },
      controller.signal,
    );
    expect(answer).toEqual({
      failure: { kind: 'killed', message: 'was ended because the dispatch was aborted' },
    });
  });
});

describe('fields of the payload in the input', () => {
  test.each([
    ['${tool_name}', 'Write'],
    ['a ${tool_name} of ${tool_input.file_path}!', 'a Write of /ws/a.ts!'],
    ['${ tool_name }', 'Write'],
    ['${tool_input.lines.0}', '1'],
    ['${tool_input.lines.1.text}', 'two'],
    ['${tool_input.lines.1}', '{"text":"two"}'],
    ['${tool_input.yes}', 'true'],
    ['[${tool_input.none}]', '[]'],
    ['[${missing}]', '[]'],
    ['[${tool_name.missing}]', '[]'],
    ['[${tool_name.length}]', '[]'],
    ['[${__proto__}${constructor.name}${tool_input.toString}]', '[]'],
    ['[${}]', '[]'],
    ['$tool_name ${open', '$tool_name ${open'],
  ])('%s becomes %s', (text, filled) => {
    expect(fillFields({ a: text, b: [{ c: text }] }, PAYLOAD)).toEqual({
      a: filled,
      b: [{ c: filled }],
    });
  });

  test('are not expanded inside of a field’s value', () => {
    const payload = { a: '${b}', b: 'secret' };
    expect(fillFields({ x: '${a}' }, payload)).toEqual({ x: '${b}' });
  });

  test('leave alone whatever has no placeholder', () => {
    const anything = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(anything, (input) => {
        fc.pre(!JSON.stringify(input).includes('${'));
        expect(fillFields(input, PAYLOAD)).toEqual(input);
      }),
    );
  });
});
