import path from 'node:path';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { updatePrivateFile } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { Host } from '../../host/create-host.ts';
import { type DisabledHook, readDisabledHook } from '../../host/settings.ts';

/** Edits the list of disabled hooks in the user's configuration and keeps everything else. */
export async function editDisabledHooks(
  host: Host,
  change: (disabled: readonly DisabledHook[]) => readonly DisabledHook[],
): Promise<string> {
  const file = resolveConfigFile(host);
  try {
    await updatePrivateFile(file, (text) => withDisabled(file, text, change));
  } catch (error) {
    if (error instanceof HooklineError) throw error;
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `${file} cannot be written: ${getErrorMessage(error)}`,
      hint: 'Check the directory’s permissions and the disk space.',
      cause: error,
    });
  }
  return file;
}

function resolveConfigFile({ stateDirectory }: Host): string {
  if (stateDirectory !== null) return path.join(stateDirectory, 'config.json');
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: 'no home directory for the configuration',
    hint: 'Set HOME or HOOKLINE_HOME.',
  });
}

function withDisabled(
  file: string,
  text: string | null,
  change: (disabled: readonly DisabledHook[]) => readonly DisabledHook[],
): string {
  const config = parseConfig(file, text ?? '{}');
  const hooks = isRecord(config['hooks']) ? config['hooks'] : {};
  const currentEntries = Array.isArray(hooks['disabled']) ? hooks['disabled'] : [];
  const disabled = change(currentEntries.flatMap(readDisabledHook)).map(toEntry);
  return `${JSON.stringify({ ...config, hooks: { ...hooks, disabled } }, null, 2)}\n`;
}

function parseConfig(file: string, text: string): Record<string, unknown> {
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw new HooklineError('CONFIG_INVALID', {
    message: `${file} must be a JSON object${parsed.ok ? '' : `: ${parsed.error}`}`,
    hint: 'Fix the file first; it was not changed.',
  });
}

function toEntry({ id, root, sha256 }: DisabledHook): unknown {
  if (root === null && sha256 === undefined) return id;
  return dropUndefined({ id, root: root ?? undefined, sha256 });
}
