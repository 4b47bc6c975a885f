import { expect } from 'vitest';
import type { McpAnswer, McpCall } from '../../../../../src/dialects/ports.ts';
import { bash, expectVerdict, type Group, hooks, type OpenFixture, type VerdictSummary } from '../../fixture.ts';

const DENIES =
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"mcp says no"}}';

const INPUT = {
  said: 'ran ${tool_input.command} as ${tool_name}',
  deep: { list: ['${tool_input.missing}', 5, true] },
};

async function calls(openFixture: OpenFixture, answer: McpAnswer | null, expected: VerdictSummary): Promise<void> {
  const called: McpCall[] = [];
  const { fire } = await openFixture({
    project: hooks('PreToolUse', [
      { type: 'mcp_tool', server: 'srv', tool: 'check', input: INPUT },
    ]),
    host: {
      ports: {
        callMcp: (call) => {
          called.push(call);
          return Promise.resolve(answer);
        },
      },
    },
  });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), expected);
  expect(called).toEqual([
    {
      server: 'srv',
      tool: 'check',
      input: { said: 'ran echo hi as Bash', deep: { list: ['', 5, true] } },
    },
  ]);
}

/** Described, and not recorded. */
export const mcpTools: Group = {
  name: '31-mcp-tool',
  cases: [
    {
      name: 'text is read like stdout',
      run: (openFixture) =>
        calls(
          openFixture,
          { text: DENIES, isError: false },
          { effect: 'deny', reasons: ['mcp says no'] },
        ),
    },
    {
      name: 'an error of the tool does not block',
      run: (openFixture) => calls(openFixture, { text: DENIES, isError: true }, { failures: ['exit'] }),
    },
    {
      name: 'a server that is not connected does not block',
      run: (openFixture) => calls(openFixture, null, { failures: ['spawn'] }),
    },
  ],
};
