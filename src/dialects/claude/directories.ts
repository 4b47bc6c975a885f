import { findOwnDirectory, type Surroundings } from '../machine.ts';

/** Finds `~/.claude`, or the directory that the environment sets instead; null without a home directory. */
export function findClaudeDirectory(surroundings: Surroundings): string | null {
  return findOwnDirectory(surroundings, 'CLAUDE_CONFIG_DIR', '.claude');
}

/** The directory of the administrator's settings and instructions, which override all others. */
const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/etc/claude-code',
  darwin: '/Library/Application Support/ClaudeCode',
  win32: String.raw`C:\Program Files\ClaudeCode`,
};

export function findManagedDirectory({ platform }: Surroundings): string | null {
  return MANAGED[platform] ?? null;
}

/** Finds the directories of instructions, skills, commands and sub-agents. */
export function findInstructionDirectories(surroundings: Surroundings) {
  return {
    user: findClaudeDirectory(surroundings),
    managed: findManagedDirectory(surroundings),
  };
}
