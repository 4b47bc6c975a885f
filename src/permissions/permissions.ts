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

/** One part of a tool call in Claude's words, which permission rules are written in. */
export interface PermissionCall {
  /** Every name that the tool has, Claude's first. */
  readonly names: readonly string[];
  readonly input: unknown;
  readonly kind: 'read' | 'edit' | 'execute' | 'fetch' | 'plan' | 'ask' | 'foreign';
  /** The name of the MCP server that the tool belongs to, as it is configured. */
  readonly server?: string;
  readonly cwd: string;
}

/** `ask` is for a person; where nobody is, the agent makes it a denial. */
export interface PermissionRuling {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** A sentence for person and model: what decided it. */
  readonly reason: string;
  /** Whether a hook's allow stands above it: false for rules and for protected places. */
  readonly isOverridable: boolean;
  /** Set for protected places: not even a hook that answers for the person may allow it. */
  readonly needsPerson?: true;
  /** What a person could answer so that it is not asked again. */
  readonly suggestions: readonly PermissionUpdate[];
}

export interface PermissionRuleText {
  readonly toolName: string;
  readonly ruleContent?: string;
}

export type PermissionBehavior = 'allow' | 'ask' | 'deny';

/** As hooks of PermissionRequest answer it. Only the session is ever changed by one. */
export type PermissionUpdate =
  | {
      readonly type: 'addRules' | 'replaceRules' | 'removeRules';
      readonly rules: readonly PermissionRuleText[];
      readonly behavior: PermissionBehavior;
      readonly destination: string;
    }
  | { readonly type: 'setMode'; readonly mode: PermissionMode; readonly destination: string }
  | {
      readonly type: 'addDirectories' | 'removeDirectories';
      readonly directories: readonly string[];
      readonly destination: string;
    };

/** Judges calls of one session by its mode and its rules. */
export interface Permissions {
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  /** Directories beside the workspace that the agent may work in. */
  directories(): readonly string[];
  addDirectory(directory: string): void;
  judge(call: PermissionCall): PermissionRuling;
  /**
   * Tells of a file, absolute, whether a deny rule forbids to read it, in whatever mode; null when
   * none forbids anything. For tools that come upon files which their calls do not name.
   */
  deniedReads(cwd: string): ((file: string) => boolean) | null;
  /** Takes over what a hook or a person said about later calls; says in words what of it is no use. */
  update(updates: readonly unknown[]): readonly string[];
}
