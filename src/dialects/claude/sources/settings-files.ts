import { readdirSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../../../base/files.ts';
import { findRealPath } from '../../../base/paths.ts';
import type { Source, SourceKind } from '../entry.ts';
import { findOwningRoot, findProjectRoot, formatRootSuffix } from '../../place.ts';
import type { ClaudePlaces } from './places.ts';

/** A settings file that may exist, or a text in place of one. */
export interface SettingsFile {
  readonly source: Source;
  /** The settings as text, when the caller gave JSON instead of a file. */
  readonly text: string | null;
}

/** Lists every settings file that may configure hooks, in declared order, each once. */
export function listSettingsFiles(places: ClaudePlaces): readonly SettingsFile[] {
  const all = [
    ...listPersonalFiles(places),
    ...listProjectFiles(places),
    ...listClineFiles(places),
    ...fromFlag(places),
    ...listManagedFiles(places),
  ];
  return removeRepeats(all.map((file) => resolveOwner(file, places)));
}

function listPersonalFiles({ claudeDirectory, clineDirectory }: ClaudePlaces): SettingsFile[] {
  return [
    ...(claudeDirectory === null
      ? []
      : [createPersonalFile(path.join(claudeDirectory, 'settings.json'), 'user', 'user')]),
    ...(clineDirectory === null
      ? []
      : [
          withClineFormat(
            createPersonalFile(path.join(clineDirectory, 'hooks.json'), 'user', 'user-cline'),
          ),
        ]),
  ];
}

function listProjectFiles(places: ClaudePlaces): SettingsFile[] {
  const directory = path.join(places.startDirectory, '.claude');
  const root = findProjectRoot(places);
  return [
    withRoot(createPersonalFile(path.join(directory, 'settings.json'), 'project', 'project'), root),
    withRoot(
      createPersonalFile(path.join(directory, 'settings.local.json'), 'local', 'local'),
      root,
    ),
  ];
}

function listClineFiles({ workspaceRoots }: ClaudePlaces): SettingsFile[] {
  return workspaceRoots.map((root, index) => {
    const file = path.join(root, '.cline', 'hooks.json');
    const label = `project-cline${formatRootSuffix(workspaceRoots, index)}`;
    return withClineFormat(withRoot(createPersonalFile(file, 'project', label), root));
  });
}

function fromFlag({ flagSettings, startDirectory }: ClaudePlaces): SettingsFile[] {
  if (flagSettings === null) return [];
  const isText = flagSettings.trimStart().startsWith('{');
  const file = path.resolve(startDirectory, isText ? '--settings' : flagSettings);
  const { source } = createPersonalFile(file, 'flag', 'flag');
  return [{ source: { ...source, place: 'given' }, text: isText ? flagSettings : null }];
}

function listManagedFiles({ managedDirectory }: ClaudePlaces): SettingsFile[] {
  if (managedDirectory === null) return [];
  const main = createPersonalFile(
    path.join(managedDirectory, 'managed-settings.json'),
    'managed',
    'managed',
  );
  const directory = path.join(managedDirectory, 'managed-settings.d');
  return [main, ...(isDirectory(directory) ? listManagedAdditions(directory) : [])];
}

function listManagedAdditions(directory: string): SettingsFile[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .toSorted()
      .map((name) =>
        createPersonalFile(
          path.join(directory, name),
          'managed',
          `managed:${path.parse(name).name}`,
        ),
      );
  } catch {
    // Listed as a file, so that reading it reports the error.
    return [createPersonalFile(directory, 'managed', 'managed:directory')];
  }
}

const FAMILY = 'settings';

function createPersonalFile(file: string, kind: SourceKind, label: string): SettingsFile {
  const owner = { place: 'home', root: null, isCline: false, plugin: null } as const;
  return { source: { ...owner, kind, label, file, family: FAMILY }, text: null };
}

function withRoot(file: SettingsFile, root: string): SettingsFile {
  return { ...file, source: { ...file.source, place: 'workspace', root } };
}

function withClineFormat(file: SettingsFile): SettingsFile {
  return { ...file, source: { ...file.source, isCline: true } };
}

function resolveOwner(file: SettingsFile, places: ClaudePlaces): SettingsFile {
  const { source, text } = file;
  if (source.place === 'workspace' || source.kind === 'managed' || text !== null) return file;
  const root = findOwningRoot(source.file, places);
  return root === null ? file : withRoot(file, root);
}

/** In the home directory the project's file is the same as the user's. */
function removeRepeats(files: readonly SettingsFile[]): SettingsFile[] {
  const seen = new Set<string>();
  return files.filter(({ source, text }) => {
    const real = text === null ? (findRealPath(source.file) ?? source.file) : source.file;
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  });
}
