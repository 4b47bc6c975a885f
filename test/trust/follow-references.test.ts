import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { collectUnit, type TrustUnit } from '../../src/trust/collect-unit.ts';
import { createDirectory, GUARD, HOOKS, unitOf, write } from './workspace.ts';

/** A unit whose entry is a line of a settings file, as Claude's hooks and MCP servers are. */
function entryOf(
  root: string,
  command: string,
  files: readonly string[] = [],
  changes: Partial<TrustUnit> = {},
): TrustUnit {
  write(root, '.claude/settings.json', '{}');
  return unitOf(root, {
    id: 'claude:project:PreToolUse',
    entry: path.join(root, '.claude/settings.json'),
    text: JSON.stringify({ command }),
    files: files.map((file) => path.join(root, file)),
    directories: [],
    ...changes,
  });
}

function digestOf(unit: TrustUnit): string {
  return bindUnit(unit).digest;
}

/** Each: the command, the script that it names, its text, and the file that it loads or starts. */
const LOADED: readonly (readonly [string, string, string, string])[] = [
  ['python3 tools/check.py', 'tools/check.py', 'import helper\n', 'tools/helper.py'],
  ['python3 tools/check.py', 'tools/check.py', 'import os, helper as h\n', 'tools/helper.py'],
  ['python3 tools/check.py', 'tools/check.py', 'import os; import helper\n', 'tools/helper.py'],
  ['python3 tools/check.py', 'tools/check.py', 'from helper import x\n', 'tools/helper.py'],
  ['python3 tools/check.py', 'tools/check.py', 'from lib import rules\n', 'tools/lib/rules.py'],
  ['python3 tools/check.py', 'tools/check.py', 'import lib.rules\n', 'tools/lib/__init__.py'],
  [
    'python3 tools/check.py',
    'tools/check.py',
    'try:\n    import helper\nexcept E: pass\n',
    'tools/helper.py',
  ],
  ['python3 tools/check.py', 'tools/check.py', 'if x: import helper\n', 'tools/helper.py'],
  [
    'python3 tools/check.py',
    'tools/check.py',
    'from lib import (\n  one,\n  two,\n)\n',
    'tools/lib/two.py',
  ],
  ['python3 tools/check.py', 'tools/check.py', 'm = __import__("helper")\n', 'tools/helper.py'],
  [
    'python3 tools/check.py',
    'tools/check.py',
    'importlib.import_module("lib.a")\n',
    'tools/lib/a.py',
  ],
  [
    'python3 tools/check.py',
    'tools/check.py',
    'import native\n',
    'tools/native.cpython-312-x86_64-linux-gnu.so',
  ],
  [
    'python3 tools/check.py',
    'tools/check.py',
    'sys.path.insert(0, "vendor")\nimport helper\n',
    'vendor/helper.py',
  ],
  [
    'python3 tools/check.py',
    'tools/check.py',
    'sys.path.append(ROOT)\nimport shared\n',
    'shared.py',
  ],
  ['python3 -m pkg', 'pkg/__main__.py', 'from .inner import run\n', 'pkg/inner.py'],
  ['python3 -m pkg', 'pkg/__main__.py', 'from pkg.sub.deep import run\n', 'pkg/sub/deep.py'],
  ['python3 -c "import helper"', 'none', '', 'helper.py'],
  ['python3 odd.txt', 'odd.txt', 'import helper\n', 'helper.py'],
  ['node tools/check.mjs', 'tools/check.mjs', "import './helper.mjs';\n", 'tools/helper.mjs'],
  ['node tools/check.cjs', 'tools/check.cjs', "require('./helper')\n", 'tools/helper.js'],
  ['node tools/check.cjs', 'tools/check.cjs', "require('./lib')\n", 'tools/lib/index.js'],
  ['node tools/check.cjs', 'tools/check.cjs', "require('./rules')\n", 'tools/rules.json'],
  [
    'node tools/check.mjs',
    'tools/check.mjs',
    'import {\n  a,\n} from "../lib/a.mjs";\n',
    'lib/a.mjs',
  ],
  ['node tools/check.mjs', 'tools/check.mjs', 'await import(`./later.mjs`)\n', 'tools/later.mjs'],
  ['node tools/check.mjs', 'tools/check.mjs', "export * from './more.mjs'\n", 'tools/more.mjs'],
  ['tsx tools/check.ts', 'tools/check.ts', "import './helper.js';\n", 'tools/helper.ts'],
  ['bash tools/check.sh', 'tools/check.sh', 'source "$(dirname "$0")/lib.sh"\n', 'tools/lib.sh'],
  ['bash tools/check.sh', 'tools/check.sh', '. ./tools/lib.sh\n', 'tools/lib.sh'],
  [
    'bash tools/check.sh',
    'tools/check.sh',
    'LIB="$ROOT/vendor/sh"\n. "$LIB/lib.sh"\n',
    'vendor/sh/lib.sh',
  ],
  ['bash tools/check.sh', 'tools/check.sh', 'cd vendor && . ./lib.sh\n', 'vendor/lib.sh'],
  ['bash tools/check.sh', 'tools/check.sh', 'if true; then exec ./vendor/run; fi\n', 'vendor/run'],
  [
    'bash tools/check.sh',
    'tools/check.sh',
    'timeout 5 python3 "$ROOT/tools/real.py"\n',
    'tools/real.py',
  ],
  ['bash tools/check.sh', 'tools/check.sh', 'out=$(node tools/real.mjs)\n', 'tools/real.mjs'],
  ['bash tools/check.sh', 'tools/check.sh', 'bash < tools/stdin.sh\n', 'tools/stdin.sh'],
  ['ruby tools/check.rb', 'tools/check.rb', "require_relative 'helper'\n", 'tools/helper.rb'],
  ['ruby tools/check.rb', 'tools/check.rb', "load './tools/helper.rb'\n", 'tools/helper.rb'],
  ['perl tools/check.pl', 'tools/check.pl', "require './tools/helper.pl';\n", 'tools/helper.pl'],
  [
    'php tools/check.php',
    'tools/check.php',
    "<?php require __DIR__ . '/helper.php';\n",
    'tools/helper.php',
  ],
  ['bash tools/check.sh', 'tools/check.sh', '. tools/one.sh\n', 'tools/one.sh'],
  // `logging` imports it, and Python looks beside the script first.
  ['python3 tools/check.py', 'tools/check.py', 'import logging\n', 'tools/token.py'],
  ['python3 tools/check.py', 'tools/check.py', 'import logging\n', 'tools/string/__init__.py'],
];

