import { dropUndefined } from '../base/defined.ts';
import type { PermissionMode } from './permissions.ts';

/** The `permissions` object of one settings file. */
export interface PermissionSettings {
  /** Who wrote it: an administrator, the user, the caller, or a workspace. */
  readonly origin: 'managed' | 'own' | 'given' | 'workspace';
  readonly file: string;
  /** The line of the object in the file, from 1. */
  readonly line: number;
  /** The workspace root that the file belongs to; null for the others. */
  readonly root: string | null;
  readonly allow: readonly WrittenRule[];
  readonly ask: readonly WrittenRule[];
  readonly deny: readonly WrittenRule[];
  readonly defaultMode: PermissionMode | null;
  readonly additionalDirectories: readonly string[];
  readonly forbidsBypass: boolean;
  /** Why its allow rules are ignored, or null. */
  readonly whyNothingAllowed: string | null;
  /** Invalid entries, with the line. */
  readonly problems: readonly string[];
}

export interface WrittenRule {
  readonly text: string;
  readonly line: number;
}

const LOOSENING: readonly PermissionMode[] = ['acceptEdits', 'bypassPermissions'];

/** Whether the mode allows more than the mode default. */
function isLoosening(mode: PermissionMode): boolean {
  return LOOSENING.includes(mode);
}

/** The part that allows more, which needs trust when a workspace sets it; null when there is none. */
export function findLooseningPart(settings: PermissionSettings): LooseningPart | null {
  const { allow, additionalDirectories, defaultMode } = settings;
  const part = dropUndefined({
    allow: allow.length === 0 ? undefined : allow.map(({ text }) => text),
    additionalDirectories: additionalDirectories.length === 0 ? undefined : additionalDirectories,
    defaultMode: defaultMode === null || !isLoosening(defaultMode) ? undefined : defaultMode,
  });
  return Object.keys(part).length === 0 ? null : part;
}

export interface LooseningPart {
  readonly allow?: readonly string[];
  readonly additionalDirectories?: readonly string[];
  readonly defaultMode?: PermissionMode;
}
