import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answers, call, createSdkFixture, DONE, hooksOf, type SdkFixture } from '../sdk-fixture.ts';

/** Puts files into the workspace; hooks among them can be run. */
function write({ workspace }: SdkFixture, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(workspace, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
}

const DENYING = `#!/bin/sh
grep -q forbidden && echo '{"cancel":true,"errorMessage":"the file hook says no"}' || echo '{}'
`;

describe('hooks of the workspace, in a session of the SDK', () => {
  it('run beside those of plugins, once they are trusted', async () => {
    const records: unknown[] = [];
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo forbidden'] }),
      call('run_commands', { commands: ['echo fine'] }),
      DONE,
    ]);
    write(fixture, { '.clinerules/hooks/PreToolUse': DENYING });
    const extensions = [hooksOf({ beforeTool: ({ input }) => void records.push(input) })];
    await fixture.start({ trust: 'all', extensions });
    expect(answers(fixture)).toEqual(['PreToolUse:Bash hook error: the file hook says no', 'fine']);
    expect(records).toEqual([{ commands: ['echo forbidden'] }, { commands: ['echo fine'] }]);
  });

  it('make a denial the error of a hook, also when a plugin denies the same call', async () => {
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo forbidden'] }),
      call('run_commands', { commands: ['echo fine'] }),
      DONE,
    ]);
    write(fixture, { '.clinerules/hooks/PreToolUse': DENYING });
    const extensions = [hooksOf({ beforeTool: () => ({ skip: true, reason: 'the plugin too' }) })];
    await fixture.start({ trust: 'all', extensions });
    expect(answers(fixture)).toEqual([
      'PreToolUse:Bash hook error: the file hook says no\nthe plugin too',
      // Only the plugin denies this one, so its reason is the result.
      '{"error":"the plugin too"}',
    ]);
  });

  it('do not run when they are not trusted, which is reported', async () => {
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo forbidden'] }),
      DONE,
    ]);
    write(fixture, { '.clinerules/hooks/PreToolUse': DENYING });
    await fixture.start();
    expect(answers(fixture)).toEqual(['forbidden']);
    expect(fixture.agentEvents()).toContainEqual({
      type: 'notice',
      noticeType: 'status',
      displayRole: 'status',
      message:
        'the hook cline:workspace:PreToolUse of PreToolUse does not run: untrusted: it was never trusted here',
    });
  });

  it('may refuse another model', async () => {
    const fixture = await createSdkFixture([DONE]);
    const command = 'echo keep it >&2; exit 2';
    const hooks = { PreModelSwitch: [{ hooks: [{ type: 'command', command }] }] };
    write(fixture, { '.claude/settings.json': JSON.stringify({ hooks }) });
    const { sessionId } = await fixture.start({ trust: 'all' }, { interactive: true });
    await expect(fixture.core.updateSessionModel(sessionId, 'gpt-4.1')).rejects.toMatchObject({
      code: 'MODEL_REFUSED',
      message: expect.stringContaining('keep it'),
    });
    expect((await fixture.core.get(sessionId))?.model).toBe('gpt-4o');
  });
});
