import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSurroundings } from '../../src/host/surroundings.ts';
import { createHost } from '../../src/host/create-host.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { type EventStore, openEventStore } from '../../src/store/event-store.ts';
import { readStoredEvent } from '../../src/testing/record-case.ts';
import { createDirectory, GUARD, createHookScript, surroundingsWith } from './case-fixture.ts';

/** A trace that the host itself wrote, one entry per prompt-sized input. */
async function createTrace(contents: readonly string[]): Promise<EventStore> {
  const home = createDirectory();
  const root = createDirectory({ [GUARD]: createHookScript({ cancel: true, errorMessage: 'no' }) });
  const host = await createHost({
    cwd: root,
    roots: [root],
    trust: 'all',
    surroundings: { ...readSurroundings(), ...surroundingsWith(home) },
  });
  for (const content of contents) {
    const tool = { name: 'write_to_file', input: { path: 'a.js', content } };
    await host.engine.dispatch(createSampleEvent('PreToolUse', { tool }));
  }
  await host.dispose();
  return openStore(path.join(home, '.hookline'));
}

const LINE = {
  type: 'dispatch',
  effect: 'pass',
  stop: null,
  reasons: [],
  context: [],
  messages: [],
  outcomes: [],
  input: null,
};

function traceOf(...entries: readonly object[]): Promise<EventStore> {
  const lines = entries.map((entry) => JSON.stringify({ ...LINE, ...entry })).join('\n');
  return openStore(createDirectory({ 'trace/trace.jsonl': `${lines}\n{"half":` }));
}

async function openStore(directory: string): Promise<EventStore> {
  const store = await openEventStore({ directory });
  onTestFinished(() => store.close());
  return store;
}

describe('readStoredEvent', () => {
  it('gives the last event with its answer, without what belongs to the session', async () => {
    const store = await createTrace(['one', 'two']);
    expect(readStoredEvent(store, 'last')).toMatchObject({
      fire: {
        event: 'PreToolUse',
        facts: {
          tool: {
            callId: 'call_1',
            name: 'write_to_file',
            input: { path: 'a.js', content: 'two' },
          },
          cwd: expect.any(String),
        },
      },
      answer: { effect: 'deny', reasons: [{ text: 'no' }] },
      notes: [],
    });
    const { facts } = readStoredEvent(store, 'last').fire;
    expect(Object.keys(facts ?? {})).not.toContain('sessionId');
  });

  it('finds one by the beginning of its id', async () => {
    const data = createSampleEvent('Stop');
    const store = await traceOf({ id: 'abc1', data }, { id: 'abd2', data });
    expect(readStoredEvent(store, 'abc').id).toBe('abc1');
    expect(() => readStoredEvent(store, 'ab')).toThrow(
      /2 events have an id that begins with "ab"/u,
    );
    expect(() => readStoredEvent(store, 'x')).toThrow(/event "x" not found/u);
  });

  it('reports that an event was cut', async () => {
    const store = await createTrace(['x'.repeat(20_000)]);
    expect(() => readStoredEvent(store, 'last')).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        message: expect.stringMatching(/does not hold the whole event .*characters, cut/u),
      }),
    );
  });

  it('reports what was redacted', async () => {
    const store = await traceOf({
      id: 'a',
      data: createSampleEvent('TaskStart', { prompt: 'key [redacted]' }),
      input: { cut: 'much' },
    });
    const { notes, answer } = readStoredEvent(store, 'a');
    expect(answer.input).toBe(null);
    expect(notes).toEqual([
      expect.stringContaining('was cut'),
      expect.stringContaining('[redacted]'),
    ]);
  });

  it('reads files of older versions, too, and survives an empty directory', async () => {
    const line = JSON.stringify({ ...LINE, id: 'old', data: createSampleEvent('Stop') });
    const store = await openStore(createDirectory({ 'trace/trace.1.jsonl': `${line}\n` }));
    expect(readStoredEvent(store, 'last').id).toBe('old');
    const empty = await openStore(createDirectory());
    expect(() => readStoredEvent(empty, 'last')).toThrow(/event "last" not found/u);
  });
});
