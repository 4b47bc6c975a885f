import { createChoice, POSITIVE_NUMBER, type SettingTable } from '../../base/setting.ts';
import type { OwnPaths } from '../dialect.ts';
import { createDirectoryCheck, type PathOption } from '../options.ts';

export interface ClineSettings {
  readonly 'cline.cancel': 'deny' | 'stop';
  readonly 'cline.maxContextChars': number;
}

export const CLINE_SETTINGS: SettingTable<ClineSettings> = {
  'cline.cancel': {
    description: 'What `cancel` on a tool call does: `deny` that call, or `stop` the run.',
    defaultValue: 'deny',
    ...createChoice('deny', 'stop'),
    tighten: (current, offered) => (offered === 'stop' ? offered : current),
  },
  'cline.maxContextChars': {
    description: 'How much context one file hook may give the model, in characters.',
    defaultValue: 50_000,
    ...POSITIVE_NUMBER,
    variable: 'MAX_CONTEXT_MODIFICATION_SIZE',
    tighten: (current, offered) => Math.min(current, offered),
  },
};

/** A further directory of hook files. */
export const HOOKS_DIRECTORY: PathOption = {
  name: 'hooksDirectory',
  flag: {
    usage: '--hooks-dir <dir>',
    about: 'additional directory of Cline hooks',
    check: createDirectoryCheck('--hooks-dir', 'a directory of Cline hooks'),
  },
};

export const CLINE_PATHS: OwnPaths = {
  protected: [
    '.clinerules/hooks/',
    '.cline/hooks/',
    'Documents/Cline/Hooks/',
    'Documents/Cline/Rules/Hooks/',
    'cline_mcp_settings.json',
  ],
  inRoots: ['.clinerules/hooks', '.cline/hooks'],
  inHome: [
    { path: 'Documents/Cline/Hooks', option: HOOKS_DIRECTORY },
    { path: 'Documents/Cline/Rules/Hooks', option: HOOKS_DIRECTORY },
    { path: '.cline/hooks' },
  ],
};
