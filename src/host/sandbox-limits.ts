import { readdirSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, formatPath, isInside } from '../base/paths.ts';
import type { SandboxLimits } from '../dialects/discovery.ts';
import { DeniedFileLister } from '../permissions/denied-files.ts';
import type { DeniedFiles } from '../permissions/permissions.ts';
import { parsePermissionRule, type PermissionRule } from '../permissions/rules/permission-rule.ts';
import { isAllowedHost } from '../process/sandbox/host-proxy.ts';
import type { OpenedHooks } from './open-hooks.ts';
import type { SandboxNetwork, Settings } from './settings.ts';

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
export function isReachable(host: string, { config, hookSet }: Opened): boolean {
  const network = config.settings['sandbox.network'];
  const isListed = typeof network === 'string' ? network === 'on' : isAllowedHost(host, network);
  return (
    isListed &&
    hookSet
      .sandboxLimits()
      .every(
        ({ hosts, deniedHosts }) =>
          (hosts === null || isAllowedHost(host, hosts.map(toLowerCase))) &&
          !deniedHosts.includes('*') &&
          !isAllowedHost(host, deniedHosts.map(toLowerCase)),
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
      whyIncomplete:
        found.map(({ whyIncomplete }) => whyIncomplete).find((why) => why !== null) ?? null,
    };
  }

  #listOf({ unreadable, unwritable, readable }: SandboxLimits, opened: Opened): DeniedFiles {
    if (unreadable.length === 0 && unwritable.length === 0) return NO_FILES;
    const { workspaceRoots: roots, startDirectory: cwd, surroundings } = opened;
    const parsed = [
      ...unreadable.map((place) => createRule('Read', place)),
      ...unwritable.map((place) => createRule('Edit', place)),
    ];
    const rules = parsed.filter((rule) => typeof rule !== 'string');
    const whyUnread = parsed.find((rule) => typeof rule === 'string') ?? null;
    const locations = { cwd, roots, home: surroundings.home };
    const denied = this.#lister.list(rules, cwd, locations, roots);
    const kept = readable.flatMap((place) => findRealPath(place) ?? []);
    return {
      ...denied,
      whyIncomplete: whyUnread ?? denied.whyIncomplete,
      reads: denied.reads.flatMap((place) => listAround(findRealPath(place) ?? place, kept)),
    };
  }
}

const NO_FILES: DeniedFiles = { reads: [], edits: [], whyIncomplete: null };

/** `//` starts an absolute path in a rule. */
function createRule(tool: 'Read' | 'Edit', place: string): PermissionRule | string {
  return parsePermissionRule({ behavior: 'deny', text: `${tool}(/${place})`, source: 'sandbox' });
}

/** The place itself, or, when exceptions are in it, everything in it but these. */
function listAround(place: string, kept: readonly string[]): readonly string[] {
  if (kept.some((each) => isInside(each, place))) return [];
  if (!kept.some((each) => isInside(place, each))) return [place];
  return readdirSync(place).flatMap((name) => listAround(path.join(place, name), kept));
}
