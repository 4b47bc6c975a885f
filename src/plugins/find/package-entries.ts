import { statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { fileKind, MODULE_ENDINGS } from './file-kinds.ts';
import type { FoundEntry, PluginProblem } from './found.ts';
import { findDeclaration, packageOf } from './owning-package.ts';
import type { DeclaredEntry, PluginPackageJson } from './read-package.ts';

export interface PackageEntries {
  readonly entries: readonly FoundEntry[];
  readonly problems: readonly PluginProblem[];
}

/** Looks at every file that a package names as a plugin. One that is wrong costs the others nothing. */
export function packageEntries(json: PluginPackageJson): PackageEntries {
  const at = path.join(json.directory, 'package.json');
  const entries: FoundEntry[] = [];
  const problems = [...json.problems];
  for (const declared of json.declared) {
    const found = entryOf(declared, json);
    if ('why' in found) problems.push(`${JSON.stringify(declared.path)} in ${at}: ${found.why}`);
    else entries.push(found);
  }
  if (json.declared.length + problems.length === 0) {
    problems.push(`"cline.plugins" in ${at} is empty; expected { "paths": ["./index.ts"] }`);
  }
  return {
    entries,
    problems: problems.map((message) => ({ path: at, label: json.name, message })),
  };
}

function entryOf(
  declared: DeclaredEntry,
  json: PluginPackageJson,
): FoundEntry | { readonly why: string } {
  const directory = findRealPath(json.directory) ?? json.directory;
  const file = findRealPath(declared.file);
  if (!isInside(json.directory, declared.file)) {
    return { why: 'it lies outside the package; move it into it' };
  }
  if (file === null) return { why: 'there is no such file' };
  if (!isInside(directory, file)) {
    return { why: `it is a link out of the package, to ${file}; put the file itself there` };
  }
  // What an installer put around a package names its files, and the package inside knows more of them.
  const inner = findDeclaration(file, (above) => above === directory);
  const why = whyNoModule(file) ?? declared.problem ?? inner?.declared.problem ?? null;
  if (why !== null) return { why };
  const owner = packageOf(inner?.json ?? json, directory);
  return {
    file,
    path: declared.file,
    label: owner.name,
    package: owner,
    capabilities: declared.capabilities ?? inner?.declared.capabilities ?? null,
  };
}

/** Why a file cannot be loaded as a plugin, or null. A test or a helper that somebody names is meant. */
export function whyNoModule(file: string): string | null {
  const name = path.basename(file);
  const expected = `expected a ${MODULE_ENDINGS.join(', ')} file`;
  if (/\.d\.m?ts$/iu.test(name)) return `it declares types only; ${expected}`;
  if (!MODULE_ENDINGS.includes(path.extname(name))) {
    const kind = fileKind(name);
    return `${kind?.kind === 'other' ? kind.why : 'it is no module'}; ${expected}`;
  }
  try {
    return statSync(file).isFile() ? null : 'it is not a regular file';
  } catch (error) {
    return `it cannot be looked at: ${getErrorMessage(error)}`;
  }
}
