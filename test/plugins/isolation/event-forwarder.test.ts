import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, write } from '../../base/directory.ts';
import { shareMessages } from '../../../src/plugins/contract/snapshot.ts';
import { hooksText, openActive } from './isolated.ts';

const COLLECT = `onEvent(event) { receivedEvents.push(event); }, beforeTool: () => receivedEvents`;

describe('a listener in a process of its own', () => {
  it('receives everything in order, before the call that comes after it', async () => {
    const { hook } = await openActive(hooksText(COLLECT, 'const receivedEvents = [];'));
    const snapshot = { agentId: 'main', status: 'running' };
    const events = [
      { type: 'run-started', snapshot },
      { type: 'turn-started', iteration: 1, snapshot },
      { type: 'tool-updated', iteration: 1, toolCall: {}, update: new Date(2), snapshot },
      { type: 'run-failed', error: new RangeError('lost'), snapshot },
    ];
    for (const event of events) void hook('onEvent', event);
    const receivedEvents = await hook('beforeTool', {});
    expect(receivedEvents).toEqual(
      events.map((event) => ({ ...event, snapshot: { ...snapshot, messages: [] } })),
    );
    expect((receivedEvents as { error?: Error }[])[3]?.error).toBeInstanceOf(RangeError);
  });

  it('receives pieces of text with all earlier text, for each agent its own', async () => {
    const { hook } = await openActive(hooksText(COLLECT, 'const receivedEvents = [];'));
    const accumulatedTexts = new Map<string, string>();
    const events = ['Hel', 'lo', ' you', '!'].flatMap((text, index) =>
      ['main', 'sub'].flatMap((agentId) =>
        ['assistant-text-delta', 'assistant-reasoning-delta'].map((type) => {
          const iteration = index < 2 ? 1 : 2;
          const key = `${agentId}${type}${iteration}`;
          accumulatedTexts.set(key, (accumulatedTexts.get(key) ?? '') + text);
          return {
            type,
            iteration,
            text,
            accumulatedText: accumulatedTexts.get(key),
            snapshot: { agentId },
          };
        }),
      ),
    );
    for (const event of events) void hook('onEvent', event);
    const receivedEvents = (await hook('beforeTool', {})) as object[];
    expect(receivedEvents).toEqual(
      events.map((event) => ({ ...event, snapshot: { ...event.snapshot, messages: [] } })),
    );
  });

  it('sees the conversation as it was at the time of the event', async () => {
    const { hook } = await openActive(
      hooksText(
        `onEvent({ snapshot }) { receivedEvents.push(snapshot); }, beforeTool: () => receivedEvents.map(({ messages }) => messages.length)`,
        'const receivedEvents = [];',
      ),
    );
    const messages = [{ id: 'a', role: 'user' as const, content: [], createdAt: 0 }];
    const tell = () =>
      hook('onEvent', {
        type: 'message-added',
        snapshot: shareMessages({ agentId: 'main', messages: [] }, () => messages),
      });
    void tell();
    messages.push({ id: 'b', role: 'user', content: [], createdAt: 0 });
    void tell();
    expect(await hook('beforeTool', {})).toEqual([1, 2]);
  });

  it('fails as one that lives here: each failure is reported once', async () => {
    const { active, hook } = await openActive(
      hooksText(
        `async onEvent({ n }) { if (n % 2) throw new Error('odd ' + n); }, beforeTool() {}`,
      ),
    );
    const failures: unknown[] = [];
    const tell = (n: number): void => {
      const hookResult: unknown = Reflect.apply(active.plugin.hooks?.onEvent ?? (() => 0), null, [
        { n },
      ]);
      if (hookResult instanceof Promise) hookResult.catch((error: unknown) => failures.push(error));
    };
    for (const n of [0, 1, 2, 3, 4]) tell(n);
    await hook('beforeTool', {});
    await eventually(() => expect(failures).toEqual([new Error('odd 1')]));
    // The next one finds what is left.
    tell(6);
    await eventually(() => expect(failures).toEqual([new Error('odd 1'), new Error('odd 3')]));
    tell(8);
    await hook('beforeTool', {});
    expect(failures).toHaveLength(2);
  });

  it('that does not read loses what is too much, which is reported once, with how much', async () => {
    const { hook, stage: fixture } = await openActive(
      hooksText(
        `onEvent({ n }) {
          while (n === 0 && !existsSync('go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
          count += 1;
        },
        beforeTool: () => count`,
        `import { existsSync } from 'node:fs'; let count = 0;`,
      ),
    );
    const text = 'x'.repeat(10_000);
    const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    for (let n = 0; n < 20_000; n++) {
      void hook('onEvent', { type: 'assistant-message', n, text });
      if (n % 100 === 0) await rest();
    }
    write(path.join(fixture.directory, 'go'), '');
    await eventually(() => expect(fixture.issues).toHaveLength(1));
    const [issue] = fixture.issues;
    expect(issue).toMatchObject({ plugin: 'guard', phase: 'hook', level: 'warning' });
    const leftOut = Number(/so far (\d+) events are left out/.exec(issue?.message ?? '')?.[1]);
    expect(leftOut).toBeGreaterThan(10_000);
    expect(await hook('beforeTool', {})).toBe(20_000 - leftOut);
    expect(fixture.issues).toHaveLength(1);
  });
});
