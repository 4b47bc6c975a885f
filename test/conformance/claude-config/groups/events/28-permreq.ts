import { expect } from 'vitest';
import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';

const decides = (decision: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })}'`;
const RULES = [
  {
    type: 'addRules',
    rules: [{ toolName: 'Bash', ruleContent: 'touch *' }],
    behavior: 'allow',
    destination: 'session',
  },
];

interface Request {
  readonly command: string;
  readonly expected: VerdictSummary;
  /** Part of the note for its author, when the answer does nothing. */
  readonly note?: RegExp;
}

const REQUESTS: Readonly<Record<string, Request>> = {
  none: { command: 'true', expected: {} },
  allow: { command: decides({ behavior: 'allow' }), expected: { effect: 'allow' } },
  allowupd: {
    command: decides({ behavior: 'allow', updatedInput: { command: 'echo replaced' } }),
    expected: { effect: 'allow', input: { command: 'echo replaced' } },
  },
  deny: {
    command: decides({ behavior: 'deny', message: 'pr deny msg' }),
    expected: { effect: 'deny', reasons: ['pr deny msg'] },
  },
  denynomsg: {
    command: decides({ behavior: 'deny' }),
    expected: { effect: 'deny', reasons: ['Permission denied by hook'] },
  },
  exit2: { command: 'echo no >&2; exit 2', expected: {}, note: /exit code 2 has no effect/u },
  exit1: { command: 'echo no >&2; exit 1', expected: { failures: ['exit'] } },
  legacy: {
    command: `echo '{"decision":"approve"}'`,
    expected: {},
    note: /"decision": "approve" has no effect/u,
  },
  pdec: {
    command: `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","permissionDecision":"allow"}}'`,
    expected: {},
    note: /permissionDecision/u,
  },
  perm: {
    command: decides({ behavior: 'allow', updatedPermissions: RULES }),
    expected: { effect: 'allow', changes: { permissions: [RULES] } },
  },
  denyint: {
    command: decides({ behavior: 'deny', message: 'stop it', interrupt: true }),
    expected: {
      effect: 'stop',
      stop: { reason: 'stop it', pending: 'skip' },
      reasons: ['stop it'],
    },
  },
};

export const permissionRequest: Group = {
  name: '28-permreq',
  cases: Object.entries(REQUESTS).map(([name, request]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const { fire } = await openFixture({
        project: hooks('PermissionRequest', [command(request.command)]),
      });
      const verdict = await fire('PermissionRequest', bash(`touch f_CASE_${name} && echo done`));
      expectVerdict(verdict, request.expected);
      const { notes = [], warnings = [] } = verdict.outcomes[0] ?? {};
      expect([...notes, ...warnings].join('\n')).toMatch(request.note ?? '');
    },
  })),
};
