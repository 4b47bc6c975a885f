import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  planLaunch,
  type LaunchMachine,
  type LaunchPlan,
  getProgramName,
  parseShebang,
  type Shebang,
} from '../../src/process/interpreter.ts';
import { createProgramFinder } from '../../src/process/program-finder.ts';
import { runProgram } from '../../src/process/run.ts';
import { program, temporaryDirectory } from './programs.ts';
import * as fc from 'fast-check';

const own = { nodePath: '/own/node', typescriptLoader: '/own/loader.js' };

/** A machine on which exactly these programs are installed. */
function posix(...programs: string[]): LaunchMachine {
  const findProgram = (name: string) =>
    programs.find((file) => file === name || path.posix.basename(file) === name) ?? null;
  return { ...own, platform: 'linux', findProgram };
}

function windows(...programs: string[]): LaunchMachine {
  const findProgram = (name: string) =>
    programs.find((file) => file === name || path.win32.parse(file).name === name) ?? null;
  return { ...own, platform: 'win32', findProgram };
}

function script(file: string, text: string, mode: 'x' | '-' = '-') {
  return { path: file, head: Buffer.from(text), isExecutable: mode === 'x' };
}

function launch(file: string, args: string[] = [], note: string | null = null): LaunchPlan {
  return { file, args, note };
}

const full = posix(
  '/bin/bash',
  '/bin/sh',
  '/bin/zsh',
  '/usr/bin/env',
  '/usr/bin/node',
  '/usr/bin/python3',
  '/usr/bin/bun',
  '/usr/bin/pwsh',
);
const bare = posix('/bin/sh', '/usr/bin/env', '/usr/bin/python');

describe('a file without a shebang, on POSIX', () => {
  test.each<[string, LaunchPlan, LaunchPlan]>([
    ['/h/a', launch('/bin/bash', ['/h/a']), viaSh('/h/a')],
    ['/h/a.sh', launch('/bin/bash', ['/h/a.sh']), viaSh('/h/a.sh')],
    ['/h/a.BASH', launch('/bin/bash', ['/h/a.BASH']), viaSh('/h/a.BASH')],
    ['/h/a.odd', launch('/bin/bash', ['/h/a.odd']), viaSh('/h/a.odd')],
    ['/h/a.zsh', launch('/bin/zsh', ['/h/a.zsh']), viaSh('/h/a.zsh', 'zsh')],
    ['/h/a.js', launch('/usr/bin/node', ['/h/a.js']), launch('/own/node', ['/h/a.js'])],
    ['/h/a.Mjs', viaLoader('/h/a.Mjs'), viaLoader('/h/a.Mjs')],
    ['/h/a.cjs', launch('/usr/bin/node', ['/h/a.cjs']), launch('/own/node', ['/h/a.cjs'])],
    ['/h/a.ts', launch('/usr/bin/bun', ['run', '/h/a.ts']), viaLoader('/h/a.ts')],
    ['/h/a.mts', launch('/usr/bin/bun', ['run', '/h/a.mts']), viaLoader('/h/a.mts')],
    ['/h/a.cts', launch('/usr/bin/bun', ['run', '/h/a.cts']), viaLoader('/h/a.cts')],
    ['/h/a.CTS', viaLoader('/h/a.CTS'), viaLoader('/h/a.CTS')],
    ['/h/a.py', launch('/usr/bin/python3', ['/h/a.py']), launch('/usr/bin/python', ['/h/a.py'])],
    [
      '/h/a.ps1',
      launch('/usr/bin/pwsh', ['-File', '/h/a.ps1']),
      { missing: '/h/a.ps1 ends in .ps1 and needs pwsh, which is not on the PATH.' },
    ],
  ])('%s runs by its extension, on a full and on a bare machine', (file, onFull, onBare) => {
    expect(planLaunch(script(file, 'text', 'x'), full)).toEqual(onFull);
    expect(planLaunch(script(file, 'text'), bare)).toEqual(onBare);
  });

  test('lists what it looked for when there is nothing', () => {
    expect(planLaunch(script('/h/a', 'text'), posix())).toEqual({
      missing: '/h/a has no #! line and needs bash or sh, which is not on the PATH.',
    });
    expect(planLaunch(script('/h/a.py', 'text'), posix())).toEqual({
      missing: '/h/a.py ends in .py and needs python3 or python, which is not on the PATH.',
    });
  });
});

