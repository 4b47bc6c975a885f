import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { readHooksText } from '../dialects/claude-config/config/read-hooks-text.ts';
import { readConfigText } from '../dialects/claude-config/sources/read-file.ts';
import type { GlobalFlags } from './context.ts';
import { sourceAt } from './import/read-claude.ts';

/** Refuses a command line that names what is not there: whoever names a guard counts on it. */
export function checkFlagPaths({ settings, hooksDir, pluginDir = [] }: GlobalFlags): void {
  if (settings !== undefined) checkSettings(settings);
  if (hooksDir !== undefined) checkDirectory(hooksDir, '--hooks-dir', 'a directory of Cline hooks');
  for (const directory of pluginDir) {
    checkDirectory(directory, '--plugin-dir', 'the directory of a plugin');
  }
}

function checkSettings(given: string): void {
  const isText = given.trimStart().startsWith('{');
  const text = isText ? given : readSettings(given);
  const where = isText ? 'it' : JSON.stringify(given);
  const source = sourceAt(given, 'flag', null);
  const unreadable = readHooksText(text, source, 'settings').broken.find(
    ({ event }) => event === null,
  );
  if (unreadable === undefined) return;
  throw createUsageError(
    `--settings should hold settings as JSON: ${where} cannot be read, line ${unreadable.line}: ${unreadable.why}`,
    'Mend it, or name another file.',
  );
}

function readSettings(file: string): string {
  const found = readConfigText(file);
  if (typeof found === 'string') return found;
  const what = found === null ? 'is not there' : found.why;
  throw createUsageError(
    `--settings should name a file of settings, or be JSON that starts with {: ${JSON.stringify(file)} ${what}`,
    'Name a file that exists, or quote the JSON for the shell.',
  );
}

function checkDirectory(directory: string, flag: string, what: string): void {
  if (isDirectory(directory)) return;
  throw createUsageError(
    `${flag} should name ${what}: ${JSON.stringify(directory)} is none`,
    'Name one that exists.',
  );
}

function createUsageError(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message, hint });
}
