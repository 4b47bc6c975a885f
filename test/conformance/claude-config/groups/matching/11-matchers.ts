import { expect } from 'vitest';
import { call, command, type Group, group, records, type OpenFixture } from '../../fixture.ts';
import { observed, listAt } from '../../recording.ts';

const CALLS: Readonly<Record<string, object>> = {
  Bash: { command: 'echo hi' },
  Write: { file_path: 'a.txt', content: 'x' },
  mcp__srv__echo: { text: 'hi' },
  'mcp__my-srv__echo': { text: 'hi' },
};

/** A line such as `"Bash|Write" -> Bash Write`. */
function readLine(line: string): { matcher: string | undefined; fired: readonly string[] } {
  const [, written = '', tools = ''] = /^(.*) -> (.*)$/su.exec(line) ?? [];
  const matcher: string | undefined = written === 'omitted' ? undefined : JSON.parse(written);
  return { matcher, fired: tools === '-' ? [] : tools.split(' ') };
}

/** A guard with such a pattern never runs, and every call that it might have guarded has a note. */
const UNREADABLE: readonly (string | undefined)[] = ['[', '(Bash', 'Bash(*)', '**', '(?i)bash'];

export const matchers: Group = {
  name: '11-matchers',
  cases: listAt(observed('11-matchers')).map((each) => {
    const line = String(each);
    const { matcher, fired } = readLine(line);
    return {
      name: line,
      run: async (openFixture: OpenFixture) => {
        const { fire, recorded } = await openFixture({
          project: {
            hooks: { PreToolUse: [group([command(records('fired.log'))], matcher)] },
          },
        });
        const failures: unknown[] = [];
        for (const [tool, input] of Object.entries(CALLS)) {
          const { outcomes } = await fire('PreToolUse', call(tool, input));
          failures.push(...outcomes.flatMap(({ failure }) => failure ?? []));
        }
        expect(recorded('fired.log').map(({ payload }) => payload['tool_name'])).toEqual(fired);
        expect(failures.length).toBe(UNREADABLE.includes(matcher) ? Object.keys(CALLS).length : 0);
      },
    };
  }),
};
