import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { answering, at, createTempWorkspace, GLOBAL_HOOKS, write } from './temp-workspace.ts';

const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash'];
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

function hooksText(command: string): string {
  return JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });
}

describe('--settings', () => {
  it('accepts a file or the JSON itself', async () => {
    const workspace = createTempWorkspace();
    const text = hooksText('echo no >&2; exit 2');
    const file = write(workspace.home, 'more.json', text);
    const results = await Promise.all(
      [file, text].map((input) =>
        runHookline([...FIRE, '--json', '--settings', input], at(workspace)),
      ),
    );
    for (const result of results) {
      expect(result.code).toBe(1);
      expect(jsonOf(result)).toMatchObject({
        effect: 'deny',
        reasons: [{ text: expect.stringContaining('no') }],
      });
    }
  });

  it.each([
    ['a file that is not there', 'absent.json', '"absent.json" does not exist'],
    ['a directory', '.', '"." cannot be read'],
    ['JSON that is broken', '{bad', 'the argument, line 1: expected JSON, found'],
    ['a file that is broken', 'broken.json', '"broken.json", line 1: expected'],
    ['a file without an object', 'list.json', 'expected an object with "hooks", found'],
  ])('refuses %s, before anything runs', async (_, input, problem) => {
    const workspace = createTempWorkspace({ 'broken.json': '{"hooks": ', 'list.json': '[]' });
    for (const args of [FIRE, ['hooks', 'list']]) {
      const result = await runHookline([...args, '--settings', input], at(workspace));
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(/^hookline: --settings must /);
      expect(result.stderr).toContain(problem);
    }
  });

  it('finds a file from where --cwd leads', async () => {
    const workspace = createTempWorkspace({ 'below/more.json': hooksText('exit 2') });
    const args = [...FIRE, '--cwd', 'below', '--settings', 'more.json', '--json'];
    expect(jsonOf(await runHookline(args, at(workspace))).skipped).toMatchObject([
      { hook: 'claude:flag:PreToolUse:exit' },
    ]);
  });
});

describe('--plugin-dir', () => {
  it('runs the hooks of every plugin that is named, with its root', async () => {
    const workspace = createTempWorkspace();
    for (const name of ['one', 'two']) {
      write(
        workspace.home,
        `${name}/hooks/hooks.json`,
        hooksText('"${CLAUDE_PLUGIN_ROOT}"/say.sh'),
      );
      write(workspace.home, `${name}/say.sh`, `#!/bin/sh\necho "${name} says no" >&2\nexit 2\n`);
    }
    const dirs = ['one', 'two'].flatMap((name) => ['--plugin-dir', `../home/${name}`]);
    const result = await runHookline([...FIRE, '--json', ...dirs], at(workspace));
    const reasons = jsonOf(result).reasons.map(({ text }: { text: string }) => text);
    expect(reasons).toEqual([
      expect.stringContaining('one says no'),
      expect.stringContaining('two says no'),
    ]);
  });
});

describe('--plugin-dir without a plugin', () => {
  it.each(['absent', 'file'])('is refused: %s', async (input) => {
    const workspace = createTempWorkspace({ file: '' });
    const result = await runHookline([...FIRE, '--plugin-dir', input], at(workspace));
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(
      `--plugin-dir must be the directory of a plugin: "${input}" is not a directory`,
    );
  });
});

describe('--debug', () => {
  it('prints command, directory, payload, ending, output and time of every hook, to stderr', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, `${GLOBAL_HOOKS}/PreToolUse`, answering({ cancel: false }));
    write(
      workspace.home,
      '.claude/settings.json',
      hooksText(`cat > /dev/null; echo ${TOKEN}; echo careful >&2; exit 1`),
    );
    const run = (flags: readonly string[]) =>
      runHookline([...FIRE, ...flags, '--json'], at(workspace));
    const [debug, raw, plain] = await Promise.all([
      run(['--debug']),
      run(['--debug', '--raw']),
      run([]),
    ]);
    expect(jsonOf(debug)).toMatchObject({ event: 'PreToolUse' });
    const text = debug.stderr;
    expect(text).toMatch(/^debug cline:global:PreToolUse: exit code 0 after [\d.]+ ms$/m);
    expect(text).toMatch(/^debug claude:user:PreToolUse:cat: exit code 1 after [\d.]+ ms$/m);
    expect(text).toContain(`  in       ${workspace.repo}\n`);
    expect(text).toMatch(/^ {2}payload {2}\{"session_id":.*"tool_name":"Bash"/m);
    expect(text).toMatch(/^ {2}stderr {3}careful$/m);
    expect(text).toMatch(/^ {2}stderr {3}\(nothing\)$/m);
    expect(text).not.toContain(TOKEN);
    expect(raw.stderr).toContain(`  stdout   ${TOKEN}\n`);
    expect(plain.stderr).not.toContain('debug');
  });

  it('prints nothing where no hook ran', async () => {
    const workspace = createTempWorkspace();
    const { stderr } = await runHookline(['hooks', 'list', '--debug'], at(workspace));
    expect(stderr).toBe('');
  });
});

describe('--as claude', () => {
  it('fires what Claude Code would have written to a hook', async () => {
    const workspace = createTempWorkspace();
    const payload = {
      session_id: 's',
      transcript_path: '/x.jsonl',
      cwd: workspace.repo,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 't',
    };
    write(workspace.repo, 'payload.json', JSON.stringify(payload));
    write(
      workspace.home,
      '.claude/settings.json',
      hooksText('grep -q \'"command":"ls"\' && exit 2'),
    );
    const fired = await runHookline(
      ['hooks', 'fire', '--payload', 'payload.json', '--as', 'claude', '--json'],
      at(workspace),
    );
    expect(jsonOf(fired)).toMatchObject({ event: 'PreToolUse', effect: 'deny' });
  });
});
