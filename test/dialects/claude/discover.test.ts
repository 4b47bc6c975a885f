import { expect, test } from 'vitest';
import { createTempWorkspace, hostIn } from '../../host/temp-workspace.ts';

const HOOKS = JSON.stringify({
  hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
});
const MARKDOWN = `---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: 'true'\n---\n`;

// One at a time: places where nothing lies are left alone, and none may be left alone by mistake.
test.each([
  ['home/.claude/settings.json', HOOKS],
  ['home/.cline/hooks.json', HOOKS],
  ['home/.claude/skills/x/SKILL.md', MARKDOWN],
  ['home/.claude/agents/x.md', MARKDOWN],
  ['ws/.claude/settings.json', HOOKS],
  ['ws/.claude/settings.local.json', HOOKS],
  ['ws/.cline/hooks.json', HOOKS],
  ['ws/.claude/skills/x/SKILL.md', MARKDOWN],
  ['ws/.claude/agents/x.md', MARKDOWN],
])('%s alone is found', async (file, text) => {
  const host = await hostIn(createTempWorkspace({ [file]: text }));
  expect(host.hooks()).toHaveLength(1);
});

test.each([
  'home/.claude/hooks.json',
  'home/.claude/hooks/hooks.json',
  'home/.claude/settings.local.json',
  'ws/.claude/hooks.json',
  'ws/hooks/hooks.json',
])('%s alone is reported as not read', async (file) => {
  const host = await hostIn(createTempWorkspace({ [file]: HOOKS }));
  expect(host.ignored()).toMatchObject([{ why: expect.stringContaining('is not read') }]);
});