describe('a file that a bound script loads or starts', () => {
  it.each(LOADED)('is bound: %s, %s with %j, %s', (command, script, text, loaded) => {
    const root = createDirectory({ [script]: text, [loaded]: 'before\n' });
    const unit = entryOf(root, command, script === 'none' ? [] : [script]);
    const before = digestOf(unit);
    write(root, loaded, 'after\n');
    expect(digestOf(unit)).not.toBe(before);
  });

  it.each(LOADED)(
    'is noticed when it appears: %s, %s with %j, %s',
    (command, script, text, loaded) => {
      const root = createDirectory({ [script]: text });
      const unit = entryOf(root, command, script === 'none' ? [] : [script]);
      const before = digestOf(unit);
      write(root, loaded, 'new\n');
      expect(digestOf(unit)).not.toBe(before);
    },
  );

  it.each([
    ['#x', { imports: { '#x': './lib/x.mjs' } }],
    ['#x', { imports: { '#x': { node: ['./lib/x.mjs'], default: './lib/other.mjs' } } }],
    ['#in/x.mjs', { imports: { '#in/*': './lib/*' } }],
    ['own', { name: 'own', exports: './lib/x.mjs' }],
    ['own/x', { name: 'own', exports: { './*': { import: './lib/*.mjs' } } }],
  ])('is bound with the package.json that maps it: %s by %j', (written, manifest) => {
    const root = createDirectory({
      'tools/check.mjs': `import '${written}';\n`,
      'lib/x.mjs': 'before\n',
      'package.json': JSON.stringify(manifest),
    });
    const unit = entryOf(root, 'node tools/check.mjs', ['tools/check.mjs']);
    const before = digestOf(unit);
    write(root, 'lib/x.mjs', 'after\n');
    const after = digestOf(unit);
    expect(after).not.toBe(before);
    write(root, 'package.json', JSON.stringify({ ...manifest, type: 'module' }));
    expect(digestOf(unit)).not.toBe(after);
  });

  it('is bound through any number of other files', () => {
    const root = createDirectory({
      'a.sh': '. ./b.sh\n',
      'b.sh': 'python3 c.py\n',
      'c.py': 'import d\n',
      'd.py': 'import e\n',
      'e.py': 'one\n',
    });
    const unit = entryOf(root, 'bash a.sh', ['a.sh']);
    const before = digestOf(unit);
    write(root, 'e.py', 'two\n');
    expect(digestOf(unit)).not.toBe(before);
  });

  it('is bound for a hook file, too', () => {
    const root = createDirectory({
      [GUARD]: '#!/bin/sh\nexec tools/run.sh\n',
      'tools/run.sh': '1',
    });
    const before = digestOf(unitOf(root));
    write(root, 'tools/run.sh', '2');
    expect(digestOf(unitOf(root))).not.toBe(before);
  });

  it('is the one that the kernel finds behind a link and `..`', () => {
    const root = createDirectory({
      'deep/inner/x': '',
      'deep/lib.sh': 'before',
      'lib.sh': 'decoy',
      'check.sh': '. ./link/../lib.sh\n',
    });
    symlinkSync('deep/inner', path.join(root, 'link'));
    const unit = entryOf(root, 'bash check.sh', ['check.sh']);
    const before = digestOf(unit);
    write(root, 'deep/lib.sh', 'after');
    expect(digestOf(unit)).not.toBe(before);
  });

  it('is not one that the script writes or only mentions', () => {
    const text = 'echo x > out.sh\necho "see notes.sh" >> log.sh\ncase $f in data.json) ;; esac\n';
    const root = createDirectory({
      'check.sh': text,
      'out.sh': '1',
      'notes.sh': '1',
      'log.sh': '1',
      'data.json': '1',
    });
    const unit = entryOf(root, 'bash check.sh', ['check.sh']);
    const before = digestOf(unit);
    for (const file of ['out.sh', 'notes.sh', 'log.sh', 'data.json']) write(root, file, '2');
    expect(digestOf(unit)).toBe(before);
  });

  it('ends where files include each other, and at FIFOs, directories and unreadable names', () => {
    const root = createDirectory({
      'a.py': 'import b\nimport dir\nimport b.b.b.b\nfrom ...... import x\n',
      'b.py': 'import a\n',
      'check.sh': `. ./${'x'.repeat(300)}\n. ./dir\n. ./a.py/b\n. ./loop\n`,
    });
    mkdirSync(path.join(root, 'dir'));
    symlinkSync('loop', path.join(root, 'loop'));
    const unit = entryOf(root, 'python3 a.py; bash check.sh', ['a.py', 'check.sh']);
    expect(Object.keys(bindUnit(unit).files)).toEqual(['//entry-text', 'a.py', 'b.py', 'check.sh']);
  });
});

