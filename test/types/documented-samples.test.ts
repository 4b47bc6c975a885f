import { expect, it } from 'vitest';
import { MODULES, sample } from '../plugins/author/documented-plugins.ts';
import { problemsIn } from './compile.ts';

it('every sample of Cline’s documentation fits our declarations, without any change', () => {
  const modules = Object.entries(MODULES).map(([name, text]) => [name, text()]);
  const problems = problemsIn({
    ...Object.fromEntries(modules),
    'my-plugin.ts': sample('smallest-plugin'),
    'host-start.ts': sample('host-start'),
    'test/unit-test.ts': sample('unit-test'),
  });
  expect(problems).toEqual([]);
});

it('what does not fit is refused', () => {
  const wrong = sample('smallest-plugin').replace(
    'capabilities: ["tools"]',
    'capabilities: ["tool"]',
  );
  expect(problemsIn({ 'wrong.ts': wrong })).toEqual([
    expect.stringMatching(/^wrong\.ts\(6,\d+\): error .*'"tool"' is not assignable/u),
  ]);
});
