import {
  ClaudeEventProcessor,
  ClineEventProcessor,
  DroidEventProcessor,
} from '@principal-ai/agent-monitoring';
import { expect, test } from 'vitest';
import { toCloudEvent } from '../../src/store/cloud-event.ts';
import { toMonitoringEvent } from '../../src/store/monitoring-view.ts';
import type { NewEvent } from '../../src/store/event-store.ts';
import { createEvent } from './new-event.ts';

const PROCESSORS = {
  claude: new ClaudeEventProcessor(),
  cline: new ClineEventProcessor(),
  droid: new DroidEventProcessor(),
};

/** What that package makes of an exported event. */
function processEvent(agent: keyof typeof PROCESSORS, data: object, fields: Partial<NewEvent>) {
  const payload = Buffer.from(JSON.stringify(data));
  const stored = { ...createEvent({ agent, payload, ...fields }), sequence: 1, hash: '' };
  const exported = toMonitoringEvent(toCloudEvent(stored));
  const line = JSON.parse(JSON.stringify(exported));
  return { line, result: PROCESSORS[agent].normalize(line.data) };
}

const CALL = {
  session_id: 'session-1',
  cwd: '/work/app',
  transcript_path: '/t',
  hook_event_name: 'PreToolUse',
  tool_name: 'Write',
  tool_input: { file_path: '/work/app/a.ts', content: 'x' },
};

test.each(['claude', 'droid'] as const)('an event of %s has its type, tool and paths', (agent) => {
  const { line, result } = processEvent(agent, CALL, { tool: 'Write' });
  expect(line).toMatchObject({
    provider: agent,
    timestamp: 1_790_000_000_000,
    eventType: 'PreToolUse',
    sessionId: 'session-1',
    workingDirectory: '/work/app',
    data: CALL,
  });
  expect(result).toMatchObject({
    eventType: 'pre-tool-use',
    toolName: 'Write',
    rawFilePaths: ['/work/app/a.ts'],
    sessionId: 'session-1',
  });
});

const CLINE = { clineVersion: '3', timestamp: '1790000000000', taskId: 'task-1' };

test.each([
  [
    'a call as Cline writes it',
    {
      ...CLINE,
      hookName: 'PreToolUse',
      workspaceRoots: ['/work/app'],
      preToolUse: { toolName: 'replace_in_file', parameters: { path: 'a.ts', diff: '' } },
    },
    { event: 'PreToolUse', tool: 'Edit', paths: ['/work/app/a.ts'], sessionId: 'task-1' },
    { eventType: 'pre-tool-use', toolName: 'Edit', rawFilePaths: ['a.ts'], sessionId: 'task-1' },
  ],
  [
    'its result',
    {
      ...CLINE,
      hookName: 'PostToolUse',
      postToolUse: {
        toolName: 'read_file',
        parameters: { path: 'a.ts' },
        result: 'text',
        success: true,
        executionTimeMs: 7,
      },
    },
    { event: 'PostToolUse', tool: 'Read', sessionId: 'task-1' },
    {
      eventType: 'post-tool-use',
      toolName: 'Read',
      rawFilePaths: ['a.ts'],
      data: { success: true, durationMs: 7 },
    },
  ],
  [
    'the start of a task',
    {
      ...CLINE,
      hookName: 'TaskStart',
      taskStart: { taskMetadata: { taskId: 'task-1', initialTask: 'rename it' } },
    },
    { event: 'TaskStart', tool: null, sessionId: 'task-1' },
    { eventType: 'session-start', data: { source: 'startup', task: 'rename it' } },
  ],
  [
    'a call of Cline’s SDK',
    { ...CLINE, hookName: 'tool_call', tool_call: { id: '1', name: 'editor', input: { a: 1 } } },
    { event: 'PreToolUse', tool: 'Edit', paths: ['/work/app/a.ts'], sessionId: 'task-1' },
    { eventType: 'pre-tool-use', toolName: 'Edit', rawFilePaths: ['/work/app/a.ts'] },
  ],
  [
    'a call in Claude’s format',
    CALL,
    { event: 'PreToolUse', tool: 'Write', paths: ['/work/app/a.ts'] },
    {
      eventType: 'pre-tool-use',
      toolName: 'Write',
      rawFilePaths: ['/work/app/a.ts'],
      sessionId: 'session-1',
    },
  ],
] as const)(
  'of Cline, %s is read with the right type, tool and paths',
  (_name, data, fields, expected) => {
    const { result } = processEvent('cline', data, fields);
    expect(result).toMatchObject({
      ...expected,
      timestamp: 1_790_000_000_000,
      workingDirectory: '/work/app',
    });
  },
);

test('an event of an agent that the package does not know is left out', () => {
  const stored = { ...createEvent({ agent: 'codex' }), sequence: 1, hash: '' };
  expect(toMonitoringEvent(toCloudEvent(stored))).toBe(null);
});
