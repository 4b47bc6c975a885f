import { existsSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import { createInstallError, type Source, formatSource } from './source.ts';
import type { InstallTools } from './fetch/tools.ts';
import { getInstallPath } from './layout.ts';
import { readRecord, type InstallRecord } from './record.ts';
import { type StagedInstall, stageInstall } from './stage-install.ts';
import { removeLeftovers, StagingDirectory } from './staging-directory.ts';
import { parseSource } from './parse-source.ts';

/** A plugins directory and its owner. */
export interface PluginsPlace {
  /** `…/.cline/plugins` */
  readonly directory: string;
  /** Its workspace; null for the user's own. */
  readonly workspace: string | null;
}

export interface InstallRequest {
  readonly source: Source;
  readonly place: PluginsPlace;
  /** Replaces an existing install. */
  readonly isForced: boolean;
}

/** An install and its location. */
export interface Install extends StagedInstall {
  readonly directory: string;
  /** Absolute paths of the modules. */
  readonly entryPaths: readonly string[];
}

/** Installs a plugin. Runs nothing of it; when something fails, nothing has changed. */
export async function installPlugin(
  { source, place, isForced }: InstallRequest,
  tools: InstallTools,
): Promise<Install> {
  refuseWayOut(place);
  removeLeftovers(place.directory, tools.now());
  const target = getInstallPath(place.directory, source);
  if (existsSync(target) && !isForced) throw createPresentError(source, target);
  const staging = new StagingDirectory(place.directory, tools.now());
  try {
    const text = readRecordedText(source, place);
    const staged = await stageInstall(source, text, staging.directory, place.directory, tools);
    tools.signal.throwIfAborted();
    staging.moveTo(target);
    return describeInstalled(target, staged);
  } finally {
    tools.onProgress(null);
    staging.close();
  }
}

function describeInstalled(directory: string, staged: StagedInstall): Install {
  const entryPaths = staged.record.entries.map((entry) => path.join(directory, entry.path));
  return { ...staged, directory, entryPaths };
}

/** A workspace has other paths on other machines, so paths inside of it are recorded relative to it. */
function readRecordedText(source: Source, { workspace }: PluginsPlace): string {
  const text = formatSource(source);
  if (source.kind !== 'local' || workspace === null || !isInside(workspace, text)) return text;
  return `./${path.relative(workspace, text).replaceAll('\\', '/')}`;
}

/** A link in the workspace could redirect our writes to another directory. */
export function refuseWayOut({ directory, workspace }: PluginsPlace): void {
  if (workspace === null) return;
  const root = findRealPath(workspace) ?? workspace;
  const steps = [path.dirname(directory), directory, path.join(directory, '_installed')];
  const out = steps.find((step) => !isInside(root, findRealPath(step) ?? step));
  if (out === undefined) return;
  throw createInstallError(
    `${out} leads out of the workspace, to ${findRealPath(out)}`,
    'Remove the link; nothing is installed through it.',
  );
}

function createPresentError(source: Source, target: string) {
  const record = readRecord(target);
  const what = record === null ? formatSource(source) : describeSource(record);
  return createInstallError(
    `${what} is already installed at ${target}`,
    'Use --force to install it again, or run `hookline plugin update`.',
  );
}

function describeSource({ name, version }: { name: string; version: string | null }): string {
  return version === null ? name : `${name} ${version}`;
}

interface UpdateRequest {
  /** The directory of the install. */
  readonly directory: string;
  readonly place: PluginsPlace;
  readonly home: string | null;
  /** Only reports what would change. */
  readonly isDry: boolean;
}

export interface Update {
  readonly before: InstallRecord;
  readonly after: InstallRecord;
  /** Null when nothing has changed, or in a dry run. */
  readonly install: Install | null;
  readonly isNew: boolean;
}

/** Fetches the current version of a source, and installs it if it differs. On a failure, the old one stays. */
export async function updatePlugin(
  { directory, place, home, isDry }: UpdateRequest,
  tools: InstallTools,
): Promise<Update> {
  const before = readRecord(directory);
  if (before === null) throw createUnknownSourceError(directory);
  refuseWayOut(place);
  removeLeftovers(place.directory, tools.now());
  const cwd = place.workspace ?? path.dirname(place.directory);
  const source = parseSource(before.source, { cwd, home, exists: existsSync });
  const staging = new StagingDirectory(place.directory, tools.now());
  try {
    const { source: text } = before;
    const staged = await stageInstall(source, text, staging.directory, place.directory, tools);
    tools.signal.throwIfAborted();
    const { record: after } = staged;
    const isNew = after.sha256 !== before.sha256;
    if (!isNew || isDry) return { before, after, install: null, isNew };
    staging.moveTo(directory);
    return { before, after, install: describeInstalled(directory, staged), isNew };
  } finally {
    tools.onProgress(null);
    staging.close();
  }
}

function createUnknownSourceError(directory: string) {
  return createInstallError(
    `the source of ${directory} is not recorded, so it cannot be updated`,
    'Install it again with `hookline plugin install --force SOURCE`.',
  );
}
