import { afterAll, describe, it } from 'vitest';
import { HOST_GROUPS } from './claude-host/groups/index.ts';
import { removeWorkspaces } from './claude-host/play.ts';

afterAll(removeWorkspaces);

describe.each(HOST_GROUPS)('an agent with the hooks of $name', ({ cases }) => {
  for (const { name, run } of cases) {
    it.concurrent(name, async ({ expect }) => {
      // Assertions of the global `expect` are counted for any of the tests that run side by side.
      expect(await run().then(() => 'passed')).toBe('passed');
    });
  }
});
