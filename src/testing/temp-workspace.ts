import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { DIALECT_SETTINGS, DIALECTS } from '../dialects/index.ts';
import type { Surroundings } from '../dialects/machine.ts';
import type { OwnDirectories } from './case.ts';
import { createCaseError } from './case-fields.ts';
import type { Placeholders } from './expectation.ts';

/** A copy of a case's directories, with an environment that hides this machine's other hooks. */
export interface TempWorkspace {
  readonly directory: string;
  readonly roots: readonly string[];
  readonly surroundings: Surroundings;
  readonly placeholders: Placeholders;
  remove(): Promise<void>;
}

export async function createTempWorkspace(
  own: OwnDirectories,
  surroundings: Surroundings,
): Promise<TempWorkspace> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookline-case-')));
  const remove = (): Promise<void> =>
    rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  try {
    const home = await copyInto(path.join(directory, 'home'), own.home);
    const roots = await copyRoots(path.join(directory, 'work'), own);
    const placeholders = new Map([
      ['$HOME', home],
      ['$WORKSPACE', roots[0] ?? home],
      ...own.roots.map(({ name }, index): [string, string] => [
        formatRootName(name),
        roots[index] ?? '',
      ]),
    ]);
    return {
      directory,
      roots,
      surroundings: isolateSurroundings(surroundings, home, roots),
      placeholders,
      remove,
    };
  } catch (error) {
    await remove();
    throw createCaseError(
      own.roots[0]?.path ?? own.home ?? '',
      `cannot be copied: ${getErrorMessage(error)}`,
    );
  }
}

function formatRootName(name: string): string {
  return `$ROOT_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/gu, '_')}`;
}

async function copyRoots(place: string, { roots }: OwnDirectories): Promise<readonly string[]> {
  if (roots.length === 0) return [await copyInto(path.join(place, 'workspace'), null)];
  return Promise.all(roots.map((root) => copyInto(path.join(place, root.name), root.path)));
}

async function copyInto(target: string, source: string | null): Promise<string> {
  await mkdir(target, { recursive: true });
  if (source !== null) await cp(source, target, { recursive: true, verbatimSymlinks: true });
  return target;
}

// Each of these variables would expose the machine's own hooks, settings or session to a case.
const NOT_INHERITED = new Set([
  'CLAUDE_CODE_STOP_HOOK_BLOCK_CAP',
  'CLINE_USER_ID',
  'CLINE_VERSION',
  'HOOKLINE_HOME',
  'HOOKLINE_HOOKS',
  'HOOKLINE_SESSION',
  'HOOK_EXECUTION_TIMEOUT_MS',
  'XDG_STATE_HOME',
  ...DIALECTS.flatMap(({ options }) => options?.variables ?? []),
  ...Object.values(DIALECT_SETTINGS).flatMap(({ variable }) => variable ?? []),
]);

function isolateSurroundings(
  surroundings: Surroundings,
  home: string,
  roots: readonly string[],
): Surroundings {
  const inherited = Object.entries(surroundings.env).filter(([name]) => !NOT_INHERITED.has(name));
  const env = { ...Object.fromEntries(inherited), HOME: home, USERPROFILE: home };
  return { ...surroundings, cwd: roots[0] ?? home, home, env };
}
