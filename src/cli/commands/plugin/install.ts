import { existsSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, invariant } from '../../../base/errors.ts';
import { formatPath } from '../../../base/paths.ts';
import { quoteShellWord } from '../../../base/text.ts';
import type { Host } from '../../../host/create-host.ts';
import {
  type Install,
  installPlugin,
  type InstallRequest,
  type PluginsPlace,
} from '../../../plugins/install/install.ts';
import { getInstallDirectory } from '../../../plugins/install/layout.ts';
import { parseSource } from '../../../plugins/install/parse-source.ts';
import { type Command, type CommandContext, rejectInsideSession, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  markAsKnown,
  askForTrust,
  formatTrustCommand,
  filterUntrusted,
} from '../../plugins/trust-installed.ts';
import {
  collectPlugins,
  type ListedPlugin,
  selectPluginsBelow,
} from '../../plugins/select-plugins.ts';
import { createInstallTools, listPluginPlaces } from '../../plugins/install-tools.ts';
import { formatTrustNotes, preserveTrust } from '../../config-files/preserve-trust.ts';
import { colors } from '../../output/colors.ts';
import { toOneLine, formatCount, toPrintable } from '../../output/print.ts';

interface InstallOptions {
  readonly source: string;
  readonly npm?: boolean;
  readonly git?: boolean;
  readonly force?: boolean;
}

/** `hookline plugin install SOURCE`: runs none of its code; asks for trust in a plugin of a workspace. */
export const install: Command<InstallOptions> = (context, options) => {
  rejectInsideSession(context, 'plugin install');
  const kind = readKind(options);
  return withHost(context, async (host) => {
    const { cwd, home } = host.surroundings;
    const source = parseSource(options.source, { cwd, home, exists: existsSync, ...kind });
    const installPlace = resolveInstallPlace(context, host);
    const request = { source, place: installPlace, isForced: options.force === true };
    const installed = await installBesideOthers(context, host, request);
    await markAsKnown(context, [installed.directory]);
    const found = selectPluginsBelow(collectPlugins(host), installed.directory);
    const waiting = filterUntrusted(found);
    if (context.flags.json === true) {
      const command = waiting.length === 0 ? null : buildTrustCommand(context, host, waiting);
      context.print.json({ ...toJson(options.source, installed), trust: command });
      return EXIT.fine;
    }
    context.print.out(formatInstall(`from ${toOneLine(options.source)}`, installed, host));
    for (const warning of installed.warnings) context.print.note(`note: ${toPrintable(warning)}`);
    if (found.length === 0) context.print.note(formatNotFound(host));
    await askForTrust(context, host, waiting);
    return EXIT.fine;
  });
};

/** Plugins beside the new one keep their trust, because only its directory changes. */
async function installBesideOthers(
  context: CommandContext,
  host: Host,
  request: InstallRequest,
): Promise<Install> {
  const done: Install[] = [];
  const preserved = await preserveTrust(
    context,
    host,
    async () => void done.push(await installPlugin(request, createInstallTools(context, host))),
    [getInstallDirectory(request.place.directory)],
  );
  for (const note of formatTrustNotes(preserved)) context.print.note(note);
  const [installed] = done;
  invariant(installed !== undefined, 'an installation that fails throws');
  return installed;
}

function readKind({ npm, git }: InstallOptions): { readonly kind?: 'npm' | 'git' } {
  if (npm === true && git === true) {
    throw new HooklineError('USAGE_INVALID', {
      message: '--npm and --git cannot be combined',
      hint: 'Use one of them.',
    });
  }
  if (npm === true) return { kind: 'npm' };
  return git === true ? { kind: 'git' } : {};
}

function buildTrustCommand(
  context: CommandContext,
  host: Host,
  waiting: readonly ListedPlugin[],
): string {
  return formatTrustCommand(
    context,
    host,
    waiting.map(({ status }) => status.hook.id),
  );
}

/** The first keys are those that Cline's own command prints; no MCP server is written anywhere. */
function toJson(source: string, installed: Install) {
  const { directory, entryPaths, record, capabilities, files, bytes, warnings } = installed;
  const { kind, name, version, commit, integrity, sha256 } = record;
  return {
    source,
    installPath: directory,
    entryPaths,
    mcpSyncFailures: [],
    kind,
    name,
    version,
    commit,
    integrity,
    sha256,
    capabilities,
    files,
    bytes,
    warnings,
  };
}

function formatInstall(from: string, installed: Install, { surroundings }: Host): string {
  const { directory, entryPaths, record, capabilities, files, bytes } = installed;
  const { commit, integrity, sha256 } = record;
  const entries = entryPaths.map((file) => toOneLine(path.relative(directory, file)));
  const pin = commit === null ? (integrity ?? `sha256 ${sha256}`) : `commit ${commit}`;
  return [
    `Installed ${colors.bold(formatNameAndVersion(record))} ${from}.`,
    `  where     ${toOneLine(formatPath(directory, surroundings))}`,
    `  ${entries.length === 1 ? 'entry  ' : 'entries'}   ${entries.join(', ')}`,
    `  declares  ${capabilities?.map(toOneLine).join(', ') ?? 'no capabilities'}`,
    `  files     ${files}, ${formatSize(bytes)}`,
    `  pinned    ${toOneLine(pin)}`,
  ].join('\n');
}

/** Only the roots of a workspace are searched for plugins. */
function formatNotFound({ workspaceRoots, startDirectory }: Host): string {
  const roots = workspaceRoots.map(toOneLine).join(', ');
  return `Plugins are found in workspace roots only (${roots}): pass --root ${quoteShellWord(startDirectory)} to find it.`;
}

/** `my-plugin 1.0.0` */
function formatNameAndVersion({ name, version }: { name: string; version: string | null }): string {
  return toOneLine(version === null ? name : `${name} ${version}`);
}

function formatSize(bytes: number): string {
  if (bytes < 1000) return formatCount(bytes, 'byte');
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Resolves the plugin directory of --cwd, or the first one of the user. */
function resolveInstallPlace({ isDirectoryNamed }: CommandContext, host: Host): PluginsPlace {
  if (isDirectoryNamed === true) {
    const { startDirectory: workspace } = host;
    return { directory: path.join(workspace, '.cline', 'plugins'), workspace };
  }
  const own = listPluginPlaces(host).find(({ workspace }) => workspace === null);
  if (own !== undefined) return own;
  throw new HooklineError('PLUGIN_INSTALL_FAILED', {
    message: 'no home directory to install plugins into',
    hint: 'Set HOME or CLINE_DIR, or pass a workspace with --cwd.',
  });
}
