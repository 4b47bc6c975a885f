import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAgentState } from '../../src/agent/session-context.ts';
import { Snapshots } from '../../src/host/plugins/events/snapshots.ts';
import { loadIsolated } from '../../src/plugins/isolation/isolate.ts';
import type { Message } from '../../src/sessions/messages.ts';
import { createTempWorkspace } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** What a hook costs whose plugin runs in a process of its own. */
export const isolatedHookRows: readonly Row[] = [
  {
    name: 'isolated plugin: beforeTool',
    bound: { of: 'ms', atMost: 0.3, because: 'Cline 3.8 ms' },
    open: openCall,
  },
  {
    name: 'isolated plugin: beforeTool, 1,000 messages / none',
    bound: { of: 'ratio', atMost: 1.2, because: 'only what is new is sent; Cline 20 to 50' },
    open: openFlat,
  },
];

const PLUGIN = `
  export default {
    name: 'guard',
    manifest: { capabilities: ['hooks'] },
    hooks: {
      beforeTool({ toolCall }) {
        if (toolCall.toolName === 'never') return { skip: true, reason: 'no' };
      },
    },
  };`;

async function openCall({ project, quick }: RowOptions): Promise<Contest> {
  const plugin = await openPlugin(project);
  const snapshots = createFixedSnapshots([]);
  return {
    samples: quick ? 50 : 500,
    batch: 20,
    us: () => plugin.ask(snapshots),
    close: () => plugin.close(),
  };
}

async function openFlat({ project, quick }: RowOptions): Promise<Contest> {
  const plugin = await openPlugin(project);
  const other = await openPlugin(project);
  const long = createFixedSnapshots(createConversation(1000));
  const none = createFixedSnapshots([]);
  return {
    samples: quick ? 50 : 500,
    batch: 20,
    us: () => plugin.ask(long),
    bare: () => other.ask(none),
    async close() {
      await Promise.all([plugin.close(), other.close()]);
    },
  };
}

interface OpenedPlugin {
  ask(snapshots: Snapshots): Promise<unknown>;
  close(): Promise<void>;
}

async function openPlugin(project: string): Promise<OpenedPlugin> {
  const place = createTempWorkspace();
  const file = path.join(place.workspace, 'guard.mjs');
  writeFileSync(file, PLUGIN);
  const loading = await loadIsolated({
    entry: { file, label: 'guard', package: null, capabilities: null },
    cwd: place.workspace,
    environment: { PATH: process.env['PATH'] ?? '' },
    cacheDirectory: null,
    importTimeoutMs: 30_000,
    setupTimeoutMs: 30_000,
    hookTimeoutMs: 30_000,
    disposeTimeoutMs: 3000,
    isStrict: false,
    onIssue: () => undefined,
    program: { file: path.join(project, 'dist', 'plugin-child.js'), nodeFlags: [] },
  });
  if (loading.kind !== 'loaded') throw new Error(JSON.stringify(loading));
  const hooks: unknown = Reflect.get(Object(loading.plugin), 'hooks');
  const hook: unknown = Reflect.get(Object(hooks), 'beforeTool');
  if (typeof hook !== 'function') throw new Error('the plugin has no beforeTool');
  return {
    ask: (snapshots) => Reflect.apply(hook, hooks, [createContext(snapshots)]),
    async close() {
      await loading.process?.end();
      place.remove();
    },
  };
}

/** As the handlers make it for each call. */
function createContext(snapshots: Snapshots): object {
  const input = { path: 'src/answer.js' };
  return {
    snapshot: snapshots.take(snapshots.findAgent('session')),
    tool: { name: 'read_files', description: 'Reads files.', inputSchema: { type: 'object' } },
    toolCall: { type: 'tool-call', toolCallId: 'call-1', toolName: 'read_files', input },
    input,
  };
}

function createFixedSnapshots(messages: readonly Message[]): Snapshots {
  const facts = { id: 'session', parentId: null, type: null };
  const agents = new Map([['session', createAgentState(facts, { messages })]]);
  return new Snapshots({
    sessionId: 'session',
    agents: () => agents,
    model: () => null,
    now: () => 0,
  });
}

function createConversation(length: number): readonly Message[] {
  return Array.from({ length }, (_, place): Message => {
    const text = `message ${place} ${'words '.repeat(100)}`;
    return { role: place % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] };
  });
}
