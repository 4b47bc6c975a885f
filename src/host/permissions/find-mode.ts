import type { PermissionMode } from '../../permissions/mode.ts';
import type { PermissionSettings } from '../../permissions/settings.ts';

export interface ModeRequest {
  /** In declared order: the last one counts. */
  readonly settings: readonly PermissionSettings[];
  /** Those of them whose loosening counts. */
  readonly counting: readonly PermissionSettings[];
  /** What the caller chose; null when it leaves it to the settings. */
  readonly asked: PermissionMode | null;
  readonly nameFile: (file: string) => string;
}

export interface FoundMode {
  readonly mode: PermissionMode;
  /** Who forbids the mode bypassPermissions, or null. */
  readonly forbiddenBy: string | null;
  readonly notices: readonly string[];
}

/** The mode that a session begins in. */
export function resolveInitialMode({
  settings,
  counting,
  asked,
  nameFile,
}: ModeRequest): FoundMode {
  const forbidding = settings.find(({ forbidsBypass }) => forbidsBypass);
  const forbiddenBy = forbidding === undefined ? null : nameFile(forbidding.file);
  const wanted = asked ?? configuredMode(settings, counting);
  if (wanted !== 'bypassPermissions' || forbiddenBy === null) {
    return { mode: wanted, forbiddenBy, notices: [] };
  }
  const notice = `the mode bypassPermissions is switched off by ${forbiddenBy}; the session begins in the mode default`;
  return { mode: 'default', forbiddenBy, notices: [notice] };
}

/** From the mode that lets most pass to the one that lets least. */
const BY_STRICTNESS: readonly PermissionMode[] = [
  'bypassPermissions',
  'acceptEdits',
  'default',
  'dontAsk',
  'plan',
];

function configuredMode(
  settings: readonly PermissionSettings[],
  counting: readonly PermissionSettings[],
): PermissionMode {
  let mode: PermissionMode = 'default';
  for (const each of settings) {
    const { defaultMode, origin } = each;
    if (defaultMode === null) continue;
    const mayLoosen = counting.includes(each) && (origin !== 'workspace' || isLoose(defaultMode));
    if (mayLoosen || strictness(defaultMode) >= strictness(mode)) mode = defaultMode;
  }
  return mode;
}

/** What trust in a workspace covers; its other modes can only tighten. */
function isLoose(mode: PermissionMode): boolean {
  return strictness(mode) < strictness('default');
}

function strictness(mode: PermissionMode): number {
  return BY_STRICTNESS.indexOf(mode);
}
