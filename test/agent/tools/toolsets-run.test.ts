import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { TOOLSETS, type Toolset } from '../../../src/agent/tools/toolsets.ts';
import type { ScriptTurn } from '../../../src/agent/models/scripted.ts';
import { createAgentFixture } from '../agent-fixture.ts';
import { calls, createModelRecorder } from '../scripted-session.ts';

async function play(toolset: Toolset, turns: readonly ScriptTurn[]) {
  const fixture = createAgentFixture();
  fixture.write('sub/keep', '');
  const hook = { type: 'command', command: 'cat >> "$LOG"; echo >> "$LOG"' };
  const hooks = { PreToolUse: [{ matcher: 'Write', hooks: [hook] }] };
  fixture.write('~/.claude/settings.json', JSON.stringify({ hooks }));
  const recorder = createModelRecorder([...turns, { text: 'Done.' }]);
  const host = await fixture.open({
    model: recorder.model,
    toolset,
    permissionMode: 'bypassPermissions',
  });
  await host.start({ prompt: 'go' });
  return { fixture, recorder };
}

it.each(TOOLSETS)('subscribers get the same tool names as the model: %s', async (toolset) => {
  const { fixture, recorder } = await play(toolset, []);
  const reports = fixture.runtimeEvents.flatMap((event) =>
    event.type === 'session-start' ? event.tools : [],
  );
  expect(reports).toEqual(recorder.requests[0]?.tools.map(({ name }) => name));
});

it('a classic call is relative to the workspace’s root after cd, for hooks and for the tool', async () => {
  const { fixture } = await play('cline-classic', [
    calls(['execute_command', { command: 'cd sub', requires_approval: false }]),
    calls(['write_to_file', { path: 'made.txt', content: 'x' }]),
  ]);
  const file = path.join(fixture.workspace, 'made.txt');
  expect(JSON.parse(fixture.log()[0] ?? '')).toMatchObject({
    cwd: path.join(fixture.workspace, 'sub'),
    tool_input: { file_path: file },
  });
  expect(readFileSync(file, 'utf8')).toBe('x');
});
