import { expect, test } from 'vitest';
import { createTempWorkspace } from '../../src/testing/temp-workspace.ts';
import { createDirectory, surroundingsWith } from './case-fixture.ts';

const HIDDEN = [
  'CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS',
  'CLAUDE_CODE_SHELL_PREFIX',
  'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
  'CLAUDE_CONFIG_DIR',
  'CLINE_DIR',
  'CLINE_HOOKS_DIR',
  'CLINE_USER_ID',
  'CLINE_VERSION',
  'HOOKLINE_HOME',
  'HOOKLINE_HOOKS',
  'HOOKLINE_SESSION',
  'HOOK_EXECUTION_TIMEOUT_MS',
  'MAX_CONTEXT_MODIFICATION_SIZE',
  'OneDrive',
  'XDG_CONFIG_HOME',
];
const INHERITED = [
  'CLAUDE_PROJECT_DIR',
  'CLINE_DATA_DIR',
  'CLINE_GLOBAL_SETTINGS_PATH',
  'CLINE_MCP_SETTINGS_PATH',
  'HOOKLINE_MODEL',
  'HOOKLINE_PROVIDER',
  'LANG',
  'MCP_TIMEOUT',
  'PATH',
  'USER',
];

test('a case inherits no variable that exposes the hooks and settings of the machine', async () => {
  const env = Object.fromEntries([...HIDDEN, ...INHERITED].map((name) => [name, 'x']));
  const surroundings = { ...surroundingsWith(createDirectory()), env };
  const workspace = await createTempWorkspace({ home: null, roots: [] }, surroundings);
  await workspace.remove();
  const names = Object.keys(workspace.surroundings.env);
  expect(names.toSorted()).toEqual([...INHERITED, 'HOME', 'USERPROFILE'].toSorted());
});
