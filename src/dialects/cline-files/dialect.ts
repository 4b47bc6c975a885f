import type { Dialect, FoundAt } from '../dialect.ts';
import type { DialectMachine } from '../machine.ts';
import { listNamedPaths } from '../options.ts';
import { SCRIPT_LANGUAGE_NAMES } from '../templates.ts';
import { createClineFilesDiscoverer, findNamedFileHook } from './discover.ts';
import { CLINE_PATHS, CLINE_SETTINGS, HOOKS_DIRECTORY } from './options.ts';
import { readEnvelope, readPayload } from './read-payload.ts';
import {
  findHookPlaces,
  findProtectedPlaces,
  listHomeDirectories,
  readFileHookOptions,
} from './machine.ts';
import {
  FILE_HOOK_NAMES,
  findFileHookEvent,
  findFileHookName,
  listFileHookNames,
} from './events.ts';

/** Cline's hook files: executables named after an event, JSON on stdin and stdout. */
export const clineFiles = {
  name: 'cline',
  label: 'Cline file',
  events: { names: FILE_HOOK_NAMES, find: findFileHookEvent, listNames: listFileHookNames },
  vocabulary: 'classic',
  options: {
    settings: CLINE_SETTINGS,
    paths: [HOOKS_DIRECTORY],
    variables: ['CLINE_DIR', 'CLINE_HOOKS_DIR', 'OneDrive', 'XDG_CONFIG_HOME'],
    harmlessVariables: ['MAX_CONTEXT_MODIFICATION_SIZE'],
  },
  discover: (machine) =>
    createClineFilesDiscoverer({
      places: findHookPlaces(
        machine,
        listNamedPaths(machine.search.paths ?? {}, HOOKS_DIRECTORY)[0],
      ),
      ...readFileHookOptions(machine),
      stateDirectory: machine.stateDirectory,
    }),
  discoverFile,
  discoverDirectory,
  encode: async () => (await import('./codec.ts')).encode,
  decode: async () => (await import('./codec.ts')).decode,
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  templates: {
    about: 'a file',
    languages: SCRIPT_LANGUAGE_NAMES,
    load: async () => (await import('./templates/plan.ts')).planClineHook,
  },
  install: async () => (await import('./install.ts')).clineInstall,
  ownPaths: CLINE_PATHS,
  homeDirectories: listHomeDirectories,
  protectedPlaces: findProtectedPlaces,
} as const satisfies Dialect;

const NOWHERE = { home: null, documents: [], clineDirectory: null, workspaceRoots: [] };

function discoverDirectory(directory: string, machine: DialectMachine): FoundAt {
  const places = { ...NOWHERE, hooksDirectory: directory };
  return createClineFilesDiscoverer({ ...readFileHookOptions(machine), places }).discover();
}

function discoverFile(file: string, eventName: string, machine: DialectMachine): FoundAt {
  const name = findFileHookName(eventName);
  if (name === null) return { hooks: [], ignored: [] };
  const hook = findNamedFileHook(file, name, readFileHookOptions(machine));
  return 'why' in hook ? { hooks: [], ignored: [hook] } : { hooks: [hook], ignored: [] };
}
