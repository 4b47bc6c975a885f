import { describe, expect, it } from 'vitest';
import type {
  AgentPlugin,
  AutomationEventEnvelope,
  PluginSetupContext,
} from '../../../../src/plugins/contract/plugin.ts';
import { errorsIn, noticesIn, createSdkFixture, DONE } from '../../../compat/cline/sdk-fixture.ts';

type Automation = NonNullable<PluginSetupContext['automation']>;
type Ingest = (event: object) => unknown;

/** A port that accepts events, and answers each with its number. */
function createPort(answer: (count: number) => unknown = (count) => ({ queuedRuns: count })) {
  const ingestedEvents: AutomationEventEnvelope[] = [];
  const port: Automation = {
    ingestEvent(event) {
      ingestedEvents.push(event);
      return answer(ingestedEvents.length);
    },
  };
  return { taken: ingestedEvents, port };
}

interface Sending {
  readonly types?: readonly object[];
  readonly port?: Automation;
  readonly capabilities?: readonly string[];
  readonly typesComeLater?: boolean;
}

/** Runs a session with a plugin that sends events while it is set up. */
async function send(
  act: (ingest: Ingest | null) => unknown,
  { types = [], port, capabilities = ['automationEvents'], typesComeLater = false }: Sending,
) {
  const declare = (api: Parameters<NonNullable<AgentPlugin['setup']>>[0]): void => {
    for (const type of types) api.registerAutomationEventType(type as never);
  };
  const sender: AgentPlugin = {
    name: 'sender',
    manifest: { capabilities: [...capabilities] as never },
    async setup(api, { automation }) {
      if (!typesComeLater) declare(api);
      const acting = act(
        automation === undefined ? null : (event) => automation.ingestEvent(event as never),
      );
      if (typesComeLater) declare(api);
      await acting;
    },
  };
  const fixture = await createSdkFixture([DONE]);
  const { result } = await fixture.start({
    extensions: [sender],
    ...(port === undefined ? {} : { extensionContext: { automation: port } }),
  });
  return { fixture, text: result?.text };
}

const EVENT = { eventId: 'pr-1', eventType: 'pr.opened', source: 'github' };
const AT = '2026-01-02T03:04:05.000Z';

describe('an event', () => {
  it('is normalised before the port gets it, and its sender gets the port’s answer', async () => {
    const { taken, port } = createPort();
    const results: unknown[] = [];
    const type = { eventType: ' pr.opened ', source: 'github' };
    await send(
      async (ingest) => {
        results.push(
          await ingest?.({
            eventId: ' pr-1 ',
            eventType: 'pr.opened ',
            source: ' github',
            subject: ' owner/repo#1 ',
            occurredAt: AT,
            workspaceRoot: ' /repo ',
            payload: { n: 1 },
            attributes: { state: 'open' },
            further: 'not known',
          }),
          await ingest?.({ ...EVENT, eventId: 'pr-2', payload: 'text', attributes: [1] }),
          await ingest?.({ ...EVENT, occurredAt: 'yesterday', dedupeKey: ' mine ' }),
        );
      },
      { types: [type], port },
    );
    expect(taken).toEqual([
      {
        eventId: 'pr-1',
        eventType: 'pr.opened',
        source: 'github',
        occurredAt: AT,
        subject: 'owner/repo#1',
        workspaceRoot: '/repo',
        payload: { n: 1 },
        attributes: { state: 'open' },
        dedupeKey: 'pr.opened:github:owner/repo#1',
      },
      {
        ...EVENT,
        eventId: 'pr-2',
        occurredAt: expect.stringMatching(/^20\d\d-/),
        dedupeKey: 'pr.opened:github:pr-2',
      },
      { ...EVENT, occurredAt: expect.stringMatching(/^20\d\d-/), dedupeKey: 'mine' },
    ]);
    expect(results).toEqual([{ queuedRuns: 1 }, { queuedRuns: 2 }, { queuedRuns: 3 }]);
  });

  it.each([
    [
      'eventId',
      { ...EVENT, eventId: ' ' },
      'expects "eventId" to be a text that is not empty, found string',
    ],
    [
      'eventType',
      { ...EVENT, eventType: undefined },
      'expects "eventType" to be a text that is not empty, found nothing',
    ],
    [
      'source',
      { ...EVENT, source: 5 },
      'expects "source" to be a text that is not empty, found number',
    ],
    ['everything', 'pr-1', 'expects an object, found string'],
  ])('without %s throws in its sender', async (_what, event, problem) => {
    const { taken, port } = createPort();
    let caught: unknown;
    const { text } = await send(
      (ingest) => {
        try {
          ingest?.(event as object);
        } catch (error) {
          caught = error;
        }
      },
      { port },
    );
    expect(caught).toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: `ingestEvent of the plugin "sender" ${problem}`,
    });
    expect([taken, text]).toEqual([[], 'Done.']);
  });
});

