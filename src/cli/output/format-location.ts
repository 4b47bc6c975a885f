import { formatPath } from '../../base/paths.ts';
import { readSurroundings } from '../../host/config.ts';
import { toOneLine } from './print.ts';

/** A path relative to the cwd or home; `?` when unknown. */
export function formatLocation(file: string): string {
  const { cwd, home } = readSurroundings();
  return file === '' ? '?' : toOneLine(formatPath(file, { cwd, home }));
}
