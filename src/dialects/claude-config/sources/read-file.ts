import { statSync } from 'node:fs';
import { getErrorMessage } from '../../../base/errors.ts';
import { isLink, readTextIfPresent } from '../../../base/files.ts';
import type { Ignored } from '../../dialect.ts';

const MAX_BYTES = 16 * 1024 * 1024;
const TOO_LARGE = 'is not read: expected at most 16 MiB of settings, found more';

/** The text; null when there is no such file; a reason when it is there and cannot be read. */
export type ReadConfigText = (file: string) => string | Ignored | null;

export function readConfigText(file: string): string | Ignored | null {
  try {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > MAX_BYTES) return { path: file, why: TOO_LARGE, mayHideHook: true };
    const text = readTextIfPresent(file);
    if (text !== null || !isLink(file)) return text;
    return { path: file, why: 'is a link to nothing', mayHideHook: true };
  } catch (error) {
    return { path: file, why: `cannot be read: ${getErrorMessage(error)}`, mayHideHook: true };
  }
}
