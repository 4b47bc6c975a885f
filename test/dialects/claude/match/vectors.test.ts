import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isRecord } from '../../../../src/base/json.ts';
import { compileEntryMatcher } from '../../../../src/dialects/claude/match/entry-matcher.ts';
import { MOMENT } from '../../../hooks/handlers.ts';
import { entryOf, isAsked } from './match-entries.ts';

const FILE = path.join(import.meta.dirname, '../fixtures/claude-payloads.json');

function observed(group: string): unknown {
  const file: unknown = JSON.parse(readFileSync(FILE, 'utf8'));
  const vectors = isRecord(file) ? file['vectors'] : null;
  const found = isRecord(vectors) ? vectors[group] : null;
  return isRecord(found) ? found['observed'] : null;
}

function linesOf(value: unknown): string[] {
  if (!Array.isArray(value)) throw new TypeError('expected a list of lines');
  return value.map(String);
}

function cut(line: string, separator: string): [string, string] {
  const at = line.indexOf(separator);
  return [line.slice(0, at), line.slice(at + separator.length)];
}

describe('which tools a matcher was observed to fire for', () => {
  const tools = ['Bash', 'Write', 'mcp__srv__echo', 'mcp__my-srv__echo'];
  const lines = linesOf(observed('11-matchers'));

  test('all lines are here', () => expect(lines).toHaveLength(43));

  test.each(lines)('%s', (line) => {
    const [written, fired] = cut(line, ' -> ');
    const wanted = written === 'omitted' ? {} : { matcher: String(JSON.parse(written)) };
    const metConditions = tools.filter((name) => isAsked(wanted, name));
    expect(metConditions.join(' ') || '-').toBe(fired);
  });
});

/** Calls that a condition fires for here and not in Claude Code: a quoted variable may be any word. */
const MORE_CALLS: Readonly<Record<string, readonly string[]>> = {
  'Bash(echo hi)': ['echo "$HOME"'],
};

describe('which calls a condition was observed to fire for', () => {
  const group = observed('12-if');
  const lines = linesOf(isRecord(group) ? group['t'] : null);
  const calls = [...new Set(lines.flatMap(callsIn))];

  test('all lines are here', () => expect([lines.length, calls.length]).toEqual([27, 17]));

  test.each(lines)('%s', (line) => {
    const [condition] = cut(line, ' -> ');
    const metConditions = calls.filter((call) => isAsked({ condition }, ...callFrom(call)));
    const expected = [...callsIn(line), ...(MORE_CALLS[condition] ?? [])];
    expect(metConditions.toSorted()).toEqual(expected.toSorted());
  });

  test('a condition on Stop keeps the hook from running, and nothing else does', () => {
    const event = { ...MOMENT, name: 'Stop', lastText: '', again: false } as const;
    const runs = (condition: string | undefined): boolean =>
      compileEntryMatcher(entryOf({ event: 'Stop', condition })).fits(event, []) === null;
    expect(group).toMatchObject({ stopIf: runs('Bash(git *)'), stopNoIf: runs(undefined) });
  });
});

function callsIn(line: string): string[] {
  return [...line.matchAll(/«([^»]*)»/g)].map(([, call = '']) => call);
}

function callFrom(call: string): [string, unknown] {
  const [, tool, file] = /^(Write|Read|mcp__srv__echo):(.*)$/.exec(call) ?? [];
  if (tool === undefined) return ['Bash', { command: call }];
  return [tool, tool === 'mcp__srv__echo' ? {} : { file_path: `/ws/${file}` }];
}

describe('which of three conditions a command was observed to fire', () => {
  const conditions = ['Bash(git push *)', 'Bash(git *)', 'Bash(git push)'];
  const lines = linesOf(observed('12b-if-more'));

  test('all lines are here', () => expect(lines).toHaveLength(31));

  test.each(lines)('%s', (line) => {
    const [, written = '', fired = ''] = /^("(?:[^"\\]|\\.)*"): (.*)$/s.exec(line) ?? [];
    const command: unknown = JSON.parse(written);
    const metConditions = conditions.map((condition) =>
      isAsked({ condition }, 'Bash', { command }) ? condition : '-',
    );
    expect(metConditions.join(' | ')).toBe(fired);
  });
});
