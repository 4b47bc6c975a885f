import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  environmentOf,
  hooklineProgram,
  type HooklineResult,
  resultOf,
} from '../../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace, write } from '../../cli/temp-workspace.ts';
import { type Service, startService } from '../../e2e/service.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../..');
const FIXTURES = path.join(import.meta.dirname, 'fixtures');
const KEY = 'test-key-of-nobody';

/** A text of Cline's documentation, verbatim. */
function sample(name: string): string {
  return readFileSync(path.join(FIXTURES, `${name}.txt`), 'utf8');
}

function withOurImport(text: string): string {
  return text.replaceAll('"@cline/core"', '"hookline"');
}

function library(file: string): string {
  return path.resolve(path.dirname(hooklineProgram()), '..', file);
}

const RUN = `
import { createJiti } from ${JSON.stringify(pathToFileURL(path.join(PROJECT, 'node_modules/jiti/lib/jiti.mjs')))};
const [file, hookline] = process.argv.slice(1);
const { runDemo } = await createJiti(file, { alias: { hookline } }).import(file);
await runDemo?.();
`;

/** Runs a sample, and its demo if it has one, with a model that is this service. */
async function run(
  workspace: TempWorkspace,
  service: Service,
  file: string,
): Promise<HooklineResult> {
  const args = ['--input-type=module', '-e', RUN, file, library('index.js')];
  const env = { ANTHROPIC_API_KEY: KEY, HOOKLINE_BASE_URL: service.url };
  const surroundings = environmentOf({ home: workspace.home, env });
  return resultOf(spawn(process.execPath, args, { cwd: workspace.repo, env: surroundings }));
}

describe('with only the import changed,', () => {
  it('the single-file template of Cline’s documentation runs its demo', async () => {
    const service = await startService([
      { tools: [{ name: 'do_thing', input: { target: 'world' } }] },
      { text: 'The thing is done.' },
    ]);
    const workspace = createTempWorkspace();
    const text = withOurImport(sample('single-file-template'));
    const result = await run(workspace, service, write(workspace.directory, 'my-plugin.ts', text));
    expect(result).toEqual({
      code: 0,
      stdout: '[my-plugin] run started\n[my-plugin] done in 2 iteration(s)\nThe thing is done.\n',
      stderr: '',
    });
    const [first, second] = service.requests();
    expect(first?.system).toBe('You are a helpful assistant. Use tools when needed.');
    expect(first?.tools).toEqual([
      'do_thing',
      'read_files',
      'search_codebase',
      'run_commands',
      'fetch_web_content',
      'editor',
      'apply_patch',
      'skills',
      'spawn_agent',
    ]);
    expect(second?.messages.at(-1)).toEqual({
      role: 'tool',
      text: JSON.stringify({ ok: true, target: 'world', root: workspace.repo }),
      calls: [],
    });
  });

  it('its host.start sample runs a session and ends by itself', async () => {
    const service = await startService([
      { tools: [{ name: 'say_hello', input: { name: 'Ada' } }] },
      { text: 'Greeted.' },
    ]);
    const workspace = createTempWorkspace();
    write(workspace.directory, 'my-plugin.ts', withOurImport(sample('smallest-plugin')));
    const text = withOurImport(sample('host-start'));
    const result = await run(workspace, service, write(workspace.directory, 'host.ts', text));
    expect(result).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(service.requests()[1]?.messages.at(-1)?.text).toBe('{"greeting":"Hello, Ada!"}');
  });
});

it('the samples of Cline’s documentation fit our declarations, without any change', () => {
  const workspace = createTempWorkspace();
  write(workspace.repo, 'my-plugin.ts', sample('smallest-plugin'));
  write(workspace.repo, 'template.ts', sample('single-file-template'));
  write(
    workspace.repo,
    'host.ts',
    sample('host-start').replace('"./my-plugin"', '"./my-plugin.js"'),
  );
  const guard = `import type { AgentPlugin } from "@cline/core"\n${sample('branch-guard')}export { plugin }\n`;
  write(workspace.repo, 'guard.ts', guard);
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [path.join(PROJECT, 'node_modules/@types')],
    paths: { '@cline/core': [library('index.d.ts')] },
  };
  write(workspace.repo, 'package.json', '{"type":"module"}');
  write(workspace.repo, 'tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
  const compilation = spawnSync(process.execPath, [tsc, '-p', workspace.repo], {
    encoding: 'utf8',
  });
  const { status, stdout, stderr } = compilation;
  // What is left over is `import.meta.main`, which Node's declarations of this version may not have.
  const problems = stdout.split('\n').filter((line) => line !== '');
  const isKnown = (line: string): boolean => line.includes("'main' does not exist");
  expect({ status, stderr, problems: problems.filter((line) => !isKnown(line)) }).toEqual({
    status: problems.length === 0 ? 0 : 1,
    stderr: '',
    problems: [],
  });
});
