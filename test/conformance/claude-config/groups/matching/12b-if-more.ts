import { expect } from 'vitest';
import { bash, command, type Group, hooks, type OpenFixture } from '../../fixture.ts';
import { listAt, observed } from '../../recording.ts';

const RULES = ['Bash(git push *)', 'Bash(git *)', 'Bash(git push)'];

/** A line such as `"git push": Bash(git push *) | Bash(git *) | Bash(git push)`. */
function readLine(line: string): { text: string; fired: readonly string[] } {
  const [, written = '', rules = ''] = /^("(?:[^"\\]|\\.)*"): (.*)$/su.exec(line) ?? [];
  return { text: JSON.parse(written), fired: rules.split(' | ').filter((rule) => rule !== '-') };
}

export const moreConditions: Group = {
  name: '12b-if-more',
  cases: listAt(observed('12b-if-more')).map((each) => {
    const line = String(each);
    const { text, fired } = readLine(line);
    return {
      name: line,
      run: async (openFixture: OpenFixture) => {
        const { fire, lines } = await openFixture({
          project: hooks(
            'PreToolUse',
            RULES.map((rule) => command(`echo '${rule}' >> fired.log`, { if: rule })),
          ),
        });
        await fire('PreToolUse', bash(text));
        expect(RULES.filter((rule) => lines('fired.log').includes(rule))).toEqual(fired);
      },
    };
  }),
};
