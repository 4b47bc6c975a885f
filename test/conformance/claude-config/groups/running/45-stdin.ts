import { bash, command, expectVerdict, type Group, hooks, type OpenFixture } from '../../fixture.ts';

const LARGE = `echo ${'x'.repeat(3 * 1024 * 1024)}`;

const ignoring = (text: string) => async (openFixture: OpenFixture) => {
  const { fire } = await openFixture({ project: hooks('PreToolUse', [command(text)]) });
  expectVerdict(await fire('PreToolUse', bash(LARGE)), {});
};

/** Described, and not recorded: three megabytes that are never read. */
export const stdin: Group = {
  name: '45-stdin',
  cases: [
    { name: 'a hook that does not read it', run: ignoring('true') },
    { name: 'a hook that closes it', run: ignoring('exec 0<&-; sleep 0.05') },
  ],
};