describe('a program of the machine', () => {
  test.each(['7f454c46', 'cffaedfe', 'cafebabe', '4d5a9000'])('with magic %s', (magic) => {
    const binary = { path: '/h/a', head: Buffer.from(magic, 'hex'), isExecutable: true };
    expect(planLaunch(binary, bare)).toEqual(launch('/h/a'));
    expect(planLaunch({ ...binary, isExecutable: false }, bare)).toEqual({
      missing: '/h/a is a program, but its executable bit is not set.',
    });
  });
});

describe('a file with a shebang, on POSIX', () => {
  test.each<[string, string]>([
    ['a shell', '#!/bin/bash\n'],
    ['one argument', '#!/bin/bash -e\n'],
    ['env', '#!/usr/bin/env node\n'],
    ['env -S', '#!/usr/bin/env -S node --no-warnings -r x\n'],
    ['a variable', '#!/usr/bin/env -S A=b node\n'],
  ])('runs by itself when it is executable and the kernel can: %s', (_, head) => {
    expect(planLaunch(script('/h/a', head, 'x'), full)).toEqual(launch('/h/a'));
  });

  test.each<[string, string, LaunchPlan]>([
    ['CRLF', '#!/bin/bash\r\n', launch('/bin/bash', ['/h/a'])],
    ['two arguments', '#!/bin/bash -e -u\n', launch('/bin/bash', ['-e', '-u', '/h/a'])],
    ['env with arguments', '#!/usr/bin/env bash -e\n', launch('/bin/bash', ['-e', '/h/a'])],
    [
      'variables',
      '#!/usr/bin/env A=b bash -e\n',
      launch('/usr/bin/env', ['A=b', '/bin/bash', '-e', '/h/a']),
    ],
    [
      'an option of env',
      '#!/usr/bin/env -i bash\n',
      launch('/usr/bin/env', ['-i', 'bash', '/h/a']),
    ],
    [
      'a path that is not there',
      '#!/opt/local/bin/python3\n',
      launch('/usr/bin/python3', ['/h/a'], instead('/opt/local/bin/python3', '/usr/bin/python3')),
    ],
    ['an interpreter given by a relative path', '#!bash\n', launch('/bin/bash', ['/h/a'])],
  ])('is passed to its interpreter: %s', (_, head, plan) => {
    expect(planLaunch(script('/h/a', head, 'x'), full)).toEqual(plan);
  });

  test('is passed to its interpreter when it is not executable', () => {
    expect(planLaunch(script('/h/a', '#!/bin/bash -e\n'), full)).toEqual(
      launch('/bin/bash', ['-e', '/h/a']),
    );
  });

  test('in JavaScript needs no node on the PATH', () => {
    expect(planLaunch(script('/h/a', '#!/usr/bin/env node\n', 'x'), bare)).toEqual(
      launch('/own/node', ['/h/a'], instead('node', '/own/node')),
    );
  });

  test('is not run by something else when its interpreter is missing', () => {
    expect(planLaunch(script('/h/a.sh', '#!/usr/bin/ruby\n', 'x'), full)).toEqual({
      missing:
        'The first line of /h/a.sh names /usr/bin/ruby, which is neither there nor on the PATH.',
    });
    expect(planLaunch(script('/h/a', '#!/usr/bin/env ruby\n', 'x'), full)).toEqual({
      missing: 'The first line of /h/a names ruby, which is not on the PATH.',
    });
    expect(planLaunch(script('/h/a', '#!/bin/env A=b sh\n'), posix('/bin/sh'))).toEqual({
      missing: 'Setting A=b needs env, which is not on the PATH.',
    });
  });
});

