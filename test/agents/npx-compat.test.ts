import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { runHookline } from '../cli/hookline.ts';

const PACKAGE = `{\n    "name": "mine",\n    "version": "1.0.0",\n    "scripts": { "test": "true" }\n}\n`;

/** No registry can be asked: whatever needs one fails at once. */
function createEnvironment({ directory, home }: TempWorkspace): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_cache: path.join(directory, 'npm-cache'),
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  };
}

function runNpx(workspace: TempWorkspace, words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('npx', ['@principal-ai/agent-hooks', ...words], {
    cwd: workspace.repo,
    env: createEnvironment(workspace),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('hookline agents npx-compat', () => {
  it('makes the lines of the vanished package work as they are typed, without a registry', async () => {
    const workspace = createTempWorkspace({ 'package.json': PACKAGE });
    mkdirSync(path.join(workspace.home, '.cline'));
    const hooks = path.join(workspace.home, '.cline/hooks.json');
    expect(runNpx(workspace, ['cline-hook', '--status']).status).not.toBe(0);

    const env = createEnvironment(workspace);
    const added = await runHookline(['agents', 'npx-compat', '--yes'], at(workspace, { env }));
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).toContain('+    "devDependencies": {');

    expect(runNpx(workspace, ['cline-hook', '--status'])).toMatchObject({ status: 0 });
    expect(runNpx(workspace, ['cline-hook', '--enable'])).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(hooks, 'utf8')).toContain(".hookline/bin/hook' cline");
    const status = runNpx(workspace, ['cline-hook', '--status']);
    expect(status.stdout).toContain('cline     installed');
    expect(runNpx(workspace, ['cline-hook', '--disable'])).toMatchObject({ status: 0 });
    expect(existsSync(hooks)).toBe(false);
    expect(runNpx(workspace, ['droid-hook', '--enable']).status).toBe(5);
  }, 120_000);

  it('restores the project', async () => {
    const workspace = createTempWorkspace({ 'package.json': PACKAGE });
    const env = createEnvironment(workspace);
    await runHookline(['agents', 'npx-compat', '--yes'], at(workspace, { env }));
    expect(existsSync(path.join(workspace.repo, 'package-lock.json'))).toBe(true);
    const removed = await runHookline(['uninstall'], at(workspace, { env }));
    expect(removed.code).toBe(0);
    expect(readFileSync(path.join(workspace.repo, 'package.json'), 'utf8')).toBe(PACKAGE);
    expect(existsSync(path.join(workspace.repo, 'package-lock.json'))).toBe(false);
    expect(existsSync(path.join(workspace.repo, 'node_modules/@principal-ai/agent-hooks'))).toBe(
      false,
    );
  }, 120_000);

  it('asks first, and shows only the difference in a dry run', async () => {
    const workspace = createTempWorkspace({ 'package.json': PACKAGE });
    const asked = await runHookline(['agents', 'npx-compat'], at(workspace));
    expect(asked.code).toBe(1);
    expect(asked.stderr).toContain('pass --yes');
    const planned = await runHookline(['agents', 'npx-compat', '--dry-run'], at(workspace));
    expect(planned.code).toBe(0);
    expect(readFileSync(path.join(workspace.repo, 'package.json'), 'utf8')).toBe(PACKAGE);
  });

  it('replaces the version that npm no longer has, and refuses a broken file', async () => {
    const old = PACKAGE.replace(
      '"scripts"',
      '"dependencies": { "@principal-ai/agent-hooks": "^1.0.11", "a": "1" },\n    "scripts"',
    );
    const workspace = createTempWorkspace({ 'package.json': old });
    const planned = await runHookline(['agents', 'npx-compat', '--dry-run'], at(workspace));
    expect(planned.stdout).toContain(
      '-    "dependencies": { "@principal-ai/agent-hooks": "^1.0.11", "a": "1" },',
    );
    expect(planned.stdout).toContain('+    "dependencies": { "a": "1" },');
    write(workspace.repo, 'package.json', '{ "name": ');
    const broken = await runHookline(['agents', 'npx-compat', '--yes'], at(workspace));
    expect(broken.code).toBe(2);
    expect(readFileSync(path.join(workspace.repo, 'package.json'), 'utf8')).toBe('{ "name": ');
  });
});
