import { describe, expect, it } from 'vitest';
import type { RunResult, RuntimeEvent } from '../../../src/agent/runtime-event.ts';
import type { CommandContext, GlobalFlags } from '../../../src/cli/context.ts';
import { RunReport } from '../../../src/cli/output/run-report.ts';

const WHO = { sessionId: 's', agentId: 's', parentAgentId: null };

function notice(text: string): RuntimeEvent {
  return { ...WHO, type: 'notice', level: 'info', text };
}

/** A value that fails when it is looked at. */
function spoil<Value extends object>(value: Value): Value {
  return Object.defineProperty(value, 'text', {
    enumerable: true,
    get: () => {
      throw new TypeError('unreadable');
    },
  });
}

function delta(text: string): RuntimeEvent {
  return { ...WHO, type: 'text-delta', text };
}

function resultOf(text: string): RunResult {
  return {
    sessionId: 's',
    runId: 'r',
    status: 'completed',
    ending: 'done',
    text,
    reason: null,
    iterations: 1,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    costUsd: null,
    durationMs: 1,
    denials: [],
    deferred: null,
  };
}

function createContext(flags: GlobalFlags = {}) {
  const lines: unknown[] = [];
  const notes: string[] = [];
  const context: CommandContext = {
    flags,
    env: {},
    signal: new AbortController().signal,
    print: {
      isTerminal: false,
      isStdoutTerminal: false,
      isStdoutClosed: () => false,
      out: (text) => void lines.push(text),
      json: (value) => void lines.push(value),
      jsonLine: (value) => void lines.push(value),
      note: (text) => void notes.push(text),
      notify: () => undefined,
      progress: () => undefined,
    },
  };
  return { context, lines, notes };
}

describe('a call that nobody was there to approve', () => {
  const text = 'Look at it. No user is available to approve it, so the call is denied.';

  async function print(askedBy: 'hook' | 'rule'): Promise<readonly string[]> {
    const { context, notes } = createContext();
    const report = new RunReport(context, 'stream-json');
    report.observe({
      ...WHO,
      type: 'tool-end',
      callId: '1',
      tool: 'Bash',
      input: { command: 'ls' },
      output: { response: null, text, success: false },
      durationMs: 0,
      deniedBy: 'nobody',
      question: { askedBy, userReason: null },
    });
    await report.end(null);
    return notes;
  }

  it('is printed by who asked, whatever the reason says', async () => {
    expect(await print('rule')).toEqual([`denied: Bash: ${text}`]);
    expect(await print('hook')).toEqual([
      `denied: Bash: ${text} (a hook asked for approval, and no user is available)`,
    ]);
  });
});

describe('an event that cannot be redacted', () => {
  it('is left out and reported once, and everything else is printed', async () => {
    const { context, lines, notes } = createContext();
    const report = new RunReport(context, 'stream-json');
    const broken = (): RuntimeEvent => spoil(notice(''));
    for (const event of [notice('before'), broken(), broken(), notice('after')]) {
      report.observe(event);
    }
    await report.end(null);
    expect(lines).toEqual([notice('before'), notice('after')]);
    expect(notes).toEqual([expect.stringMatching(/^error: Output incomplete: /)]);
  });

  it('is an error when it is the answer', async () => {
    const { context, lines } = createContext();
    const report = new RunReport(context, 'text');
    await expect(report.end(spoil(resultOf('')))).rejects.toThrow();
    expect(lines).toEqual([]);
  });
});

describe('what a model writes in pieces', () => {
  it('is printed word by word, and the last word when the run ends', async () => {
    const { context, lines } = createContext();
    const report = new RunReport(context, 'stream-json');
    for (const text of ['I se', 'e i', 't']) report.observe(delta(text));
    await report.end(null);
    expect(lines).toEqual([delta('I '), delta('see '), delta('it')]);
  });

  it('is printed as it arrives with --raw', async () => {
    const { context, lines } = createContext({ raw: true });
    const report = new RunReport(context, 'stream-json');
    for (const text of ['I se', 'e i', 't']) report.observe(delta(text));
    await report.end(null);
    expect(lines).toEqual([delta('I se'), delta('e i'), delta('t')]);
  });
});
