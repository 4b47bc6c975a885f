import { getInstallDirectory } from '../layout.ts';
import type { Source } from '../source.ts';
import { fetchFile } from './download.ts';
import type { Fetched, InstallTools } from './tools.ts';
import { fetchOfficial, fetchRepository } from './git.ts';
import { fetchLocal } from './local.ts';
import { fetchNpmPackage } from './npm.ts';

export interface FetchRequest {
  readonly source: Source;
  readonly staging: string;
  readonly pluginsDirectory: string;
}

/** Brings what a source names into the staging directory. Runs nothing of it. */
export async function fetchSource(
  { source, staging, pluginsDirectory }: FetchRequest,
  tools: InstallTools,
): Promise<Fetched> {
  switch (source.kind) {
    case 'local': {
      const except = [getInstallDirectory(pluginsDirectory)];
      return fetchLocal({ source, staging, except }, tools);
    }
    case 'npm':
      return fetchNpmPackage(source, staging, tools);
    case 'git':
      return fetchRepository(source, staging, tools);
    case 'official':
      return fetchOfficial(source, staging, tools);
    case 'remote':
      return fetchFile(source, staging, tools);
  }
}
