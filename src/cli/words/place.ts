import { formatPath } from '../../base/paths.ts';
import { readSurroundings } from '../../host/config.ts';
import { oneLine } from './print.ts';

/** A path as whoever stands here would say it; `?` when it is not known. */
export function shownPlace(file: string): string {
  const { cwd, home } = readSurroundings();
  return file === '' ? '?' : oneLine(formatPath(file, { cwd, home }));
}
