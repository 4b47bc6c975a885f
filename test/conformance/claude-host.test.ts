import { afterAll, describe, it } from 'vitest';
import { HOST_GROUPS } from './claude-host/groups/index.ts';
import { clearPlaces } from './claude-host/play.ts';

afterAll(clearPlaces);

describe.each(HOST_GROUPS)('an agent with the hooks of $name', ({ cases }) => {
  for (const { name, run } of cases) it.concurrent(name, run);
});
