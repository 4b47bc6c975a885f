import { expect, test } from 'vitest';
import { probeSandbox } from '../../../src/process/sandbox/probe.ts';

test('bubblewrap works here, and is found in the system’s directories', async () => {
  const probe = await probeSandbox({ platform: 'linux', path: '', untrusted: [], places: [] });
  expect(probe).toMatchObject({ works: true, launcher: 'bubblewrap' });
});

test('Windows has no sandbox, which is said', async () => {
  expect(await probeSandbox({ platform: 'win32', path: '', untrusted: [], places: [] })).toEqual({
    works: false,
    why: 'There is no sandbox for win32.',
    hint: null,
  });
});
