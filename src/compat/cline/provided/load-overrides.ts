import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Surroundings } from '../../../dialects/machine.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { findClineDirectory } from '../../../dialects/shared-directories.ts';
import {
  checkKind,
  type OverrideFile,
  type OverrideRules,
  readOverrides,
} from '../../../plugins/author/overrides.ts';
import { mkdirSync } from 'node:fs';
import { HooklineError } from '../../../base/errors.ts';

export interface OverridesRequest extends OverrideRules {
  /** The name of the directories of the user and of projects, such as `agents`. */
  readonly kind: string;
  /** The plugin's own directory: `new URL('./assets/agents', import.meta.url)`. */
  readonly bundled: string | URL;
  /** `ctx.workspaceInfo?.rootPath`; without it there is no project to look at. */
  readonly workspaceRoot?: string | undefined;
}

/**
 * Loads the files of a plugin and their overrides: those of the package, then
 * `~/.cline/data/settings/<kind>`, then `<workspace>/.cline/<kind>`; of one name the last counts.
 */
export function loadOverrides(request: OverridesRequest): readonly OverrideFile[] {
  const { kind, bundled, workspaceRoot, ...rules } = request;
  checkKind(kind);
  const surroundings = readSurroundings();
  const data = findClineDataDirectory(surroundings);
  const directories = {
    bundled:
      bundled instanceof URL ? fileURLToPath(bundled) : path.resolve(surroundings.cwd, bundled),
    global: data === null ? null : path.join(data, 'settings', kind),
    project: workspaceRoot === undefined ? null : path.join(workspaceRoot, '.cline', kind),
    workspaceRoot: workspaceRoot ?? null,
  };
  return readOverrides(directories, rules);
}

/** Finds Cline's data directory; null without a home directory. */
export function findClineDataDirectory(surroundings: Surroundings): string | null {
  const moved = surroundings.env['CLINE_DATA_DIR'] ?? '';
  if (moved !== '') return path.resolve(surroundings.cwd, moved);
  const own = findClineDirectory(surroundings);
  return own === null ? null : path.join(own, 'data');
}

/** The user's `~/.cline`, or the directory that the environment names. */
export function resolveClineDir(): string {
  return findClineDirectory(readSurroundings()) ?? createNoHomeError('resolveClineDir');
}

/** The directory for Cline's settings and the data of plugins. */
export function resolveClineDataDir(): string {
  return findClineDataDirectory(readSurroundings()) ?? createNoHomeError('resolveClineDataDir');
}

export function resolveGlobalSettingsPath(): string {
  return getSettingsFile('CLINE_GLOBAL_SETTINGS_PATH', 'global-settings.json');
}

export function resolveMcpSettingsPath(): string {
  return getSettingsFile('CLINE_MCP_SETTINGS_PATH', 'cline_mcp_settings.json');
}

function getSettingsFile(variable: string, name: string): string {
  const { env, cwd } = readSurroundings();
  const moved = env[variable] ?? '';
  return moved === ''
    ? path.join(resolveClineDataDir(), 'settings', name)
    : path.resolve(cwd, moved);
}

export function ensureParentDir(filePath: string): void {
  mkdirSync(path.dirname(filePath), { recursive: true });
}

function createNoHomeError(name: string): never {
  throw new HooklineError('CONFIG_INVALID', {
    message: `${name} of @cline/shared/storage needs a home directory, and none is known`,
    hint: 'Set HOME, CLINE_DIR or CLINE_DATA_DIR.',
  });
}
