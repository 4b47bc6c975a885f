import path from 'node:path';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent, updatePrivateFile } from '../../base/files.ts';
import type { Host } from '../../host/create-host.ts';
import { ownServersFile } from '../../host/mcp/own-servers.ts';
import { edited, openHooksFile } from './hooks-file.ts';

/** Whose servers: the person's own, or everybody's in this workspace. */
export type ServerScope = 'user' | 'project';

/** Changes the file that holds the servers of a scope, and tells which it is. What `edit` throws leaves it. */
export async function editServers(
  host: Host,
  scope: ServerScope,
  edit: (text: string) => string,
): Promise<string> {
  return scope === 'project' ? editProject(host, edit) : editOwn(host, edit);
}

function editProject({ startDirectory }: Host, edit: (text: string) => string): string {
  const file = path.join(startDirectory, '.mcp.json');
  const opened = openHooksFile(file, startDirectory);
  const changed = edited(file, () => edit(opened.text));
  if (changed !== opened.text) opened.write(changed);
  return file;
}

/** Private, because entries may hold keys. */
async function editOwn(host: Host, edit: (text: string) => string): Promise<string> {
  const file = ownServersFile(host);
  if (file === null) throw unwritable('there is no home directory to keep MCP servers in');
  const changed = (text: string | null): string => edited(file, () => edit(text ?? ''));
  try {
    const text = readTextIfPresent(file);
    // What stays as it is must not come to be.
    if (changed(text) !== (text ?? '')) await updatePrivateFile(file, changed);
  } catch (error) {
    if (error instanceof HooklineError) throw error;
    throw unwritable(`${file} cannot be written: ${getErrorMessage(error)}`);
  }
  return file;
}

function unwritable(message: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message,
    hint: 'Check HOME, the rights of the directory and the space on the disk, or use --scope project.',
  });
}
