import { type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError, isDirectory } from '../../base/files.ts';
import { findRealPath } from '../../base/paths.ts';
import { labelOfFile, MODULE_ENDINGS } from './file-kinds.ts';
import type { FoundEntry, FoundPlugins, PassedOver, PluginProblem } from './found.ts';
import {
  importNames,
  looksLikePlugin,
  mayExportPlugin,
  readModuleText,
  relativeImports,
} from './module-text.ts';
import { createDeclarationFinder, packageOf } from './owning-package.ts';
import { packageEntries, whyNoModule } from './package-entries.ts';
import { readPackage } from './read-package.ts';
import { type Candidate, type Limits, walkPlugins } from './walk.ts';

/** Every plugin in a directory such as `.cline/plugins`. Imports none, and never throws. */
export function findPlugins(directory: string, limits?: Limits): FoundPlugins {
  const walked = walkPlugins(directory, limits);
  const { modules, helpers } = withoutHelpers(walked.candidates);
  const declarationOf = createDeclarationFinder();
  const found = modules.map((each) => entryOfFile(each, { root: directory, declarationOf }));
  return {
    entries: sorted([...walked.entries, ...found.flatMap((each) => each.entry ?? [])]),
    ignored: [...walked.ignored, ...helpers],
    problems: [...walked.problems, ...found.flatMap((each) => each.problem ?? [])],
    apart: walked.apart,
  };
}

/** The plugins at a path that somebody names: a file, a package, or a directory with plugins. */
export function pluginsAt(place: string): FoundPlugins {
  const stats = statPlace(place);
  if ('why' in stats) return onlyProblem(place, stats.why);
  if (!stats.isDirectory()) return namedFile(place);
  const json = readPackage(place);
  if (json.kind === 'broken') return onlyProblem(place, json.why);
  if (json.kind === 'package') {
    const { entries, problems } = packageEntries(json);
    return { ...NOTHING, entries: sorted(entries), problems };
  }
  const index = MODULE_ENDINGS.map((ending) => path.join(place, `index${ending}`)).find(isThere);
  return index === undefined ? anyIn(place) : namedFile(index);
}

const NOTHING: FoundPlugins = { entries: [], ignored: [], problems: [], apart: [] };

function statPlace(place: string): Stats | { readonly why: string } {
  try {
    return statSync(place);
  } catch (error) {
    if (isNotFoundError(error)) return { why: `there is nothing at ${place}` };
    return { why: `${place} cannot be looked at: ${getErrorMessage(error)}` };
  }
}

function onlyProblem(place: string, message: string): FoundPlugins {
  const label = labelOfFile(place, '');
  return { ...NOTHING, problems: [{ path: place, label, message }] };
}

function namedFile(file: string): FoundPlugins {
  const why = whyNoModule(file);
  if (why !== null) return onlyProblem(file, `${file} cannot be a plugin: ${why}`);
  const real = findRealPath(file) ?? file;
  const around = { root: '', declarationOf: createDeclarationFinder() };
  const { entry, problem } = entryOfFile({ path: file, file: real }, around);
  const modules = path.join(path.dirname(real), 'node_modules');
  return {
    ...NOTHING,
    entries: entry === null ? [] : [entry],
    problems: problem === null ? [] : [problem],
    apart: isDirectory(modules) ? [modules] : [],
  };
}

function isThere(file: string): boolean {
  return findRealPath(file) !== null;
}

function anyIn(directory: string): FoundPlugins {
  const found = findPlugins(directory);
  if (found.entries.length + found.problems.length > 0) return found;
  const expected = 'a package.json with "cline.plugins", an index.ts, or files that are plugins';
  const { problems } = onlyProblem(directory, `no plugin is in ${directory}; expected ${expected}`);
  return { ...found, problems };
}

interface FileReading {
  readonly entry: FoundEntry | null;
  readonly problem: PluginProblem | null;
}

interface Around {
  readonly root: string;
  readonly declarationOf: ReturnType<typeof createDeclarationFinder>;
}

/** A file by itself may still be what a package above it names. */
function entryOfFile({ path: place, file }: Candidate, around: Around): FileReading {
  const above = around.declarationOf(file);
  if (above === null) {
    const label = labelOfFile(place, around.root);
    return {
      entry: { file, path: place, label, package: null, capabilities: null },
      problem: null,
    };
  }
  const { json, declared } = above;
  if (declared.problem !== null) {
    const at = path.join(json.directory, 'package.json');
    const message = `${JSON.stringify(declared.path)} in ${at}: ${declared.problem}`;
    return { entry: null, problem: { path: at, label: json.name, message } };
  }
  const { capabilities } = declared;
  const owner = packageOf(json, json.directory);
  return {
    entry: { file, path: place, label: json.name, package: owner, capabilities },
    problem: null,
  };
}

interface Sifted {
  readonly modules: readonly Candidate[];
  readonly helpers: readonly PassedOver[];
}

/** Tells plugins from the modules that only they import, by their texts. */
function withoutHelpers(candidates: readonly Candidate[]): Sifted {
  const texts = candidates.map(({ file }) => readModuleText(file));
  const imported = new Set(
    candidates
      .flatMap(({ file }, place) => relativeImports(texts[place] ?? '', file))
      .map(plainName),
  );
  const isHelper = ({ file }: Candidate, place: number): boolean => {
    const text = texts[place] ?? null;
    if (text === null) return false;
    const isImported = importNames(file).some((name) => imported.has(name));
    return !mayExportPlugin(text) || (isImported && !looksLikePlugin(text));
  };
  const helpers = candidates.filter(isHelper);
  return {
    modules: candidates.filter((each) => !helpers.includes(each)),
    helpers: helpers.map(({ path: place }) => ({
      path: place,
      why: 'no plugin in it',
      isQuiet: true,
    })),
  };
}

function plainName(file: string): string {
  return importNames(file)[0] ?? file;
}

/** By path, each file once: a link and what it leads to are one plugin. */
function sorted(entries: readonly FoundEntry[]): readonly FoundEntry[] {
  const files = new Set<string>();
  return entries
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .filter(({ file }) => {
      const isNew = !files.has(file);
      files.add(file);
      return isNew;
    });
}
