import { rmSync } from 'node:fs';
import { HooklineError } from '../base/errors.ts';
import {
  hashText,
  type InstallRecord,
  type InstalledFile,
  type InstallTarget,
  isSameTarget,
  replaceInstallation,
  writeBackup,
  writeInstallRecord,
} from './install-record.ts';
import type { FileChange } from './plan-changes.ts';
import {
  checkWritable,
  createDirectory,
  getTemporaryPath,
  moveTemporary,
  openSettingsFile,
  removeEmptyDirectory,
  writeTemporary,
} from './settings-file.ts';

/** Called after each step that changed something on disk. */
export type OnStep = (step: string) => void;

export interface ApplyOptions {
  readonly stateDirectory: string;
  readonly record: InstallRecord;
  readonly target: InstallTarget;
  readonly now: number;
  readonly onStep: OnStep;
}

/** Throws when one of the files could not be changed, before any is. */
export function checkChanges(changes: readonly FileChange[]): void {
  for (const { file, text } of changes) if (text !== file.text) checkWritable(file);
}

/**
 * Installs: copies first, then the record, then the files. Whoever is killed in between has a record that
 * knows how every file was and how it would have become.
 */
export function applyEnable(changes: readonly FileChange[], options: ApplyOptions): InstallRecord {
  const { stateDirectory, record, target, now, onStep } = options;
  const files = changes.map((change) => recordFile(change, options));
  const before = record.installations.find((each) => isSameTarget(each, target));
  const isUnchanged = changes.every(({ file, text }) => file.text === text);
  const at = isUnchanged ? (before?.at ?? now) : now;
  const changed = replaceInstallation(record, target, { ...target, at, files });
  writeInstallRecord(stateDirectory, changed);
  onStep('record');
  for (const change of changes) applyChange(change, onStep);
  return changed;
}

function recordFile(
  { file, text, original, mode, directories }: FileChange,
  { stateDirectory, onStep }: ApplyOptions,
): InstalledFile {
  const before = original === null ? null : writeBackup(stateDirectory, file.path, original);
  if (before !== null) onStep(`backup ${file.path}`);
  return {
    path: file.path,
    target: file.target,
    before,
    after: text === null ? null : hashText(text),
    mode,
    directories,
  };
}

/** Restores the files, and forgets them when all are restored. */
export function applyDisable(changes: readonly FileChange[], options: ApplyOptions): InstallRecord {
  const { stateDirectory, record, target, onStep } = options;
  for (const change of changes) {
    applyChange(change, onStep);
    if (change.text !== null) continue;
    for (const directory of change.directories.toReversed()) removeEmptyDirectory(directory);
    onStep(`directories of ${change.file.path}`);
  }
  const changed = replaceInstallation(record, target, null);
  writeInstallRecord(stateDirectory, changed);
  onStep('record');
  return changed;
}

function applyChange({ file, text, mode, directories }: FileChange, onStep: OnStep): void {
  const { target, path } = file;
  // Left by a command that was killed.
  rmSync(getTemporaryPath(target), { force: true });
  if (text === file.text) return;
  if (text === null) {
    checkUnchanged(file);
    rmSync(target, { force: true });
    onStep(`remove ${path}`);
    return;
  }
  for (const directory of directories) {
    createDirectory(directory);
    onStep(`directory ${directory}`);
  }
  writeTemporary(target, text, mode);
  onStep(`temporary ${path}`);
  checkUnchanged(file);
  moveTemporary(target);
  onStep(`file ${path}`);
}

/** Agents write their settings themselves, so the file may have become another one. */
function checkUnchanged({ path, target, text }: FileChange['file']): void {
  if (openSettingsFile(target, null).text === text) return;
  rmSync(getTemporaryPath(target), { force: true });
  throw new HooklineError('CONFIG_UNWRITABLE', {
    message: `${path} was changed by another program meanwhile`,
    hint: 'It was left as it is; run the command again.',
  });
}
