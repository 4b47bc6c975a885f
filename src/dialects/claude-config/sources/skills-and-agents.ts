import { readdirSync } from 'node:fs';
import path from 'node:path';
import { findRealPath } from '../../../base/paths.ts';
import type { Ignored, Place } from '../../dialect.ts';
import { findOwningRoot } from '../../place.ts';
import { NO_EVENTS, type ParsedEvents } from '../config/parse-events.ts';
import type { Source } from '../entry.ts';
import { readFrontMatterHooks } from './front-matter.ts';
import { type ClaudePlaces, projectRoot } from './places.ts';
import { readConfigText } from './read-file.ts';

/** Whose skill or sub-agent it is. */
export interface Ownership {
  readonly place: Place;
  readonly root: string | null;
}

/** A skill or a sub-agent that may bring hooks once it is in use. */
export interface MarkdownFile extends Ownership {
  readonly file: string;
}

/** `SKILL.md` files of the project and the person. */
export function findSkills(places: ClaudePlaces): readonly MarkdownFile[] {
  return findIn('skills', places, (directory, name) => path.join(directory, name, 'SKILL.md'));
}

/** Definitions of sub-agents of the project and the person. */
export function findAgents(places: ClaudePlaces): readonly MarkdownFile[] {
  return findIn('agents', places, (directory, name) =>
    name.endsWith('.md') ? path.join(directory, name) : null,
  );
}

type FileOf = (directory: string, name: string) => string | null;

function findIn(folder: string, places: ClaudePlaces, fileOf: FileOf): readonly MarkdownFile[] {
  const { claudeDirectory, startDirectory } = places;
  const project = path.join(startDirectory, '.claude', folder);
  const mine = claudeDirectory === null ? [] : list(path.join(claudeDirectory, folder), fileOf);
  const all = [
    ...mine.map((file) => ownedBy(file, places)),
    ...list(project, fileOf).map(
      (file) => ({ file, place: 'workspace', root: projectRoot(places) }) as const,
    ),
  ];
  const byRealPath = new Map(all.toReversed().map((each) => [findRealPath(each.file), each]));
  return all.filter((each) => byRealPath.get(findRealPath(each.file)) === each);
}

function list(directory: string, fileOf: FileOf): string[] {
  return namesIn(directory)
    .toSorted()
    .flatMap((name) => fileOf(directory, name) ?? [])
    .filter((file) => findRealPath(file) !== null);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function ownedBy(file: string, places: ClaudePlaces): MarkdownFile {
  const root = findOwningRoot(file, places);
  return root === null ? { file, place: 'home', root } : { file, place: 'workspace', root };
}

export interface MarkdownHooks {
  readonly source: Source;
  readonly hooks: ParsedEvents;
  readonly ignored: readonly Ignored[];
}

/** The hooks of all skills and sub-agents, in the order of their names. */
export function readSkillsAndAgents(places: ClaudePlaces): readonly MarkdownHooks[] {
  return [
    ...findSkills(places).map(({ file, ...owner }) => readSkillHooks(file, owner)),
    ...findAgents(places).map(({ file, ...owner }) => readAgentHooks(file, owner)),
  ];
}

/** The hooks of a skill; they count from when it is invoked to the end of the session. */
export function readSkillHooks(file: string, owner: Ownership): MarkdownHooks {
  const root = path.dirname(file);
  const name = path.basename(root);
  return readHooks({
    ...sourceOf(file, owner),
    kind: 'skill',
    label: `skill:${name}`,
    family: `skill:${root}`,
    plugin: { name, root, data: null, options: {} },
  });
}

/** The hooks of a sub-agent; they count while it runs. */
export function readAgentHooks(file: string, owner: Ownership): MarkdownHooks {
  return readHooks({
    ...sourceOf(file, owner),
    kind: 'agent',
    label: `agent:${path.basename(file, '.md')}`,
    family: `agent:${file}`,
    plugin: null,
  });
}

function sourceOf(file: string, { place, root }: Ownership) {
  return { file, place, root, isCline: false };
}

function readHooks(source: Source): MarkdownHooks {
  const text = readConfigText(source.file);
  if (text === null) return { source, hooks: NO_EVENTS, ignored: [] };
  if (typeof text !== 'string') return { source, hooks: NO_EVENTS, ignored: [text] };
  const hooks = readFrontMatterHooks(text, source);
  const ignored = hooks.ignored.map(({ line, why }) => ({
    path: source.file,
    why: `line ${line}: ${why}`,
  }));
  return { source, hooks, ignored };
}
