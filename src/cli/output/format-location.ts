import { formatPath } from '../../base/paths.ts';
import { readSurroundings } from '../../host/config.ts';
import { toOneLine } from './print.ts';

/** A path as whoever stands here would say it; `?` when it is not known. */
export function formatLocation(file: string): string {
  const { cwd, home } = readSurroundings();
  return file === '' ? '?' : toOneLine(formatPath(file, { cwd, home }));
}
