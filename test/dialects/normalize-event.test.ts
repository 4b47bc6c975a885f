import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listDialectsWith } from '../../src/dialects/index.ts';
import { normalizeEvent, type NormalizedEvent } from '../../src/dialects/normalize-event.ts';
import { readRecordedPayloads } from './recorded-payloads.ts';

const CWD = '/home/dev/project';

const NOTHING: NormalizedEvent = {
  agent: 'claude',
  event: null,
  foreignEvent: null,
  at: null,
  sessionId: null,
  workspace: null,
  tool: null,
  paths: [],
  problem: null,
};

describe('every recorded payload', () => {
  const rows = readRecordedPayloads().map(({ agent, name, payload }) => {
    const { event, foreignEvent, tool, at, problem } = normalizeEvent(agent, payload);
    return [agent, name, foreignEvent, event, tool, at === null ? 'no time' : 'time', problem];
  });

  it('is normalized as the table says', async () => {
    const table = rows.map((row) => row.map((cell) => cell ?? '–').join(' · ')).join('\n');
    await expect(`${table}\n`).toMatchFileSnapshot('./normalize-event/recorded.txt');
  });
});

describe('a payload of each agent', () => {
  const common = { session_id: 's1', cwd: CWD };
  const patch = [
    '*** Begin Patch',
    '*** Add File: a.txt',
    '+hello',
    '*** Update File: src/b.ts',
    '*** Move to: src/c.ts',
    '@@',
    '-x',
    '+y',
    '*** Delete File: /etc/d',
    '*** End Patch',
  ].join('\n');
  const cases: readonly [agent: string, payload: object, expected: Partial<NormalizedEvent>][] = [
    [
      'claude',
      {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'Edit',
        tool_input: { file_path: 'a.ts' },
      },
      { event: 'PreToolUse', foreignEvent: 'PreToolUse', tool: 'Edit', paths: [`${CWD}/a.ts`] },
    ],
    [
      'cline',
      {
        hookName: 'PostToolUse',
        timestamp: '1794854142235',
        taskId: 't1',
        workspaceRoots: [CWD],
        postToolUse: {
          toolName: 'write_to_file',
          parameters: { path: 'a.ts', content: 'x' },
          success: false,
        },
      },
      {
        event: 'PostToolUseFailure',
        foreignEvent: 'PostToolUse',
        at: 1_794_854_142_235,
        sessionId: 't1',
        tool: 'Write',
        paths: [`${CWD}/a.ts`],
      },
    ],
    [
      'codex',
      {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'apply_patch',
        tool_input: { command: patch },
      },
      {
        event: 'PreToolUse',
        foreignEvent: 'PreToolUse',
        tool: 'Write',
        paths: [`${CWD}/a.txt`, `${CWD}/src/b.ts`, `${CWD}/src/c.ts`, '/etc/d'],
      },
    ],
    [
      'gemini',
      {
        ...common,
        hook_event_name: 'AfterTool',
        timestamp: '2026-11-16T18:28:31.131Z',
        tool_name: 'replace',
        tool_input: { file_path: '/x/a', old_string: 'a', new_string: 'b' },
        tool_response: { llmContent: 'no', error: { message: 'no' } },
      },
      {
        event: 'PostToolUseFailure',
        foreignEvent: 'AfterTool',
        at: Date.parse('2026-11-16T18:28:31.131Z'),
        tool: 'Edit',
        paths: ['/x/a'],
      },
    ],
    [
      'copilot',
      {
        sessionId: 's1',
        timestamp: 5,
        cwd: CWD,
        toolName: 'create',
        toolArgs: '{"path":"n","file_text":"t"}',
      },
      {
        event: 'PreToolUse',
        foreignEvent: 'preToolUse',
        at: 5,
        tool: 'Write',
        paths: [`${CWD}/n`],
      },
    ],
    [
      'qwen',
      { ...common, hook_event_name: 'SessionDelete' },
      {
        event: null,
        foreignEvent: 'SessionDelete',
        problem: '"SessionDelete" means no event here',
      },
    ],
    [
      'cursor',
      {
        conversation_id: 's1',
        workspace_roots: [CWD],
        hook_event_name: 'beforeShellExecution',
        command: 'ls',
      },
      { event: 'PreToolUse', foreignEvent: 'beforeShellExecution', tool: 'Bash' },
    ],
    [
      'droid',
      {
        ...common,
        hook_event_name: 'PreToolUse',
        tool_name: 'Create',
        tool_input: { file_path: 'p', content: '' },
      },
      { event: 'PreToolUse', foreignEvent: 'PreToolUse', tool: 'Write', paths: [`${CWD}/p`] },
    ],
    [
      'opencode',
      {
        hook: 'tool.execute.before',
        directory: CWD,
        at: 7,
        input: { tool: 'edit', sessionID: 's1', callID: 'c1' },
        output: { args: { filePath: 'p', oldString: 'a', newString: 'b' } },
      },
      {
        event: 'PreToolUse',
        foreignEvent: 'tool.execute.before',
        at: 7,
        tool: 'Edit',
        paths: [`${CWD}/p`],
      },
    ],
  ];

  it.each(cases)('%s', (agent, payload, expected) => {
    expect(normalizeEvent(agent, payload)).toEqual({
      ...NOTHING,
      agent,
      sessionId: 's1',
      workspace: CWD,
      ...expected,
    });
  });

  it('is in the table for every agent whose payloads are read', () => {
    expect(cases.map(([agent]) => agent).toSorted()).toEqual(
      listDialectsWith('readPayload').toSorted(),
    );
    expect(listDialectsWith('readEnvelope')).toEqual(listDialectsWith('readPayload'));
  });
});

