import { runEdit } from '../dialects/hooks-file.ts';
import { HooklineError } from '../base/errors.ts';
import { formatCanonicalJson, isRecord } from '../base/json.ts';
import type {
  AgentInstall,
  EntriesFile,
  FormerFile,
  InstallFile,
  InstallPlace,
  OwnFile,
} from '../dialects/install.ts';
import { findInstalledScript } from '../dialects/installed-command.ts';
import {
  addEntries,
  checkSettingsText,
  listContainerKeys,
  listEntries,
  readSettingsValue,
  removeEntries,
  type WrittenEntry,
} from './entries.ts';
import { isFormerCommand } from './former-package.ts';
import { hashText, type Installation, type InstalledFile, readBackup } from './install-record.ts';
import { listMissingDirectories, openSettingsFile, type SettingsFile } from './settings-file.ts';

/** One file before and after a command. */
export interface FileChange {
  readonly file: SettingsFile;
  /** The new text; null when the file is to be removed. */
  readonly text: string | null;
  /** The text that `disable` returns to. */
  readonly original: string | null;
  readonly mode: number;
  /** The directories that are there only because of this file, the outermost first. */
  readonly directories: readonly string[];
}

export interface PlanOptions {
  readonly install: AgentInstall;
  readonly place: InstallPlace;
  readonly stateDirectory: string;
  /** What was installed here before; null when nothing was. */
  readonly installed: Installation | null;
}

/** Plans the installation of an agent's entries. Throws, before anything is written, when a file refuses it. */
export function planEnable(
  options: PlanOptions,
  { replacesFormer }: { readonly replacesFormer: boolean },
): readonly FileChange[] {
  const { install, place } = options;
  const files = install.listFiles(place);
  const former = replacesFormer ? (install.listFormerFiles?.(place) ?? []) : [];
  const paths = new Set([
    ...files.map((file) => file.path),
    ...former.map((file) => file.path),
    ...(options.installed?.files ?? []).map((file) => file.path),
  ]);
  return [...paths].flatMap((path) => {
    const own = files.filter((file) => file.path === path);
    const stale = former.filter((file) => file.path === path);
    return runEdit(path, () => planFile(path, own, stale, options));
  });
}

function planFile(
  path: string,
  own: readonly InstallFile[],
  former: readonly FormerFile[],
  options: PlanOptions,
): readonly FileChange[] {
  const file = openSettingsFile(path, getBoundary(options.place));
  const original = findOriginal(file, own, options);
  let { text } = file;
  for (const each of former) text = removeFormer(text, each);
  for (const each of own) text = addOwn(text, each, options);
  const isUnused = own.length === 0 && former.length === 0;
  return [createChange(file, isUnused ? original : text, original, own, options)];
}

/** A link in a project must not lead to a file outside; the user's own links may. */
function getBoundary({ scope, project }: InstallPlace): string | null {
  return scope === 'project' ? project : null;
}

const DEFAULT_MODE = 0o644;

function createChange(
  file: SettingsFile,
  text: string | null,
  original: string | null,
  own: readonly InstallFile[],
  options: PlanOptions,
): FileChange {
  const before = findInstalledFile(file, options);
  const ownMode = own.find((each) => each.kind === 'own')?.mode ?? DEFAULT_MODE;
  // A file that we had removed comes back with the mode that it had.
  const wasThere = before !== null && before.before !== null;
  const missingMode = wasThere ? before.mode : ownMode;
  return {
    file,
    text,
    original,
    mode: file.text === null ? missingMode : file.mode,
    directories: [
      ...new Set([
        ...(before?.directories ?? []),
        ...(text === null ? [] : listMissingDirectories(file.target)),
      ]),
    ],
  };
}

function findInstalledFile(
  { path }: Pick<SettingsFile, 'path'>,
  { installed }: PlanOptions,
): InstalledFile | null {
  return installed?.files.find((each) => each.path === path) ?? null;
}

/**
 * The text of the file without us: byte for byte what was there when nobody else has changed it since, else
 * what is there now without our entries.
 */
function findOriginal(
  file: SettingsFile,
  own: readonly InstallFile[],
  options: PlanOptions,
): string | null {
  const installed = findInstalledFile(file, options);
  if (installed === null) return removeOwn(file.text, own, options, null);
  const { before, after } = installed;
  const backup = before === null ? null : readBackup(options.stateDirectory, before);
  const isUnchanged = after === (file.text === null ? null : hashText(file.text));
  const isKnown = before === null || backup !== null;
  if (isUnchanged && isKnown) return backup;
  return removeOwn(file.text, own, options, before === null ? '' : backup);
}

/** `before` is the text that was there at first, empty when there was no file, null when nobody knows. */
function removeOwn(
  text: string | null,
  own: readonly InstallFile[],
  { stateDirectory }: PlanOptions,
  before: string | null,
): string | null {
  let edited = text;
  for (const file of own) {
    if (edited === null) return null;
    if (file.kind === 'own') edited = file.isOurs(edited) ? null : edited;
    else edited = removeOwnEntries(edited, file, stateDirectory, before);
  }
  return edited;
}