describe('the declaration of an event type', () => {
  const typed = {
    eventType: 'pr.opened',
    source: 'github',
    attributesSchema: {
      type: 'object',
      properties: { state: { enum: ['open', 'closed'] } },
      required: ['state'],
    },
    payloadSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  };
  const good = { ...EVENT, attributes: { state: 'open' }, payload: { n: 1 } };

  it.each([
    ['attributes', { ...good, attributes: {} }, "attributes must have required property 'state'"],
    ['no attributes', { ...good, attributes: 5 }, "attributes must have required property 'state'"],
    ['payload', { ...good, payload: { n: 'one' } }, 'payload/n must be integer'],
  ])('is checked: %s', async (_what, event, problem) => {
    const { taken, port } = createPort();
    let caught: unknown;
    await send(
      (ingest) => {
        try {
          ingest?.(event);
        } catch (error) {
          caught = error;
        }
        ingest?.(good);
      },
      { types: [typed], port },
    );
    expect(caught).toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: `the event pr-1 of the plugin "sender" does not fit what it declared of "pr.opened": ${problem}`,
    });
    expect(taken).toHaveLength(1);
  });

  it('counts, too, when it is declared after the first event', async () => {
    const { taken, port } = createPort();
    const outcomes: unknown[] = [];
    const waiting: Promise<unknown>[] = [];
    const { fixture } = await send(
      (ingest) => {
        waiting.push(
          Promise.resolve(ingest?.(good)),
          Promise.resolve(ingest?.({ ...good, attributes: {} })),
        );
      },
      { types: [typed], port, typesComeLater: true },
    );
    for (const { status } of await Promise.allSettled(waiting)) outcomes.push(status);
    expect([outcomes, taken.map(({ eventId }) => eventId)]).toEqual([
      ['fulfilled', 'rejected'],
      ['pr-1'],
    ]);
    expect(noticesIn(fixture)).toEqual([
      expect.stringContaining('plugin sender: an event was not taken: the event pr-1'),
    ]);
  });

  it('may be missing: other types are passed on, with one warning', async () => {
    const { taken, port } = createPort();
    const { fixture } = await send(
      async (ingest) => {
        await ingest?.(EVENT);
        await ingest?.({ ...EVENT, eventId: 'pr-2' });
      },
      { port },
    );
    expect(taken.map(({ eventId }) => eventId)).toEqual(['pr-1', 'pr-2']);
    expect(noticesIn(fixture)).toEqual([
      'plugin sender: it sends events of the type "pr.opened", which it did not declare with registerAutomationEventType; they are handed on unchecked',
    ]);
  });

  it('that cannot be read is reported, and nothing is checked', async () => {
    const { taken, port } = createPort();
    const broken = { ...typed, attributesSchema: { type: 'no such type' } };
    const { fixture } = await send((ingest) => void ingest?.(EVENT), { types: [broken], port });
    expect(taken).toHaveLength(1);
    expect(noticesIn(fixture)).toEqual([
      expect.stringContaining('the event type pr.opened: its attributes schema cannot be read'),
    ]);
  });
});

describe('the port', () => {
  it('that fails later fails its sender, who need not wait for it', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const { port } = createPort(() => Promise.reject(new TypeError('queue is full')));
    const { fixture, text } = await send((ingest) => void ingest?.(EVENT), {
      types: [{ eventType: 'pr.opened', source: 'github' }],
      port,
    });
    process.off('unhandledRejection', note);
    expect([text, unhandled, noticesIn(fixture)]).toEqual([
      'Done.',
      [],
      ['plugin sender: an event was not taken: queue is full'],
    ]);
  });

  it('does not exist for a plugin without the capability, nor without a host that has one', async () => {
    const { taken, port } = createPort();
    const records: unknown[] = [];
    const look = (ingest: Ingest | null): void => void records.push(ingest);
    await send(look, { port, capabilities: ['tools'] });
    const { fixture } = await send(look, {});
    expect([records, taken, errorsIn(fixture)]).toEqual([[null, null], [], []]);
  });
});
