import { readdirSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, isInside } from '../../../base/paths.ts';
import type { Ignored } from '../../discovery.ts';
import { NO_EVENTS } from '../config/parse-events.ts';
import type { Source } from '../entry.ts';
import type { Plugin, SourceHooks } from './plugins.ts';
import { readFrontMatterHooks } from '../config/parse-yaml.ts';
import { findOwningRoot, findProjectRoot } from '../../workspace-roots.ts';
import type { ClaudePlaces } from '../session.ts';
import { readConfigText } from '../../read-config-text.ts';
import { describeSwitchedOff } from './switches.ts';

/** Whose a skill or a sub-agent is. */
type Owner = Pick<Source, 'place' | 'root'>;

/** A skill, a slash command or a sub-agent, whose hooks run while it is in use. */
type MarkdownFile = Pick<Source, 'file' | 'place' | 'root'>;

/** Finds `SKILL.md` files of the project and the user. */
export function findSkills(places: ClaudePlaces): readonly MarkdownFile[] {
  return findIn('skills', places);
}

/** Finds definitions of sub-agents of the project and the user. */
export function findAgents(places: ClaudePlaces): readonly MarkdownFile[] {
  return findIn('agents', places);
}

/** Finds Markdown files of slash commands of the project and the user, in subfolders too. */
function findCommands(places: ClaudePlaces): readonly MarkdownFile[] {
  return findIn('commands', places);
}

type Folder = 'skills' | 'commands' | 'agents';

function findIn(folder: Folder, places: ClaudePlaces): readonly MarkdownFile[] {
  const { claudeDirectory, startDirectory } = places;
  const personalFiles = claudeDirectory === null ? [] : listFiles(claudeDirectory, folder);
  const all = [
    ...personalFiles.map((file) => ({ file, ...findOwner(file, places) })),
    ...listFiles(path.join(startDirectory, '.claude'), folder).map(
      (file) => ({ file, place: 'workspace', root: findProjectRoot(places) }) as const,
    ),
  ];
  const byRealPath = new Map(all.toReversed().map((each) => [findRealPath(each.file), each]));
  return all.filter((each) => byRealPath.get(findRealPath(each.file)) === each);
}

function listFiles(directory: string, folder: Folder): string[] {
  const searchedDirectory = path.join(directory, folder);
  const inside =
    folder === 'commands'
      ? listMarkdownBelow(searchedDirectory, 1, { entriesLeft: MAX_ENTRIES })
      : listDirectFiles(searchedDirectory, folder);
  return inside.filter((file) => findRealPath(file) !== null);
}

function listDirectFiles(place: string, folder: Exclude<Folder, 'commands'>): readonly string[] {
  const names = listNames(place).toSorted();
  const inside =
    folder === 'skills'
      ? names.map((name) => path.join(name, 'SKILL.md'))
      : names.filter((name) => name.endsWith('.md'));
  return inside.map((name) => path.join(place, name));
}

const MAX_DEPTH = 5;
/** The agent reads no more commands of a directory either. */
const MAX_ENTRIES = 1000;

