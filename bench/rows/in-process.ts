import { createHookEngine } from '../../src/hooks/engine.ts';
import type { Handler } from '../../src/hooks/handler.ts';
import type { FiredEvent, Moment } from '../../src/hooks/facts.ts';
import { createTempWorkspace, openHost } from '../temp-workspace.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** What the engine itself costs where no program is started. */
export const inProcessRows: readonly Row[] = [
  {
    name: 'no hook configured',
    bound: { of: 'ms', atMost: 0.02, because: 'a host that has no hooks must not notice them' },
    open: openNoHook,
  },
  {
    name: '10 sync handlers',
    bound: { of: 'ratio', atMost: 5, because: 'a bare loop that awaits them' },
    open: (options) => openHandlers('at once', options),
  },
  {
    name: '10 sync handlers in order',
    bound: { of: 'ratio', atMost: 5, because: 'a bare loop that awaits them' },
    open: (options) => openHandlers('in order', options),
  },
];

const TOOL_CALL: FiredEvent = {
  name: 'PreToolUse',
  tool: { callId: 'call-1', name: 'read_file', input: { path: 'src/answer.js' } },
};

async function openNoHook({ quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const host = await openHost(place);
  return {
    samples: quick ? 100 : 500,
    batch: 100,
    us: () => host.engine.dispatch(TOOL_CALL),
    async close() {
      await host.dispose();
      place.remove();
    },
  };
}

const PROMPT: FiredEvent = { name: 'UserPromptSubmit', prompt: 'rename the function' };
const COUNT = 10;

async function openHandlers(how: 'at once' | 'in order', { quick }: RowOptions): Promise<Contest> {
  let seen = 0;
  const handle = (): undefined => {
    seen += 1;
  };
  const handlers = Array.from({ length: COUNT }, (_, index) => ({
    ...createHandler(index, handle),
    inOrder: how === 'in order',
  }));
  const engine = createHookEngine({
    sources: [{ handlers: () => handlers }],
    moment: () => MOMENT,
  });
  const bare = Array.from({ length: COUNT }, (): (() => undefined | Promise<undefined>) => handle);
  return {
    samples: quick ? 100 : 500,
    batch: 500,
    us: () => engine.dispatch(PROMPT),
    bare: async () => {
      for (const one of bare) await one();
      return seen;
    },
    close: () => engine.close(),
  };
}

function createHandler(index: number, run: () => undefined): Handler {
  return {
    id: `bench:${index}`,
    dialect: 'bench',
    source: 'bench',
    event: 'UserPromptSubmit',
    vocabulary: 'claude',
    onFailure: 'open',
    run,
  };
}

const MOMENT: Moment = {
  sessionId: 'session',
  taskId: 'task',
  ulid: '01J00000000000000000000000',
  at: 0,
  cwd: '/',
  workspaceRoots: ['/'],
  permissionMode: 'default',
  model: { provider: 'none', id: 'none' },
  agent: { id: 'agent', parentId: null, type: null },
  iteration: 1,
  userId: 'bench',
  version: '0',
  transcriptPath: null,
  promptId: null,
};
