import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { loadPlugin } from '../../../src/plugins/load/load-plugin.ts';
import type { Loading, LoadRequest } from '../../../src/plugins/load/loading.ts';
import type { PluginEntry } from '../../../src/plugins/entry.ts';
import {
  environmentOf,
  hooklineProgram,
  type HooklineResult,
  resultOf,
} from '../../cli/hookline.ts';

/** A directory with files of plugins, and one beside it for what is made of them. */
export interface PluginFiles {
  readonly directory: string;
  readonly cache: string;
  write(files: Readonly<Record<string, string>>): void;
  path(name: string): string;
  /** A file by itself. */
  entry(name: string): PluginEntry;
  load(name: string, more?: Partial<LoadRequest>): Promise<Loading>;
  /** Expects that it loads. */
  plugin(name: string, more?: Partial<LoadRequest>): Promise<Plugin>;
}

// oxlint cannot know what a plugin of a test has.
export type Plugin = Record<string, ReturnType<typeof JSON.parse>>;

export function createPluginFiles(files: Readonly<Record<string, string>>): PluginFiles {
  const tempDirectory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-load-')));
  onTestFinished(() => rmSync(tempDirectory, { recursive: true, force: true }));
  const directory = path.join(tempDirectory, 'plugins');
  const cache = path.join(tempDirectory, 'cache');
  const at = (name: string): string => path.join(directory, name);
  const own: PluginFiles = {
    directory,
    cache,
    path: at,
    write(more) {
      for (const [name, text] of Object.entries(more)) {
        mkdirSync(path.dirname(at(name)), { recursive: true });
        writeFileSync(at(name), text);
      }
    },
    entry: (name) => ({ file: at(name), label: name, package: null, capabilities: null }),
    load: (name, more) => loadPlugin({ ...requestOf(own, name), ...more }),
    async plugin(name, more) {
      const loading = await own.load(name, more);
      if (loading.kind !== 'loaded') expect.fail(JSON.stringify(loading));
      return loading.plugin as Plugin;
    },
  };
  own.write(files);
  return own;
}

let copies = 0;

function requestOf({ entry, cache }: PluginFiles, name: string): LoadRequest {
  copies += 1;
  return {
    entry: entry(name),
    provided: clineModules,
    cacheDirectory: cache,
    copy: `copy-${copies}`,
    timeoutMs: 20_000,
  };
}

/** What the tests have in the place of `@cline/core` and the others. */
export function clineModules(specifier: string): Record<string, unknown> | null {
  if (!specifier.startsWith('@cline/')) return null;
  return { createTool: (tool: object) => ({ ...tool, from: specifier }), version: specifier };
}

/** An entry that its package lists. */
export function packaged(files: PluginFiles, name: string, at = '.'): PluginEntry {
  const directory = path.join(files.directory, at);
  return {
    ...files.entry(name),
    package: { directory, name: 'my-package', version: null, skills: null },
  };
}

/** The built loader, with which processes of their own load plugins. */
export function builtLoader(): string {
  return path.resolve(path.dirname(hooklineProgram()), '../plugins/load/load-plugin.js');
}

const LOAD = `
const [loader, request] = process.argv.slice(1);
const { loadPlugin } = await import(loader);
const provided = (name) => name.startsWith('@cline/') ? { createTool: (tool) => tool } : null;
const loading = await loadPlugin({ ...JSON.parse(request), provided });
process.stdout.write(JSON.stringify(loading));
`;

export interface ElsewhereOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  /** Another than the built one. */
  readonly loader?: string;
}

/** Loads a plugin in a process of its own. */
export function loadElsewhere(
  files: PluginFiles,
  name: string,
  { env, uid, loader = builtLoader() }: ElsewhereOptions = {},
): Promise<HooklineResult> {
  const { entry, cacheDirectory, copy, timeoutMs } = requestOf(files, name);
  const request = JSON.stringify({ entry, cacheDirectory, copy, timeoutMs });
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', LOAD, pathToFileURL(loader).href, request],
    {
      cwd: '/',
      env: environmentOf({ home: null, ...(env === undefined ? {} : { env }) }),
      ...(uid === undefined ? {} : { uid, gid: uid }),
    },
  );
  return resultOf(child);
}
