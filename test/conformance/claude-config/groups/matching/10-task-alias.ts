import { expect } from 'vitest';
import { call, command, type Group, hooks, records, type OpenFixture } from '../../fixture.ts';

const runsFor = (tool: string, matcher: string, fits: boolean) => async (openFixture: OpenFixture) => {
  const { fire, recorded } = await openFixture({
    project: hooks('PreToolUse', [command(records('ran.log'))], matcher),
  });
  await fire('PreToolUse', call(tool, { description: 'look', prompt: 'look around' }));
  expect(recorded('ran.log').map(({ payload }) => payload['tool_name'])).toEqual(
    fits ? ['Agent'] : [],
  );
};

/** Described, and not recorded: the tool is called Agent, and was called Task. */
export const taskAlias: Group = {
  name: '10-task-alias',
  cases: [
    { name: 'Task fits a call of Agent', run: runsFor('Agent', 'Task', true) },
    { name: '^Task$ fits a call of Agent', run: runsFor('Agent', '^Task$', true) },
    { name: 'Agent fits a call of Task', run: runsFor('Task', 'Agent', true) },
    { name: '^Task.$ fits neither', run: runsFor('Agent', '^Task.$', false) },
  ],
};
