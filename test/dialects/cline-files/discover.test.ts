import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClineFilesDiscoverer } from '../../../src/dialects/cline-files/discover.ts';
import type { HookPlaces } from '../../../src/dialects/cline-files/directories.ts';
import type { Profile } from '../../../src/dialects/cline-files/events.ts';
import type { Discovery } from '../../../src/dialects/discovery.ts';
import type { LaunchMachine } from '../../../src/process/interpreter.ts';
import { createDirectory, write } from '../../base/directory.ts';

const HOOKS = '.clinerules/hooks';
const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;
const canDropRights = process.getuid?.() === 0;

const PROGRAMS = ['sh', 'bash', 'zsh', 'node', 'bun', 'python3', 'env'];

function machineWith(
  programs: readonly string[],
  platform: NodeJS.Platform = 'linux',
): LaunchMachine {
  return {
    platform,
    findProgram: (name) =>
      programs.includes(path.basename(name)) ? `/bin/${path.basename(name)}` : null,
    nodePath: '/opt/node',
    typescriptLoader: '/opt/loader.js',
  };
}

const NOWHERE: HookPlaces = {
  home: null,
  documents: [],
  clineDirectory: null,
  workspaceRoots: [],
  hooksDirectory: null,
};

interface Wanted {
  readonly machine?: LaunchMachine;
  readonly profiles?: Readonly<Record<string, Profile>>;
}

function discover(places: Partial<HookPlaces>, wanted: Wanted = {}): Discovery {
  return createClineFilesDiscoverer({
    places: { ...NOWHERE, ...places },
    machine: wanted.machine ?? machineWith(PROGRAMS),
    searchPath: undefined,
    profiles: wanted.profiles ?? {},
    cancel: 'deny',
    maxContextChars: 50_000,
    timeoutMs: 30_000,
  }).discover();
}

/** A workspace whose hook directory holds these files. */
function workspaceWith(files: Readonly<Record<string, string>>): string {
  const root = createDirectory();
  for (const [name, text] of Object.entries(files)) write(path.join(root, HOOKS, name), text);
  return root;
}

function ids({ hooks }: Discovery): string[] {
  return hooks.map(({ unit }) => unit.id);
}

function reasons({ ignored }: Discovery): Record<string, string> {
  return Object.fromEntries(ignored.map(({ path: file, why }) => [path.basename(file), why]));
}

