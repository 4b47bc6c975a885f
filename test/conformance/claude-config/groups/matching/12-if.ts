import { expect } from 'vitest';
import { bash, call, command, type Group, hooks, type OpenFixture } from '../../fixture.ts';
import { listAt, observed } from '../../recording.ts';

/** The calls of the recording, by the name that it gives them. */
const BASH = [
  'echo hi',
  'git status',
  'FOO=bar git push origin',
  'true && git push x',
  'echo $(rm -rf /nonexistent/x)',
  'echo $(date)',
  'echo "$HOME"',
  'git log | head',
  'bash -c "git status"',
  "echo 'unterminated",
  'npm run build || true',
];

const CALLS: readonly { readonly name: string; readonly facts: object }[] = [
  ...BASH.map((text) => ({ name: text, facts: bash(text) })),
  ...['x.ts', 'src/a.ts', 'lib/src/b.ts', 'n.md'].map((file) => ({
    name: `Write:${file}`,
    facts: call('Write', { file_path: file, content: 'x' }),
  })),
  { name: 'mcp__srv__echo:', facts: call('mcp__srv__echo', { text: 'hi' }) },
  { name: 'Read:n.md', facts: call('Read', { file_path: 'n.md' }) },
];

/** A line such as `Bash(git *) -> «git status» «git log | head»`. */
function readLine(line: string): { rule: string; fired: readonly string[] } {
  const [, rule = '', calls = ''] = /^(.*?) -> (.*)$/su.exec(line) ?? [];
  return { rule, fired: [...calls.matchAll(/«(.*?)»/gsu)].map(([, name = '']) => name) };
}

export const conditions: Group = {
  name: '12-if',
  cases: [
    ...listAt(observed('12-if'), 't').map((each) => {
      const line = String(each);
      const { rule, fired } = readLine(line);
      return { name: line, run: (openFixture: OpenFixture) => firesFor(openFixture, rule, fired) };
    }),
    { name: 'stopIf', run: (openFixture) => stops(openFixture, { if: 'Bash(git *)' }, false) },
    { name: 'stopNoIf', run: (openFixture) => stops(openFixture, {}, true) },
  ],
};

async function firesFor(openFixture: OpenFixture, rule: string, fired: readonly string[]): Promise<void> {
  const { fire, has } = await openFixture({
    project: hooks('PreToolUse', [command(': > fired', { if: rule })]),
  });
  const ranHooks: string[] = [];
  const failed: string[] = [];
  for (const { name, facts } of CALLS) {
    const { outcomes } = await fire('PreToolUse', { ...facts });
    for (const { failure } of outcomes) (failure === null ? ranHooks : failed).push(name);
  }
  expect(ranHooks).toEqual([...fired, ...(FIRES_ONLY_HERE[rule] ?? [])]);
  expect(has('fired')).toBe(fired.length > 0);
  expect(failed).toEqual(UNREADABLE.includes(rule) ? CALLS.map(({ name }) => name) : []);
}

/** A quoted variable may be any word here; Claude Code takes it for its own text. */
const FIRES_ONLY_HERE: Readonly<Record<string, readonly string[]>> = {
  'Bash(echo hi)': ['echo "$HOME"'],
};

/** A guard with such a condition never runs, and every call that it might have guarded has a note. */
const UNREADABLE = ['mcp__srv__*', '*', 'Nope('];

async function stops(openFixture: OpenFixture, condition: object, runs: boolean): Promise<void> {
  const { fire, has } = await openFixture({ project: hooks('Stop', [command(': > ran', condition)]) });
  await fire('Stop');
  expect(has('ran')).toBe(runs);
}