describe('TypeScript with a shebang', () => {
  const withTsx = posix('/usr/bin/env', '/usr/bin/npx', '/usr/bin/tsx', '/usr/bin/node');
  const withNpx = posix('/usr/bin/env', '/usr/bin/npx', '/usr/bin/node');

  test.each<[string, LaunchMachine, LaunchPlan]>([
    ['#!/usr/bin/env bun', full, launch('/h/a.ts')],
    ['#!/usr/bin/env bun', bare, viaLoader('/h/a.ts', 'bun')],
    ['#!/usr/bin/env -S bun run', bare, viaLoader('/h/a.ts', 'bun')],
    ['#!/opt/bun', full, launch('/usr/bin/bun', ['/h/a.ts'], instead('/opt/bun', '/usr/bin/bun'))],
    ['#!/usr/bin/env node', full, viaLoader('/h/a.ts')],
    ['#!/usr/bin/node', full, viaLoader('/h/a.ts')],
    ['#!/usr/bin/env -S node --no-warnings', full, viaLoader('/h/a.ts')],
    ['#!/usr/bin/env -S node --import tsx', full, launch('/h/a.ts')],
    ['#!/usr/bin/env tsx', withTsx, launch('/h/a.ts')],
    ['#!/usr/bin/env tsx', full, viaLoader('/h/a.ts', 'tsx')],
    ['#!/usr/bin/env ts-node', full, viaLoader('/h/a.ts', 'ts-node')],
    ['#!/usr/bin/env -S npx tsx', withTsx, launch('/h/a.ts')],
    ['#!/usr/bin/env -S npx --yes tsx@4', withNpx, viaLoader('/h/a.ts', 'tsx')],
    ['#!/usr/bin/env -S npx tsx', bare, viaLoader('/h/a.ts', 'npx')],
  ])('%s', (line, machine, plan) => {
    expect(planLaunch(script('/h/a.ts', `${line}\n`, 'x'), machine)).toEqual(plan);
  });

  test('never runs without the sandbox of its runtime when that is missing', () => {
    const deno = script('/h/a.ts', '#!/usr/bin/env -S deno run --allow-read\n', 'x');
    expect(planLaunch(deno, full)).toEqual({
      missing: 'The first line of /h/a.ts names deno, which is not on the PATH.',
    });
  });
});

