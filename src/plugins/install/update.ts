import { existsSync } from 'node:fs';
import path from 'node:path';
import { failed } from './failure.ts';
import type { InstallTools } from './fetch/tools.ts';
import { type Install, installedAt, type PluginsPlace, refuseWayOut } from './install.ts';
import { type InstallRecord, readRecord } from './record.ts';
import { parseSource } from './source/parse-source.ts';
import { stageInstall } from './stage.ts';
import { openStaging, removeLeftovers } from './staging.ts';

export interface UpdateRequest {
  /** The install's own directory. */
  readonly directory: string;
  readonly place: PluginsPlace;
  readonly home: string | null;
  /** Only tells what would be new. */
  readonly isDry: boolean;
}

export interface Update {
  readonly before: InstallRecord;
  readonly after: InstallRecord;
  /** Null when nothing is new, or nothing was to be changed. */
  readonly install: Install | null;
  readonly isNew: boolean;
}

/** Fetches what its source has now, and takes it if it differs. When that fails the old one stays. */
export async function updatePlugin(
  { directory, place, home, isDry }: UpdateRequest,
  tools: InstallTools,
): Promise<Update> {
  const before = readRecord(directory);
  if (before === null) throw unknownSource(directory);
  refuseWayOut(place);
  removeLeftovers(place.directory, tools.now());
  const cwd = place.workspace ?? path.dirname(place.directory);
  const source = parseSource(before.source, { cwd, home, exists: existsSync });
  const staging = openStaging(place.directory, tools.now());
  try {
    const request = { source, text: before.source, directory: staging.directory };
    const staged = await stageInstall({ ...request, pluginsDirectory: place.directory }, tools);
    tools.signal.throwIfAborted();
    const { record: after } = staged;
    const isNew = after.sha256 !== before.sha256;
    if (!isNew || isDry) return { before, after, install: null, isNew };
    staging.moveTo(directory);
    return { before, after, install: installedAt(directory, staged), isNew };
  } finally {
    tools.onProgress(null);
    staging.close();
  }
}

function unknownSource(directory: string) {
  return failed(
    `nothing says where ${directory} came from, so it cannot be updated`,
    'Install it again with `hookline plugin install --force SOURCE`.',
  );
}
