import path from 'node:path';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { updatePrivateFile } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { Host } from '../../host/create-host.ts';
import { type DisabledHook, readDisabledHook } from '../../host/settings.ts';

/** Changes the list of switched-off hooks in the person's own configuration; all else in it stays. */
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
      hint: 'Check the rights of the directory and the space on the disk.',
      cause: error,
    });
  }
  return file;
}

function resolveConfigFile({ stateDirectory }: Host): string {
  if (stateDirectory !== null) return path.join(stateDirectory, 'config.json');
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: 'there is no home directory to keep the configuration in',
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
  const written = Array.isArray(hooks['disabled']) ? hooks['disabled'] : [];
  const disabled = change(written.flatMap(readDisabledHook)).map(toEntry);
  return `${JSON.stringify({ ...config, hooks: { ...hooks, disabled } }, null, 2)}\n`;
}

function parseConfig(file: string, text: string): Record<string, unknown> {
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw new HooklineError('CONFIG_INVALID', {
    message: `${file} should be a JSON object${parsed.ok ? '' : `: ${parsed.error}`}`,
    hint: 'Mend it by hand first; it was left as it is.',
  });
}

function toEntry({ id, root, sha256 }: DisabledHook): unknown {
  if (root === null && sha256 === undefined) return id;
  return { id, ...(root === null ? {} : { root }), ...(sha256 === undefined ? {} : { sha256 }) };
}