describe('on Windows', () => {
  const pwsh = String.raw`C:\pwsh.exe`;
  const powershell = String.raw`C:\powershell.exe`;
  const git = String.raw`C:\Git\cmd\git.exe`;
  const bash = String.raw`C:\Git\bin\bash.exe`;
  const wsl = String.raw`C:\Windows\System32\bash.exe`;
  const py = String.raw`C:\py.exe`;
  const python = String.raw`C:\python.exe`;
  const perl = String.raw`C:\perl.exe`;
  const policy = ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File'];

  test.each<[[string, string], LaunchMachine, (file: string) => LaunchPlan]>([
    [['a.exe', 'MZ'], windows(), (file) => launch(file)],
    [['a.CMD', '@echo'], windows(), (file) => launch(file)],
    [['a.bat', '@echo'], windows(), (file) => launch(file)],
    [['a', 'MZ'], windows(), (file) => launch(file)],
    [['a.ps1', ''], windows(powershell), (file) => launch(powershell, [...policy, file])],
    [['a.PS1', '#!/bin/x'], windows(powershell, pwsh), (file) => launch(pwsh, [...policy, file])],
    [['a.py', ''], windows(py, python), (file) => launch(py, ['-3', file])],
    [['a.py', ''], windows(python), (file) => launch(python, [file])],
    [['a', '#!/usr/bin/env python3'], windows(py), (file) => launch(py, ['-3', file])],
    [['a', '#!/usr/bin/python -u'], windows(python), (file) => launch(python, ['-u', file])],
    [['a', '#!/bin/bash -e'], windows(git, bash), (file) => launch(bash, ['-e', file])],
    [['a.sh', ''], windows(git, bash), (file) => launch(bash, [file])],
    [['a', ''], windows(bash), (file) => launch(bash, [file])],
    [['a', '#!/usr/bin/env perl'], windows(perl), (file) => launch(perl, [file])],
    [['a', '#!/usr/bin/env node'], windows(), (file) => launch('/own/node', [file])],
    [['a.js', ''], windows(), (file) => launch('/own/node', [file])],
    [['a.ts', '#!/usr/bin/env bun'], windows(), (file) => viaLoader(file, 'bun')],
    [
      ['a', '#!/bin/bash'],
      windows(wsl),
      (file) => ({
        missing: `The first line of ${file} names /bin/bash, which is neither there nor on the PATH.`,
      }),
    ],
    [
      ['a.ps1', ''],
      windows(),
      (file) => ({
        missing: `${file} ends in .ps1 and needs pwsh or powershell, which is not on the PATH.`,
      }),
    ],
    [
      ['a.py', ''],
      windows(),
      (file) => ({
        missing: `${file} ends in .py and needs py or python, which is not on the PATH.`,
      }),
    ],
  ])('%j, a name and a beginning', ([name, head], machine, plan) => {
    const file = `C:\\my.hooks\\${name}`;
    expect(planLaunch(script(file, head, 'x'), machine)).toEqual(plan(file));
  });
});

describe('carried out on this machine', () => {
  const machine: LaunchMachine = {
    platform: process.platform,
    findProgram: createProgramFinder(process.env['PATH'], process.platform),
    nodePath: process.execPath,
    typescriptLoader: '/own/loader.js',
  };

  test.each<[string, string, number]>([
    ['plain', '#!/bin/sh\ncat; echo " $0"', 0o755],
    ['not executable', '#!/bin/sh\ncat; echo " $0"', 0o644],
    ['Windows line ends', '#!/bin/sh -e\r\ncat; echo " $0"; exit\r\n', 0o755],
    ['two arguments', '#!/bin/sh -e -u\ncat; echo " $0"', 0o755],
    ['no first line', 'cat; echo " $0"', 0o755],
    ['variables', '#!/usr/bin/env GREETING=x sh\ncat; echo " $0"', 0o755],
    [
      'by-extension.mjs',
      'process.stdin.pipe(process.stdout); process.stdin.on("end", () => console.log(" " + process.argv[1]))',
      0o644,
    ],
  ])('%s', async (name, text, mode) => {
    const file = path.join(temporaryDirectory(), name);
    writeFileSync(file, text);
    chmodSync(file, mode);
    const isExecutable = mode === 0o755;
    const plan = planLaunch({ path: file, head: Buffer.from(text), isExecutable }, machine);
    // Without bash, a script that names no interpreter runs under sh, with a note.
    const isReplaced = name === 'no first line' && machine.findProgram('bash') === null;
    expect(plan).toMatchObject({ note: isReplaced ? expect.any(String) : null });
    if ('missing' in plan) return expect.fail(`no interpreter: ${JSON.stringify(plan)}`);
    const result = await runProgram(program({ ...plan, stdin: 'input' }));
    expect(result).toMatchObject({ ending: 'exit', stdout: { text: `input ${file}\n` } });
  });
});

function viaSh(file: string, wanted = 'bash'): LaunchPlan {
  return launch('/bin/sh', [file], instead(wanted, '/bin/sh'));
}

function instead(wanted: string, used: string): string {
  return `${wanted} was not found; ${used} is used instead.`;
}

function viaLoader(file: string, absent?: string): LaunchPlan {
  const note = absent === undefined ? null : instead(absent, 'the built-in TypeScript loader');
  return launch('/own/node', ['/own/loader.js', file], note);
}

