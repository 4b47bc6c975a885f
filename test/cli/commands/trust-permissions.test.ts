import path from 'node:path';
import { expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import { at, createTempWorkspace, trust, write } from '../temp-workspace.ts';

const SETTINGS = '.claude/settings.json';
const UNIT = 'claude:project:permissions';

function allowing(...allow: readonly string[]): string {
  return JSON.stringify({ permissions: { allow, deny: ['Read(./.env)'] } });
}

it('what settings of the repository allow is listed as something to be trusted', async () => {
  const workspace = createTempWorkspace({ [SETTINGS]: allowing('Bash(npm test)') });
  const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
  expect(stdout).toBe(`HOOK                        EVENT        STATE
${UNIT}  permissions  untrusted
  .claude/settings.json:1 · permissions allow Bash(npm test)
  it was never trusted here

1 hook needs review: run \`hookline trust\`
`);
});

it('settings that only forbid need no trust', async () => {
  const workspace = createTempWorkspace({ [SETTINGS]: allowing() });
  const result = await runHookline(['trust'], at(workspace));
  expect([result.stdout, result.code]).toEqual(['No hooks to trust in this workspace.\n', 0]);
});

it('trust shows what would be allowed before it asks', async () => {
  const workspace = createTempWorkspace({ [SETTINGS]: allowing('Bash(npm test)') });
  const { stdout, stderr, code } = await runHookline(['trust'], at(workspace));
  expect([stdout, stderr, code]).toEqual([
    `${UNIT}  untrusted: it was never trusted here
  file      ${path.join(workspace.repo, SETTINGS)}:1
  allows    calls of the agent without asking you
  binds     this entry
  not bound the effects of the commands it allows
  │ {
  │   "permissions": {
  │     "allow": [
  │       "Bash(npm test)"
  │     ]
  │   },
  │   "source": "project"
  │ }

`,
    expect.stringContaining('Trust permissions from 1 settings file?'),
    expect.any(Number),
  ]);
});

it('trust holds until what is allowed changes', async () => {
  const workspace = createTempWorkspace({ [SETTINGS]: allowing('Bash(npm test)') });
  trust(workspace);
  const state = async () => {
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    return hooks;
  };
  const before = await state();
  write(workspace.repo, SETTINGS, allowing('Bash(npm test)', 'Bash'));
  const after = await state();
  expect([before, after]).toMatchObject([
    [{ id: UNIT, state: 'ready', trustedBy: 'record', notBound: [] }],
    [{ id: UNIT, state: 'modified', trustedBy: null }],
  ]);
});
