import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSurroundings, type Surroundings } from '../../host/config.ts';
import { clineDirectory } from '../../dialects/own-directories.ts';
import {
  checkKind,
  type OverrideFile,
  type OverrideRules,
  readOverrides,
} from '../../plugins/author/overrides.ts';

export interface OverridesRequest extends OverrideRules {
  /** Names the directories of the person and of projects, such as `agents`. */
  readonly kind: string;
  /** The plugin's own directory: `new URL('./assets/agents', import.meta.url)`. */
  readonly bundled: string | URL;
  /** `ctx.workspaceInfo?.rootPath`; without it there is no project to look at. */
  readonly workspaceRoot?: string | undefined;
}

/**
 * The files that a plugin brings, or others that stand in their place: those of the package, then
 * `~/.cline/data/settings/<kind>`, then `<workspace>/.cline/<kind>`; of one name the last counts.
 */
export function loadOverrides(request: OverridesRequest): readonly OverrideFile[] {
  const { kind, bundled, workspaceRoot, ...rules } = request;
  checkKind(kind);
  const surroundings = readSurroundings();
  const data = clineDataDirectory(surroundings);
  const directories = {
    bundled:
      bundled instanceof URL ? fileURLToPath(bundled) : path.resolve(surroundings.cwd, bundled),
    global: data === null ? null : path.join(data, 'settings', kind),
    project: workspaceRoot === undefined ? null : path.join(workspaceRoot, '.cline', kind),
    workspaceRoot: workspaceRoot ?? null,
  };
  return readOverrides(directories, rules);
}

/** Where Cline keeps what people set; null without a home directory. */
export function clineDataDirectory(surroundings: Surroundings): string | null {
  const moved = surroundings.env['CLINE_DATA_DIR'] ?? '';
  if (moved !== '') return path.resolve(surroundings.cwd, moved);
  const own = clineDirectory(surroundings);
  return own === null ? null : path.join(own, 'data');
}
