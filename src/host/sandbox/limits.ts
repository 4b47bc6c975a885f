import { readdirSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, formatPath, isInside } from '../../base/paths.ts';
import type { SandboxLimits } from '../../dialects/discovery.ts';
import { DeniedFileLister } from '../../permissions/denied-files.ts';
import type { DeniedFiles } from '../../permissions/permissions.ts';
import {
  parsePermissionRule,
  type PermissionRule,
} from '../../permissions/rules/permission-rule.ts';
import { isAllowedHost } from '../../process/sandbox/host-proxy.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { SandboxNetwork, Settings } from '../settings.ts';

type Opened = Pick<
  OpenedHooks,
  'config' | 'hookSet' | 'workspaceRoots' | 'startDirectory' | 'surroundings'
>;

/** The mode of a session's sandbox, and the file that requires one; null when only the mode does. */
export interface SandboxMode {
  readonly mode: Settings['sandbox.mode'];
  readonly requiredBy: string | null;
}

/** What the caller chooses overrides every file but an administrator's. */
export function resolveSandboxMode(
  opened: Opened,
  chosen: Settings['sandbox.mode'] | undefined,
): SandboxMode {
  const requiring = opened.hookSet
    .sandboxLimits()
    .find(({ isRequired, isManaged }) => isRequired && (isManaged || chosen === undefined));
  const mode = chosen ?? opened.config.settings['sandbox.mode'];
  if (requiring === undefined || mode === 'on') return { mode, requiredBy: null };
  return { mode: 'on', requiredBy: formatFile(requiring.file, opened) };
}

/** Lists what files ask for and do not get, because it would loosen the sandbox. */
export function listLimitNotes(opened: Opened): readonly string[] {
  return opened.hookSet
    .sandboxLimits()
    .flatMap(({ file, note }) => (note === null ? [] : `${formatFile(file, opened)}: ${note}`));
}

function formatFile(file: string, { workspaceRoots, surroundings }: Opened): string {
  return formatPath(file, { cwd: workspaceRoots[0] ?? '/', home: surroundings.home });
}

/** The network of the setting, less what the files take away. */
export function findLimitedNetwork({ config, hookSet }: Opened): SandboxNetwork | 'some' {
  const network = config.settings['sandbox.network'];
  const limits = hookSet.sandboxLimits();
  const isOff = limits.some(
    ({ hosts, deniedHosts }) => hosts?.length === 0 || deniedHosts.includes('*'),
  );
  if (network === 'off' || isOff) return 'off';
  const isLimited = limits.some(
    ({ hosts, deniedHosts }) => hosts !== null || deniedHosts.length > 0,
  );
  return isLimited ? 'some' : network;
}

/** Whether the setting and every file let a command reach the host. */
export function isReachable(host: string, port: number, { config, hookSet }: Opened): boolean {
  const network = config.settings['sandbox.network'];
  const isListed =
    typeof network === 'string' ? network === 'on' : isAllowedHost(host, port, network);
  return (
    isListed &&
    hookSet
      .sandboxLimits()
      .every(
        ({ hosts, deniedHosts }) =>
          (hosts === null || isAllowedHost(host, port, hosts.map(toLowerCase))) &&
          !deniedHosts.includes('*') &&
          !isAllowedHost(host, port, deniedHosts.map(toLowerCase)),
      )
  );
}

function toLowerCase(host: string): string {
  return host.toLowerCase();
}

/** Lists the existing places that files make unreadable or unwritable for commands. */
export class LimitedPlaces {
  readonly #lister = new DeniedFileLister();

  list(opened: Opened): DeniedFiles {
    const found = opened.hookSet.sandboxLimits().map((limits) => this.#listOf(limits, opened));
    return {
      reads: found.flatMap(({ reads }) => reads),
      edits: found.flatMap(({ edits }) => edits),
      absentEdits: found.flatMap(({ absentEdits }) => absentEdits),
      unlisted: found.flatMap(({ unlisted }) => unlisted),
    };
  }

  #listOf(limits: SandboxLimits, opened: Opened): DeniedFiles {
    const { unreadable, unwritable, readable } = limits;
    if (unreadable.length === 0 && unwritable.length === 0) return NO_FILES;
    const source = `"sandbox" in ${formatFile(limits.file, opened)}`;
    const edits = this.#listPlaces('Edit', unwritable, source, opened);
    const reads = unreadable.map((denied) => {
      const found = this.#listPlaces('Read', [denied], source, opened);
      const exceptions = listExceptions(denied, readable);
      const places = found.reads.map((place) => findRealPath(place) ?? place);
      return { ...found, reads: places.flatMap((place) => listAround(place, exceptions)) };
    });
    return {
      ...edits,
      reads: reads.flatMap((each) => each.reads),
      unlisted: [...reads.flatMap((each) => each.unlisted), ...edits.unlisted],
    };
  }

  #listPlaces(
    tool: 'Read' | 'Edit',
    places: readonly string[],
    source: string,
    opened: Opened,
  ): DeniedFiles {
    const { workspaceRoots: roots, startDirectory: cwd, surroundings } = opened;
    const parsed = places.map((place) => createRule(tool, place, source));
    const rules = parsed.filter((rule) => typeof rule !== 'string');
    const unread = parsed.filter((rule) => typeof rule === 'string');
    const denied = this.#lister.list(rules, cwd, { cwd, roots, home: surroundings.home }, roots);
    return {
      ...denied,
      unlisted: [...unread.map((why) => ({ rule: source, why })), ...denied.unlisted],
    };
  }
}

/** Of two places, the more specific one counts: only an exception within what is denied opens anything. */
function listExceptions(denied: string, readable: readonly string[]): readonly string[] {
  const names = denied.split('/');
  const wildcard = names.findIndex((name) => /[*?[\\!]/.test(name));
  const literal = (wildcard === -1 ? names : names.slice(0, wildcard)).join('/') || '/';
  return readable
    .filter((place) => place !== literal && isInside(literal, place))
    .flatMap((place) => findRealPath(place) ?? []);
}

const NO_FILES: DeniedFiles = { reads: [], edits: [], absentEdits: [], unlisted: [] };

/** `//` starts an absolute path in a rule. */
function createRule(tool: 'Read' | 'Edit', place: string, source: string): PermissionRule | string {
  return parsePermissionRule({ behavior: 'deny', text: `${tool}(/${place})`, source });
}

/** The place itself, or, when exceptions are in it, everything in it but these. */
function listAround(place: string, exceptions: readonly string[]): readonly string[] {
  if (exceptions.some((each) => isInside(each, place))) return [];
  if (!exceptions.some((each) => isInside(place, each))) return [place];
  return readdirSync(place).flatMap((name) => listAround(path.join(place, name), exceptions));
}
