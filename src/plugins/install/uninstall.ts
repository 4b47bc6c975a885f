import { rmSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { failed } from './failure.ts';
import { refuseWayOut } from './install.ts';
import type { InstalledPlugin } from './installed.ts';
import { removeIfEmpty } from './staging.ts';

/** Takes a plugin away, and directories that are empty then. */
export function removeInstalled({ path: target, place }: InstalledPlugin): void {
  refuseWayOut(place);
  refuseThroughLink(target, place.directory);
  try {
    rmSync(target, { recursive: true });
  } catch (error) {
    throw failed(
      `${target} cannot be removed: ${getErrorMessage(error)}`,
      'Check the rights of its directory.',
    );
  }
  let parent = path.dirname(target);
  while (parent !== place.directory && isInside(place.directory, parent)) {
    if (!removeIfEmpty(parent)) return;
    parent = path.dirname(parent);
  }
}

/** What a link leads to is somebody else's; the link itself can go. */
function refuseThroughLink(target: string, directory: string): void {
  const real = findRealPath(path.dirname(target));
  if (real !== null && isInside(findRealPath(directory) ?? directory, real)) return;
  throw failed(
    `${target} is reached through a link, and lies in ${real ?? 'nothing'}`,
    'Delete the link yourself, or the file where it lies.',
  );
}