function shebang(wanted: Partial<Shebang> & { interpreter: string }): Shebang {
  return {
    args: [],
    variables: [],
    kernelProgram: wanted.interpreter,
    isKernelReady: true,
    ...wanted,
  };
}

const env = { kernelProgram: '/usr/bin/env' };

test.each<[string, Shebang]>([
  ['#!/bin/bash\necho', shebang({ interpreter: '/bin/bash' })],
  ['#!/bin/bash', shebang({ interpreter: '/bin/bash' })],
  ['#! \t/bin/sh -e \n', shebang({ interpreter: '/bin/sh', args: ['-e'] })],
  ['#!/usr/bin/env python3\n', shebang({ ...env, interpreter: 'python3' })],
  [
    '#!/usr/bin/env -S bun run --smol\n',
    shebang({ ...env, interpreter: 'bun', args: ['run', '--smol'] }),
  ],
  ['#!/usr/bin/env -Snpx tsx\n', shebang({ ...env, interpreter: 'npx', args: ['tsx'] })],
  [
    `#!/usr/bin/env --split-string=node "--title=a b" 'c d'\n`,
    shebang({ ...env, interpreter: 'node', args: ['--title=a b', 'c d'] }),
  ],
  [
    '#!/usr/bin/env -S DEBUG=1 X= node\n',
    shebang({ ...env, interpreter: 'node', variables: ['DEBUG=1', 'X='] }),
  ],
])('%j is parsed as the kernel parses it', (head, expected) => {
  expect(parseShebang(head)).toEqual(expected);
});

describe('shebangs that the kernel would misread', () => {
  const generous = { isKernelReady: false };

  test.each<[string, string, Shebang]>([
    ['CRLF', '#!/bin/bash\r\necho', shebang({ ...generous, interpreter: '/bin/bash' })],
    ['a byte-order mark', '\uFEFF#!/bin/sh\n', shebang({ ...generous, interpreter: '/bin/sh' })],
    [
      'several arguments',
      '#!/bin/bash -e -u\n',
      shebang({ ...generous, interpreter: '/bin/bash', args: ['-e', '-u'] }),
    ],
    [
      'arguments after env without -S',
      '#!/usr/bin/env bash -e\n',
      shebang({ ...generous, ...env, interpreter: 'bash', args: ['-e'] }),
    ],
    [
      'variables without -S',
      '#!/usr/bin/env A=b node\n',
      shebang({ ...generous, ...env, interpreter: 'node', variables: ['A=b'] }),
    ],
    [
      'a line that older kernels cut',
      `#!/${'x'.repeat(200)}\n`,
      shebang({ ...generous, interpreter: `/${'x'.repeat(200)}` }),
    ],
  ])('%s is still understood', (_, head, expected) => {
    expect(parseShebang(head)).toEqual(expected);
  });
});

test('options that only env can carry out are left to env', () => {
  expect(parseShebang('#!/usr/bin/env -i node\n')).toEqual(
    shebang({ interpreter: '/usr/bin/env', args: ['-i', 'node'], isKernelReady: false }),
  );
  expect(parseShebang('#!/usr/bin/env\n')).toEqual(shebang({ interpreter: '/usr/bin/env' }));
});

test.each(['', 'echo', ' #!/bin/sh', '#!', '#!  \n', '# !/bin/sh', '\n#!/bin/sh'])(
  '%j names no interpreter',
  (head) => {
    expect(parseShebang(head)).toBeNull();
  },
);

test('any text is either a shebang with an interpreter or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (rest) => {
      expect(parseShebang(`#!${rest}`)?.interpreter).not.toBe('');
    }),
  );
});

test.each([
  ['/usr/bin/Python3', 'python3'],
  [String.raw`C:\Program Files\nodejs\node.EXE`, 'node'],
  ['bash', 'bash'],
])('the base name of %j is %j', (program, name) => {
  expect(getProgramName(program)).toBe(name);
});
