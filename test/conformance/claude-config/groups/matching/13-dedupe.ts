import { expect } from 'vitest';
import { bash, command, type Group, group, hooks, type Setup, type OpenFixture } from '../../fixture.ts';
import { fieldsAt, observed } from '../../recording.ts';

const COUNT = 'echo ran >> count.log';
const once = (more: object = {}): object => command(COUNT, more);
const pre = (...handlers: readonly object[]): object => hooks('PreToolUse', handlers, 'Bash');
const groups = (...all: readonly object[]): Setup => ({ project: { hooks: { PreToolUse: all } } });
const both = (one: object, other: object): Setup => ({ project: pre(one, other) });

const SETUPS: Readonly<Record<string, Setup>> = {
  all3: { user: pre(once()), project: pre(once()), local: pre(once()) },
  args: both(
    command('sh', { args: ['-c', COUNT, 'one'] }),
    command('sh', { args: ['-c', COUNT, 'two'] }),
  ),
  diffasync: both(once({ async: true }), once()),
  diffif: both(once({ if: 'Bash(echo *)' }), once({ if: 'Bash(echo:*)' })),
  diffmatch: groups(group([once()], 'Bash'), group([once()], '*')),
  diffshell: both(once({ shell: 'bash' }), once()),
  diffstatus: both(once({ statusMessage: 'one' }), once({ statusMessage: 'two' })),
  difftimeout: both(once({ timeout: 5 }), once({ timeout: 9 })),
  ifnoif: both(once({ if: 'Bash(echo *)' }), once()),
  samegroup: both(once(), once()),
  twogroups: groups(group([once()], 'Bash'), group([once()], 'Bash')),
  usr_prj: { user: pre(once()), project: pre(once()) },
};

export const dedupe: Group = {
  name: '13-dedupe',
  cases: Object.entries(SETUPS).map(([name, setup]) => ({
    name,
    needs: name === 'diffshell' ? ['bash'] : [],
    run: async (openFixture: OpenFixture) => {
      const { fire, lines, host } = await openFixture(setup);
      await fire('PreToolUse', bash('echo hi'));
      await host.engine.idle();
      expect(lines('count.log').length).toBe(fieldsAt(observed('13-dedupe'))[name]);
    },
  })),
};
