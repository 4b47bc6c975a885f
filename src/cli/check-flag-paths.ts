import { HooklineError } from '../base/errors.ts';
import { isDirectory } from '../base/files.ts';
import { DIALECTS } from '../dialects/index.ts';
import { readConfigText } from '../dialects/read-config-text.ts';
import type { GlobalFlags } from './context.ts';

/** Rejects flags that name missing files or directories, because a missing guard would go unnoticed. */
export async function checkFlagPaths({
  settings,
  hooksDir,
  pluginDir = [],
}: GlobalFlags): Promise<void> {
  if (settings !== undefined) await checkSettings(settings);
  if (hooksDir !== undefined) checkDirectory(hooksDir, '--hooks-dir', 'a directory of Cline hooks');
  for (const directory of pluginDir) {
    checkDirectory(directory, '--plugin-dir', 'the directory of a plugin');
  }
}

async function checkSettings(settings: string): Promise<void> {
  const isText = settings.trimStart().startsWith('{');
  const text = isText ? settings : readSettings(settings);
  const where = isText ? 'the argument' : JSON.stringify(settings);
  const checks = await Promise.all(DIALECTS.flatMap((each) => each.checkSettings?.() ?? []));
  const unreadable = checks.map((check) => check(text)).find((problem) => problem !== null);
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
