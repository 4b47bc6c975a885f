import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { readHooksText } from '../dialects/claude-config/config/read-hooks-text.ts';
import { readConfigText } from '../dialects/claude-config/sources/read-file.ts';
import type { GlobalFlags } from './context.ts';
import { sourceAt } from './import/read-claude.ts';

/** Rejects flags that name missing files or directories: whoever names a guard relies on it. */
export function checkFlagPaths({ settings, hooksDir, pluginDir = [] }: GlobalFlags): void {
  if (settings !== undefined) checkSettings(settings);
  if (hooksDir !== undefined) checkDirectory(hooksDir, '--hooks-dir', 'a directory of Cline hooks');
  for (const directory of pluginDir) {
    checkDirectory(directory, '--plugin-dir', 'the directory of a plugin');
  }
}

function checkSettings(value: string): void {
  const isText = value.trimStart().startsWith('{');
  const text = isText ? value : readSettings(value);
  const where = isText ? 'the argument' : JSON.stringify(value);
  const source = sourceAt(value, 'flag', null);
  const unreadable = readHooksText(text, source, 'settings').broken.find(
    ({ event }) => event === null,
  );
  if (unreadable === undefined) return;
  throw createUsageError(
    `--settings must be valid settings JSON: ${where}, line ${unreadable.line}: ${unreadable.why}`,
    'Fix it, or pass another file.',
  );
}

function readSettings(file: string): string {
  const found = readConfigText(file);
  if (typeof found === 'string') return found;
  const what = found === null ? 'does not exist' : found.why;
  throw createUsageError(
    `--settings must be a settings file or JSON that starts with {: ${JSON.stringify(file)} ${what}`,
    'Pass an existing file, or quote the JSON for the shell.',
  );
}

function checkDirectory(directory: string, flag: string, what: string): void {
  if (isDirectory(directory)) return;
  throw createUsageError(
    `${flag} must be ${what}: ${JSON.stringify(directory)} is not a directory`,
    'Pass one that exists.',
  );
}

function createUsageError(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message, hint });
}
