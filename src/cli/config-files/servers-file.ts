import path from 'node:path';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent, updatePrivateFile } from '../../base/files.ts';
import type { Host } from '../../host/create-host.ts';
import { getOwnServersFile } from '../../host/mcp/own-servers.ts';
import { runFileEdit, openHooksFile } from './hooks-file.ts';

/** Whose servers: the person's own, or everybody's in this workspace. */
export type ServerScope = 'user' | 'project';

/** Changes the file that holds the servers of a scope, and tells which it is. What `edit` throws leaves it. */
export async function editServers(
  host: Host,
  scope: ServerScope,
  edit: (text: string) => string,
): Promise<string> {
  return scope === 'project' ? editProjectServers(host, edit) : editUserServers(host, edit);
}

function editProjectServers({ startDirectory }: Host, edit: (text: string) => string): string {
  const file = path.join(startDirectory, '.mcp.json');
  const opened = openHooksFile(file, startDirectory);
  const changed = runFileEdit(file, () => edit(opened.text));
  if (changed !== opened.text) opened.write(changed);
  return file;
}

/** Private, because entries may hold keys. */
async function editUserServers(host: Host, edit: (text: string) => string): Promise<string> {
  const file = getOwnServersFile(host);
  if (file === null)
    throw createUnwritableError('there is no home directory to keep MCP servers in');
  const changed = (text: string | null): string => runFileEdit(file, () => edit(text ?? ''));
  try {
    const text = readTextIfPresent(file);
    // What stays as it is must not come to be.
    if (changed(text) !== (text ?? '')) await updatePrivateFile(file, changed);
  } catch (error) {
    if (error instanceof HooklineError) throw error;
    throw createUnwritableError(`${file} cannot be written: ${getErrorMessage(error)}`);
  }
  return file;
}

function createUnwritableError(message: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message,
    hint: 'Check HOME, the rights of the directory and the space on the disk, or use --scope project.',
  });
}
