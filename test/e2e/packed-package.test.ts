import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPTIONAL_PACKAGES } from '../../src/base/optional-packages.ts';
import { createPdf } from '../agent/tools/files/pdf.ts';
import { resultOf, runHookline, startHookline } from '../cli/hookline.ts';
import { createTempWorkspace, write } from '../cli/temp-workspace.ts';
import { hasTerminal, runInTerminal } from '../cli/terminal.ts';

const MEGABYTE = 1024 * 1024;
const GUARD = `#!/bin/bash
echo '{"cancel": true, "errorMessage": "not in this repository"}'
`;
const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'write_to_file', '--input', '{"path":"a"}'];

const hasRegistry =
  spawnSync('npm', ['view', 'ulid', 'version', '--fetch-retries=0'], { timeout: 60_000 }).status ===
  0;
if (!hasRegistry) {
  process.stderr.write(
    'SKIPPED: there is no npm registry, so the packed package is not installed\n',
  );
}

let directory = '';
let full = '';
let lean = '';

beforeAll(() => {
  if (!hasRegistry) return;
  directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-packed-')));
  const [tarball] = JSON.parse(
    runNpm(['pack', '--json', '--ignore-scripts', '--pack-destination', directory], '.'),
  );
  full = install('full', tarball.filename, []);
  lean = install('lean', tarball.filename, ['--omit=optional']);
});

afterAll(() => {
  if (directory !== '') rmSync(directory, { recursive: true, force: true });
});

test('the packages that may be missing are those of package.json', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(OPTIONAL_PACKAGES).toEqual(manifest.optionalDependencies);
});

test.skipIf(!hasRegistry)('without a lock file everything installs, in 150 MB', () => {
  expect(measureDisk(path.join(full, 'node_modules'))).toBeLessThanOrEqual(150 * MEGABYTE);
});

test.skipIf(!hasRegistry || !hasTerminal)('an installed chat answers at once', async () => {
  const workspace = createTempWorkspace();
  const script = write(workspace.directory, 'turns.json', '[{"text": "Good morning to you."}]');
  const { stdout, code } = await runInTerminal(
    ['chat', '--script', script],
    { cwd: workspace.repo, home: workspace.home, program: programOf(full) },
    {
      dialogue: [
        ['>', 'hello\r'],
        ['Good morning to you', '/exit\r'],
      ],
    },
  );
  expect({ code, hasAnswer: stdout.includes('Good morning to you') }).toEqual({
    code: 0,
    hasAnswer: true,
  });
});

test.skipIf(!hasRegistry)('an installed agent reads PDF documents and searches', async () => {
  const workspace = createTempWorkspace({ 'notes.txt': 'a needle in it\n' });
  write(workspace.repo, 'paper.pdf', createPdf(['Text of the paper']));
  const tools = [
    { name: 'Read', input: { file_path: path.join(workspace.repo, 'paper.pdf') } },
    { name: 'Grep', input: { pattern: 'needle', output_mode: 'content' } },
  ];
  const script = write(workspace.directory, 'turns.json', JSON.stringify([{ tools }, {}]));
  const { stdout } = await runHookline(
    ['run', '--script', script, '--output', 'stream-json', 'look'],
    { cwd: workspace.repo, home: workspace.home, program: programOf(full) },
  );
  expect(stdout).toContain('Text of the paper');
  expect(stdout).toContain('a needle in it');
});

test.skipIf(!hasRegistry)('without optional packages it takes 25 MB', () => {
  expect(measureDisk(path.join(lean, 'node_modules'))).toBeLessThanOrEqual(25 * MEGABYTE);
  expect(Object.keys(OPTIONAL_PACKAGES).filter((name) => isInstalled(lean, name))).toEqual([]);
});

test.skipIf(!hasRegistry)('without optional packages hooks and trust work', async () => {
  const workspace = createTempWorkspace({ '.clinerules/hooks/PreToolUse': GUARD });
  const options = { cwd: workspace.repo, home: workspace.home, program: programOf(lean) };
  const created = await runHookline(['hooks', 'new', 'PostToolUse', '--lang', 'ts'], options);
  expect(created).toMatchObject({ code: 0, stderr: '' });
  expect(await runHookline(['hooks', 'list'], options)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('cline:workspace:PreToolUse'),
  });
  expect(await runHookline(['trust', '--yes'], options)).toMatchObject({ code: 0 });
  expect(await runHookline(FIRE, options)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not in this repository'),
  });
});

