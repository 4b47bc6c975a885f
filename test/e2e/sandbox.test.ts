import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { environmentOf, hooklineProgram, jsonOf, resultOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  hasProgram,
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

/** What the model reads of a command that succeeded. */
function outputOf(end: unknown): string {
  expect(end).toMatchObject({ output: { text: expect.any(String) } });
  return JSON.parse(textOf(end)).output.text;
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

  it('does not read what a deny rule hides where another one forbids to write', async () => {
    const workspace = createTempWorkspace({ 'private/a/k': 'TOKEN-A', 'private/b/c': 'TOKEN-B' });
    const turns = runFile(workspace, 'cat private/a/k private/b/c; grep -rs TOKEN- .; true');
    const rules = ['Read(./private/**)', 'Edit(./private/a/k)', 'Edit(./private/b/new)'];
    const deny = rules.flatMap((rule) => ['--deny', rule]);
    const result = await runScript(workspace, turns, ['go', ...STREAM, ...deny]);
    const [end] = toolEnds(result);
    expect(textOf(end)).not.toMatch(/TOKEN-[AB]/);
    expect(textOf(end)).toContain('private/a/k: Permission denied');
  });

  it('runs although a deny rule hides the directory of its temporary files', async () => {
    const workspace = createTempWorkspace();
    const turns = runFile(workspace, 'echo x > "$TMPDIR/x" && cat "$TMPDIR/x"');
    const places = path.join(path.dirname(workspace.directory), 'hookline-session-*');
    const deny = ['--deny', `Read(/${places})`];
    const result = await runScript(workspace, turns, ['go', ...STREAM, ...deny]);
    expect(toolEnds(result)[0]).toMatchObject({ output: { sandbox: 'workspace', text: 'x' } });
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

  it('reaches no socket that has another name than it was bound by', async () => {
    const workspace = createTempWorkspace();
    const place = (name: string): string => path.join(workspace.directory, name);
    const bind = `import os,socket,sys
keep=[]
def bind(name, kind=socket.SOCK_STREAM):
  s=socket.socket(socket.AF_UNIX, kind); s.bind(name); keep.append(s)
  if kind == socket.SOCK_STREAM: s.listen()
bind('relative'); bind('deep/../relative2'); bind('datagram', socket.SOCK_DGRAM)
bind(os.path.abspath('first')); os.rename('first', 'moved')
bind(os.path.abspath('linked')); os.link('linked', 'hard-link')
print('bound', flush=True); sys.stdin.read()`;
    write(workspace.directory, 'deep/bind.py', bind);
    const binder = spawn('python3', ['deep/bind.py'], { cwd: workspace.directory });
    onTestFinished(() => void binder.kill('SIGKILL'));
    await new Promise((resolve) => binder.stdout.once('data', resolve));
    const names = ['relative', 'relative2', 'datagram', 'moved', 'linked', 'hard-link'];
    const connect = `import socket,sys
for f in sys.argv[1:]:
  for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    try: socket.socket(socket.AF_UNIX, kind).connect(f); print("reached", f)
    except OSError as e: print(e.strerror)`;
    write(workspace.repo, 'connect.py', connect);
    const turns = runFile(workspace, `python3 connect.py ${names.map(place).join(' ')}`);
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(result)[0]).toMatchObject({
      output: {
        text: Array(names.length * 2)
          .fill('Permission denied')
          .join('\n'),
      },
    });
  });

  it('does not make what an Edit rule names, in a directory that exists', async () => {
    const workspace = createTempWorkspace({ 'src/a': '' });
    const before = readdirSync(workspace.repo).toSorted();
    const turns = runFile(
      workspace,
      `echo x > new.txt; echo x > src/locked; mkdir built; echo x > built/x; mv src/a new.txt; ln -s src new.txt; rmdir new.txt
       echo x > src/other && mkdir -p no/such && echo x > no/such/file && ls -A new.txt`,
    );
    const rules = [
      'Edit(./new.txt)',
      'Edit(/src/locked)',
      'Edit(./built/**)',
      'Edit(./no/such/file)',
    ];
    const deny = rules.flatMap((rule) => ['--deny', rule]);
    const result = await runScript(workspace, turns, ['go', ...STREAM, ...deny]);
    expect(toolEnds(result)[0]).toMatchObject({ output: { sandbox: 'workspace', success: true } });
    expect(readdirSync(workspace.repo).toSorted()).toEqual(
      [...before, 'no', 'task.cjs'].toSorted(),
    );
    expect(readdirSync(path.join(workspace.repo, 'src'))).toEqual(['a', 'other']);
    expect(existsSync(path.join(workspace.repo, 'no/such/file'))).toBe(true);
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

  describe('works as outside', () => {
    /** Runs a script in the sandbox and then the same one outside, in workspaces of their own. */
    async function compare(files: Readonly<Record<string, string>>, script: string) {
      const outputs: string[] = [];
      for (const mode of ['on', 'off']) {
        const workspace = createTempWorkspace(files);
        initGit(workspace);
        const turns = runFile(workspace, `set -e\n${script}`);
        const result = await runScript(workspace, turns, ['go', ...STREAM, '--sandbox', mode]);
        const [end] = toolEnds(result);
        expect(end).toMatchObject({ output: { success: true } });
        expect(textOf(end).includes('"sandbox":"workspace"')).toBe(mode === 'on');
        outputs.push(outputOf(end).replaceAll(workspace.directory, ''));
      }
      expect(outputs[0]).toBe(outputs[1]);
      return outputs[0] ?? '';
    }

    it('a commit', async () => {
      const git = 'git -c user.name=a -c user.email=a@b';
      const text = await compare(
        { 'a.txt': 'one\n' },
        `${git} add a.txt; ${git} commit -qm one; echo two >> a.txt; ${git} commit -qam two
         ${git} checkout -q -b side HEAD~1; ${git} stash list; ${git} merge -q main; ${git} tag v1; git gc -q
         git log --format=%s; git status --short -uno`,
      );
      expect(text).toBe('two\none');
    });

    it.skipIf(!hasProgram('cc') || !hasProgram('make'))('a C build', async () => {
      const text = await compare(
        {
          'hello.c':
            '#include <stdio.h>\n#include "part.h"\nint main(void) { puts(TEXT); return 0; }\n',
          'part.h': '#define TEXT "built"\n',
          Makefile:
            'hello: hello.o\n\tcc -o hello hello.o\nhello.o: hello.c part.h\n\tcc -c hello.c\n',
        },
        'make -s -j2 && ./hello',
      );
      expect(text).toBe('built');
    });

    it.skipIf(!hasProgram('npm'))('npm ci && npm test, with a dependency', async () => {
      const text = await compare(
        {
          'lib/package.json': '{"name":"lib","version":"1.2.3","main":"main.js"}',
          'lib/main.js': 'module.exports = "from lib";',
          'app/package.json': JSON.stringify({
            name: 'app',
            version: '1.0.0',
            dependencies: { lib: 'file:../lib' },
            scripts: { postinstall: 'node -e "0"', test: 'node test.js' },
          }),
          'app/test.js': 'console.log(require("lib"));',
        },
        `export npm_config_update_notifier=false; cd app; npm install --package-lock-only --offline --no-audit --no-fund > /dev/null
         npm ci --offline --no-audit --no-fund > /dev/null && npm test --silent; ls node_modules`,
      );
      expect(text).toBe('from lib\nlib');
    });

    it.skipIf(!hasProgram('python3'))('pip in a virtual environment', async () => {
      const text = await compare(
        {
          'package/pyproject.toml':
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
          // A backend of its own, because setuptools need not be there.
          'package/backend.py': `import zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    info = 'greeter-1.0.dist-info/'
    files = {
        'greeter.py': 'def main(): print("installed")\\n',
        info + 'METADATA': 'Metadata-Version: 2.1\\nName: greeter\\nVersion: 1.0\\n',
        info + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
        info + 'entry_points.txt': '[console_scripts]\\ngreet = greeter:main\\n',
    }
    files[info + 'RECORD'] = ''.join(name + ',,\\n' for name in [*files, info + 'RECORD'])
    name = 'greeter-1.0-py3-none-any.whl'
    with zipfile.ZipFile(directory + '/' + name, 'w') as wheel:
        for file, text in files.items(): wheel.writestr(file, text)
    return name
`,
        },
        `python3 -m venv venv
         venv/bin/pip install -q --no-index --disable-pip-version-check ./package
         venv/bin/greet`,
      );
      expect(text).toBe('installed');
    });
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

describe('submodules', () => {
  const GIT = 'git -c user.name=a -c user.email=a@b -c protocol.file.allow=always';

  /** A repository with a submodule in lib, and one in other that is registered and not cloned yet. */
  function addSubmodules({ repo, directory }: TempWorkspace): void {
    const script = `set -e
      for name in lib other; do
        ${GIT} init -q -b main ../$name; (cd ../$name; ${GIT} commit -q --allow-empty -m one)
        ${GIT} submodule --quiet add ../$name $name
      done
      ${GIT} add -A; ${GIT} commit -qm one
      rm -rf other/.git other .git/modules/other
      (cd ../lib; ${GIT} commit -q --allow-empty -m two)`;
    execFileSync('bash', ['-c', script], { cwd: repo });
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(['lib', 'other']));
  }

  it('are pulled, cloned and committed in', async () => {
    const workspace = createTempWorkspace();
    initGit(workspace);
    addSubmodules(workspace);
    const turns = runFile(
      workspace,
      `set -e
       ${GIT} -C lib pull -q origin main; git -C lib log --format=%s | head -1
       ${GIT} submodule --quiet update other; git -C other log --format=%s | head -1
       (cd lib; echo x > made; ${GIT} add made; ${GIT} commit -qm three; git log --format=%s | head -1; git status --short)
       ${GIT} commit -qam all; git status --short --ignore-submodules=none | grep -v task.cjs || echo clean`,
    );
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(result)[0]).toMatchObject({ output: { text: 'two\none\nthree\nclean' } });
    const log = execFileSync('git', ['-C', 'lib', 'log', '--format=%s'], { cwd: workspace.repo });
    expect(log.toString()).toBe('three\ntwo\none\n');
  });

  it('keep what steers git in them', async () => {
    const workspace = createTempWorkspace();
    initGit(workspace);
    addSubmodules(workspace);
    const steering = ['.git/modules/lib/config', 'lib/.git'];
    const read = () =>
      steering.map((name) => readFileSync(path.join(workspace.repo, name), 'utf8'));
    const before = read();
    const turns = runFile(
      workspace,
      `git -C lib config core.fsmonitor evil; echo evil >> .git/modules/lib/config
       echo evil > .git/modules/lib/hooks/post-checkout; echo evil > .git/modules/lib/commondir
       echo '* filter=evil' > .git/modules/lib/info/attributes
       echo 'gitdir: ../evil' > lib/.git; rm -f lib/.git; mv lib/.git x; mv lib y; mv .git/modules/lib z; mv .git/modules w
       rm -rf .git/modules/lib; mkdir -p .git/modules/lib/hooks; echo evil > .git/modules/lib/hooks/pre-commit; true`,
    );
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(result)[0]).toMatchObject({ output: { sandbox: 'workspace' } });
    expect(read()).toEqual(before);
    const left = readdirSync(path.join(workspace.repo, '.git/modules/lib'), { recursive: true });
    expect(JSON.stringify(left)).not.toMatch(/post-checkout"|pre-commit"|commondir|attributes/);
  });

  it('of worktrees, another one can be made and committed in', async () => {
    const workspace = createTempWorkspace();
    initGit(workspace);
    const making = runFile(
      workspace,
      `set -e
       ${GIT} add -A; ${GIT} commit -qm one; ${GIT} worktree add -q trees/first
       (cd trees/first; echo 2 > two; ${GIT} add two; ${GIT} commit -qm two; git log --format=%s | head -1)`,
    );
    const first = await runScript(workspace, making, ['go', ...STREAM]);
    expect(toolEnds(first)[0]).toMatchObject({ output: { text: 'two' } });
    const using = runFile(
      workspace,
      `(cd trees/first; ${GIT} commit -q --allow-empty -m three; git log --format=%s | head -1)
       exec 2>/dev/null; echo evil > .git/worktrees/first/commondir; echo evil > .git/worktrees/first/gitdir; mv .git/worktrees x; true`,
    );
    const second = await runScript(workspace, using, ['go', ...STREAM]);
    expect(toolEnds(second)[0]).toMatchObject({ output: { text: 'three' } });
    const own = path.join(workspace.repo, '.git/worktrees/first');
    expect(readFileSync(path.join(own, 'commondir'), 'utf8')).toBe('../..\n');
    expect(readFileSync(path.join(own, 'gitdir'), 'utf8')).toContain('trees/first/.git');
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

it('guards the same places with a bubblewrap that is too old to set modes', async () => {
  const workspace = createTempWorkspace();
  const before = readdirSync(workspace.repo).toSorted();
  const bubblewrap = realpathSync('/usr/bin/bwrap');
  const real = path.join(workspace.directory, 'real-bwrap');
  copyFileSync(bubblewrap, real);
  const old = path.join(workspace.directory, 'old-bwrap');
  writeFileSync(
    old,
    `#!/bin/sh
for word; do if [ "$word" = --perms ]; then echo "bwrap: Unknown option $word" >&2; exit 1; fi; done
exec ${real} "$@"
`,
    { mode: 0o755 },
  );
  const turns = runFile(
    workspace,
    `for place in .claude .mcp.json; do chmod 777 $place; echo x > $place/new; done 2>&1 | grep -c 'Read-only'
     ls -A .claude .mcp.json`,
  );
  const replaced = ['--ro-bind', old, bubblewrap];
  const result = await runNested(
    workspace,
    replaced,
    scripted(workspace, turns, ['go', ...STREAM]),
  );
  expect(toolEnds(result)[0]).toMatchObject({
    output: { sandbox: 'workspace', text: '4\n.claude:\n\n.mcp.json:' },
  });
  expect(readdirSync(workspace.repo).toSorted()).toEqual([...before, 'task.cjs'].toSorted());
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
