import { expect, test } from 'vitest';
import {
  isAllowedByRule,
  matchGuardRule,
  parsePermissionRule,
  type PermissionRule,
} from '../../../src/permissions/rules/permission-rule.ts';

const machine = { cwd: '/w', roots: ['/w'], home: null };

function ruleOf(behavior: 'allow' | 'deny', text: string): PermissionRule {
  const rule = parsePermissionRule({ behavior, text, source: 'test' });
  if (typeof rule === 'string') throw new TypeError(rule);
  return rule;
}

function callOf(name: string, server: string) {
  return { names: [name], input: {}, kind: 'foreign', cwd: '/w', server } as const;
}

test.each([
  ['mcp__d', 'mcp__d__echo', 'd', true],
  ['mcp__d', 'mcp__d__evil__echo', 'd', true],
  ['mcp__d', 'mcp__d__evil__echo', 'd__evil', false],
  ['mcp__d__*', 'mcp__d__evil__echo', 'd__evil', false],
  ['mcp__d__e*', 'mcp__d__evil__echo', 'd__evil', false],
  ['mcp__d__*', 'mcp__d__echo', 'd', true],
  ['mcp__d__evil', 'mcp__d__evil__echo', 'd__evil', true],
  ['mcp__d__evil', 'mcp__d__evil__echo', 'd', false],
  ['mcp__d__evil__*', 'mcp__d__evil__echo', 'd__evil', true],
  ['mcp__my_srv', 'mcp__my_srv__echo', 'my srv', true],
  ['mcp__d__echo', 'mcp__d__echo', 'd', true],
])('allow %s for %s of the server %s: %s', (rule, name, server, isAllowed) => {
  expect(isAllowedByRule(ruleOf('allow', rule), callOf(name, server), machine)).toBe(isAllowed);
});

test.each(['mcp__d', 'mcp__d__*', 'mcp__d__evil'])(
  'a rule that denies %s errs towards fitting',
  (rule) => {
    const call = callOf('mcp__d__evil__echo', 'd__evil');
    expect(matchGuardRule(ruleOf('deny', rule), call, machine)).toBe('yes');
  },
);
