import { homedir } from 'node:os';
import path from 'node:path';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent } from '../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import {
  isSettingName,
  type Setting,
  type SettingName,
  type Settings,
  SETTINGS,
} from './settings.ts';

/** What the process was started with. Read here once; everybody else is handed it. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The person's home directory, or null when the machine does not say. */
  readonly home: string | null;
  readonly nodePath: string;
}

export function readSurroundings(): Surroundings {
  return {
    cwd: currentDirectory(),
    env: process.env,
    platform: process.platform,
    home: findHome(process.env),
    nodePath: process.execPath,
  };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new HooklineError('USAGE_INVALID', {
      message: `the current directory cannot be found: ${getErrorMessage(error)}`,
      hint: 'It may have been deleted; change to one that exists.',
      cause: error,
    });
  }
}

function findHome(env: NodeJS.ProcessEnv): string | null {
  const named = env['HOME'] ?? env['USERPROFILE'];
  if (named !== undefined && path.isAbsolute(named)) return named;
  try {
    const known = homedir();
    return path.isAbsolute(known) ? known : null;
  } catch {
    return null;
  }
}

/** Where Hookline keeps its own state, or null when there is no home to keep it in. */
export function getStateDirectory({ env, home }: Surroundings): string | null {
  const named = env['HOOKLINE_HOME'];
  if (named !== undefined && named !== '') return path.resolve(named);
  return home === null ? null : path.join(home, '.hookline');
}

/** The settings in force, where each came from, and what was wrong with what was written. */
export interface Config {
  readonly settings: Settings;
  readonly origins: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

export interface ConfigSources {
  /** The person's own file. */
  readonly homeFile: string | null;
  /** Files of the workspace; they may only tighten. */
  readonly workspaceFiles: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Partial<Settings>;
}

/** defaults < home file < workspace files (only tighten) < environment < flags */
export function loadConfig(sources: ConfigSources): Config {
  const layers = createLayers();
  if (sources.homeFile !== null) applyHomeFile(layers, sources.homeFile);
  for (const file of sources.workspaceFiles) applyWorkspaceFile(layers, file);
  applyEnvironment(layers, sources.env);
  for (const [name, value] of Object.entries(sources.flags)) {
    if (isSettingName(name) && value !== undefined) layers.set(name, value, 'a flag');
  }
  return layers.result();
}

interface Layers {
  set(name: SettingName, value: unknown, origin: string): void;
  get(name: SettingName): unknown;
  report(problem: string): void;
  result(): Config;
}

function createLayers(): Layers {
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, setting] of Object.entries(SETTINGS)) values[name] = setting.defaultValue;
  return {
    set(name, value, origin) {
      values[name] = value;
      origins[name] = origin;
    },
    get: (name) => values[name],
    report: (problem) => problems.push(problem),
    // Every value came from its setting's own reader, so the record has the settings' types.
    result: () => ({ settings: values as unknown as Settings, origins, problems }),
  };
}

function applyHomeFile(layers: Layers, file: string): void {
  for (const [name, written] of readSettings(layers, file)) {
    const read = settingOf(name).read(written);
    if ('value' in read) layers.set(name, read.value, file);
    else {
      layers.report(
        `${file}: "${name}" should be ${read.expected}, found ${shown(written)}; the default holds`,
      );
    }
  }
}

function applyWorkspaceFile(layers: Layers, file: string): void {
  for (const [name, written] of readSettings(layers, file)) {
    const { tighten, read: readSetting } = settingOf(name);
    const read = readSetting(written);
    if (tighten === undefined) {
      layers.report(`${file}: "${name}" cannot be set by a workspace, so it was ignored`);
    } else if ('expected' in read) {
      layers.report(`${file}: "${name}" should be ${read.expected}, found ${shown(written)}`);
    } else if (tighten(layers.get(name), read.value) === read.value) {
      layers.set(name, read.value, file);
    } else {
      layers.report(`${file}: "${name}" may only be tightened by a workspace, so it was ignored`);
    }
  }
}

function applyEnvironment(layers: Layers, env: ConfigSources['env']): void {
  for (const name of Object.keys(SETTINGS).filter(isSettingName)) {
    const { variable, read: readSetting } = settingOf(name);
    const written = variable === undefined ? undefined : env[variable];
    if (variable === undefined || written === undefined || written === '') continue;
    const read = readSetting(written);
    if ('value' in read) layers.set(name, read.value, variable);
    else {
      layers.report(
        `the environment variable ${variable} should be ${read.expected}, found ${shown(written)}`,
      );
    }
  }
}

// The settings' types differ per name; a reader's result goes only to the setting it was read for.
function settingOf(name: SettingName): Setting<unknown> {
  return SETTINGS[name] as unknown as Setting<unknown>;
}

function shown(written: unknown): string {
  return (JSON.stringify(written) ?? getTypeName(written)).slice(0, 80);
}

/** A file's settings by full name: `{"hooks": {"enabled": false}}` gives `hooks.enabled`. */
function readSettings(layers: Layers, file: string): [SettingName, unknown][] {
  const groups = readObject(layers, file);
  const found: [SettingName, unknown][] = [];
  for (const [group, members] of Object.entries(groups)) {
    // Editors look there for the schema of the file; it sets nothing.
    if (group === '$schema') continue;
    if (!isRecord(members)) {
      layers.report(unknownSetting(file, group));
      continue;
    }
    for (const [key, written] of Object.entries(members)) {
      const name = `${group}.${key}`;
      if (isSettingName(name)) found.push([name, written]);
      else layers.report(unknownSetting(file, name));
    }
  }
  return found;
}

function unknownSetting(file: string, name: string): string {
  if (isSettingName(name)) {
    const [group, key] = name.split('.');
    return `${file}: "${name}" should be written as {"${group}": {"${key}": …}}; as it is, it does not count`;
  }
  const meant = findClosestName(name, Object.keys(SETTINGS));
  return `${file}: there is no setting "${name}"${meant === null ? '' : `; did you mean "${meant}"?`}`;
}

function readObject(layers: Layers, file: string): Record<string, unknown> {
  try {
    const text = readTextIfPresent(file);
    if (text === null) return {};
    const parsed = parseJson(text);
    if (parsed.ok && isRecord(parsed.value)) return parsed.value;
    const found = parsed.ok ? getTypeName(parsed.value) : parsed.error;
    layers.report(`${file}: should be a JSON object, found ${found}; nothing in it counts`);
  } catch (error) {
    layers.report(`${file}: cannot be read: ${getErrorMessage(error)}; nothing in it counts`);
  }
  return {};
}

const here = import.meta.dirname;

/** The module that runs a TypeScript hook where there is no bun. */
// From the sources the built loader is used, because a child process cannot run TypeScript itself.
export const typescriptLoader: string = here.endsWith(path.join('src', 'host'))
  ? path.resolve(here, '../../dist/typescript-loader.js')
  : path.resolve(here, '../typescript-loader.js');