describe('file names', () => {
  test('every extension of the list makes a hook', () => {
    const extensions = [
      '',
      '.sh',
      '.bash',
      '.zsh',
      '.js',
      '.mjs',
      '.cjs',
      '.ts',
      '.mts',
      '.cts',
      '.py',
    ];
    const root = workspaceWith(
      Object.fromEntries(extensions.map((extension) => [`PreToolUse${extension}`, 'x'])),
    );
    const found = discover({ workspaceRoots: [root] });
    expect(ids(found).toSorted()).toEqual(
      extensions.map((extension) => `cline:workspace:PreToolUse${extension}`).toSorted(),
    );
    expect(found.ignored).toEqual([]);
  });

  test('all eleven names are known', () => {
    const names = {
      TaskStart: 'TaskStart',
      TaskResume: 'TaskResume',
      TaskCancel: 'RunEnd',
      TaskComplete: 'TaskComplete',
      TaskError: 'RunEnd',
      PreToolUse: 'PreToolUse',
      PostToolUse: 'PostToolUse',
      UserPromptSubmit: 'UserPromptSubmit',
      Notification: 'Notification',
      PreCompact: 'PreCompact',
      SessionShutdown: 'SessionEnd',
    };
    const root = workspaceWith(Object.fromEntries(Object.keys(names).map((name) => [name, ''])));
    const { hooks } = discover({ workspaceRoots: [root] });
    expect(
      Object.fromEntries(hooks.map(({ unit, events }) => [unit.eventName, events[0]])),
    ).toEqual(names);
  });

  test.each([
    'pretooluse.bash',
    'PRETOOLUSE',
    'PreToolUse.SH',
    ' PreToolUse .sh',
    'PreToolUse.sh ',
    'PreToolUse\n',
  ])('%j is a hook', (name) => {
    const root = workspaceWith({ [name]: '' });
    const { hooks, ignored } = discover({ workspaceRoots: [root] });
    expect(ignored).toEqual([]);
    expect(hooks).toMatchObject([
      { unit: { eventName: 'PreToolUse', path: path.join(root, HOOKS, name) } },
    ]);
    expect(hooks[0]?.unit.id).toMatch(/^cline:workspace:PreToolUse(?:\.bash|\.sh)?$/);
  });

  test.each([
    ['README.md', 'its name is not the name of a hook'],
    ['.gitignore', 'its name is not the name of a hook'],
    ['PreToolUse_Foo.sh', 'its name is not the name of a hook'],
    ['PreToolUse.rb.sh', 'its name is not the name of a hook; did you mean PreToolUse?'],
    ['PreTolUse', 'its name is not the name of a hook; did you mean PreToolUse?'],
    ['pretool-use.sh', 'its name is not the name of a hook; did you mean PreToolUse?'],
    ['UserPromtSubmit.py', 'its name is not the name of a hook; did you mean UserPromptSubmit?'],
    ['tool_call.sh', 'its name is not the name of a hook; did you mean PreToolUse?'],
    ['SessionStart', 'its name is not the name of a hook'],
    ['PreToolUse.example', 'its extension .example is not supported'],
    ['PreToolUse.rb', 'its extension .rb is not supported'],
    ['PreToolUse.', 'its extension . is not supported'],
    ['PreToolUse.exe', '.exe files run only on Windows'],
    ['PreToolUse.cmd', '.cmd files run only on Windows'],
  ])('%s is ignored with a reason', (name, why) => {
    const root = workspaceWith({ [name]: '' });
    expect(discover({ workspaceRoots: [root] })).toMatchObject({
      hooks: [],
      ignored: [{ path: path.join(root, HOOKS, name), why }],
    });
  });

  test('Windows has extensions of its own', () => {
    const root = workspaceWith({ 'PreToolUse.cmd': '', 'TaskStart.exe': '', 'TaskStart.ps1': '' });
    const found = discover(
      { workspaceRoots: [root] },
      { machine: machineWith(['powershell', 'pwsh'], 'win32') },
    );
    expect(ids(found)).toEqual([
      'cline:workspace:PreToolUse.cmd',
      'cline:workspace:TaskStart.exe',
      'cline:workspace:TaskStart.ps1',
    ]);
  });

  test('of several programs for one name Windows runs the one that PATHEXT names first', () => {
    const root = workspaceWith({
      'PreToolUse.cmd': '',
      'PreToolUse.EXE': '',
      'PreToolUse.bat': '',
    });
    const windows = { ...machineWith([], 'win32'), pathExt: '.BAT;.EXE;.CMD' };
    const found = discover({ workspaceRoots: [root] }, { machine: windows });
    expect(ids(found)).toEqual(['cline:workspace:PreToolUse.bat']);
    expect(reasons(found)).toEqual({
      'PreToolUse.cmd': 'PreToolUse.bat comes first in PATHEXT',
      'PreToolUse.EXE': 'PreToolUse.bat comes first in PATHEXT',
    });
  });

  test('several files of one event all count, sorted by name', () => {
    const root = workspaceWith({ 'PreToolUse.py': '', PreToolUse: '', 'PreToolUse.js': '' });
    expect(ids(discover({ workspaceRoots: [root] }))).toEqual([
      'cline:workspace:PreToolUse',
      'cline:workspace:PreToolUse.js',
      'cline:workspace:PreToolUse.py',
    ]);
  });

  test('spellings of one name get ids of their own; the proper one keeps the plain id', () => {
    const root = workspaceWith({ ' PreToolUse.sh': '', 'PreToolUse.sh': '', 'pretooluse.sh': '' });
    const { hooks } = discover({ workspaceRoots: [root] });
    const byFile = Object.fromEntries(
      hooks.map(({ unit }) => [path.basename(unit.path), [unit.id, unit.ownId]]),
    );
    expect(byFile).toEqual({
      'PreToolUse.sh': ['cline:workspace:PreToolUse.sh', 'cline:workspace:PreToolUse.sh'],
      ' PreToolUse.sh': ['cline:workspace:PreToolUse.sh~2', 'cline:workspace:PreToolUse.sh~2'],
      'pretooluse.sh': ['cline:workspace:PreToolUse.sh~3', 'cline:workspace:PreToolUse.sh~3'],
    });
  });
});

