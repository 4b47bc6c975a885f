import { expect } from 'vitest';
import { bash, command, expectVerdict, type Group, hooks, type OpenFixture } from '../../fixture.ts';
import { quoted } from '../../scripts.ts';

const PROBE = `#!/bin/sh
echo "args:$# 1=$1 2=$2 root=$CLAUDE_PROJECT_DIR" >> out.log
`;

/** Each logs a line; `<ROOT>` stands for the workspace. */
const logs = (handler: object, line: string | RegExp) => async (openFixture: OpenFixture) => {
  const { fire, lines, root } = await openFixture({
    files: { 'probe.sh': PROBE },
    project: hooks('PreToolUse', [handler]),
  });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {});
  const logged = lines('out.log').map((each) => each.replaceAll(root, '<ROOT>'));
  expect(logged).toEqual([typeof line === 'string' ? line : expect.stringMatching(line)]);
};

const fails = (handler: object, kind: string, message: RegExp) => async (openFixture: OpenFixture) => {
  const { fire } = await openFixture({ project: hooks('PreToolUse', [handler]) });
  const verdict = await fire('PreToolUse', bash('echo hi'));
  expectVerdict(verdict, { failures: [kind] });
  expect(verdict.outcomes[0]?.failure?.message).toMatch(message);
};

const SUBSTITUTED = [
  'literal-subst:',
  '${CLAUDE_PROJECT_DIR}',
  '|',
  '$CLAUDE_PROJECT_DIR',
  '|',
  '${NOT_SET:-def}',
  '|',
  "'${CLAUDE_PROJECT_DIR}'",
].join(' ');

export const shells: Group = {
  name: '16-shell',
  cases: [
    {
      name: 'shell form',
      run: logs(command('./probe.sh a "b c"'), 'args:2 1=a 2=b c root=<ROOT>'),
    },
    {
      name: 'exec form',
      run: logs(
        command('${CLAUDE_PROJECT_DIR}/probe.sh', {
          args: ['exec', "$HOME ${CLAUDE_PROJECT_DIR} it's `x`"],
        }),
        "args:2 1=exec 2=$HOME <ROOT> it's `x` root=<ROOT>",
      ),
    },
    {
      name: 'exec form on PATH',
      run: logs(
        command('sh', {
          args: ['-c', 'echo "exec-form sh on PATH: $CLAUDE_PROJECT_DIR" >> out.log'],
        }),
        'exec-form sh on PATH: <ROOT>',
      ),
    },
    {
      name: 'literal-subst',
      run: logs(
        command(`echo "${SUBSTITUTED}" >> out.log`),
        "literal-subst: <ROOT> | <ROOT> | def | '<ROOT>'",
      ),
    },
    {
      name: 'single-quoted',
      run: logs(
        command(`echo ${quoted('single-quoted: ${CLAUDE_PROJECT_DIR}')} >> out.log`),
        'single-quoted: ${CLAUDE_PROJECT_DIR}',
      ),
    },
    { name: 'no terminal', run: hasNoTerminal },
    { name: 'shell0', needs: ['ps'], run: leadsItsSession },
    { name: 'double bracket', needs: ['bash'], run: usesSystemShell },
    {
      name: 'missing in shell form',
      run: fails(command('/nonexistent/hook.sh'), 'exit', /127.*not found|127.*No such file/u),
    },
    {
      name: 'missing in exec form',
      run: fails(
        command('/nonexistent/hook2.sh', { args: [] }),
        'spawn',
        /\/nonexistent\/hook2\.sh/u,
      ),
    },
  ],
};

async function hasNoTerminal(openFixture: OpenFixture): Promise<void> {
  const { fire, lines } = await openFixture({
    project: hooks('PreToolUse', [command('(echo hi > /dev/tty) 2> out.log; exit 0')]),
  });
  await fire('PreToolUse', bash('echo hi'));
  expect(lines('out.log').length).toBe(1);
}

async function leadsItsSession(openFixture: OpenFixture): Promise<void> {
  const text =
    'echo "$0 sid=$(ps -o sid= -p $$ | tr -d " ") pgid=$(ps -o pgid= -p $$ | tr -d " ") pid=$$" > out.log';
  const { fire, lines } = await openFixture({ project: hooks('PreToolUse', [command(text)]) });
  await fire('PreToolUse', bash('echo hi'));
  expect(lines('out.log')[0]).toMatch(/^\/bin\/sh sid=(\d+) pgid=\1 pid=\1$/u);
}

/** What `[[` means depends on the system's shell; `"shell": "bash"` always knows it. */
async function usesSystemShell(openFixture: OpenFixture): Promise<void> {
  const test = '[[ a == a ]]';
  const { fire, has } = await openFixture({
    project: hooks('PreToolUse', [
      command(`${test} && : > in-sh`),
      command(`${test} && : > in-bash`, { shell: 'bash' }),
      command('[ -z "$BASH_VERSION" ] && : > sh-is-plain; exit 0'),
    ]),
  });
  const { outcomes } = await fire('PreToolUse', bash('echo hi'));
  expect(has('in-bash')).toBe(true);
  expect(has('in-sh')).toBe(!has('sh-is-plain'));
  expect(outcomes.map(({ failure }) => failure?.kind ?? null)).toEqual([
    has('sh-is-plain') ? 'exit' : null,
    null,
    null,
  ]);
}
