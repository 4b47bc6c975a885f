import path from 'node:path';
import { createScriptedModel } from '../../src/agent/models/scripted.ts';
import { createHookEngine } from '../../src/hooks/engine.ts';
import type { EventName, HookEvent } from '../../src/hooks/facts.ts';
import type { Handler, HandlerSource } from '../../src/hooks/handler.ts';
import type { Host } from '../../src/host/host.ts';
import { createDispatchEntry } from '../../src/trace/entry.ts';
import { TraceFile } from '../../src/trace/trace-file.ts';
import { createTempWorkspace, openHost, type TempWorkspace } from '../temp-workspace.ts';
import { createReadingTurns, refuseUnlessDone, storeSession, writeFiles } from '../reading.ts';
import type { Contest, Row, RowOptions } from '../row.ts';

/** What an agent's loop costs beside its model and its tools. */
export const agentRows: readonly Row[] = [
  {
    name: 'a turn with one Read, scripted model, no hooks',
    bound: { of: 'ms', atMost: 5, because: 'a model takes a thousand times as long' },
    open: openTurns,
  },
  {
    name: 'the same with 10 in-process handlers of each event',
    bound: { of: 'more', atMost: 0.5, because: 'against the same turn without them' },
    open: openTurnsWithHandlers,
  },
  {
    name: 'a hook call at 1,000 messages',
    bound: {
      of: 'ratio',
      atMost: 1.2,
      because: 'against an empty conversation; Cline copies the messages for each call: 20–50',
    },
    open: (options) => openHookCalls('untraced', options),
  },
  {
    name: 'a hook call at 1,000 messages, with writing its trace',
    bound: { of: 'ratio', atMost: 1.2, because: 'what is written of it is bounded' },
    open: (options) => openHookCalls('traced', options),
  },
];

const TURNS = 50;
const HANDLERS = 10;
const EVENTS_OF_A_TURN: readonly EventName[] = [
  'ModelRequest',
  'ModelResponse',
  'PreToolUse',
  'PostToolUse',
  'PostToolBatch',
];

async function openTurns({ quick }: RowOptions): Promise<Contest> {
  const runner = await createRunner([]);
  return {
    samples: quick ? 10 : 60,
    batch: 1,
    per: TURNS,
    us: runner.run,
    settle: runner.renew,
    close: runner.close,
  };
}

async function openTurnsWithHandlers({ quick }: RowOptions): Promise<Contest> {
  const hooked = await createRunner([{ handlers: () => HANDLERS_OF_A_TURN }]);
  const plain = await createRunner([]);
  return {
    samples: quick ? 10 : 60,
    batch: 1,
    per: TURNS,
    us: hooked.run,
    bare: plain.run,
    async settle() {
      await hooked.renew();
      await plain.renew();
    },
    async close() {
      await hooked.close();
      await plain.close();
    },
  };
}

let seen = 0;

function count(): void {
  seen += 1;
}

const HANDLERS_OF_A_TURN: readonly Handler[] = EVENTS_OF_A_TURN.flatMap((event) =>
  Array.from({ length: HANDLERS }, (_, index) => createHandler(event, index, count)),
);

function createHandler(
  event: EventName,
  index: number,
  observe: (event: HookEvent) => void,
): Handler {
  return {
    id: `bench:${event}:${index}`,
    dialect: 'bench',
    source: 'bench',
    event,
    vocabulary: 'claude',
    onFailure: 'open',
    run: (input) => {
      observe(input.event);
      return undefined;
    },
  };
}

interface Runner {
  /** One prompt of all turns, in a session that is open already. */
  run(): Promise<void>;
  /** Opens another session for the next run: a longer conversation would not be the same. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

async function createRunner(sources: readonly HandlerSource[]): Promise<Runner> {
  const place = createTempWorkspace();
  writeFiles(place);
  let ready: { readonly host: Host; readonly sessionId: string } | null = null;
  let used: Host | null = null;
  const renew = async (): Promise<void> => {
    await used?.dispose();
    used = null;
    if (ready !== null) return;
    const host = await openHost(place, {
      model: createScriptedModel(createReadingTurns(TURNS)),
      sources,
    });
    const { sessionId } = await host.start({});
    ready = { host, sessionId };
  };
  await renew();
  return {
    async run() {
      if (ready === null) throw new Error('no session is open');
      const { host, sessionId } = ready;
      [ready, used] = [null, host];
      refuseUnlessDone(await host.send(sessionId, 'read them all'));
    },
    renew,
    async close() {
      await used?.dispose();
      await ready?.host.dispose();
      place.remove();
    },
  };
}

const MESSAGES = 1000;

type Tracing = 'traced' | 'untraced';

/** The events that a turn fires, fired again as the loop fired them. */
async function openHookCalls(tracing: Tracing, { quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  // V8 makes the first objects of a kind in another way than all later ones.
  await eventsOfTurn(0);
  const long = await eventsOfTurn(MESSAGES);
  const empty = await eventsOfTurn(0);
  const host = await openHost(place);
  const directory = path.join(host.stateDirectory ?? '', 'trace');
  const trace = tracing === 'traced' ? new TraceFile({ directory, onProblem: refuse }) : null;
  const engine = createHookEngine({
    sources: [{ handlers: () => EVENTS_OF_A_TURN.map((name) => createHandler(name, 0, count)) }],
    moment: () => host.moment(),
    onDispatch: (record) => trace?.record(() => createDispatchEntry(record)),
  });
  const fire = async (events: readonly HookEvent[]): Promise<void> => {
    for (const event of events) await engine.dispatch(event);
    await trace?.flush();
  };
  return {
    samples: quick ? 100 : 500,
    batch: tracing === 'traced' ? 1 : 100,
    per: EVENTS_OF_A_TURN.length,
    us: () => fire(long),
    bare: () => fire(empty),
    async close() {
      await engine.close();
      await host.dispose();
      place.remove();
    },
  };
}

/** What a turn with one Read fires in a conversation of that many messages. */
async function eventsOfTurn(messages: number): Promise<readonly HookEvent[]> {
  const place = createTempWorkspace();
  writeFiles(place);
  const fired = new Map<EventName, HookEvent>();
  // The first of each name belongs to the turn that reads.
  const handlers = EVENTS_OF_A_TURN.map((name) =>
    createHandler(name, 0, (event) => {
      if (!fired.has(name)) fired.set(name, event);
    }),
  );
  const host = await openHost(place, {
    model: createScriptedModel(createReadingTurns(1), { contextTokens: Infinity }),
    sources: [{ handlers: () => handlers }],
  });
  await runOnce(host, place, messages);
  await host.dispose();
  place.remove();
  const events = EVENTS_OF_A_TURN.flatMap((name) => fired.get(name) ?? []);
  if (events.length === EVENTS_OF_A_TURN.length) return events;
  throw new Error('an event of a turn was not fired');
}

function refuse(problem: string): never {
  throw new Error(problem);
}

async function runOnce(host: Host, place: TempWorkspace, messages: number): Promise<void> {
  const prompt = 'read one more';
  const wish = messages === 0 ? {} : { resume: storeSession(place, messages / 2).id };
  const { result } = await host.start({ ...wish, prompt });
  refuseUnlessDone(result);
}