function createOutside(): string {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'hookline-outside-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe('an interpreter inside the workspace', () => {
  const commands = [
    '.venv/bin/python tools/check.py',
    '"$CLAUDE_PROJECT_DIR"/.venv/bin/python tools/check.py',
    'uv run python tools/check.py',
    'bash wrapper.sh',
    './shebang',
    'poetry run python tools/check.py',
  ];

  it.each(commands)('is bound with what it reads first: %s', (command) => {
    const root = createDirectory({
      'tools/check.py': '',
      '.venv/bin/python': 'interpreter',
      '.venv/pyvenv.cfg': 'home = /usr/bin\n',
      '.venv/lib/python3.12/site-packages/a.pth': '',
      'wrapper.sh': 'exec .venv/bin/python tools/check.py\n',
      shebang: '#!.venv/bin/python\n',
    });
    const unit = entryOf(
      root,
      command,
      ['wrapper.sh', 'shebang'].filter((file) => command.includes(file)),
    );
    for (const file of [
      '.venv/bin/python',
      '.venv/pyvenv.cfg',
      '.venv/lib/python3.12/site-packages/a.pth',
      '.venv/lib/python3.12/site-packages/new.pth',
      '.venv/lib/python3.12/site-packages/sitecustomize.py',
    ]) {
      const before = digestOf(unit);
      write(root, file, 'swapped');
      expect([file, digestOf(unit)]).not.toEqual([file, before]);
    }
    expect([...collectUnit(unit).uncovered]).toContain(
      'packages in .venv/lib/python3.12/site-packages',
    );
  });

  it.each(['npx tsx tools/check.ts', 'node_modules/.bin/tsx tools/check.ts', './shebang'])(
    'is bound in node_modules: %s',
    (command) => {
      const root = createDirectory({
        'tools/check.ts': '',
        'node_modules/tsx/cli.mjs': 'one',
        shebang: '#!/usr/bin/env -S npx tsx\n',
      });
      mkdirSync(path.join(root, 'node_modules/.bin'));
      symlinkSync('../tsx/cli.mjs', path.join(root, 'node_modules/.bin/tsx'));
      const unit = entryOf(root, command, command === './shebang' ? ['shebang'] : []);
      const before = digestOf(unit);
      write(root, 'node_modules/tsx/cli.mjs', 'two');
      expect(digestOf(unit)).not.toBe(before);
      expect([...collectUnit(unit).uncovered]).toContain('packages in node_modules');
    },
  );

  it('is bound by the target of its link where that leads out, and the target is named', () => {
    const root = createDirectory({
      'tools/check.py': '',
      'run.sh': 'exec .venv/bin/python x.py\n',
    });
    const outside = createOutside();
    write(outside, 'python', 'one');
    write(outside, 'other', 'one');
    mkdirSync(path.join(root, '.venv/bin'), { recursive: true });
    const link = path.join(root, '.venv/bin/python');
    symlinkSync(path.join(outside, 'python'), link);
    const unit = entryOf(root, 'bash run.sh', ['run.sh']);
    const before = digestOf(unit);
    expect([...collectUnit(unit).uncovered]).toContain(`${outside}/python (outside the workspace)`);
    write(outside, 'python', 'two');
    expect(digestOf(unit)).toBe(before);
    rmSync(link);
    symlinkSync(path.join(outside, 'other'), link);
    expect(digestOf(unit)).not.toBe(before);
  });

  it.each([
    [GUARD, '#!/usr/bin/env python3\n'],
    [GUARD, '#!/usr/bin/env -S python3 -u\n'],
    [GUARD, '#!/bin/sh\npython3 -c pass\n'],
  ])('is bound when the PATH leads to it: %s %j', (file, text) => {
    const root = createDirectory({ [file]: text, 'bin/python3': 'one' });
    const starts = {
      programs: [],
      directories: [root],
      searchPath: ['/usr/bin', path.join(root, 'bin')],
    };
    const unit = unitOf(root, { starts });
    const before = digestOf(unit);
    write(root, 'bin/python3', 'two');
    expect(digestOf(unit)).not.toBe(before);
  });

  it('is bound when the host starts the file with it, and noticed when it appears', () => {
    const root = createDirectory({ [GUARD]: 'print()\n' });
    const starts = {
      programs: ['python3'],
      directories: [root],
      searchPath: [path.join(root, 'b')],
    };
    const unit = unitOf(root, { starts });
    const before = digestOf(unit);
    write(root, 'b/python3', 'one');
    expect(digestOf(unit)).not.toBe(before);
  });
});

