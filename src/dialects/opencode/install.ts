import { createHash } from 'node:crypto';
import path from 'node:path';
import { tryOrNull } from '../../base/errors.ts';
import { readTextIfPresent } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { AgentInstall, FormerFile, InstallFile, InstallPlace } from '../install.ts';
import { joinIfKnown, readNested } from '../install-settings.ts';
import type { Surroundings } from '../machine.ts';
import { formatPlugin, PLUGIN_EVENTS, PLUGIN_NOTICE } from './plugin-text.ts';

/** opencode has no hooks of programs: a plugin file starts our script. */
export const opencodeInstall: AgentInstall = {
  title: 'opencode',
  programs: ['opencode'],
  readsHooks: 'at start',
  events: PLUGIN_EVENTS,
  listDirectories: (surroundings) => joinIfKnown(findConfigDirectory(surroundings)),
  listFiles: (place) => listPluginDirectories(place).flatMap((each) => listFilesIn(each, place)),
  listFormerFiles: (place) =>
    [
      ...listPluginDirectories(place),
      ...listPluginDirectories(place).map((directory) => `${directory}s`),
    ].flatMap(listFormerFilesIn),
};

function findConfigDirectory({ env, home }: Surroundings): string | null {
  const configured = env['XDG_CONFIG_HOME'] ?? '';
  if (path.isAbsolute(configured)) return path.join(configured, 'opencode');
  return home === null ? null : path.join(home, '.config', 'opencode');
}

function listPluginDirectories({ surroundings, scope, project }: InstallPlace): readonly string[] {
  return scope === 'project'
    ? [path.join(project, '.opencode', 'plugin')]
    : joinIfKnown(findConfigDirectory(surroundings), 'plugin');
}

function listFilesIn(directory: string, place: InstallPlace): readonly InstallFile[] {
  const text = formatPlugin(place);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const manifest = { writtenBy: 'hookline', plugin: 'hookline.js', sha256 };
  return [
    {
      kind: 'own',
      path: path.join(directory, 'hookline.js'),
      text,
      mode: 0o644,
      isOurs: (found) => found.startsWith(PLUGIN_NOTICE),
    },
    {
      kind: 'own',
      path: path.join(directory, 'hookline.manifest.json'),
      text: `${JSON.stringify(manifest, null, 2)}\n`,
      mode: 0o644,
      isOurs: isOurManifest,
    },
  ];
}

function isOurManifest(text: string): boolean {
  const parsed = parseJson(text);
  return (
    parsed.ok && isRecord(parsed.value) && readNested(parsed.value, 'writtenBy') === 'hookline'
  );
}

/** The plugin that a package copied here which npm no longer has, and its manifest. */
function listFormerFilesIn(directory: string): readonly FormerFile[] {
  const plugin = path.join(directory, 'agent-monitor.js');
  const text = tryOrNull(() => readTextIfPresent(plugin)) ?? '';
  if (!text.includes('opencode-hook') && !text.includes('FullClaudeMonitorPlugin')) return [];
  const manifest = path.join(directory, 'agent-monitor.manifest.json');
  const hasManifest = tryOrNull(() => readTextIfPresent(manifest)) !== null;
  return [{ path: plugin }, ...(hasManifest ? [{ path: manifest }] : [])];
}
