import parseSpec from 'npm-package-arg';
import { getErrorMessage } from '../../../base/errors.ts';
import { unusable } from './problem.ts';
import type { NpmSource } from './source.ts';

/** `@scope/name`, `name@^2`, with or without `npm:` in front; only packages of the registry. */
export function parseNpmSpec(written: string, cwd: string): NpmSource {
  const text = written.replace(/^npm:/u, '').trim();
  const { type, name, rawSpec } = readSpec(text, cwd);
  const isOfRegistry = type === 'range' || type === 'version' || type === 'tag';
  if (!isOfRegistry || typeof name !== 'string') {
    throw unusable(
      `an npm package is named as it is in the registry, found ${JSON.stringify(text)}`,
      'Name a directory, a file or a .tgz by its path, and a repository with --git.',
    );
  }
  const isPlain = text === name;
  return { kind: 'npm', name, wanted: isPlain || rawSpec === '' ? null : rawSpec };
}

function readSpec(text: string, cwd: string): ReturnType<typeof parseSpec> {
  try {
    // A name that begins with a dash would be read as a flag of npm.
    if (text !== '' && !text.startsWith('-')) return parseSpec(text, cwd);
  } catch (error) {
    throw unusable(
      `${JSON.stringify(text)} names no npm package: ${getErrorMessage(error)}`,
      'A package is named like @scope/name, or npm:name@^2.',
    );
  }
  throw unusable(
    `expected the name of an npm package, found ${JSON.stringify(text)}`,
    'A package is named like @scope/name, or npm:name@^2.',
  );
}
