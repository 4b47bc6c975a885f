import { expect } from 'vitest';
import { formatHookMessage } from '../../../../../src/agent/conversation/hook-messages.ts';
import { call, command, type Group, hooks, type OpenFixture } from '../../fixture.ts';
import { listAt, observed } from '../../recording.ts';

const INPUTS: Readonly<Record<string, object>> = {
  Write: { file_path: 'a.txt', content: 'x' },
  Edit: { file_path: 'a.txt', old_string: 'x', new_string: 'y', replace_all: false },
  Read: { file_path: 'a.txt' },
  Agent: { description: 'look', prompt: 'look around' },
  mcp__srv__echo: { text: 'hi' },
  Skill: { skill: 'secure' },
  Bash: { command: 'echo hi' },
};

const JSON_DENY = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"JSON-DENY"}}'`;
const EXIT_2 = 'echo EXIT2 >&2; exit 2';

// The real program did not get as far as the hook: the file had not been read.
const EDIT_WORDING = ['JSON-DENY', 'PreToolUse:Edit hook error: [CMD]: EXIT2'];
// In the recording the second run of Write was denied by the first hook, too.
const WRITE_WORDING = ['JSON-DENY', 'PreToolUse:Write hook error: [CMD]: EXIT2'];
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  Edit: EDIT_WORDING,
  Write: WRITE_WORDING,
};

export const denyWording: Group = {
  name: '46-denyfmt',
  cases: listAt(observed('46-denyfmt')).map((each) => {
    const [tool = '', ...texts] = listAt(each).map(String);
    const recorded = texts.map((text) => text.replace('user: [TOOL_RESULT ERR] ', ''));
    return {
      name: tool,
      run: async (openFixture: OpenFixture) => {
        const wording = [
          await denialBy(openFixture, tool, JSON_DENY),
          (await denialBy(openFixture, tool, EXIT_2)).replace(EXIT_2, 'CMD'),
        ];
        expect(wording).toEqual(KNOWN[tool] ?? recorded);
      },
    };
  }),
};

/** What the model reads when a hook with this command denies the call. */
async function denialBy(openFixture: OpenFixture, tool: string, label: string): Promise<string> {
  const { fire } = await openFixture({ project: hooks('PreToolUse', [command(label)]) });
  const { effect, reasons } = await fire('PreToolUse', call(tool, INPUTS[tool] ?? {}));
  expect(effect).toBe('deny');
  const reason = reasons[0]?.text ?? '';
  return formatHookMessage({ kind: 'denied-call', tool, cause: { reason, label } });
}
