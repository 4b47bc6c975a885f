import { createUnsupportedError } from '../errors.ts';

/** Cline's names of the built-in tools. */
export const DefaultToolNames = {
  READ_FILES: 'read_files',
  SEARCH_CODEBASE: 'search_codebase',
  RUN_COMMANDS: 'run_commands',
  FETCH_WEB_CONTENT: 'fetch_web_content',
  APPLY_PATCH: 'apply_patch',
  EDITOR: 'editor',
  SKILLS: 'skills',
  ASK: 'ask_question',
  SUBMIT_AND_EXIT: 'submit_and_exit',
} as const;

export type DefaultToolName = (typeof DefaultToolNames)[keyof typeof DefaultToolNames];

export const ALL_DEFAULT_TOOL_NAMES: DefaultToolName[] = Object.values(DefaultToolNames);

const NOTHING = {
  enableReadFiles: false,
  enableSearch: false,
  enableBash: false,
  enableWebFetch: false,
  enableApplyPatch: false,
  enableEditor: false,
  enableSkills: false,
  enableAskQuestion: false,
  enableSubmitAndExit: false,
  enableSpawnAgent: false,
  enableAgentTeams: false,
};

const SEARCHING = { ...NOTHING, enableReadFiles: true, enableSearch: true, enableSpawnAgent: true };

const PLANNING = {
  ...SEARCHING,
  enableBash: true,
  enableWebFetch: true,
  enableSkills: true,
  enableAskQuestion: true,
  enableAgentTeams: true,
};

/** Cline's sets of tools by purpose; data only, because sessions here choose their tools themselves. */
export const ToolPresets = {
  act: { ...PLANNING, enableEditor: true },
  plan: PLANNING,
  search: { ...SEARCHING, enableAgentTeams: true },
  minimal: { ...NOTHING, enableBash: true, enableSpawnAgent: true },
  yolo: {
    ...NOTHING,
    enableReadFiles: true,
    enableBash: true,
    enableEditor: true,
    enableSubmitAndExit: true,
  },
} as const satisfies Record<string, typeof NOTHING>;

/** Hookline's tools need a session around them: permissions, hooks, a directory to work in. */
export function createBuiltinTools(): never {
  throw createUnsupportedError(
    'tools apart from a session',
    'Start one with ClineCore: it has read_files, run_commands, editor and the others.',
  );
}
