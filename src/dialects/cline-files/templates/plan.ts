import path from 'node:path';
import { HooklineError } from '../../../base/errors.ts';
import { EVENT_NAMES } from '../../../hooks/events.ts';
import type { EventName } from '../../../hooks/facts.ts';
import type { DiscoveredUnit } from '../../discovery.ts';
import type { DialectMachine } from '../../machine.ts';
import {
  createNoHome,
  createProgramCheck,
  createUnknownEvent,
  listMissingPrograms,
  type NewHookOptions,
  type NewHookPlan,
  requireEvent,
  resolveScriptLanguage,
  type WritePlan,
  type ScriptLanguage,
} from '../../templates.ts';
import { isSameFile, isThere } from '../../write-hook-file.ts';
import { findHookPlaces } from '../machine.ts';
import { FILE_HOOK_NAMES, FILE_HOOKS, type FileHookName, findFileHookName } from '../events.ts';
import { HOOK_EXAMPLES, type ExampleEvent } from './examples.ts';
import { renderBashHook } from './bash.ts';
import { renderNodeHook, renderTypescriptHook } from './javascript.ts';
import { renderPythonHook } from './python.ts';

/** The languages in which there is an example for every event: how a script is written, and its extension. */
export const HOOK_LANGUAGES: Readonly<
  Record<ScriptLanguage, { write: (event: ExampleEvent) => string; extension: '' | '.ts' }>
> = {
  bash: { write: renderBashHook, extension: '' },
  python: { write: renderPythonHook, extension: '' },
  node: { write: renderNodeHook, extension: '' },
  ts: { write: renderTypescriptHook, extension: '.ts' },
};

/** Plans a file that is named after its event. */
export function planClineHook(options: NewHookOptions): WritePlan {
  const event = resolveEvent(requireEvent(options.event));
  if (options.matcher !== undefined) throw createMatcherError();
  return async (machine, units) => planHook(machine, event, options, units);
}

function resolveEvent(name: string): FileHookName {
  const hookName = findFileHookName(name);
  if (hookName !== null) return hookName;
  const canonical = EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  const all = `Cline has hook files for: ${FILE_HOOK_NAMES.join(', ')}.`;
  if (canonical === undefined) throw createUnknownEvent(name, FILE_HOOK_NAMES, all);
  const files = FILE_HOOK_NAMES.filter((each) => isRunAt(each, canonical));
  throw new HooklineError('EVENT_UNKNOWN', {
    message: `Cline has no hook file named ${canonical}`,
    hint: files.length === 0 ? all : `Cline’s hooks for this event: ${files.join(', ')}.`,
  });
}

function isRunAt(name: FileHookName, event: EventName): boolean {
  const events: readonly EventName[] = FILE_HOOKS[name].events;
  return events.includes(event);
}

function createMatcherError(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'hook files of Cline have no matcher: each runs at every event of its name',
    hint: 'Omit --matcher, or use --dialect claude.',
  });
}

function planHook(
  machine: DialectMachine,
  event: FileHookName,
  options: NewHookOptions,
  units: readonly DiscoveredUnit[],
): NewHookPlan {
  const hasProgram = createProgramCheck(machine);
  const language = resolveScriptLanguage(options.lang, hasProgram);
  const { write, extension } = HOOK_LANGUAGES[language];
  const { directory, within } = resolvePlace(machine, { extension, isGlobal: options.isGlobal });
  const file = path.join(directory, `${event}${extension}`);
  const others = listHooksIn(directory, event, units).filter((each) => !isSameFile(each, file));
  return {
    event,
    example: HOOK_EXAMPLES[event],
    language,
    file: { path: file, text: write(event), mode: extension === '' ? 0o755 : 0o644, within },
    existing: isThere(file) ? [file, ...others] : others,
    settings: null,
    isNewHook: (unit) => isSameFile(unit.path, file),
    notes: [
      ...others.map((other) => `${other} also exists and runs at the same event`),
      ...listMissingPrograms(language, hasProgram),
    ],
    describeUnseen: (reasons) =>
      `it does not run: ${file} ${reasons.length === 0 ? 'is not read' : reasons.join('; ')}`,
  };
}

/**
 * Puts extensionless hooks where every version of Cline finds them, others where newer versions do.
 * `within` is the workspace that must contain the directory, or null.
 */
function resolvePlace(
  machine: DialectMachine,
  { extension, isGlobal }: { extension: string; isGlobal: boolean },
): { readonly directory: string; readonly within: string | null } {
  const [root = machine.surroundings.cwd] = machine.workspaceRoots;
  if (!isGlobal) {
    const folder = extension === '' ? '.clinerules' : '.cline';
    return { directory: path.join(root, folder, 'hooks'), within: root };
  }
  const places = findHookPlaces(machine);
  const [documents] = places.documents;
  if (documents === undefined || places.clineDirectory === null) throw createNoHome();
  const directory =
    extension === ''
      ? path.join(documents, 'Cline', 'Hooks')
      : path.join(places.clineDirectory, 'hooks');
  return { directory, within: null };
}

function listHooksIn(
  directory: string,
  event: FileHookName,
  units: readonly DiscoveredUnit[],
): readonly string[] {
  return units
    .filter((unit) => unit.dialect === 'cline' && unit.eventName === event)
    .map((unit) => unit.path)
    .filter((file) => isSameFile(file, path.join(directory, path.basename(file))));
}
