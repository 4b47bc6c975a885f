import path from 'node:path';
import type { Surroundings } from '../host/config.ts';

/** The person's own `~/.claude`, unless the environment moves it; null without a home directory. */
export function claudeDirectory(surroundings: Surroundings): string | null {
  return ownDirectory(surroundings, 'CLAUDE_CONFIG_DIR', '.claude');
}

/** The person's own `~/.cline`, unless the environment moves it. */
export function clineDirectory(surroundings: Surroundings): string | null {
  return ownDirectory(surroundings, 'CLINE_DIR', '.cline');
}

function ownDirectory(
  { env, home, cwd }: Surroundings,
  variable: string,
  name: string,
): string | null {
  const moved = env[variable] ?? '';
  if (moved !== '') return path.resolve(cwd, moved);
  return home === null ? null : path.join(home, name);
}

/** Where an administrator puts settings and instructions that stand above everybody's. */
const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/etc/claude-code',
  darwin: '/Library/Application Support/ClaudeCode',
  win32: String.raw`C:\Program Files\ClaudeCode`,
};

export function managedDirectory(platform: NodeJS.Platform): string | null {
  return MANAGED[platform] ?? null;
}