describe('kinds of files', () => {
  test('a link to a file is a hook', () => {
    const root = workspaceWith({ 'lib/guard.sh': '#!/bin/sh\n' });
    symlinkSync('lib/guard.sh', path.join(root, HOOKS, 'PreToolUse'));
    const found = discover({ workspaceRoots: [root] });
    expect(ids(found)).toEqual(['cline:workspace:PreToolUse']);
    expect(found.hooks[0]?.unit.path).toBe(path.join(root, HOOKS, 'PreToolUse'));
  });

  test('a link to nothing, a loop, a directory and a link to a device are ignored', () => {
    const root = workspaceWith({});
    mkdirSync(path.join(root, HOOKS, 'PreToolUse'), { recursive: true });
    symlinkSync('gone', path.join(root, HOOKS, 'PostToolUse'));
    symlinkSync('TaskStart', path.join(root, HOOKS, 'TaskStart'));
    symlinkSync('/dev/zero', path.join(root, HOOKS, 'TaskCancel'));
    symlinkSync('.', path.join(root, HOOKS, 'TaskResume'));
    expect(discover({ workspaceRoots: [root] }).hooks).toEqual([]);
    expect(reasons(discover({ workspaceRoots: [root] }))).toEqual({
      PreToolUse: 'is a directory',
      PostToolUse: 'is a broken link',
      TaskStart: expect.stringMatching(/^cannot be read: ELOOP/),
      TaskCancel: 'is not a regular file',
      TaskResume: 'is a directory',
    });
  });

  test.skipIf(!hasMkfifo)('a FIFO is ignored and never opened (skipped without mkfifo)', () => {
    const root = workspaceWith({ 'README.md': '' });
    spawnSync('mkfifo', [path.join(root, HOOKS, 'PreToolUse')]);
    expect(reasons(discover({ workspaceRoots: [root] }))).toMatchObject({
      PreToolUse: 'is not a regular file',
    });
  });

  test('a missing executable bit is noted for the name that VS Code reads', () => {
    const root = workspaceWith({ PreToolUse: '#!/bin/sh\n', 'PreToolUse.sh': '', TaskStart: '' });
    chmodSync(path.join(root, HOOKS, 'TaskStart'), 0o755);
    const { hooks } = discover({ workspaceRoots: [root] });
    expect(Object.fromEntries(hooks.map(({ unit }) => [unit.id, unit.notes]))).toEqual({
      'cline:workspace:PreToolUse': ['not executable: off in VS Code'],
      'cline:workspace:PreToolUse.sh': [],
      'cline:workspace:TaskStart': [],
    });
  });

  test('a hook without its interpreter is found and says what is missing', () => {
    const root = workspaceWith({ 'PreToolUse.py': '', TaskStart: '#!/usr/bin/env ruby\n' });
    const { hooks } = discover({ workspaceRoots: [root] }, { machine: machineWith(['sh', 'env']) });
    expect(hooks.map(({ unit }) => [unit.id, unit.problem])).toEqual([
      ['cline:workspace:PreToolUse.py', expect.stringContaining('needs python3 or python')],
      ['cline:workspace:TaskStart', expect.stringContaining('names ruby')],
    ]);
  });

  test('an empty file, a binary and a huge file are hooks like others', () => {
    const root = workspaceWith({
      PreToolUse: '',
      'PostToolUse.sh': '\u0000\u0001\u0002',
      'TaskStart.sh': `#!/bin/sh\n${'# padding\n'.repeat(200_000)}tool_call`,
    });
    const { hooks } = discover({ workspaceRoots: [root] });
    expect(hooks.map(({ unit }) => unit.problem)).toEqual([null, null, null]);
  });
});

