import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { readSettingsTextIfPresent } from '../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { findMisspeltPaths, isSettingsLike } from '../base/misspelt-paths.ts';
import { parseLocatedJson } from '../base/located-json.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import type { Setting } from '../base/setting.ts';
import { findSetting, type Settings, SETTINGS } from './settings.ts';

/** The effective settings, the origin of each, and problems of the files. */
export interface Config {
  readonly settings: Settings;
  readonly origins: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

export interface ConfigSources {
  /** The user's own file. */
  readonly homeFile: string | null;
  /** Files of the workspace; they may only tighten. */
  readonly workspaceFiles: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Partial<Settings>;
}

/** defaults < home file < workspace files (only tighten) < environment < flags */
export function loadConfig(sources: ConfigSources): Config {
  const layers = new ConfigLayers();
  if (sources.homeFile !== null) applyHomeFile(layers, sources.homeFile);
  for (const file of sources.workspaceFiles) applyWorkspaceFile(layers, file);
  for (const problem of listMisspeltFiles(sources)) layers.report(problem);
  applyEnvironment(layers, sources.env);
  for (const [name, value] of Object.entries(sources.flags)) {
    if (value !== undefined && findSetting(name) !== null) layers.set(name, value, 'a flag');
  }
  return layers.result();
}

function listMisspeltFiles({ homeFile, workspaceFiles }: ConfigSources): readonly string[] {
  const expected = [
    ...(homeFile === null
      ? []
      : [{ base: path.dirname(homeFile), names: [path.basename(homeFile)] }]),
    ...workspaceFiles.map((file) => {
      const directory = path.dirname(file);
      const names = [path.basename(directory), path.basename(file)];
      return { base: path.dirname(directory), names };
    }),
  ];
  return findMisspeltPaths(expected.map((each) => ({ ...each, isMeant: isSettingsLike }))).map(
    ({ path: file, meant }) => `${file} is not read because of its name; did you mean ${meant}?`,
  );
}

/** The settings while the sources are applied one after another. */
class ConfigLayers {
  readonly #values: Record<string, unknown> = {};
  readonly #origins: Record<string, string> = {};
  readonly #problems: string[] = [];

  constructor() {
    for (const [name, setting] of Object.entries(SETTINGS)) {
      this.#values[name] = setting.defaultValue;
    }
  }

  set(name: string, value: unknown, origin: string): void {
    this.#values[name] = value;
    this.#origins[name] = origin;
  }

  get(name: string): unknown {
    return this.#values[name];
  }

  report(problem: string): void {
    this.#problems.push(problem);
  }

  result(): Config {
    return {
      // Every value was returned by its setting's own `read`, so the record has the settings' types.
      settings: this.#values as unknown as Settings,
      origins: this.#origins,
      problems: this.#problems,
    };
  }
}

function applyHomeFile(layers: ConfigLayers, file: string): void {
  for (const { name, setting, written } of readSettings(layers, file)) {
    const read = setting.read(written);
    if ('value' in read) layers.set(name, read.value, file);
    else {
      layers.report(
        `${file}: "${name}" should be ${read.expected}, found ${formatValue(written)}; the default is used`,
      );
    }
  }
}

function applyWorkspaceFile(layers: ConfigLayers, file: string): void {
  for (const { name, setting, written } of readSettings(layers, file)) {
    const read = setting.read(written);
    if (setting.tighten === undefined) {
      layers.report(`${file}: "${name}" cannot be set by a workspace, so it was ignored`);
    } else if ('expected' in read) {
      layers.report(`${file}: "${name}" should be ${read.expected}, found ${formatValue(written)}`);
    } else if (setting.tighten(layers.get(name), read.value) === read.value) {
      layers.set(name, read.value, file);
    } else {
      layers.report(`${file}: "${name}" may only be tightened by a workspace, so it was ignored`);
    }
  }
}

function applyEnvironment(layers: ConfigLayers, env: ConfigSources['env']): void {
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const { variable } = setting;
    const variableValue = variable === undefined ? undefined : env[variable];
    if (variable === undefined || variableValue === undefined || variableValue === '') continue;
    const read = setting.read(variableValue);
    if ('value' in read) layers.set(name, read.value, variable);
    else {
      layers.report(
        `the environment variable ${variable} should be ${read.expected}, found ${formatValue(variableValue)}`,
      );
    }
  }
}

function formatValue(written: unknown): string {
  return (JSON.stringify(written) ?? getTypeName(written)).slice(0, 80);
}

/** Reads a file's settings by full name: `{"hooks": {"enabled": false}}` gives `hooks.enabled`. */
function readSettings(layers: ConfigLayers, file: string) {
  const groups = readObject(layers, file);
  const settings: { name: string; setting: Setting; written: unknown }[] = [];
  for (const [group, members] of Object.entries(groups)) {
    // For editors: the schema of the file.
    if (group === '$schema') continue;
    if (!isRecord(members)) {
      layers.report(describeUnknownSetting(file, group));
      continue;
    }
    for (const [key, written] of Object.entries(members)) {
      const name = `${group}.${key}`;
      const setting = findSetting(name);
      if (setting !== null) settings.push({ name, setting, written });
      else layers.report(describeUnknownSetting(file, name));
    }
  }
  return settings;
}

function describeUnknownSetting(file: string, name: string): string {
  if (findSetting(name) !== null) {
    const [group, key] = name.split('.');
    return `${file}: "${name}" should be written as {"${group}": {"${key}": …}}; as written, it is ignored`;
  }
  const suggestion = findClosestName(name, Object.keys(SETTINGS));
  return `${file}: unknown setting "${name}"${suggestion === null ? '' : `; did you mean "${suggestion}"?`}`;
}

function readObject(layers: ConfigLayers, file: string): Record<string, unknown> {
  try {
    const text = readSettingsTextIfPresent(file);
    if (text === null) return {};
    const parsed = parseJson(text);
    if (parsed.ok && isRecord(parsed.value)) {
      reportRepeatedKeys(layers, file, text);
      return parsed.value;
    }
    const found = parsed.ok ? getTypeName(parsed.value) : `a mistake in ${parsed.error}`;
    layers.report(`${file}: should be a JSON object, found ${found}; the file is ignored`);
  } catch (error) {
    layers.report(`${file}: cannot be read: ${getErrorMessage(error)}; the file is ignored`);
  }
  return {};
}

function reportRepeatedKeys(layers: ConfigLayers, file: string, text: string): void {
  const root = parseLocatedJson(text);
  if ('why' in root) return;
  for (const { repeated, fields, line } of [root, ...(root.fields?.values() ?? [])]) {
    for (const name of repeated) {
      const at = fields?.get(name)?.line ?? line;
      layers.report(
        `${file}: line ${at}: "${name}" appears more than once: only the last one counts; merge them`,
      );
    }
  }
}
