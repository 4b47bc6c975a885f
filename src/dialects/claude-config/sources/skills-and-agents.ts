import { readdirSync } from 'node:fs';
import path from 'node:path';
import { findRealPath } from '../../../base/paths.ts';
import type { Ignored, Place } from '../../dialect.ts';
import { findOwningRoot } from '../../place.ts';
import { NO_EVENTS, type ParsedEvents } from '../config/parse-events.ts';
import type { Source } from '../entry.ts';
import type { Plugin } from './find-plugins.ts';
import { readFrontMatterHooks } from './front-matter.ts';
import { type ClaudePlaces, projectRoot } from './places.ts';
import { readConfigText } from './read-file.ts';
import { switchedOff } from './switches.ts';

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
  return findIn('skills', places);
}

/** Definitions of sub-agents of the project and the person. */
export function findAgents(places: ClaudePlaces): readonly MarkdownFile[] {
  return findIn('agents', places);
}

type Folder = 'skills' | 'agents';

function findIn(folder: Folder, places: ClaudePlaces): readonly MarkdownFile[] {
  const { claudeDirectory, startDirectory } = places;
  const mine = claudeDirectory === null ? [] : filesIn(claudeDirectory, folder);
  const all = [
    ...mine.map((file) => ({ file, ...ownerOf(file, places) })),
    ...filesIn(path.join(startDirectory, '.claude'), folder).map(
      (file) => ({ file, place: 'workspace', root: projectRoot(places) }) as const,
    ),
  ];
  const byRealPath = new Map(all.toReversed().map((each) => [findRealPath(each.file), each]));
  return all.filter((each) => byRealPath.get(findRealPath(each.file)) === each);
}

function filesIn(directory: string, folder: Folder): string[] {
  const names = namesIn(path.join(directory, folder)).toSorted();
  const inside =
    folder === 'skills'
      ? names.map((name) => path.join(name, 'SKILL.md'))
      : names.filter((name) => name.endsWith('.md'));
  return inside
    .map((name) => path.join(directory, folder, name))
    .filter((file) => findRealPath(file) !== null);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function ownerOf(file: string, places: ClaudePlaces): Ownership {
  const root = findOwningRoot(file, places);
  return root === null ? { place: 'home', root } : { place: 'workspace', root };
}

export interface MarkdownHooks {
  readonly source: Source;
  readonly hooks: ParsedEvents;
  /** What was left out as a whole. */
  readonly ignored: readonly Ignored[];
  /** Null for the project's and the person's own. */
  readonly plugin: Plugin | null;
}

/** The hooks of all skills and sub-agents, in the order of their names; those of plugins last. */
export function readSkillsAndAgents(
  places: ClaudePlaces,
  plugins: readonly Plugin[],
): readonly MarkdownHooks[] {
  return [
    ...findSkills(places).map(({ file, ...owner }) => readSkillHooks(file, owner)),
    ...findAgents(places).map(({ file, ...owner }) => readAgentHooks(file, owner)),
    ...plugins.flatMap((plugin) => [
      ...filesIn(plugin.facts.root, 'skills').map((file) =>
        readPluginSkill(file, plugin, ownerInPlugin(file, plugin, places)),
      ),
      ...filesIn(plugin.facts.root, 'agents').map((file) => leaveOutAgent(file, plugin)),
    ]),
  ];
}

/** Whoever has the plugin has its skills, but for one that really lies in a workspace. */
function ownerInPlugin(file: string, { place, root }: Plugin, places: ClaudePlaces): Ownership {
  const owner = ownerOf(file, places);
  return place !== 'workspace' && owner.place === 'workspace' ? owner : { place, root };
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

/** They know what the plugin's other hooks know, and the skill by the name under which it is used. */
function readPluginSkill(file: string, plugin: Plugin, owner: Ownership): MarkdownHooks {
  const directory = path.dirname(file);
  const name = path.basename(directory);
  const read = readHooks({
    ...sourceOf(file, owner),
    kind: 'skill',
    label: `${plugin.label}:skills/${name}`,
    family: `skill:${directory}`,
    plugin: { ...plugin.facts, name: `${plugin.facts.name}:${name}` },
  });
  return { ...read, plugin };
}

const NOT_OF_PLUGINS =
  'a plugin’s sub-agent may bring no hooks; write it into hooks/hooks.json, or the sub-agent into .claude/agents';

function leaveOutAgent(file: string, plugin: Plugin): MarkdownHooks {
  const { source, hooks, ignored } = readAgentHooks(file, plugin);
  const left = [...hooks.entries, ...hooks.broken].map((hook) => switchedOff(hook, NOT_OF_PLUGINS));
  return { source, hooks: NO_EVENTS, ignored: [...ignored, ...left], plugin };
}

function sourceOf(file: string, { place, root }: Ownership) {
  return { file, place, root, isCline: false };
}

function readHooks(source: Source): MarkdownHooks {
  const text = readConfigText(source.file);
  if (text === null) return { source, hooks: NO_EVENTS, ignored: [], plugin: null };
  if (typeof text !== 'string') return { source, hooks: NO_EVENTS, ignored: [text], plugin: null };
  return { source, hooks: readFrontMatterHooks(text, source), ignored: [], plugin: null };
}