describe('PowerShell beside Unix hooks', () => {
  const files = { PreToolUse: '#!/bin/sh\n', 'PreToolUse.ps1': '' };

  test('is ignored where there is no PowerShell', () => {
    const found = discover({ workspaceRoots: [workspaceWith(files)] });
    expect(ids(found)).toEqual(['cline:workspace:PreToolUse']);
    expect(reasons(found)).toEqual({
      'PreToolUse.ps1': 'a PowerShell hook, but PowerShell (pwsh) is not on the PATH',
    });
  });

  test('is a hook where there is one', () => {
    const machine = machineWith([...PROGRAMS, 'pwsh']);
    const found = discover({ workspaceRoots: [workspaceWith(files)] }, { machine });
    expect(ids(found)).toEqual(['cline:workspace:PreToolUse', 'cline:workspace:PreToolUse.ps1']);
  });
});

describe('directories', () => {
  test('of rules are found in any case of their names, and none is called misspelt', () => {
    const home = createDirectory();
    for (const place of ['Rules/hooks', 'rules/Hooks']) {
      write(path.join(home, 'Documents/Cline', place, 'TaskStart'), '');
    }
    const found = discover({ home, documents: [path.join(home, 'Documents')] });
    expect(ids(found)).toEqual(['cline:global-rules:TaskStart', 'cline:global-rules-2:TaskStart']);
    expect(found.ignored).toEqual([]);
  });

  test('come in declared order: documents, rules, home, given, workspace roots', () => {
    const base = createDirectory();
    const at = (name: string): string => path.join(base, name);
    const homeHooks = ['Documents/Cline/Hooks', 'Documents/Cline/Rules/Hooks', '.cline/hooks'];
    for (const place of homeHooks) write(path.join(at('home'), place, 'TaskStart'), '');
    for (const place of [HOOKS, '.cline/hooks']) {
      write(path.join(at('one'), place, 'TaskStart'), '');
      write(path.join(at('two'), place, 'TaskStart'), '');
    }
    write(path.join(at('extra'), 'TaskStart'), '');
    const { hooks, watched } = discover({
      home: at('home'),
      documents: [at('home/Documents')],
      clineDirectory: at('home/.cline'),
      workspaceRoots: [at('one'), at('two')],
      hooksDirectory: at('extra'),
    });
    expect(hooks.map(({ unit }) => [unit.id, unit.ownId, unit.place, unit.root])).toEqual([
      ['cline:global:TaskStart', 'cline:global:TaskStart', 'home', null],
      ['cline:global-rules:TaskStart', 'cline:global-rules:TaskStart', 'home', null],
      ['cline:home:TaskStart', 'cline:home:TaskStart', 'home', null],
      ['cline:given:TaskStart', 'cline:given:TaskStart', 'given', null],
      ['cline:workspace:TaskStart', 'cline:workspace:TaskStart', 'workspace', at('one')],
      [
        'cline:workspace-cline:TaskStart',
        'cline:workspace-cline:TaskStart',
        'workspace',
        at('one'),
      ],
      ['cline:workspace@two:TaskStart', 'cline:workspace:TaskStart', 'workspace', at('two')],
      [
        'cline:workspace-cline@two:TaskStart',
        'cline:workspace-cline:TaskStart',
        'workspace',
        at('two'),
      ],
    ]);
    expect(watched).toEqual([
      ...homeHooks.map((place) => path.join(at('home'), place)),
      at('extra'),
      path.join(at('one'), HOOKS),
      path.join(at('one'), '.cline/hooks'),
      path.join(at('two'), HOOKS),
      path.join(at('two'), '.cline/hooks'),
    ]);
  });

  test('roots with the same basename are distinguished by number', () => {
    const base = createDirectory();
    const roots = ['first/app', 'a/app', 'b/app', 'c/lib'].map((name) => path.join(base, name));
    for (const root of roots) write(path.join(root, HOOKS, 'TaskStart'), '');
    expect(ids(discover({ workspaceRoots: roots }))).toEqual([
      'cline:workspace:TaskStart',
      'cline:workspace@app~2:TaskStart',
      'cline:workspace@app~3:TaskStart',
      'cline:workspace@lib:TaskStart',
    ]);
  });

  test('hooks of a redirected documents directory have ids of their own', () => {
    const base = createDirectory();
    const documents = ['Documents', 'Dokumente'].map((name) => path.join(base, name));
    for (const directory of documents) write(path.join(directory, 'Cline/Hooks/TaskStart'), '');
    expect(ids(discover({ documents }))).toEqual([
      'cline:global:TaskStart',
      'cline:global~2:TaskStart',
    ]);
  });

  test('the same directory under two names is read once', () => {
    const base = createDirectory();
    write(path.join(base, 'real/TaskStart'), '');
    mkdirSync(path.join(base, '.cline'));
    symlinkSync(path.join(base, 'real'), path.join(base, '.cline/hooks'));
    const found = discover({
      clineDirectory: path.join(base, '.cline'),
      hooksDirectory: path.join(base, 'real'),
    });
    expect(ids(found)).toEqual(['cline:home:TaskStart']);
  });

  test('that are absent, or a file where a directory should be, hold nothing', () => {
    const root = createDirectory({ '.clinerules': 'be nice', '.cline/hooks': 'a file' });
    expect(discover({ workspaceRoots: [root] }).hooks).toEqual([]);
    expect(discover({ workspaceRoots: [path.join(root, 'gone')] })).toMatchObject({
      hooks: [],
      ignored: [],
    });
  });

  test('names with spaces, quotes and newlines are paths like others', () => {
    const root = path.join(createDirectory(), `a b'c"d\ne$(f)`);
    write(path.join(root, HOOKS, 'PreToolUse.js'), '');
    const [hook] = discover({ workspaceRoots: [root] }).hooks;
    expect(hook?.unit).toMatchObject({
      root,
      path: path.join(root, HOOKS, 'PreToolUse.js'),
      problem: null,
      binds: {
        entry: path.join(root, HOOKS, 'PreToolUse.js'),
        files: [],
        directories: [path.join(root, HOOKS)],
      },
    });
  });

  test('nothing below a hook directory is looked at', () => {
    const root = workspaceWith({ 'nested/PreToolUse': '' });
    expect(reasons(discover({ workspaceRoots: [root] }))).toEqual({
      nested: 'its name is not the name of a hook',
    });
  });
});