/** Bounded, because links may lead to the whole disk, or back to the directory any number of times. */
function listMarkdownBelow(
  directory: string,
  depth: number,
  search: { entriesLeft: number },
): readonly string[] {
  const names = listNames(directory).toSorted().slice(0, Math.max(search.entriesLeft, 0));
  search.entriesLeft -= names.length;
  return names.flatMap((name) => {
    const file = path.join(directory, name);
    if (name.endsWith('.md')) return [file];
    return depth < MAX_DEPTH && search.entriesLeft > 0
      ? listMarkdownBelow(file, depth + 1, search)
      : [];
  });
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function findOwner(file: string, places: ClaudePlaces): Owner {
  const root = findOwningRoot(file, places);
  return root === null ? { place: 'home', root } : { place: 'workspace', root };
}

interface MarkdownHooks extends SourceHooks {
  /** Hooks and files that are skipped. */
  readonly ignored: readonly Ignored[];
}

/** Reads the hooks of all skills, commands and sub-agents, sorted by name; those of plugins last. */
export function readSkillsAndAgents(
  places: ClaudePlaces,
  plugins: readonly Plugin[],
): readonly MarkdownHooks[] {
  return [
    ...findSkills(places).map(({ file, ...owner }) => readSkillHooks(file, owner)),
    ...findCommands(places).map(({ file, ...owner }) =>
      readCommandHooks(file, formatCommandName(listCommandFolders(places), file), owner),
    ),
    ...findAgents(places).map(({ file, ...owner }) => readAgentHooks(file, owner)),
    ...plugins.flatMap((plugin) => [
      ...listFiles(plugin.facts.root, 'skills').map((file) =>
        readPluginSkill(file, plugin, findOwnerInPlugin(file, plugin, places)),
      ),
      ...listFiles(plugin.facts.root, 'commands').map((file) =>
        readPluginCommand(file, plugin, findOwnerInPlugin(file, plugin, places)),
      ),
      ...listFiles(plugin.facts.root, 'agents').map((file) => omitAgent(file, plugin)),
    ]),
  ];
}

/** A skill has the owner of its plugin, unless its real path is in a workspace. */
function findOwnerInPlugin(file: string, { place, root }: Plugin, places: ClaudePlaces): Owner {
  const owner = findOwner(file, places);
  return place !== 'workspace' && owner.place === 'workspace' ? owner : { place, root };
}

/** Reads the hooks of a skill; they run from its first use to the end of the session. */
export function readSkillHooks(file: string, owner: Owner): MarkdownHooks {
  const root = path.dirname(file);
  const name = path.basename(root);
  return readHooks({
    ...createSource(file, owner),
    kind: 'skill',
    label: `skill:${name}`,
    family: `skill:${root}`,
    plugin: { name, root, data: null, options: {} },
  });
}

/**
 * Reads the hooks of a slash command; they run from its first use to the end of the session. `name` is
 * typed after the slash.
 */
function readCommandHooks(file: string, name: string, owner: Owner): MarkdownHooks {
  return readHooks({
    ...createSource(file, owner),
    kind: 'skill',
    label: `command:${name}`,
    family: `command:${file}`,
    plugin: null,
    command: name,
  });
}

function listCommandFolders({ startDirectory, claudeDirectory }: ClaudePlaces): readonly string[] {
  const homes = [path.join(startDirectory, '.claude'), claudeDirectory];
  return homes.flatMap((home) => (home === null ? [] : [path.join(home, 'commands')]));
}

/** `frontend:component` for `frontend/component.md` in one of the folders. */
function formatCommandName(folders: readonly string[], file: string): string {
  const folder = folders.find((each) => isInside(each, file)) ?? path.dirname(file);
  return path.relative(folder, file).replace(/\.md$/, '').split(path.sep).join(':');
}

/** Reads the hooks of a sub-agent; they run while it runs. */
export function readAgentHooks(file: string, owner: Owner): MarkdownHooks {
  return readHooks({
    ...createSource(file, owner),
    kind: 'agent',
    label: `agent:${path.basename(file, '.md')}`,
    family: `agent:${file}`,
    plugin: null,
  });
}

/** Reads the hooks of a plugin's skill, with the plugin's facts and the skill's full name. */
function readPluginSkill(file: string, plugin: Plugin, owner: Owner): MarkdownHooks {
  const directory = path.dirname(file);
  const name = path.basename(directory);
  const read = readHooks({
    ...createSource(file, owner),
    kind: 'skill',
    label: `${plugin.label}:skills/${name}`,
    family: `skill:${directory}`,
    plugin: { ...plugin.facts, name: `${plugin.facts.name}:${name}` },
  });
  return { ...read, plugin };
}

function readPluginCommand(file: string, plugin: Plugin, owner: Owner): MarkdownHooks {
  const name = formatCommandName([path.join(plugin.facts.root, 'commands')], file);
  const read = readHooks({
    ...createSource(file, owner),
    kind: 'skill',
    label: `${plugin.label}:commands/${name}`,
    family: `command:${file}`,
    plugin: plugin.facts,
    command: `${plugin.facts.name}:${name}`,
  });
  return { ...read, plugin };
}

const NOT_OF_PLUGINS =
  'hooks of a plugin’s sub-agent are not read; move them to hooks/hooks.json, or the sub-agent to .claude/agents';

function omitAgent(file: string, plugin: Plugin): MarkdownHooks {
  const { source, hooks, ignored } = readAgentHooks(file, plugin);
  const ignoredHooks = [...hooks.entries, ...hooks.broken].map((hook) =>
    describeSwitchedOff(hook, NOT_OF_PLUGINS),
  );
  return { source, hooks: NO_EVENTS, ignored: [...ignored, ...ignoredHooks], plugin };
}

function createSource(file: string, { place, root }: Owner) {
  return { file, place, root, isCline: false };
}

function readHooks(source: Source): MarkdownHooks {
  const text = readConfigText(source.file);
  if (text === null) return { source, hooks: NO_EVENTS, ignored: [], plugin: null };
  if (typeof text !== 'string') return { source, hooks: NO_EVENTS, ignored: [text], plugin: null };
  return { source, hooks: readFrontMatterHooks(text, source), ignored: [], plugin: null };
}
