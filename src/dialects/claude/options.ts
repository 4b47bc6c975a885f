import { POSITIVE_NUMBER, type SettingTable } from '../../base/setting.ts';
import type { OwnPaths } from '../dialect.ts';
import { createDirectoryCheck, type PathOption } from '../options.ts';

export interface ClaudeDialectSettings {
  readonly 'hooks.commandTimeoutMs': number;
}

export const CLAUDE_DIALECT_SETTINGS: SettingTable<ClaudeDialectSettings> = {
  'hooks.commandTimeoutMs': {
    description:
      'How long a command of Claude’s format without a `timeout` may run, in milliseconds. A shorter default of its event stays: 30 s for UserPromptSubmit, 10 s for MessageDisplay, 1.5 s for all of SessionEnd together.',
    defaultValue: 600_000,
    ...POSITIVE_NUMBER,
  },
};

/** Directories of Claude plugins, which need not be installed. */
export const PLUGIN_DIRECTORIES: PathOption = {
  name: 'pluginDirectories',
  isRepeatable: true,
  flag: {
    usage: '--plugin-dir <dir>',
    about: 'directory of a Claude plugin that is not installed; repeatable',
    check: createDirectoryCheck('--plugin-dir', 'the directory of a plugin'),
  },
};

/** Further settings: a file, or the JSON itself. */
export const CLAUDE_SETTINGS: PathOption = {
  name: 'claudeSettings',
  flag: {
    usage: '--settings <file-or-json>',
    about: 'additional settings in Claude’s format',
    check: async (settings) => (await import('./check-settings.ts')).checkSettings(settings),
  },
};

export const CLAUDE_PATHS: OwnPaths = {
  protected: [
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.claude/settings*.json',
    '.claude/hooks/',
    '.claude/plugins/',
    '.claude/skills/',
    '.claude/agents/',
    '.claude.json',
    '.mcp.json',
    '.cline/hooks.json',
    '.cline/settings.json',
  ],
  inRoots: ['.cline/hooks.json', '.cline/settings.json'],
  settings: [
    'hooks.json',
    'plugin.json',
    'settings.json',
    'settings.local.json',
    'managed-settings.json',
    'managed-settings.local.json',
  ],
};