describe('the owner of a hook', () => {
  test('a home directory that links into a workspace is the workspace’s', () => {
    const base = createDirectory();
    const root = path.join(base, 'repo');
    write(path.join(root, 'shared/TaskStart'), '');
    mkdirSync(path.join(base, 'home/.cline'), { recursive: true });
    symlinkSync(path.join(root, 'shared'), path.join(base, 'home/.cline/hooks'));
    const { hooks } = discover({
      home: path.join(base, 'home'),
      clineDirectory: path.join(base, 'home/.cline'),
      workspaceRoots: [root],
    });
    expect(hooks).toMatchObject([
      { unit: { id: 'cline:home:TaskStart', place: 'workspace', root } },
    ]);
  });

  test('a file of the home directory that links into a workspace is the workspace’s', () => {
    const base = createDirectory();
    const root = path.join(base, 'repo');
    const script = write(path.join(root, 'guard.sh'), '');
    mkdirSync(path.join(base, 'home/.cline/hooks'), { recursive: true });
    symlinkSync(script, path.join(base, 'home/.cline/hooks/TaskStart'));
    const { hooks } = discover({
      home: path.join(base, 'home'),
      clineDirectory: path.join(base, 'home/.cline'),
      workspaceRoots: [root],
    });
    expect(hooks).toMatchObject([{ unit: { place: 'workspace', root } }]);
  });

  test('a given directory inside a workspace is the workspace’s', () => {
    const root = createDirectory({ 'tools/TaskStart': '' });
    const { hooks } = discover({
      workspaceRoots: [root],
      hooksDirectory: path.join(root, 'tools'),
    });
    expect(hooks).toMatchObject([
      { unit: { id: 'cline:given:TaskStart', place: 'workspace', root } },
    ]);
  });

  test('a root that holds the home directory owns nothing of it', () => {
    const root = createDirectory({ 'home/me/.cline/hooks/TaskStart': '' });
    const home = path.join(root, 'home/me');
    const { hooks } = discover({
      home,
      clineDirectory: path.join(home, '.cline'),
      workspaceRoots: [root],
    });
    expect(hooks).toMatchObject([{ unit: { place: 'home', root: null } }]);
  });

  test('the home directory as workspace makes its `.cline/hooks` personal, once', () => {
    const home = createDirectory({ '.cline/hooks/TaskStart': '', [`${HOOKS}/TaskStart`]: '' });
    const { hooks } = discover({
      home,
      clineDirectory: path.join(home, '.cline'),
      workspaceRoots: [home],
    });
    expect(hooks.map(({ unit }) => [unit.id, unit.place])).toEqual([
      ['cline:home:TaskStart', 'home'],
      ['cline:workspace:TaskStart', 'workspace'],
    ]);
  });
});

