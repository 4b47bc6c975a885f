import type { PermissionMode } from './permissions.ts';

/** What the `permissions` object of one settings file says. */
export interface PermissionSettings {
  /** Who may set what: an administrator, the person, the caller, or a workspace. */
  readonly origin: 'managed' | 'own' | 'given' | 'workspace';
  readonly file: string;
  /** Where the object stands in the file, from 1. */
  readonly line: number;
  /** The workspace root that the file belongs to; null for the others. */
  readonly root: string | null;
  readonly allow: readonly WrittenRule[];
  readonly ask: readonly WrittenRule[];
  readonly deny: readonly WrittenRule[];
  readonly defaultMode: PermissionMode | null;
  readonly additionalDirectories: readonly string[];
  readonly forbidsBypass: boolean;
  /** Why nothing that it allows counts, or null. */
  readonly whyNothingAllowed: string | null;
  /** What of it cannot be used, with the line. */
  readonly problems: readonly string[];
}

export interface WrittenRule {
  readonly text: string;
  readonly line: number;
}

const LOOSENING: readonly PermissionMode[] = ['acceptEdits', 'bypassPermissions'];

/** Whether the mode lets more pass than the usual one. */
function isLoosening(mode: PermissionMode): boolean {
  return LOOSENING.includes(mode);
}

/** What of it lets more pass, which a workspace may say only once somebody trusts it; null when nothing does. */
export function findLooseningPart(settings: PermissionSettings): LooseningPart | null {
  const { allow, additionalDirectories, defaultMode } = settings;
  const part = {
    ...(allow.length === 0 ? {} : { allow: allow.map(({ text }) => text) }),
    ...(additionalDirectories.length === 0 ? {} : { additionalDirectories }),
    ...(defaultMode === null || !isLoosening(defaultMode) ? {} : { defaultMode }),
  };
  return Object.keys(part).length === 0 ? null : part;
}

export interface LooseningPart {
  readonly allow?: readonly string[];
  readonly additionalDirectories?: readonly string[];
  readonly defaultMode?: PermissionMode;
}
