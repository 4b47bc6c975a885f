import path from 'node:path';
import type { Surroundings } from '../config.ts';

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