describe('profiles', () => {
  test.each([
    ['jq -r .preToolUse.toolName', 'classic'],
    ['jq -r .tool_call.name', 'sdk'],
    ['if name == "run_commands"', 'sdk'],
    ['case "read_files"', 'sdk'],
    ['hookName === "agent_start"', 'sdk'],
    ['my_tool_call_counter', 'classic'],
    ['', 'classic'],
  ])('a hook that says %j is %s', (text, profile) => {
    const root = workspaceWith({ 'PreToolUse.sh': text });
    expect(discover({ workspaceRoots: [root] }).hooks[0]?.unit.details['profile']).toBe(profile);
  });

  test('can be set by the id of this session and by the hook’s own', () => {
    const base = createDirectory();
    const roots = ['one', 'two'].map((name) => path.join(base, name));
    for (const root of roots) write(path.join(root, HOOKS, 'PreToolUse.sh'), '');
    const profileOf = (profiles: Record<string, Profile>): unknown[] =>
      discover({ workspaceRoots: roots }, { profiles }).hooks.map(
        ({ unit }) => unit.details['profile'],
      );
    expect(profileOf({ 'cline:workspace@two:PreToolUse.sh': 'sdk' })).toEqual(['classic', 'sdk']);
    expect(profileOf({ 'cline:workspace:PreToolUse.sh': 'sdk' })).toEqual(['sdk', 'sdk']);
  });
});

describe('what cannot be read', () => {
  const asNobody = (root: string): unknown => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        '--import',
        'jiti/register',
        path.join(import.meta.dirname, 'fixtures/discover-as-nobody.ts'),
        root,
      ],
      { cwd: path.resolve(import.meta.dirname, '../../..'), encoding: 'utf8' },
    );
    expect(stderr).not.toMatch(/Error/);
    return JSON.parse(stdout);
  };

  test.skipIf(!canDropRights)(
    'a directory is ignored with the reason (skipped unless root)',
    () => {
      const root = workspaceWith({ PreToolUse: '' });
      chmodSync(root, 0o755);
      chmodSync(path.join(root, HOOKS), 0o700);
      expect(asNobody(root)).toEqual({
        hooks: [],
        ignored: [
          {
            path: path.join(root, HOOKS),
            why: expect.stringMatching(/^cannot be read: EACCES: permission denied/),
            mayHideHook: true,
          },
        ],
      });
    },
  );

  test.skipIf(!canDropRights)('a file is a hook that will fail (skipped unless root)', () => {
    const root = workspaceWith({ PreToolUse: '' });
    chmodSync(root, 0o755);
    chmodSync(path.join(root, HOOKS, 'PreToolUse'), 0o700);
    expect(asNobody(root)).toEqual({
      hooks: [
        {
          id: 'cline:workspace:PreToolUse',
          problem: expect.stringMatching(/^it cannot be read: EACCES: permission denied/),
        },
      ],
      ignored: [],
    });
  });
});