test.skipIf(!hasRegistry)('without optional packages hookline/hooks runs hooks', async () => {
  const workspace = createTempWorkspace();
  const script = write(lean, 'embed.mjs', embed('hookline/hooks', workspace.home));
  write(workspace.home, 'Documents/Cline/Hooks/PreToolUse', GUARD);
  expect(await runScript(script, workspace)).toEqual({
    code: 0,
    stdout: 'deny not in this repository\n',
    stderr: '',
  });
});

test.skipIf(!hasRegistry)(
  'a missing package is named with the command that installs it',
  async () => {
    const workspace = createTempWorkspace();
    const settings = JSON.stringify({ mcpServers: { files: { command: 'cat' } } });
    write(workspace.home, '.claude.json', settings);
    const options = { cwd: workspace.repo, home: workspace.home, program: programOf(lean) };
    const { stdout } = await runHookline(['mcp', 'list'], options);
    expect(stdout).toContain('npm install "@modelcontextprotocol/client@^2.4.0"');

    const script = write(lean, 'model.mjs', MODEL);
    expect(await runScript(script, workspace)).toEqual({
      code: 0,
      stdout:
        'PACKAGE_MISSING a language model needs the package ai, which is not installed: npm install "ai@^6.0.326"\n' +
        'Run that command where Hookline is installed, with -g if it is installed globally.\n',
      stderr: '',
    });
  },
);

test.skipIf(!hasRegistry)('hookline/hooks in a bundle takes 1 MB and runs alone', async () => {
  const workspace = createTempWorkspace();
  write(workspace.home, 'Documents/Cline/Hooks/PreToolUse', GUARD);
  const whole = write(lean, 'whole.mjs', "export * from 'hookline/hooks';\n");
  const program = write(lean, 'program.mjs', embed('./whole.mjs', workspace.home));
  const bundle = path.join(workspace.directory, 'bundle');
  await build({
    input: program,
    platform: 'node',
    onLog: () => undefined,
    output: { dir: bundle, format: 'esm', minify: true, entryFileNames: 'program.mjs' },
  });
  const { output } = await build({
    input: whole,
    platform: 'node',
    onLog: () => undefined,
    write: false,
    output: { format: 'esm', minify: true },
  });
  const bytes = output.map((each) => (each.type === 'chunk' ? Buffer.byteLength(each.code) : 0));
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(MEGABYTE);
  expect(await runScript(path.join(bundle, 'program.mjs'), workspace)).toEqual({
    code: 0,
    stdout: 'deny not in this repository\n',
    stderr: '',
  });
});

function install(name: string, tarball: string, flags: readonly string[]): string {
  const project = path.join(directory, name);
  write(project, 'package.json', '{"name": "somebody", "private": true}');
  runNpm(['install', '--no-audit', '--no-fund', ...flags, path.join(directory, tarball)], project);
  return project;
}

function runNpm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function programOf(project: string): string {
  return path.join(project, 'node_modules', 'hookline', 'dist', 'bin', 'hookline.js');
}

function isInstalled(project: string, name: string): boolean {
  return existsSync(path.join(project, 'node_modules', name));
}

/** What `du` counts: blocks, which are more than the bytes of small files. */
function measureDisk(place: string): number {
  const stats = lstatSync(place);
  const inside = stats.isDirectory() ? readdirSync(place) : [];
  return inside.reduce(
    (sum, name) => sum + measureDisk(path.join(place, name)),
    stats.blocks * 512,
  );
}

function embed(from: string, home: string): string {
  return `import { claudeHooks, clineFiles, createHookEngine } from ${JSON.stringify(from)};
const where = { roots: [${JSON.stringify(home)}] };
const engine = createHookEngine({ sources: [clineFiles(where), claudeHooks(where)] });
const verdict = await engine.dispatch({
  name: 'PreToolUse',
  tool: { callId: '1', name: 'Write', input: { file_path: '/a', content: '' } },
});
console.log(verdict.effect, ...verdict.reasons.map(({ text }) => text));
await engine.close();
`;
}

const MODEL = `import { createHost } from 'hookline/hooks';
const host = await createHost({ model: { provider: 'anthropic', key: 'k' } });
await host.start({ prompt: 'hello' }).catch(({ code, message, hint }) => {
  console.log(code, message);
  console.log(hint);
});
await host.dispose();
`;

function runScript(script: string, { home, repo }: { home: string; repo: string }) {
  return resultOf(startHookline([], { cwd: repo, home, program: script }));
}
