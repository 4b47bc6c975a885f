import type { PermissionMode } from '../../permissions/permissions.ts';
import type { AgentMode } from '../start-input.ts';

/** Cline's SDK asks for nothing that no policy wants asked; deny rules hold all the same. */
export function permissionModeOf(mode: AgentMode): PermissionMode {
  return mode === 'plan' ? 'plan' : 'bypassPermissions';
}
