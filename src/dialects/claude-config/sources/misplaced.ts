import path from 'node:path';
import { findRealPath } from '../../../base/paths.ts';
import type { Ignored } from '../../discovery.ts';
import { findProjectRoot } from '../../place.ts';
import type { ClaudePlaces } from './places.ts';

/** Files that people take for hook configuration and that are not read. `read` are real paths of those that are. */
export function findMisplaced(places: ClaudePlaces, read: ReadonlySet<string>): Ignored[] {
  return candidates(places)
    .filter(({ path: file }) => {
      const real = findRealPath(file);
      return real !== null && !read.has(real);
    })
    .map(({ path: file, why }) => ({ path: file, why: `is not read: ${why}` }));
}

function candidates(places: ClaudePlaces): Ignored[] {
  const { claudeDirectory, startDirectory } = places;
  return [
    ...(claudeDirectory === null ? [] : besideUserSettings(claudeDirectory, startDirectory)),
    {
      path: path.join(startDirectory, '.claude', 'hooks.json'),
      why: 'move its hooks to .claude/settings.json or .cline/hooks.json',
    },
    {
      path: path.join(startDirectory, 'hooks', 'hooks.json'),
      why: 'it is part of a plugin; name the plugin with --plugin-dir, or move its hooks to .claude/settings.json',
    },
    ...aboveStart(places),
  ];
}

function besideUserSettings(claudeDirectory: string, startDirectory: string): Ignored[] {
  const target = path.join(claudeDirectory, 'settings.json');
  const isStart = path.join(startDirectory, '.claude') === claudeDirectory;
  return [
    { path: path.join(claudeDirectory, 'hooks.json'), why: `move its hooks to ${target}` },
    { path: path.join(claudeDirectory, 'hooks', 'hooks.json'), why: `move its hooks to ${target}` },
    ...(isStart
      ? []
      : [{ path: path.join(claudeDirectory, 'settings.local.json'), why: `move it to ${target}` }]),
  ];
}

function aboveStart(places: ClaudePlaces): Ignored[] {
  const root = findProjectRoot(places);
  return ['settings.json', 'settings.local.json'].map((name) => ({
    path: path.join(root, '.claude', name),
    why: `settings are read from the start directory only; start in ${root}, or put the hooks into ${path.join(root, '.cline', 'hooks.json')}`,
  }));
}
