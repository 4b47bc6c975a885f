import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { environmentOf, hooklineProgram, jsonOf, resultOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  HOOKS,
  PRE_TOOL_USE,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { until } from '../process/programs.ts';
import {
  bash,
  DONE,
  errorOf,
  runScript,
  scripted,
  startScript,
  toolEnds,
  writeTask,
  written,
} from './agent-run.ts';

const FREE = ['--permission-mode', 'bypassPermissions'];
const STREAM = [...FREE, '--output', 'stream-json'];

/** A command whose text says nothing: what it does is in a program that no rule can read. */
function runFile(workspace: TempWorkspace, script: string) {
  writeTask(workspace.repo, script);
  return [bash('node task.cjs'), DONE];
}

function initGit({ repo }: TempWorkspace): void {
  execFileSync('git', ['init', '-q', '-b', 'main', '.'], { cwd: repo });
}

/** A socket that something listens on until the test ends. */
async function listenOn(file: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(file, resolve));
}

function textOf(end: unknown): string {
  return JSON.stringify(end);
}

describe('a command in the sandbox', () => {
  it('neither writes outside nor changes what decides what runs, and nothing is left', async () => {
    const workspace = createTempWorkspace();
    const before = readdirSync(workspace.repo).toSorted();
    const beside = path.join(workspace.directory, 'beside');
    const turns = runFile(
      workspace,
      `echo x > ${beside}; mkdir -p .claude .hookline .cline/hooks .clinerules/hooks
       for f in .claude/settings.json .mcp.json .hookline/config.json .cline/hooks/PreToolUse; do echo evil > $f; done
       rm -rf .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/commondir
       echo "$HOME"; echo evil > ~/.bashrc; echo fine > made.txt`,
    );
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(result)[0]).toMatchObject({ output: { sandbox: 'workspace', success: true } });
    expect(existsSync(beside)).toBe(false);
    expect(existsSync(path.join(workspace.home, '.bashrc'))).toBe(false);
    expect(readdirSync(workspace.repo).toSorted()).toEqual(
      [...before, 'made.txt', 'task.cjs'].toSorted(),
    );
    expect(
      JSON.stringify(readdirSync(path.join(workspace.repo, '.git'), { recursive: true })),
    ).not.toMatch(/pre-commit"|commondir/);
  });

  it('does not read what deny rules and the user hide, and a message names it', async () => {
    const workspace = createTempWorkspace({ '.env': 'TOKEN-A', 'keys/deep/x.pem': 'TOKEN-B' });
    write(workspace.home, '.ssh/id_ed25519', 'TOKEN-C');
    write(workspace.home, '.hookline/note', 'TOKEN-D');
    const turns = runFile(
      workspace,
      `cat .env keys/deep/x.pem ~/.ssh/id_ed25519 ~/.hookline/note; grep -rs TOKEN- . ~`,
    );
    const deny = ['--deny', 'Read(./.env)', '--deny', 'Read(**/*.pem)'];
    const result = await runScript(workspace, turns, ['go', ...STREAM, ...deny]);
    const [end] = toolEnds(result);
    expect(textOf(end)).not.toMatch(/TOKEN-[A-D]/);
    expect(errorOf(end)).toMatch(/It hides ~\/\.ssh.*dangerouslyDisableSandbox: true/);
  });

  it('reaches no socket outside of the workspace, and is not told of any', async () => {
    const workspace = createTempWorkspace();
    const places = ['agent', 'bus', 'own'].map((name) => path.join(workspace.directory, name));
    const inside = path.join(workspace.repo, 'dev.sock');
    for (const file of [...places, inside]) await listenOn(file);
    const [agent = '', bus = ''] = places;
    const connect = `import socket,sys
for f in sys.argv[1:]:
  try: socket.socket(socket.AF_UNIX).connect(f); print("reached", f)
  except OSError as e: print(e.strerror)`;
    write(workspace.repo, 'connect.py', connect);
    const turns = runFile(
      workspace,
      `python3 connect.py ${[...places, inside].join(' ')}; ls -A /run; env | grep -E 'SSH_AUTH_SOCK|DBUS|DISPLAY'; true`,
    );
    const env = {
      SSH_AUTH_SOCK: agent,
      DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}`,
      DISPLAY: ':0',
    };
    const result = await runScript(workspace, turns, ['go', ...STREAM], { env });
    expect(toolEnds(result)[0]).toMatchObject({
      output: { text: [...Array(3).fill('Permission denied'), `reached ${inside}`].join('\n') },
    });
  });

  it('asks with dangerouslyDisableSandbox, and is denied where nobody can be asked', async () => {
    const workspace = createTempWorkspace();
    const call = { command: 'echo out', dangerouslyDisableSandbox: true };
    const turns = [{ tools: [{ name: 'Bash', input: call }] }, DONE];
    const result = await runScript(workspace, turns, ['go', ...STREAM, '--allow', 'Bash']);
    const [end] = toolEnds(result);
    expect(end).toMatchObject({ deniedBy: 'nobody' });
    expect(errorOf(end)).toContain('outside of the sandbox');
  });

  it('leaves nothing when Hookline is killed, and ends with it', async () => {
    const workspace = createTempWorkspace();
    const before = readdirSync(workspace.repo).toSorted();
    const waiting = bash('echo x > started; sleep 3000 & wait');
    const child = startScript(workspace, [waiting, DONE], ['go', ...FREE]);
    await written(path.join(workspace.repo, 'started'));
    expect(readdirSync(workspace.repo)).toContain('.mcp.json');
    child.kill('SIGKILL');
    await until(() => !readdirSync(workspace.repo).includes('.mcp.json'));
    await until(
      () =>
        readdirSync(workspace.repo).toSorted().join() === [...before, 'started'].toSorted().join(),
    );
    await until(() => !findCommand(`sleep 3000`, workspace.repo));
  });

  it('goes on in the background and ends with the session, whatever it does', async () => {
    const workspace = createTempWorkspace();
    const turns = [
      bash(
        'nohup setsid sh -c "echo x > up; sleep 3001" >/dev/null 2>&1 & until [ -e up ]; do :; done',
      ),
      bash('pgrep -f "sleep 3001" || ls up'),
      DONE,
    ];
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(result)).toHaveLength(2);
    await until(() => !findCommand('sleep 3001', workspace.repo));
    expect(readdirSync(workspace.repo)).not.toContain('.mcp.json');
  });

  it('works as outside for git, a C build, npm and a virtual environment', async () => {
    const workspace = createTempWorkspace({
      'hello.c': '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n',
      'app/package.json': '{"name":"app","version":"1.0.0","scripts":{"test":"node -e 0"}}',
    });
    initGit(workspace);
    const turns = runFile(
      workspace,
      `set -e
       git -c user.name=a -c user.email=a@b add -A && git -c user.name=a -c user.email=a@b commit -qm one
       cc -o hello hello.c && ./hello
       (cd app && npm install --offline --no-audit --no-fund >/dev/null && npm ci --offline --no-audit --no-fund >/dev/null && npm test >/dev/null)
       python3 -m venv --without-pip venv && venv/bin/python -c 'print("in", "venv")'
       git log --oneline | wc -l`,
    );
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(textOf(toolEnds(result)[0])).toMatch(/built.*in venv.*1/);
  });

  it('commits in a worktree, whose main checkout keeps what steers git', async () => {
    const workspace = createTempWorkspace();
    initGit(workspace);
    const git = 'git -c user.name=a -c user.email=a@b';
    const setUp = runFile(
      workspace,
      `${git} add -A; ${git} commit -qm one; ${git} worktree add -q ../tree`,
    );
    await runScript(workspace, setUp, ['go', ...FREE, '--sandbox', 'off']);
    const tree = path.join(path.dirname(workspace.repo), 'tree');
    writeTask(
      tree,
      `echo 2 > two; ${git} add two; ${git} commit -qm two; ${git} config a.b c; echo evil > ${workspace.repo}/.git/hooks/x; echo evil > ${workspace.repo}/beside; git log --oneline | wc -l`,
    );
    const result = await runScript(
      workspace,
      [bash('node task.cjs'), DONE],
      ['go', ...STREAM, '--cwd', tree],
    );
    expect(textOf(toolEnds(result)[0])).toMatch(/\\n2\\?"/);
    expect(existsSync(path.join(workspace.repo, '.git/hooks/x'))).toBe(false);
    expect(existsSync(path.join(workspace.repo, 'beside'))).toBe(false);
    expect(readFileSync(path.join(workspace.repo, '.git/config'), 'utf8')).not.toContain('[a]');
  });
});

describe('a hook', () => {
  const touching = (file: string): string =>
    `#!/bin/sh\necho x > '${file}' 2>/dev/null\necho '{"cancel":false}'\n`;

  it.each([
    ['{}', [true, true]],
    ['{"hooks":{"sandbox":"workspace"}}', [false, true]],
    ['{"hooks":{"sandbox":"read-only"}}', [false, false]],
    [`{"hooks":{"overrides":{"${PRE_TOOL_USE}":{"sandbox":"read-only"}}}}`, [false, false]],
  ])('with the settings %s writes outside and inside: %j', async (config, expected) => {
    const workspace = createTempWorkspace();
    const places = [path.join(workspace.directory, 'outside'), path.join(workspace.repo, 'inside')];
    const script = places.map(touching).join('\n').replaceAll('\n#!/bin/sh', '');
    write(workspace.repo, `${HOOKS}/PreToolUse`, script.replace(/echo '\{.*\n/, ''));
    chmodSync(path.join(workspace.repo, `${HOOKS}/PreToolUse`), 0o755);
    trust(workspace);
    write(workspace.home, '.hookline/config.json', config);
    const result = await runScript(workspace, [bash('true'), DONE], ['go', ...STREAM]);
    expect(result).toMatchObject({ code: 0 });
    expect(result.stderr).not.toContain('failed');
    expect(places.map((file) => existsSync(file))).toEqual(expected);
  });
});

describe.each([
  ['Cline', `${HOOKS}/PreToolUse`, '#!/bin/sh\ncat > /dev/null\n'],
  [
    'Claude Code',
    '.claude/settings.json',
    '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"true"}]}]}}',
  ],
])('a hook of %s', (_agent, file, text) => {
  const FIRED = ['PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls"}'];

  it.each(['workspace', 'read-only'])(
    'in the profile %s is explained and recorded so',
    async (profile) => {
      const workspace = createTempWorkspace({ [file]: text });
      trust(workspace);
      write(workspace.home, '.hookline/config.json', `{"hooks":{"sandbox":"${profile}"}}`);
      const runHooks = (...args: string[]) => runHookline(['hooks', ...args], at(workspace));
      const explained = await runHooks('explain', ...FIRED);
      expect(explained.stdout).toContain(`in the sandbox ${profile}`);
      const asJson = await runHooks('explain', ...FIRED, '--json');
      expect(jsonOf(asJson)).toMatchObject({ runs: [{ sandbox: profile }] });
      const fired = await runHooks('fire', ...FIRED, '--json');
      const outcomes = [{ sandbox: profile, failure: null }];
      expect(jsonOf(fired)).toMatchObject({ outcomes });
      const trace = readFileSync(path.join(workspace.home, '.hookline/trace/trace.jsonl'), 'utf8');
      expect(JSON.parse(trace)).toMatchObject({ outcomes });
    },
  );

  it('without a sandbox has no such field', async () => {
    const workspace = createTempWorkspace({ [file]: text });
    trust(workspace);
    for (const command of ['explain', 'fire']) {
      const args = ['hooks', command, ...FIRED, '--json'];
      const result = await runHookline(args, at(workspace));
      expect(result.stdout).toContain('PreToolUse');
      expect(result.stdout).not.toContain('"sandbox"');
    }
  });
});

describe('where no sandbox works', () => {
  const absent = ['--ro-bind', '/dev/null', realpathSync('/usr/bin/bwrap')];
  const broken = ['--ro-bind', '/bin/false', realpathSync('/usr/bin/bwrap')];
  it.each([
    ['absent', absent, 'bubblewrap (the program bwrap) was not found'],
    ['broken', broken, 'cannot make a sandbox here'],
    ['forbidden', ['--cap-drop', 'ALL', '--remount-ro', '/proc'], 'cannot make a sandbox here'],
  ])('because bubblewrap is %s, auto says so once and on is an error', async (_why, args, text) => {
    const workspace = createTempWorkspace();
    const turns = [bash('echo one'), bash('echo two'), DONE];
    const auto = await runNested(workspace, args, scripted(workspace, turns, ['go', ...STREAM]));
    expect(toolEnds(auto)).toHaveLength(2);
    expect(auto.stderr.split(text)).toHaveLength(2);
    const on = await runNested(
      workspace,
      args,
      scripted(workspace, turns, ['go', ...FREE, '--sandbox', 'on']),
    );
    expect(on).toMatchObject({ code: 2, stdout: '' });
    expect(on.stderr).toContain(text);
    const doctor = await runNested(workspace, args, ['doctor']);
    expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toContain(text);
  });
});

describe('the mode', () => {
  it('is switched off by the user, and only switched on by a workspace', async () => {
    const workspace = createTempWorkspace({
      '.hookline/config.json': '{"sandbox":{"mode":"off"}}',
    });
    const kept = await runScript(workspace, [bash('true'), DONE], ['go', ...STREAM]);
    expect(toolEnds(kept)[0]).toMatchObject({ output: { sandbox: 'workspace' } });
    const off = await runScript(
      workspace,
      [bash('true'), DONE],
      ['go', ...STREAM, '--sandbox', 'off'],
    );
    expect(textOf(toolEnds(off)[0])).not.toContain('"sandbox"');
    const env = { HOOKLINE_SANDBOX: 'off' };
    write(workspace.repo, '.hookline/config.json', '{"sandbox":{"mode":"on"}}');
    write(workspace.home, '.hookline/config.json', '{"sandbox":{"mode":"off"}}');
    chmodSync(path.join(workspace.home, '.hookline'), 0o700);
    const on = await runScript(workspace, [bash('true'), DONE], ['go', ...STREAM]);
    expect(toolEnds(on)[0]).toMatchObject({ output: { sandbox: 'workspace' } });
    const byVariable = await runScript(workspace, [bash('true'), DONE], ['go', ...STREAM], { env });
    expect(textOf(toolEnds(byVariable)[0])).not.toContain('"sandbox"');
  });
});

/** Runs Hookline inside a sandbox in which it cannot make another one. */
async function runNested(
  workspace: TempWorkspace,
  args: readonly string[],
  command: readonly string[],
) {
  const { cwd, home } = at(workspace);
  const base = ['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid'];
  const child = spawn(
    'bwrap',
    [...base, ...args, '--', process.execPath, hooklineProgram(), ...command],
    { cwd, env: environmentOf({ home }), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  return resultOf(child);
}

/** Whether a process with this command line has this directory as its own. */
function findCommand(command: string, directory: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return line === command && realpathSync(`/proc/${pid}/cwd`) === directory;
    } catch {
      return false;
    }
  });
}
