import { describe, expect, it } from 'vitest';
import { runHookline } from './hookline.ts';
import { at, createTempWorkspace, GLOBAL_HOOKS, write } from './temp-workspace.ts';

describe('`run` with a slow hook', () => {
  it.each(['text', 'json'])(
    'names it while it waits, and the slowest with its time afterwards, with --output %s',
    async (format) => {
      const workspace = createTempWorkspace({
        'script.json': JSON.stringify([
          { tools: [{ name: 'Bash', input: { command: 'true' } }] },
          { tools: [{ name: 'Bash', input: { command: 'true # again' } }] },
          { text: 'done' },
        ]),
      });
      write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, '#!/bin/sh\nsleep 1.5\necho "{}"\n');
      write(workspace.home, `${GLOBAL_HOOKS}/PostToolUse`, '#!/bin/sh\necho "{}"\n');
      const { stderr } = await runHookline(
        ['run', '--script', 'script.json', '--permission-mode', 'bypassPermissions'].concat([
          '--output',
          format,
          'go',
        ]),
        at(workspace),
      );
      const notes = stderr.split('\n').filter((line) => line.includes('PreToolUse'));
      expect(notes).toEqual([
        'note: waiting for cline:global:PreToolUse …',
        expect.stringMatching(
          /^note: the slowest hook was cline:global:PreToolUse at PreToolUse: \d+(?:\.\d+)? s$/,
        ),
      ]);
      expect(stderr).not.toContain('PostToolUse');
    },
  );

  it('names none when all are fast', async () => {
    const workspace = createTempWorkspace({ 'script.json': '[{ "text": "done" }]' });
    write(workspace.home, `${GLOBAL_HOOKS}/TaskStart`, '#!/bin/sh\necho "{}"\n');
    const { stderr } = await runHookline(['run', '--script', 'script.json', 'go'], at(workspace));
    expect(stderr).not.toMatch(/waiting|slowest/);
  });
});
