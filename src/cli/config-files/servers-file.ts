import path from 'node:path';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent, updatePrivateFile } from '../../base/files.ts';
import type { Host } from '../../host/create-host.ts';
import { getOwnServersFile } from '../../host/mcp/own-servers.ts';
import { runFileEdit, openHooksFile } from './hooks-file.ts';

/** The user's own servers, or those of this workspace. */
export type ServerScope = 'user' | 'project';

/** Edits the servers file of a scope and returns its path. An error of `edit` leaves it unchanged. */
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

/** A private file, because entries may contain keys. */
async function editUserServers(host: Host, edit: (text: string) => string): Promise<string> {
  const file = getOwnServersFile(host);
  if (file === null) throw createUnwritableError('no home directory for MCP servers');
  const changed = (text: string | null): string => runFileEdit(file, () => edit(text ?? ''));
  try {
    const text = readTextIfPresent(file);
    // An unchanged file must not be created.
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
    hint: 'Check HOME, the directory’s permissions and the disk space, or use --scope project.',
  });
}
