import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { readSurroundings } from '../../host/config.ts';
import { clineDirectory } from '../../dialects/own-directories.ts';
import { clineDataDirectory } from './load-overrides.ts';

/** The person's own `~/.cline`, unless the environment moves it. */
export function resolveClineDir(): string {
  return clineDirectory(readSurroundings()) ?? homeless('resolveClineDir');
}

/** Where Cline keeps settings, and plugins what they remember. */
export function resolveClineDataDir(): string {
  return clineDataDirectory(readSurroundings()) ?? homeless('resolveClineDataDir');
}

export function resolveGlobalSettingsPath(): string {
  return settingsFile('CLINE_GLOBAL_SETTINGS_PATH', 'global-settings.json');
}

export function resolveMcpSettingsPath(): string {
  return settingsFile('CLINE_MCP_SETTINGS_PATH', 'cline_mcp_settings.json');
}

function settingsFile(variable: string, name: string): string {
  const { env, cwd } = readSurroundings();
  const moved = env[variable] ?? '';
  return moved === ''
    ? path.join(resolveClineDataDir(), 'settings', name)
    : path.resolve(cwd, moved);
}

export function ensureParentDir(filePath: string): void {
  mkdirSync(path.dirname(filePath), { recursive: true });
}

function homeless(name: string): never {
  throw new HooklineError('CONFIG_INVALID', {
    message: `${name} of @cline/shared/storage needs a home directory, and none is known`,
    hint: 'Set HOME, CLINE_DIR or CLINE_DATA_DIR.',
  });
}