function removeOwnEntries(
  text: string,
  { container, skeleton = {} }: EntriesFile,
  stateDirectory: string,
  before: string | null,
): string | null {
  checkSettingsText(text);
  const isOurs = ({ command }: WrittenEntry): boolean =>
    findInstalledScript(command, stateDirectory) !== null;
  if (!listEntries(text, container).some(isOurs)) return text;
  const keptKeys = before === null ? new Set<string>() : listContainerKeys(before, container);
  const rest = removeEntries(text, container, isOurs, keptKeys);
  return before === '' && isSkeleton(rest, container, skeleton) ? null : rest;
}

/** Whether nothing is left but what a new file of ours has beside its entries. */
function isSkeleton(
  text: string,
  container: readonly string[],
  skeleton: Readonly<Record<string, unknown>>,
): boolean {
  const value = readSettingsValue(text);
  if (value === null) return false;
  const rest = Object.entries(value).filter(
    ([key, each]) => key !== container[0] || !isRecord(each) || Object.keys(each).length > 0,
  );
  return formatCanonicalJson(Object.fromEntries(rest)) === formatCanonicalJson(skeleton);
}

function removeFormer(text: string | null, { container }: FormerFile): string | null {
  if (text === null || container === undefined) return null;
  checkSettingsText(text);
  return removeEntries(text, container, ({ command }) => isFormerCommand(command));
}

function addOwn(text: string | null, file: InstallFile, options: PlanOptions): string {
  return file.kind === 'own'
    ? replaceOwnFile(text, file, options)
    : addOwnEntries(text, file, options);
}

function replaceOwnFile(
  text: string | null,
  file: OwnFile,
  { install, place }: PlanOptions,
): string {
  if (text === null || file.isOurs(text)) return file.text;
  throw new HooklineError('AGENT_OCCUPIED', {
    message:
      'expected no file, or one of Hookline’s, found a file of somebody else; nothing was installed',
    hint: install.explainOccupied?.(place) ?? 'Move it away, then run the command again.',
  });
}

/** Entries that are as they should be stay where they are; all others of ours are written anew. */
function addOwnEntries(
  text: string | null,
  { container, entries, skeleton }: EntriesFile,
  { stateDirectory }: PlanOptions,
): string {
  if (text !== null) checkSettingsText(text);
  const isOurs = ({ command }: WrittenEntry): boolean =>
    findInstalledScript(command, stateDirectory) !== null;
  const present = listEntries(text ?? '', container).filter(isOurs);
  const right = new Map<string, WrittenEntry>();
  for (const entry of present) {
    if (isAsWritten(entry, entries[entry.event]) && !right.has(entry.event)) {
      right.set(entry.event, entry);
    }
  }
  const isWrong = (entry: WrittenEntry): boolean =>
    isOurs(entry) &&
    formatCanonicalJson(right.get(entry.event)?.path ?? null) !== formatCanonicalJson(entry.path);
  const hasWrong = present.some(isWrong);
  const missing = Object.entries(entries).filter(([event]) => hasWrong || !right.has(event));
  const cleaned = hasWrong && text !== null ? removeEntries(text, container, isOurs) : text;
  if (missing.length === 0 && text !== null) return text;
  return addEntries(cleaned, container, Object.fromEntries(missing), skeleton);
}

/** Whether an entry, and the group around it, say what we would write. */
function isAsWritten({ fields, matcher }: WrittenEntry, expected: unknown): boolean {
  if (!isRecord(expected)) return false;
  const handlers = expected['hooks'];
  const handler: unknown = Array.isArray(handlers) ? handlers[0] : expected;
  return (
    formatCanonicalJson(fields) === formatCanonicalJson(handler) &&
    matcher === (typeof expected['matcher'] === 'string' ? expected['matcher'] : null)
  );
}

/** Plans the removal of an agent's entries, also of those that no record knows. */
export function planDisable(options: PlanOptions): readonly FileChange[] {
  const { install, place, installed } = options;
  const files = install.listFiles(place);
  const paths = new Set([
    ...files.map((file) => file.path),
    ...(installed?.files ?? []).map((file) => file.path),
  ]);
  return [...paths].map((path) =>
    runEdit(path, () => {
      const own = files.filter((file) => file.path === path);
      const file = openSettingsFile(path, getBoundary(place));
      const original = findDisabled(file, own, options);
      return createChange(file, original, original, own, options);
    }),
  );
}

/** Like the original, except that a file which somebody else removed or put back is left alone. */
function findDisabled(
  file: SettingsFile,
  own: readonly InstallFile[],
  options: PlanOptions,
): string | null {
  const installed = findInstalledFile(file, options);
  if (installed?.after === null) {
    return file.text ?? findOriginal(file, own, options);
  }
  return file.text === null ? null : findOriginal(file, own, options);
}
