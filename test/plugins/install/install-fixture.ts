import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { InstallTools } from '../../../src/plugins/install/fetch/tools.ts';
import type { PluginsPlace } from '../../../src/plugins/install/install.ts';
import { createProgramFinder } from '../../../src/process/program-finder.ts';

export type Files = Readonly<Record<string, string>>;

/** A directory of its own, removed after the test. */
export function createDirectory(files: Files = {}): string {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-install-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeAll(directory, files);
  return directory;
}

export function writeAll(directory: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Every file and link below a directory, from there. */
export function filesIn(directory: string): string[] {
  const found = readdirSync(directory, { recursive: true, withFileTypes: true });
  return found
    .filter((item) => !item.isDirectory())
    .map((item) => path.relative(directory, path.join(item.parentPath, item.name)))
    .toSorted();
}

/** The user's own directory of plugins. */
export function getOwnPlugins(directory: string): PluginsPlace {
  return { directory: path.join(directory, '.cline', 'plugins'), workspace: null };
}

export const NOW = Date.UTC(2026, 10, 16);

/** The programs of this machine, in an environment that holds only what is needed and `env`. */
export function toolsFor(directory: string, env: Readonly<Record<string, string>> = {}) {
  const reports: string[] = [];
  const all = { PATH: process.env['PATH'] ?? '', HOME: directory, ...env };
  const tools: InstallTools = {
    findProgram: createProgramFinder(all.PATH, process.platform),
    env: all,
    signal: new AbortController().signal,
    onProgress: (doing) => void (doing === null ? undefined : reports.push(doing)),
    now: () => NOW,
  };
  return { ...tools, reports };
}

export const PLUGIN = 'export default { name: "p", manifest: { capabilities: ["tools"] } };\n';

/** The package.json of a plugin, with one entry. */
export function packageJson(more: Readonly<Record<string, unknown>> = {}): string {
  const plugins = [{ paths: ['./index.ts'], capabilities: ['tools'] }];
  return JSON.stringify({ name: 'my-plugin', version: '1.0.0', cline: { plugins }, ...more });
}

export const hasGit = spawnSync('git', ['--version']).status === 0;
export const hasNpm = spawnSync('npm', ['--version']).status === 0;

/** Runs git in a directory, without a user's configuration. */
export function git(directory: string, ...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('git', ['-C', directory, ...args], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    },
  });
  if (status !== 0) throw new GitFailed(stderr);
  return stdout.trim();
}

class GitFailed extends Error {
  override readonly name = 'GitFailed';
}

/** A repository with one commit of these files; its name and the variables with which git finds it. */
export function createRepository(directory: string, files: Files) {
  const repository = path.join(directory, 'repository');
  writeAll(repository, files);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  commitAll(repository, 'first');
  const config = path.join(directory, 'gitconfig');
  writeFileSync(
    config,
    `[url "file://${repository}"]\n\tinsteadOf = https://github.com/acme/plugin\n\tinsteadOf = https://github.com/cline/plugins\n`,
  );
  const env = { GIT_CONFIG_GLOBAL: config, GIT_CONFIG_NOSYSTEM: '1' };
  return { repository, env };
}

export function commitAll(repository: string, message: string): string {
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', message);
  return git(repository, 'rev-parse', 'HEAD');
}
