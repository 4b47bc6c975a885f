/** How much the agent may do without asking. */
export const PERMISSION_MODES = [
  'default',
  'acceptEdits',
  'plan',
  'bypassPermissions',
  'dontAsk',
] as const;

export type PermissionMode = (typeof PERMISSION_MODES)[number];

export function isPermissionMode(name: unknown): name is PermissionMode {
  return PERMISSION_MODES.some((mode) => mode === name);
}
