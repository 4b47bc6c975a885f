import { describe, expect, onTestFinished, test } from 'vitest';
import { createHookEngine, type HookEngine } from '../../../src/hooks/engine.ts';
import { createSessionParts } from '../../../src/host/plugins/load-generation.ts';
import { createAgentState } from '../../../src/agent/session-context.ts';
import { setUpPlugins } from '../../../src/host/plugins/set-up-plugins.ts';
import type {
  AgentBeforeToolContext,
  AgentToolDefinition,
} from '../../../src/plugins/contract/runtime-hooks.ts';
import type { PluginIssue } from '../../../src/plugins/plugin-issue.ts';
import type { Message } from '../../../src/sessions/messages.ts';
import { MOMENT } from '../../hooks/handlers.ts';

type Look = (context: AgentBeforeToolContext) => unknown;

const SAID: Message = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
const INPUT = { files: [{ path: 'a.txt' }] };

interface Scene {
  readonly engine: HookEngine;
  /** How often the tools were looked through. */
  readonly offers: () => number;
}

/** Plugins whose beforeTool each of these is. */
async function openScene(...looks: readonly Look[]): Promise<Scene> {
  let offers = 0;
  const offered = (): AgentToolDefinition[] => {
    offers += 1;
    return [{ name: 'read_files', description: `told ${offers}`, inputSchema: {} }];
  };
  const onIssue = ({ message }: PluginIssue): never => {
    throw new RangeError(message);
  };
  const registry = await setUpPlugins({
    objects: looks.map((beforeTool, index) => ({
      name: `plugin-${index}`,
      manifest: { capabilities: ['hooks'] },
      hooks: { beforeTool },
    })),
    options: { isStrict: true },
    context: { session: { sessionId: 's' }, emitEvent: () => undefined },
    onIssue,
  });
  const facts = { id: 's', parentId: null, type: null };
  const agents = new Map([['s', createAgentState(facts, { messages: [SAID] })]]);
  const session = {
    sessionId: 's',
    options: { hookTimeoutMs: 20_000 },
    agents: () => agents,
    model: () => null,
    now: () => 0,
    offered,
    onIssue,
  };
  const { handlers } = await createSessionParts(registry, session, {});
  const source = { handlers: () => handlers };
  const engine = createHookEngine({ sources: [source], moment: () => MOMENT });
  onTestFinished(async () => {
    await engine.close();
    await registry.dispose();
  });
  return { engine, offers: () => offers };
}

async function fire({ engine }: Scene, iteration = 1): Promise<void> {
  const tool = { callId: 'c', name: 'read_files', input: INPUT };
  const { outcomes } = await engine.dispatch(
    { name: 'PreToolUse', tool },
    { moment: { iteration } },
  );
  expect(outcomes.flatMap(({ failure }) => failure ?? [])).toEqual([]);
}

const EXPECTED = {
  snapshot: expect.objectContaining({ agentId: 'a', iteration: 1, status: 'idle' }),
  tool: { name: 'read_files', description: 'told 1', inputSchema: {} },
  toolCall: {
    type: 'tool-call',
    toolCallId: 'c',
    toolName: 'read_files',
    input: INPUT,
    metadata: { toolSource: { providerId: 'p', modelId: 'm', executionMode: 'runtime' } },
  },
  input: INPUT,
  cwd: '/ws',
};

describe('the context of a beforeTool hook', () => {
  test('is a plain object that every hook has to itself', async () => {
    const records: AgentBeforeToolContext[] = [];
    const pluginSession = await openScene(
      (context) => void records.push(context),
      (context) => void records.push({ ...context }),
    );
    await fire(pluginSession);
    expect(records).toEqual([EXPECTED, EXPECTED]);
    expect(records[0]?.toolCall).not.toBe(records[1]?.toolCall);
  });

  test('is not affected by what the previous hook changed in its own', async () => {
    const records: unknown[] = [];
    const pluginSession = await openScene(
      (context) => {
        context.toolCall.toolName = 'other';
        Object.assign(context.toolCall.metadata ?? {}, { mine: true });
        Object.assign(context, { tool: null, mine: true });
      },
      (context) => void records.push(context),
    );
    await fire(pluginSession);
    expect(records).toEqual([EXPECTED]);
  });

  test('has another conversation than that which the hook before has read', async () => {
    const texts: unknown[] = [];
    const empty: Look = ({ snapshot }) => {
      texts.push(snapshot.messages.map(({ content }) => content));
      snapshot.messages.length = 0;
    };
    await fire(await openScene(empty, empty, empty));
    expect(texts).toEqual(Array.from({ length: 3 }, () => [[{ type: 'text', text: 'hello' }]]));
  });

  test('has one snapshot as long as no hook reads it', async () => {
    const snapshots = new Set<unknown>();
    const keep: Look = ({ snapshot }) => void snapshots.add(snapshot);
    const pluginSession = await openScene(keep, keep);
    await fire(pluginSession);
    expect(snapshots.size).toBe(1);
    await fire(pluginSession, 2);
    expect(snapshots.size).toBe(2);
  });

  test('has the tool as its model is offered it in that turn', async () => {
    const reports: unknown[] = [];
    const note: Look = ({ tool }) => void reports.push(tool.description);
    const pluginSession = await openScene(note, note);
    await fire(pluginSession, 1);
    await fire(pluginSession, 1);
    await fire(pluginSession, 2);
    expect(reports).toEqual(['told 1', 'told 1', 'told 1', 'told 1', 'told 2', 'told 2']);
    expect(pluginSession.offers()).toBe(2);
  });
});
