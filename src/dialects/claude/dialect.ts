import path from 'node:path';
import type { Dialect, MachinePlaces } from '../dialect.ts';
import { SCRIPT_LANGUAGE_NAMES } from '../templates.ts';
import { findClaudeDirectory, findInstructionDirectories } from './directories.ts';
import { createClaudeDiscoverer } from './discover.ts';
import { readClaudeEnvelope, readClaudePayload } from './input/read-payload.ts';
import {
  CLAUDE_DIALECT_SETTINGS,
  CLAUDE_PATHS,
  CLAUDE_SETTINGS,
  PLUGIN_DIRECTORIES,
} from './options.ts';
import { findClaudePlaces, createClaudeSession } from './session.ts';
import { CLAUDE_EVENT_NAMES, findClaudeEvent, listClaudeNames } from './events.ts';

/** Claude Code's hooks: entries of settings files, plugins, skills and `.cline/hooks.json`. */
export const claude = {
  name: 'claude',
  label: 'Claude settings',
  events: { names: CLAUDE_EVENT_NAMES, find: findClaudeEvent, listNames: listClaudeNames },
  vocabulary: 'claude',
  options: {
    settings: CLAUDE_DIALECT_SETTINGS,
    paths: [PLUGIN_DIRECTORIES, CLAUDE_SETTINGS],
    variables: [
      'CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS',
      'CLAUDE_CODE_SHELL_PREFIX',
      'CLAUDE_CONFIG_DIR',
    ],
  },
  discover: (machine) =>
    createClaudeDiscoverer(
      findClaudePlaces(machine),
      createClaudeSession(machine),
      machine.search.ports ?? {},
    ),
  encode: async () => (await import('./codec.ts')).encode,
  decode: async () => (await import('./codec.ts')).decode,
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readClaudePayload(payload),
  readEnvelope: (payload) => readClaudeEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  templates: {
    about: 'a script and an entry',
    takesMatcher: true,
    languages: SCRIPT_LANGUAGE_NAMES,
    load: async () => (await import('./templates/plan.ts')).planClaudeHook,
  },
  importFrom: {
    ownFile: '~/.claude/settings.json',
    target: '.cline/hooks.json',
    load: async () => (await import('./import-hooks.ts')).importClaudeHooks,
  },
  install: async () => (await import('./install.ts')).claudeInstall,
  removeEntry: async () => (await import('./config/edit.ts')).removeClaudeEntry,
  checkScript: async () => (await import('./config/command-notes.ts')).checkScript,
  ownPaths: CLAUDE_PATHS,
  instructionDirectories: findInstructionDirectories,
  protectedPlaces: findProtectedPlaces,
} as const satisfies Dialect;

const PROTECTED = ['settings.json', 'hooks', 'plugins', 'skills', 'agents'];

function findProtectedPlaces({ surroundings }: MachinePlaces): readonly string[] {
  const directory = findClaudeDirectory(surroundings);
  return directory === null ? [] : PROTECTED.map((name) => path.join(directory, name));
}
