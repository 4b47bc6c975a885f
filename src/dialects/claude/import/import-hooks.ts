import path from 'node:path';
import { HooklineError } from '../../../base/errors.ts';
import { isInside } from '../../../base/paths.ts';
import { openConfigFile } from '../../hooks-file.ts';
import type { ImportPlan, ImportRequest } from '../../import-hooks.ts';
import type { DialectMachine } from '../../machine.ts';
import { findClineDirectory } from '../../own-directories.ts';
import { findProjectRoot } from '../../place.ts';
import { readWrittenEntry, isSameEntry } from '../written-entry.ts';
import { mergeHooks } from './merge.ts';
import { readClaudeHooks, listSources } from './read-settings.ts';
import { createReport } from './report.ts';

/** Plans a copy of the hooks in Claude's settings to `.cline/hooks.json`. */
export function importClaudeHooks(request: ImportRequest, machine: DialectMachine): ImportPlan {
  const claudeHooks = readClaudeHooks(machine, request.isGlobal);
  if (claudeHooks.files.length === 0) throw createNothingFoundError(machine, request.isGlobal);
  const { file, within } = findTarget(request, machine);
  const target = openConfigFile(file, within);
  const merged = mergeHooks(target, claudeHooks.entries);
  return {
    report: createReport(claudeHooks, merged, { to: file, request, machine }),
    write: () => target.write(merged.text),
    isCopy(copy, original) {
      const [one, other] = [readWrittenEntry(copy), readWrittenEntry(original)];
      return one !== null && other !== null && isSameEntry(one, other);
    },
  };
}

interface Target {
  readonly file: string;
  /** The directory that links must not lead out of, or null. */
  readonly within: string | null;
}

function findTarget({ to, isGlobal }: ImportRequest, machine: DialectMachine): Target {
  const root = findProjectRoot(machine);
  if (to !== null) return { file: to, within: isInside(root, to) ? root : null };
  if (!isGlobal) return { file: path.join(root, '.cline', 'hooks.json'), within: root };
  const directory = findClineDirectory(machine.surroundings);
  if (directory === null) throw createNothingFoundError(machine, true);
  return { file: path.join(directory, 'hooks.json'), within: null };
}

function createNothingFoundError(machine: DialectMachine, isGlobal: boolean): HooklineError {
  const files = listSources(machine, isGlobal).map(({ file }) => file);
  const place = files.length === 0 ? 'a home directory' : files.join(' or ');
  return new HooklineError('USAGE_INVALID', {
    message: `there is nothing to import: expected ${place}, found nothing`,
    hint: isGlobal
      ? 'Leave --global out for the settings of this project.'
      : 'Name the project with --cwd DIR, or say --global for your own settings.',
  });
}
