import { HooklineError } from '../../base/errors.ts';
import { readConfigText } from '../read-config-text.ts';
import { readHooksText } from './config/read-hooks-text.ts';
import type { BrokenEntry, Source } from './entry.ts';

/** Rejects `--settings` with a file that is missing or with text that is not valid settings. */
export function checkSettings(settings: string): void {
  const isText = settings.trimStart().startsWith('{');
  const problem = findProblem(isText ? settings : readSettings(settings));
  if (problem === null) return;
  const where = isText ? 'the argument' : JSON.stringify(settings);
  throw createUsageError(
    `--settings must be valid settings JSON: ${where}, line ${problem.line}: ${problem.why}`,
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

const NAMED: Source = {
  kind: 'flag',
  label: 'flag',
  file: '--settings',
  place: 'home',
  root: null,
  isCline: false,
  family: 'settings',
  plugin: null,
};

/** Finds where the text cannot be parsed, or null. */
function findProblem(text: string): Pick<BrokenEntry, 'line' | 'why'> | null {
  const { broken } = readHooksText(text, NAMED, 'settings');
  return broken.find(({ event }) => event === null) ?? null;
}

function createUsageError(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message, hint });
}
