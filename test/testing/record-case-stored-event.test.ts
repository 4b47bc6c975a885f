import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSurroundings } from '../../src/host/surroundings.ts';
import { createHost } from '../../src/host/create-host.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { readStoredEvent } from '../../src/testing/record-case.ts';
import { createDirectory, GUARD, createHookScript, surroundingsWith } from './case-fixture.ts';

/** A trace that the host itself wrote, one entry per prompt-sized input. */
async function createTrace(
  contents: readonly string[],
): Promise<{ directory: string; maxFiles: number }> {
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
  return { directory: path.join(home, '.hookline', 'trace'), maxFiles: 2 };
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

function traceOf(...entries: readonly object[]): { directory: string; maxFiles: number } {
  const lines = entries.map((entry) => JSON.stringify({ ...LINE, ...entry })).join('\n');
  return { directory: createDirectory({ 'trace.jsonl': `${lines}\n{"half":` }), maxFiles: 2 };
}

describe('readStoredEvent', () => {
  it('gives the last event with its answer, without what belongs to the session', async () => {
    const storedTrace = await createTrace(['one', 'two']);
    expect(readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'last')).toMatchObject({
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
    const { facts } = readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'last').fire;
    expect(Object.keys(facts ?? {})).not.toContain('sessionId');
  });

  it('finds one by the beginning of its id', () => {
    const data = createSampleEvent('Stop');
    const storedTrace = traceOf({ id: 'abc1', data }, { id: 'abd2', data });
    expect(readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'abc').id).toBe('abc1');
    expect(() => readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'ab')).toThrow(
      /2 events have an id that begins with "ab"/u,
    );
    expect(() => readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'x')).toThrow(
      /event "x" not found/u,
    );
  });

  it('reports that an event was cut', async () => {
    const storedTrace = await createTrace(['x'.repeat(20_000)]);
    expect(() => readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'last')).toThrow(
      expect.objectContaining({
        code: 'PAYLOAD_INVALID',
        message: expect.stringMatching(/does not hold the whole event .*characters, cut/u),
      }),
    );
  });

  it('reports what was redacted', () => {
    const storedTrace = traceOf({
      id: 'a',
      data: createSampleEvent('TaskStart', { prompt: 'key [redacted]' }),
      input: { cut: 'much' },
    });
    const { notes, answer } = readStoredEvent(storedTrace.directory, storedTrace.maxFiles, 'a');
    expect(answer.input).toBe(null);
    expect(notes).toEqual([
      expect.stringContaining('was cut'),
      expect.stringContaining('[redacted]'),
    ]);
  });

  it('reads rotated files, too, and survives an empty directory', () => {
    const line = JSON.stringify({ ...LINE, id: 'old', data: createSampleEvent('Stop') });
    const directory = createDirectory({ 'trace.1.jsonl': `${line}\n` });
    expect(readStoredEvent(directory, 2, 'last').id).toBe('old');
    expect(() => readStoredEvent(createDirectory(), 2, 'last')).toThrow(/event "last" not found/u);
  });
});
