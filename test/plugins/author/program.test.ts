import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { environmentOf, hooklineProgram, resultOf, runHookline } from '../../cli/hookline.ts';
import { createTempWorkspace, type TempWorkspace, write } from '../../cli/temp-workspace.ts';
import { sample } from './documented-plugins.ts';

function packageDirectory(): string {
  return path.resolve(path.dirname(hooklineProgram()), '../..');
}

/** A project that has the built package installed under a name. */
function createProject(name: string): TempWorkspace {
  const workspace = createTempWorkspace({ 'package.json': '{"type":"module"}' });
  const target = path.join(workspace.repo, 'node_modules', ...name.split('/'));
  mkdirSync(path.dirname(target), { recursive: true });
  symlinkSync(packageDirectory(), target, 'junction');
  return workspace;
}

function node(workspace: TempWorkspace, args: readonly string[]) {
  const env = environmentOf({ home: workspace.home });
  return resultOf(spawn(process.execPath, args, { cwd: workspace.repo, env }));
}

describe('for authors of plugins, the built program and library', () => {
  it('write a plugin that runs its demo and serves a session at once', async () => {
    const workspace = createTempWorkspace();
    const options = { cwd: workspace.repo, home: workspace.home };
    const newResult = await runHookline(['hooks', 'new', '--dialect', 'plugin'], options);
    expect({ code: newResult.code, stderr: newResult.stderr }).toEqual({ code: 0, stderr: '' });
    const file = path.join('.cline', 'plugins', 'my-plugin.ts');
    const demo = await runHookline(['plugin', 'demo', file], options);
    expect(demo).toMatchObject({ code: 0, stderr: '' });
    expect(demo.stdout).toMatch(
      /^run_commands: .*forced pushes are not allowed.*\nsay_hello: \{"greeting":"Hello, Ada!".*\nDone\.\n$/u,
    );
    const script = JSON.stringify([
      { tools: [{ name: 'say_hello', input: { name: 'Ada' } }] },
      { text: 'Greeted.' },
    ]);
    const input = write(workspace.directory, 'script.json', script);
    const args = ['run', 'greet Ada', '--script', input, '--allow', 'say_hello'];
    expect(await runHookline(args, options)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Greeted.'),
    });
  });

  it('replace @cline/core where a project has them installed under that name', async () => {
    const workspace = createProject('@cline/core');
    write(workspace.repo, 'my-plugin.ts', sample('smallest-plugin'));
    const jiti = pathToFileURL(path.resolve('node_modules/jiti/lib/jiti.mjs'));
    const program = `
import { createJiti } from ${JSON.stringify(jiti)};
import { ClineCore } from '@cline/core';
const { default: plugin } = await createJiti(process.cwd() + '/x.js').import('./my-plugin.ts');
const core = await ClineCore.create({ backendMode: 'local' });
const script = [{ tools: [{ name: 'say_hello', input: { name: 'Ada' } }] }, { text: 'Greeted.' }];
const config = { providerId: 'scripted', modelId: 'x', script, cwd: process.cwd(), extensions: [plugin] };
const { result } = await core.start({ config, prompt: 'go' });
console.log(JSON.stringify(result.toolCalls[0].output), result.text);
await core.dispose();
`;
    const file = write(workspace.repo, 'program.mjs', program);
    expect(await node(workspace, [file])).toEqual({
      code: 0,
      stdout: '{"greeting":"Hello, Ada!"} Greeted.\n',
      stderr: '',
    });
  });

  it('test a plugin in node:test', async () => {
    const workspace = createProject('hookline');
    const test = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, defineTool } from 'hookline/plugin';
import { createPluginTestHost } from 'hookline/testing';

const plugin = definePlugin({
  name: 'adder',
  manifest: { capabilities: ['tools'] },
  setup(api) {
    api.registerTool(defineTool({
      name: 'add',
      description: 'Adds.',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      execute: ({ a }) => a + 1,
    }));
  },
});

test('it adds', async () => {
  const host = await createPluginTestHost(plugin);
  try {
    assert.equal((await host.callTool('add', { a: 1 })).output, 2);
    assert.deepEqual(host.issues(), []);
  } finally {
    await host.dispose();
  }
});
`;
    const file = write(workspace.repo, 'adder.test.mjs', test);
    const { code, stdout } = await node(workspace, ['--test', file]);
    expect({ code, passed: /^# pass (\d+)$/mu.exec(stdout)?.[1] }).toEqual({
      code: 0,
      passed: '1',
    });
  });

  it('give plugins the exports of Cline’s packages without loading a package', async () => {
    const workspace = createTempWorkspace();
    const hooks = `export async function load(url, context, next) {
  if (url.includes('/node_modules/')) process._rawDebug(url);
  return next(url, context);
}`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
    const loader = write(workspace.directory, 'register.mjs', register);
    const provided = pathToFileURL(path.join(packageDirectory(), 'dist/compat/cline/provided.js'));
    const program = `const { findProvidedModule } = await import(${JSON.stringify(provided)}); console.log(typeof findProvidedModule('@cline/core').createTool);`;
    const args = ['--import', pathToFileURL(loader).href, '--input-type=module', '-e', program];
    expect(await node(workspace, args)).toEqual({ code: 0, stdout: 'function\n', stderr: '' });
  });
});