it.each([
  ['#!/usr/bin/env python3\n', 'python3'],
  ['#!/bin/sh\n', '/bin/sh'],
  ['#!/bin/sh\nexec node x.js\n', 'node'],
])('names an interpreter outside of the workspace: %j', (text, name) => {
  const root = createDirectory({ [GUARD]: text });
  expect([...collectUnit(unitOf(root)).interpreters]).toContain(name);
});

describe('of the mode', () => {
  it('the executable bit counts', () => {
    const root = createDirectory({ [GUARD]: '#!/bin/sh\n', [`${HOOKS}/lib.sh`]: '' });
    for (const file of [GUARD, `${HOOKS}/lib.sh`]) {
      const before = digestOf(unitOf(root));
      chmodSync(path.join(root, file), 0o755);
      expect(digestOf(unitOf(root))).not.toBe(before);
      chmodSync(path.join(root, file), 0o644);
      expect(digestOf(unitOf(root))).toBe(before);
    }
  });

  it.each([0o600, 0o664, 0o666, 0o640, 0o444])('nothing else counts: %o', (mode) => {
    const root = createDirectory({ [GUARD]: '#!/bin/sh\n' });
    chmodSync(path.join(root, GUARD), 0o644);
    const before = digestOf(unitOf(root));
    chmodSync(path.join(root, GUARD), mode);
    expect(digestOf(unitOf(root))).toBe(before);
  });
});
