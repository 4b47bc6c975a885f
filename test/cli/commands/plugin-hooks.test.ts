import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from '../temp-workspace.ts';

const GUARD_FILE = '.cline/plugins/guard.ts';

/** Denies every command, prints while it is imported, and writes a file when it is disposed of. */
const GUARD = `
import { writeFileSync } from 'node:fs';
console.log('imported');
setInterval(() => undefined, 1000);
export default {
  name: 'guard',
  manifest: { capabilities: ['hooks'] },
  setup(_api, ctx) {
    writeFileSync('pid.txt', String(process.pid));
    ctx.onDispose(() => writeFileSync('disposed.txt', ctx.session.sessionId));
  },
  hooks: {
    beforeTool({ toolCall, tool }) {
      if (toolCall.toolName !== 'run_commands') return undefined;
      return { stop: true, reason: 'no commands: ' + tool.name };
    },
  },
};
`;

const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls"}'];
const EXPLAIN = ['hooks', 'explain', 'PreToolUse', '--tool', 'Bash'];
const HOOK = 'plugin:guard:beforeTool';

function createTrustedWorkspace(
  files: Readonly<Record<string, string>> = { [GUARD_FILE]: GUARD },
): TempWorkspace {
  const workspace = createTempWorkspace(files);
  trust(workspace);
  return workspace;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('hooks fire', () => {
  it('asks the hooks of trusted plugins, and ends the plugins afterwards', async () => {
    const workspace = createTrustedWorkspace();
    const result = await runHookline([...FIRE, '--json'], at(workspace));
    expect(result.code).toBe(1);
    expect(jsonOf(result)).toMatchObject({
      outcomes: [{ hook: HOOK, status: 'decided' }],
      reasons: [{ hook: HOOK, text: 'no commands: run_commands' }],
    });
    expect(existsSync(path.join(workspace.repo, 'disposed.txt'))).toBe(true);
  });

  it('ends the processes of isolated plugins', async () => {
    const workspace = createTrustedWorkspace();
    write(workspace.home, '.hookline/config.json', '{"plugins.isolation":"process"}');
    const result = await runHookline([...FIRE, '--json'], at(workspace));
    expect(jsonOf(result)).toMatchObject({ outcomes: [{ hook: HOOK, status: 'decided' }] });
    const pid = Number(readFileSync(path.join(workspace.repo, 'pid.txt'), 'utf8'));
    expect(isAlive(pid)).toBe(false);
  });

  it('leaves plugins out with --no-load', async () => {
    const workspace = createTrustedWorkspace();
    const result = await runHookline([...FIRE, '--no-load', '--json'], at(workspace));
    expect(result.code).toBe(0);
    expect(jsonOf(result)).toMatchObject({ effect: 'pass', outcomes: [] });
    expect(result.stderr).toBe('note: hooks of 1 plugin are left out (--no-load)\n');
    expect(existsSync(path.join(workspace.repo, 'pid.txt'))).toBe(false);
  });

  it('does not load plugins for events that they have no hooks for', async () => {
    const workspace = createTrustedWorkspace();
    const result = await runHookline(['hooks', 'fire', 'Notification'], at(workspace));
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(path.join(workspace.repo, 'pid.txt'))).toBe(false);
  });

  it('loads no plugin that is not trusted, and says so', async () => {
    const workspace = createTempWorkspace({ [GUARD_FILE]: GUARD });
    const result = await runHookline([...FIRE, '--json'], at(workspace));
    expect(result.code).toBe(0);
    const why = expect.stringMatching(/^untrusted: /u);
    expect(jsonOf(result)).toMatchObject({
      outcomes: [],
      skipped: [{ hook: 'plugin:workspace:guard', kind: 'withheld', why }],
    });
    expect(result.stderr).toContain('note: plugin guard: it is not loaded');
    expect((await runHookline([...FIRE, '--strict'], at(workspace))).code).toBe(3);
    expect(existsSync(path.join(workspace.repo, 'pid.txt'))).toBe(false);
  });

  it('reports a plugin that does not load, which is a failure with --strict', async () => {
    const workspace = createTrustedWorkspace({
      [GUARD_FILE]: `throw new TypeError('broken');${GUARD}`,
    });
    const plain = await runHookline([...FIRE, '--json'], at(workspace));
    expect(plain.code).toBe(0);
    expect(plain.stderr).toContain('note: plugin guard: it is not loaded');
    expect((await runHookline([...FIRE, '--strict'], at(workspace))).code).toBe(3);
  });
});

describe('hooks explain', () => {
  it('includes the hooks of trusted plugins, and ends the plugins afterwards', async () => {
    const workspace = createTrustedWorkspace();
    const result = await runHookline([...EXPLAIN, '--json'], at(workspace));
    expect(jsonOf(result)).toMatchObject({ runs: [{ hook: HOOK, source: 'the plugin guard' }] });
    expect(existsSync(path.join(workspace.repo, 'disposed.txt'))).toBe(true);
  });

  it('leaves plugins out with --no-load', async () => {
    const workspace = createTrustedWorkspace();
    const result = await runHookline([...EXPLAIN, '--no-load', '--json'], at(workspace));
    expect(jsonOf(result)).toMatchObject({ runs: [], skipped: [] });
    expect(existsSync(path.join(workspace.repo, 'pid.txt'))).toBe(false);
  });
});
