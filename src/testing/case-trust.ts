import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isInside } from '../base/paths.ts';
import { quoteShellWord } from '../base/text.ts';
import type { HomeDirectory } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/index.ts';
import type { NamedPaths } from '../dialects/options.ts';
import { isAwaitingTrust, type Skipped } from '../hooks/decision.ts';
import { type HookSearch, openHooks } from '../host/open-hooks.ts';
import type { HookCase, OwnDirectories } from './case.ts';
import type { Difference } from './expectation.ts';

/**
 * Finds why a case may not run: its hooks are a workspace's hooks, which run only when their bytes
 * are trusted at their real place, and no variable or stray file may change what they run.
 */
export function findReasonsToWithhold(
  hookCase: HookCase,
  search: HookSearch,
): readonly Difference[] {
  if (search.trust === 'all') return [];
  const { own } = hookCase;
  return [
    ...findRefusedVariables(hookCase),
    ...(own === null
      ? []
      : [...findUntrustedRoots(own, search), ...findUntrustedHome(own, search)]),
  ];
}

// Others can make a trusted script run something else: PATH, NODE_OPTIONS, BASH_ENV, CLINE_HOOKS_DIR …
const HARMLESS_VARIABLES = new Set([
  'CLINE_VERSION',
  'CLINE_USER_ID',
  'USER',
  'HOOK_EXECUTION_TIMEOUT_MS',
  ...DIALECTS.flatMap(({ options }) => options?.harmlessVariables ?? []),
]);

function isHarmless(variable: string): boolean {
  return /^(?:CASE|TEST)_\w+$/u.test(variable) || HARMLESS_VARIABLES.has(variable);
}

function findRefusedVariables({ env }: HookCase): readonly Difference[] {
  const refused = Object.keys(env).filter((name) => !isHarmless(name));
  if (refused.length === 0) return [];
  const found = `${refused.join(', ')}: set it where you run the tests instead`;
  return [{ path: 'env', expected: 'only variables named TEST_… or CASE_…', found }];
}

function findUntrustedRoots({ roots }: OwnDirectories, search: HookSearch): readonly Difference[] {
  return roots.flatMap((root) => findUntrusted(root.path, null, search));
}

const HOME_DIRECTORIES = DIALECTS.flatMap(({ ownPaths }) => ownPaths?.inHome ?? []);

function findUntrustedHome({ home }: OwnDirectories, search: HookSearch): readonly Difference[] {
  if (home === null) return [];
  const directories = HOME_DIRECTORIES.map((each) => ({
    ...each,
    path: path.join(home, each.path),
  }));
  return [
    ...findStrayFiles(
      home,
      directories.map((each) => each.path),
    ),
    ...findUntrusted(home, null, search),
    ...directories
      .filter(({ option }) => option !== undefined)
      .flatMap((directory) => findUntrusted(home, directory, search)),
  ];
}

/** Programs read and even run files that they find in HOME. */
function findStrayFiles(home: string, directories: readonly string[]): readonly Difference[] {
  return listFiles(home)
    .filter((file) => !directories.some((directory) => isInside(directory, file)))
    .map((file) => ({
      path: 'trust',
      expected: 'only hook directories in home, because trust covers nothing else there',
      found: path.relative(home, file),
    }));
}

function listFiles(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

// Omits the directories that the caller named: they belong to the real workspace.
const NONE_NAMED: NamedPaths = Object.fromEntries(
  HOME_DIRECTORIES.flatMap(({ option }) => (option === undefined ? [] : [[option.name, []]])),
);

/** Finds untrusted hooks below a root, or those of one directory that an option has to name. */
function findUntrusted(
  root: string,
  named: HomeDirectory | null,
  search: HookSearch,
): readonly Difference[] {
  const namedPlaces = named?.option === undefined ? {} : { [named.option.name]: named.path };
  const paths = { ...search.paths, ...NONE_NAMED, ...namedPlaces };
  const { hookSet } = openHooks({ ...search, paths, cwd: root, roots: [root] });
  return (
    hookSet
      .statuses()
      .filter(({ hook, trustedBy }) => hook.place === 'workspace' && trustedBy === null)
      // No case loads a plugin.
      .filter(({ found }) => found.kind !== 'plugin')
      .filter(({ hook }) => named === null || path.dirname(hook.path) === named.path)
      .map(({ hook, state, why }) => ({
        path: 'trust',
        expected: `${hook.path} to be trusted: ${formatTrustCommand(root, named)}`,
        found: `${state}: ${why}`,
      }))
  );
}

function formatTrustCommand(root: string, named: HomeDirectory | null): string {
  const [flag] = named?.option?.flag?.usage.split(' ', 1) ?? [];
  const more = named === null || flag === undefined ? '' : ` ${flag} ${quoteShellWord(named.path)}`;
  return `hookline trust --root ${quoteShellWord(root)}${more}`;
}

/**
 * Lists hooks of the real workspace that did not run, because a case that passes without them proves
 * nothing.
 */
export function listWithheldHooks(skipped: readonly Skipped[]): readonly Difference[] {
  return skipped.filter(isAwaitingTrust).map(({ hook, why }) => ({
    path: 'skipped',
    expected: `${hook} to run; run \`hookline trust\` to review it`,
    found: why,
  }));
}
