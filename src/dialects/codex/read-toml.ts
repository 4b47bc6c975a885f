import { parse } from 'smol-toml';
import { tryOrNull } from '../../base/errors.ts';
import { readSettingsTextIfPresent } from '../../base/files.ts';

/** Reads a TOML file; null when there is none or it cannot be parsed. The build writes the parser into this file. */
export function readToml(file: string): unknown {
  const text = tryOrNull(() => readSettingsTextIfPresent(file));
  return text === null ? null : tryOrNull(() => parse(text));
}