describe('what cannot be read', () => {
  it.each([
    ['text', 'expected an object, found string'],
    [null, 'expected an object, found null'],
    [[{}], 'expected an object, found array'],
    [{}, 'the payload does not name its event'],
    [{ hook_event_name: 'Nothing' }, '"Nothing" means no event here'],
  ])('says so: %j', (payload, problem) => {
    expect(normalizeEvent('codex', payload).problem).toBe(problem);
  });

  it('names the known agents', () => {
    const { agent, problem } = normalizeEvent('nobody', {});
    expect(agent).toBe('nobody');
    expect(problem).toContain(
      'payloads of "nobody" cannot be read; known are: cline, claude, codex',
    );
  });

  it('keeps a relative path where the directory is not known', () => {
    const payload = {
      hook_event_name: 'PreToolUse',
      tool_name: 'write_file',
      tool_input: { file_path: 'a/b', content: '' },
    };
    expect(normalizeEvent('qwen', payload).paths).toEqual(['a/b']);
  });

  it('never throws, whatever the payload holds', () => {
    const recorded = readRecordedPayloads();
    const agents = fc.constantFrom(...listDialectsWith('readEnvelope'), 'nobody');
    const mutated = fc
      .tuple(
        fc.constantFrom(...recorded),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(12),
        fc.jsonValue(),
      )
      .map(([{ payload }, extra, at, value]) => {
        const keys = Object.keys(payload);
        return { ...payload, ...extra, [keys[at % keys.length] ?? '']: value };
      });
    fc.assert(
      fc.property(agents, fc.oneof(fc.jsonValue(), mutated), (agent, payload) => {
        expect(normalizeEvent(agent, payload).agent).toBe(agent);
      }),
      { numRuns: 500 },
    );
  });
});

it('recordings are of every agent that runs offline', () => {
  const file = new URL('../fixtures/other-agents/payloads.json', import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('agents.codex');
  const agents = new Set(readRecordedPayloads().map(({ agent }) => agent));
  expect([...agents]).toEqual(['codex', 'gemini', 'copilot', 'qwen', 'opencode']);
});
