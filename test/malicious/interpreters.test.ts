import { chmodSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import {
  createTempWorkspace,
  HOOKS,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { homeOf } from './attack.ts';

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly notBound: readonly string[];
}

async function listHooks(
  { repo, home }: TempWorkspace,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Listed[]> {
  const result = await runHookline(['hooks', 'list', '--json'], { cwd: repo, home, env });
  const { hooks }: { readonly hooks: readonly Listed[] } = jsonOf(result);
  return hooks;
}

async function listStates(
  workspace: TempWorkspace,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  return (await listHooks(workspace, env)).map(({ state }) => state);
}

function claudeHook(command: string): Record<string, string> {
  const handler = { type: 'command', command };
  return {
    '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [handler] }] } }),
  };
}

function server(command: string, args: readonly string[]): Record<string, string> {
  return { '.mcp.json': JSON.stringify({ mcpServers: { files: { command, args } } }) };
}

const INTERPRETER = '#!/bin/sh\ncat > /dev/null\n';
const PWN = '#!/bin/sh\n: > "$HOME/pwned"\n';
const WRAPPER = '#!/bin/sh\nexec .venv/bin/python tools/check.py\n';

/** Each: what the repository holds, and the file that is swapped after trust. */
const SWAPS: readonly (readonly [string, Record<string, string>, string])[] = [
  [
    'a Cline file with a relative #! line',
    { [`${HOOKS}/PreToolUse`]: '#!.venv/bin/python\n' },
    '.venv/bin/python',
  ],
  ['a Cline file that is a wrapper', { [`${HOOKS}/PreToolUse`]: WRAPPER }, '.venv/bin/python'],
  ['a Cline file that starts a script', { [`${HOOKS}/PreToolUse`]: WRAPPER }, 'tools/check.py'],
  ['a Cline file that imports', { [`${HOOKS}/PreToolUse`]: WRAPPER }, 'tools/helper.py'],
  ['a Claude entry', claudeHook('.venv/bin/python tools/check.py'), '.venv/pyvenv.cfg'],
  ['a Claude entry that imports', claudeHook('python3 tools/check.py'), 'tools/helper.py'],
  ['a Claude entry with uv', claudeHook('uv run python tools/check.py'), '.venv/bin/python'],
  ['a Claude entry with npx', claudeHook('npx tsx tools/check.ts'), 'node_modules/.bin/tsx'],
  ['a Claude entry that is a wrapper', claudeHook('./wrapper.sh'), '.venv/bin/python'],
  ['an MCP server', server('.venv/bin/python', ['tools/check.py']), '.venv/pyvenv.cfg'],
  ['an MCP server that imports', server('python3', ['tools/check.py']), 'tools/helper.py'],
  ['an MCP server with npx', server('npx', ['tsx', 'tools/check.ts']), 'node_modules/.bin/tsx'],
  ['an entered directory', claudeHook("cd tools && python3 -c 'import json'"), 'tools/json.py'],
  [
    'a module of PYTHONPATH',
    claudeHook("cd tools; PYTHONPATH=lib python3 -c 'import a'"),
    'tools/lib/a.py',
  ],
  ['a module of -Mlib', claudeHook("cd tools; perl -Mlib=. -e 'use Foo'"), 'tools/Foo.pm'],
  ['a module of -I', claudeHook("perl -Itools -e 'use Foo'"), 'tools/Foo.pm'],
  ['a shadowed module', claudeHook('python3 tools/check.py'), 'tools/json.py'],
];

describe('what a trusted hook runs', () => {
  it.each(SWAPS)('cannot be swapped: %s', async (_title, files, swapped) => {
    const workspace = createTempWorkspace({
      'tools/check.py': 'import helper, json\n',
      'tools/helper.py': '',
      'tools/Foo.pm': '1;',
      'tools/lib/a.py': '',
      'tools/check.ts': '',
      'wrapper.sh': WRAPPER,
      '.venv/bin/python': INTERPRETER,
      '.venv/pyvenv.cfg': 'home = /usr/bin\n',
      'node_modules/.bin/tsx': INTERPRETER,
      ...files,
    });
    trust(workspace);
    expect(await listStates(workspace)).toEqual(['ready']);
    write(workspace.repo, swapped, PWN);
    expect(await listStates(workspace)).toEqual(['modified']);
    expect(homeOf(workspace)).toEqual({});
  });

  it('is not what a PATH that leads into the workspace finds later', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: '#!/usr/bin/env check-it\n',
      'bin/other': INTERPRETER,
    });
    const env = { PATH: `${workspace.repo}/bin:${process.env['PATH'] ?? ''}` };
    trust(workspace);
    expect(await listStates(workspace, env)).not.toContain('modified');
    write(workspace.repo, 'bin/check-it', PWN);
    expect(await listStates(workspace, env)).toEqual(['modified']);
    expect(await listStates(workspace)).not.toContain('modified');
  });

  it('names the interpreter that is not bound', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: '#!/usr/bin/env python3\n' });
    expect((await listHooks(workspace)).map(({ notBound }) => notBound)).toEqual([
      ['python3 (interpreter)'],
    ]);
    const shown = await runHookline(['trust'], { cwd: workspace.repo, home: workspace.home });
    expect(shown.stdout).toContain('not bound python3 (interpreter)');
  });

  it('names packages that code on a command line loads', async () => {
    const workspace = createTempWorkspace({
      ...claudeHook('cd tools && node -e \'require("x")\''),
      'tools/node_modules/x/index.js': '',
    });
    expect((await listHooks(workspace)).map(({ notBound }) => notBound)).toEqual([
      ['packages in tools/node_modules', 'node (interpreter)'],
    ]);
  });

  it('loses trust by its executable bit and by no other', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: INTERPRETER });
    const file = path.join(workspace.repo, HOOKS, 'PreToolUse');
    trust(workspace);
    chmodSync(file, 0o775);
    expect(await listStates(workspace)).toEqual(['ready']);
    chmodSync(file, 0o644);
    expect(await listStates(workspace)).toEqual(['modified']);
  });
});
