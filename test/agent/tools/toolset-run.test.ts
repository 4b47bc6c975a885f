import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { TOOLSETS, type Toolset } from '../../../src/agent/tools/toolsets.ts';
import type { ScriptTurn } from '../../../src/agent/models/scripted.ts';
import { createAgentFixture } from '../agent-fixture.ts';
import { calls, createModelRecorder } from '../scripted-session.ts';

async function play(toolset: Toolset, turns: readonly ScriptTurn[]) {
  const stage = createAgentFixture();
  stage.write('sub/keep', '');
  const hook = { type: 'command', command: 'cat >> "$LOG"; echo >> "$LOG"' };
  const hooks = { PreToolUse: [{ matcher: 'Write', hooks: [hook] }] };
  stage.write('~/.claude/settings.json', JSON.stringify({ hooks }));
  const spoken = createModelRecorder([...turns, { text: 'Done.' }]);
  const host = await stage.open({
    model: spoken.model,
    toolset,
    permissionMode: 'bypassPermissions',
  });
  await host.start({ prompt: 'go' });
  return { stage, spoken };
}

it.each(TOOLSETS)('subscribers get the same tool names as the model: %s', async (toolset) => {
  const { stage, spoken } = await play(toolset, []);
  const told = stage.runtimeEvents.flatMap((event) =>
    event.type === 'session-start' ? event.tools : [],
  );
  expect(told).toEqual(spoken.requests[0]?.tools.map(({ name }) => name));
});

it('a classic call is relative to the workspace’s root after cd, for hooks and for the tool', async () => {
  const { stage } = await play('cline-classic', [
    calls(['execute_command', { command: 'cd sub', requires_approval: false }]),
    calls(['write_to_file', { path: 'made.txt', content: 'x' }]),
  ]);
  const file = path.join(stage.workspace, 'made.txt');
  expect(JSON.parse(stage.log()[0] ?? '')).toMatchObject({
    cwd: path.join(stage.workspace, 'sub'),
    tool_input: { file_path: file },
  });
  expect(readFileSync(file, 'utf8')).toBe('x');
});
