import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from '../temp-workspace.ts';

const IMPORT = ['hooks', 'import', '--from', 'claude'];

function targetOf({ repo }: TempWorkspace): string {
  return path.join(repo, '.cline', 'hooks.json');
}

function command(text: string, more: object = {}): object {
  return { type: 'command', command: text, ...more };
}

function settings(hooks: object, more: object = {}): string {
  return JSON.stringify({ hooks, ...more }, null, 2);
}

describe('hooks import --from claude', () => {
  it('reports what would differ, and writes nothing with --dry-run', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': settings(
        {
          PreToolUse: [
            { matcher: 'Edit|Write', hooks: [command('./guard.sh')] },
            { matcher: '.*file.*', hooks: [command('/home/somebody/guard.sh')] },
            { matcher: 'Bash', hooks: [command('true', { timeout: 10_000 }), { type: 'comand' }] },
          ],
          Stop: [{ hooks: [{ type: 'prompt', prompt: 'Is it done?' }] }],
          TeammateIdle: [{ hooks: [command('true')] }],
          SessionEnd: [{ hooks: [command('"${CLAUDE_PLUGIN_ROOT}"/x.sh')] }],
          PreTolUse: [],
        },
        { env: { A: 'b' }, disableAllHooks: true },
      ),
      '.claude/settings.local.json': settings({ Stop: [{ hooks: [command('date')] }] }),
    });
    const [result, readable] = await Promise.all([
      runHookline([...IMPORT, '--dry-run', '--json'], at(workspace)),
      runHookline([...IMPORT, '--dry-run'], at(workspace)),
    ]);
    const report = jsonOf(result);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(targetOf(workspace))).toBe(false);
    expect(report).toMatchObject({ to: targetOf(workspace), written: false, present: [] });
    const differs = Object.fromEntries(
      report.added.map((each: { runs: string; differs: string[] }) => [each.runs, each.differs]),
    );
    expect(differs).toEqual({
      './guard.sh': [],
      '/home/somebody/guard.sh': [
        expect.stringMatching(/^matcher "\.\*file\.\*" will also match read_file, .*write_to_file/),
        'names /home/somebody/guard.sh, which only this machine has',
      ],
      true: ['TeammateIdle never fires here: there are no teams of agents'],
      'Is it done?': [expect.stringContaining('needs a model')],
      '"${CLAUDE_PLUGIN_ROOT}"/x.sh': [
        expect.stringContaining('names ${CLAUDE_PLUGIN_ROOT}, which only hooks of a plugin have'),
      ],
      date: [expect.stringContaining('settings.local.json is yours alone')],
    });
    expect(report.leftOut.map(({ why }: { why: string }) => why)).toEqual([
      expect.stringContaining('"type": expected "command"'),
      expect.stringContaining('event "PreTolUse" not found'),
    ]);
    expect(report.notes).toEqual([
      expect.stringContaining('"disableAllHooks": true, which is not copied'),
      expect.stringContaining('"env" of'),
      'Both files may stay: a hook that is in both runs once.',
    ]);
    expect(readable.stdout).toContain('timeout 10000 is read as milliseconds');
    expect(readable.stdout).toMatch(/left out: \.claude\/settings\.json:\d+: "type": expected/);
  });

  it('merges with what is there, without duplicates, and asks before it writes', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': settings({
        Stop: [{ hooks: [command('true'), command('date')] }],
      }),
      '.cline/hooks.json': `{
  // ours
  "hooks": { "Stop": [{ "hooks": [{ "command": "true", "type": "command" }] }] }
}
`,
    });
    const before = readFileSync(targetOf(workspace), 'utf8');
    const refused = await runHookline(IMPORT, at(workspace));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('cannot ask without a terminal: Write 1 hook to');
    expect(readFileSync(targetOf(workspace), 'utf8')).toBe(before);

    const importResult = await runHookline([...IMPORT, '--yes'], at(workspace));
    expect(importResult.code).toBe(0);
    expect(importResult.stdout).toContain('already there: Stop: command true');
    const text = readFileSync(targetOf(workspace), 'utf8');
    expect(text).toMatch(/^\{\n {2}\/\/ ours\n/);
    expect(text.match(/"command": "/g)).toHaveLength(2);

    const again = await runHookline([...IMPORT, '--yes', '--json'], at(workspace));
    expect(jsonOf(again)).toMatchObject({ added: [], written: false, present: [{}, {}] });
    expect(readFileSync(targetOf(workspace), 'utf8')).toBe(text);
  });

  it('runs a hook once that stands in both files, and keeps its trust', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': settings({ Stop: [{ hooks: [command('.claude/hooks/a.sh')] }] }),
      '.claude/hooks/a.sh': '#!/bin/sh\nexit 0\n',
    });
    trust(workspace);
    const importResult = await runHookline([...IMPORT, '--yes'], at(workspace));
    expect(importResult).toMatchObject({ code: 0, stderr: '' });
    const { outcomes, skipped } = jsonOf(
      await runHookline(['hooks', 'fire', 'Stop', '--json'], at(workspace)),
    );
    expect(outcomes).toMatchObject([{ status: 'decided', exitCode: 0 }]);
    expect(skipped).toHaveLength(1);
    expect(skipped[0].why).not.toContain('trusted');
  });

  it('notes where the copy runs and what its project directory is when the session starts below', async () => {
    const file = settings({ Stop: [{ hooks: [command('"$CLAUDE_PROJECT_DIR"/a.sh')] }] });
    const workspace = createTempWorkspace({ 'app/.claude/settings.json': file });
    const app = path.join(workspace.repo, 'app');
    const { notes } = jsonOf(
      await runHookline([...IMPORT, '--dry-run', '--json'], at(workspace, { cwd: app })),
    );
    expect(notes).toEqual([
      `.claude counts for sessions that start in ${app}, .cline/hooks.json for all in ${workspace.repo}: a hook that is in both runs twice in the former, so keep it in one`,
      `CLAUDE_PROJECT_DIR is ${workspace.repo} for .cline/hooks.json, but ${app} for .claude/settings.json: what hooks name through it is looked for there after the copy`,
    ]);
  });

  it('copies an untrusted hook without trusting it, and says so', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': settings({ Stop: [{ hooks: [command('true')] }] }),
    });
    const { code, stderr } = await runHookline([...IMPORT, '--yes'], at(workspace));
    expect(code).toBe(0);
    expect(stderr).toBe('note: 1 hook there must be trusted first: `hookline trust`\n');
  });

  it('notes that a hook which is switched off would be on', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': settings({ Stop: [{ hooks: [command('true')] }] }),
    });
    await runHookline(['hooks', 'disable', 'claude:project:Stop:true'], at(workspace));
    const report = jsonOf(await runHookline([...IMPORT, '--dry-run', '--json'], at(workspace)));
    expect(report.added[0].differs).toEqual(['is disabled; the copy has another id and is not']);
  });

  it('copies the user’s own with --global, or to a file that is named', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      '.claude/settings.json',
      settings({ Stop: [{ hooks: [command('true')] }] }),
    );
    const own = await runHookline([...IMPORT, '--global', '--yes', '--json'], at(workspace));
    expect(jsonOf(own)).toMatchObject({
      to: path.join(workspace.home, '.cline', 'hooks.json'),
      written: true,
    });
    const namedResult = await runHookline(
      [...IMPORT, '--global', '--yes', '--to', 'other.json'],
      at(workspace),
    );
    expect(namedResult.stdout).toContain(
      `pass ${path.join(workspace.repo, 'other.json')} with --settings`,
    );
    expect(existsSync(path.join(workspace.repo, 'other.json'))).toBe(true);
  });

  it('copies what Claude Code would not read, with the command that the list names', async () => {
    const stop = settings({ Stop: [{ hooks: [command('true')] }] });
    const workspace = createTempWorkspace({ '.claude/hooks.json': stop });
    write(workspace.home, '.claude/hooks.json', stop);
    const listed = await runHookline(['hooks', 'list'], at(workspace));
    expect(listed.stdout).toContain('copy its hooks with `hookline hooks import --from claude`');
    const copied = await runHookline([...IMPORT, '--yes', '--json'], at(workspace));
    expect(jsonOf(copied)).toMatchObject({
      from: [path.join(workspace.repo, '.claude', 'hooks.json')],
      added: [{ event: 'Stop', runs: 'true' }],
      written: true,
    });
    const own = await runHookline([...IMPORT, '--global', '--yes', '--json'], at(workspace));
    expect(jsonOf(own)).toMatchObject({ added: [{ event: 'Stop' }], written: true });
  });

  it.each([
    ['is no JSON', '{bad'],
    ['has its events outside of "hooks"', '{"PreToolUse": []}'],
  ])('exits 1 when a file %s, so that no hook of it can be copied', async (_, text) => {
    const workspace = createTempWorkspace({ '.claude/hooks.json': text });
    const { code, stdout } = await runHookline(IMPORT, at(workspace));
    expect(code).toBe(1);
    expect(stdout).toContain('left out: .claude/hooks.json:1:');
  });

  it('says what is missing', async () => {
    const workspace = createTempWorkspace();
    const [nothing, nobody] = await Promise.all([
      runHookline(IMPORT, at(workspace)),
      runHookline(['hooks', 'import'], at(workspace)),
    ]);
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain(
      `nothing to import: ${path.join(workspace.repo, '.claude', 'settings.json')} or`,
    );
    expect(nobody).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Use --from claude.'),
    });
  });
});
