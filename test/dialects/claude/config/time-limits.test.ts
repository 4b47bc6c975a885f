import { describe, expect, test } from 'vitest';
import { readHooksText } from '../../../../src/dialects/claude/config/read-hooks-text.ts';
import { applyTimeLimits } from '../../../../src/dialects/claude/config/time-limits.ts';
import { entryOf } from '../match/match-entries.ts';

const { source } = entryOf();

function command(rest: object = {}): object {
  return { type: 'command', command: 'x', ...rest };
}

/** The time limit of a handler and the notes about it. */
function limitOf(event: string, handler: object, commandTimeoutMs = 600_000) {
  const text = JSON.stringify({ hooks: { [event]: [{ hooks: [handler] }] } });
  const { entries } = readHooksText(text, source, 'settings');
  const [entry] = applyTimeLimits(entries, { commandTimeoutMs, sessionEndMs: 1500 });
  return [entry?.timeoutMs, entry?.notes];
}

describe('the time that a handler has', () => {
  test.each([
    ['PreToolUse', command(), 600_000],
    ['UserPromptSubmit', command(), 30_000],
    ['UserPromptSubmit', command({ async: true }), 600_000],
    ['MessageDisplay', command(), 10_000],
    ['SessionEnd', command(), 1500],
    ['UserPromptSubmit', { type: 'prompt', prompt: 'p' }, 30_000],
    ['Stop', { type: 'agent', prompt: 'p' }, 60_000],
    ['PreToolUse', command({ timeout: 0.5 }), 500],
    ['PreToolUse', command({ timeout: 999 }), 999_000],
    ['PreToolUse', command({ timeout: 1234 }), 1_234_000],
    ['PreToolUse', command({ timeout: 1e300 }), 2_147_483_647],
  ])('%s %j', (event, handler, timeoutMs) => {
    expect(limitOf(event, handler)[0]).toBe(timeoutMs);
  });

  test('is read as milliseconds when it is too large for seconds', () => {
    expect(limitOf('PreToolUse', command({ timeout: 10_000 }))).toEqual([
      10_000,
      ['timeout 10000 is read as milliseconds; it is given in seconds: write 10'],
    ]);
  });
});

describe('the default of the user for commands', () => {
  const SHORT = 5000;
  const LONG = 1_200_000;

  test.each([
    ['PreToolUse', command(), [SHORT, LONG]],
    ['UserPromptSubmit', command({ async: true }), [SHORT, LONG]],
    ['UserPromptSubmit', command(), [SHORT, 30_000]],
    ['MessageDisplay', command(), [SHORT, 10_000]],
    ['SessionEnd', command(), [1500, 1500]],
    ['PreToolUse', command({ timeout: 7 }), [7000, 7000]],
    ['UserPromptSubmit', command({ timeout: 60 }), [60_000, 60_000]],
    ['PreToolUse', { type: 'http', url: 'https://x/' }, [600_000, 600_000]],
    ['PreToolUse', { type: 'mcp_tool', server: 's', tool: 't' }, [600_000, 600_000]],
    ['Stop', { type: 'prompt', prompt: 'p' }, [30_000, 30_000]],
  ])('%s %j', (event, handler, limits) => {
    const limitWith = (defaultMs: number) => limitOf(event, handler, defaultMs)[0];
    expect([limitWith(SHORT), limitWith(LONG)]).toEqual(limits);
  });

  test('never becomes so long that a timer would end at once', () => {
    expect(limitOf('PreToolUse', command(), 1e12)[0]).toBe(2_147_483_647);
  });
});
