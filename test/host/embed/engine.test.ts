import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clineFiles, createHookEngine } from '../../../src/hooks.ts';
import { write } from '../../base/directory.ts';
import { deciding } from '../../hooks/handlers.ts';
import { answering, createPlaces, HOOKS } from '../places.ts';

test('five lines add a hook point to an agent of one’s own', async () => {
  const { surroundings, root } = createPlaces({
    [`ws/${HOOKS}/PreToolUse.mjs`]: answering({ cancel: true, errorMessage: 'no' }),
  });
  const engine = createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root], trust: 'all' })],
    moment: { cwd: root, workspaceRoots: [root] },
  });
  onTestFinished(() => engine.close());
  const tool = { callId: '1', name: 'Bash', input: { command: 'ls' } };
  const verdict = await engine.dispatch({ name: 'PreToolUse', tool });
  expect(verdict).toMatchObject({ effect: 'deny', reasons: [{ text: 'no' }] });
});

test('files and handlers of one’s own run side by side; trust is the default', async () => {
  const { surroundings, root } = createPlaces({ [`ws/${HOOKS}/TaskStart.mjs`]: answering({}) });
  const own = deciding('own', { context: 'hello' }, { event: 'TaskStart' });
  const engine = createHookEngine({
    sources: [clineFiles({ surroundings, roots: [root] }), { handlers: () => [own] }],
  });
  onTestFinished(() => engine.close());
  write(path.join(root, HOOKS, 'TaskCancel.mjs'), '');
  expect(await engine.dispatch({ name: 'TaskStart', prompt: 'p' })).toMatchObject({
    context: [{ hook: 'own', text: 'hello' }],
    skipped: [
      { hook: 'cline:workspace:TaskStart.mjs', why: expect.stringMatching(/^untrusted: /) },
    ],
  });
});
