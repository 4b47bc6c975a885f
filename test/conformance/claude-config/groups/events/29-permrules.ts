import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';

const says = (fields: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } })}'`;
const ALLOWS = says({ permissionDecision: 'allow' });

/** What the hook decides; the rules that then count belong to the agent. */
const DECISIONS: Readonly<Record<string, { readonly command: string; readonly expected: VerdictSummary }>> = {
  nohook: { command: 'true', expected: {} },
  allow: { command: ALLOWS, expected: { effect: 'allow' } },
  allow_denyrule: { command: ALLOWS, expected: { effect: 'allow' } },
  allow_askrule: { command: ALLOWS, expected: { effect: 'allow' } },
  ask_allowrule: {
    command: says({ permissionDecision: 'ask', permissionDecisionReason: 'ask it' }),
    expected: { effect: 'ask', reasons: ['ask it'] },
  },
  upd_into_denied: {
    command: says({ permissionDecision: 'allow', updatedInput: { command: 'touch DENYRULE_x' } }),
    expected: { effect: 'allow', input: { command: 'touch DENYRULE_x' } },
  },
  upd_nodec: {
    command: says({ updatedInput: { command: 'true' } }),
    expected: { input: { command: 'true' } },
  },
};

export const permissionRules: Group = {
  name: '29-permrules',
  cases: Object.entries(DECISIONS).map(([name, { command: text, expected }]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const { fire } = await openFixture({ project: hooks('PreToolUse', [command(text)]) });
      expectVerdict(await fire('PreToolUse', bash(`touch CASE_${name}`)), expected);
    },
  })),
};
