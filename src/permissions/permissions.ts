import { dropUndefined } from '../base/defined.ts';
import type { GitProfile } from '../process/git/git-profile.ts';

export type { GitProfile };

/** How much the agent may do without approval. */
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

/** One part of a tool call in Claude's vocabulary, which permission rules use. */
export interface PermissionCall {
  /** Every name that the tool has, Claude's first. */
  readonly names: readonly string[];
  readonly input: unknown;
  readonly kind: 'read' | 'edit' | 'execute' | 'fetch' | 'plan' | 'ask' | 'foreign';
  /** The name of the MCP server that the tool belongs to, as it is configured. */
  readonly server?: string;
  readonly cwd: string;
  /** What the user must be asked because a command runs in a sandbox. */
  readonly sandboxQuestion?: SandboxQuestion;
}

/** What a command needs in order to do its work, and a sandbox does not give it. */
export interface SandboxNeed {
  /** What it does, for a message: `git push to git@host:x`. */
  readonly command: string;
  /** The places that it reads, relative to the home directory. */
  readonly places: readonly string[];
  /** The variables that name sockets of agents, which it uses. */
  readonly variables: readonly string[];
  /** Whether it writes the configuration of submodules. */
  readonly changesSubmodules: boolean;
}

/** A question that only the user answers: whether the sandbox is opened a little for one command. */
export interface SandboxQuestion {
  /** What is needed, and what would be opened, as a sentence. */
  readonly reason: string;
  /** What to do where nobody can be asked, as a sentence. */
  readonly hint: string;
  readonly access: SandboxAccess;
}

/** What the sandbox is opened for, for one command. Paths are real and absolute. */
export interface SandboxAccess {
  /** Hidden places that can be read. */
  readonly readable: readonly string[];
  /** Variables that are kept, with the sockets that they name. */
  readonly variables: readonly string[];
  /** Protected places that can be changed. */
  readonly changeable: readonly string[];
  /** Whether it starts although not all files of deny rules could be hidden. */
  readonly isIncomplete: boolean;
}

/** `ask` needs the user's approval; in a non-interactive run the agent denies the call. */
export interface PermissionRuling {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** A sentence for user and model: what decided it. */
  readonly reason: string;
  /** Whether a hook's allow overrides it: false for rules and for protected paths. */
  readonly isOverridable: boolean;
  /** Set for protected paths: not even a hook that answers for the user may allow it. */
  readonly needsPerson?: true;
  /** What the sandbox is opened for when the user allows the call. */
  readonly sandboxAccess?: SandboxAccess;
  /** What to do where nobody can be asked, as a sentence. */
  readonly hintWithoutUser?: string;
  /** How git commands that only read must run, because neither a user nor a rule allowed them. */
  readonly gitProfile?: GitProfile;
  /** The files of programs that neither a user nor a rule allowed. */
  readonly programFiles?: ProgramFiles;
  /** Updates that the user could choose so that it needs no approval again. */
  readonly suggestions: readonly PermissionUpdate[];
}

/** The file that a program's name stands for; null for one that is not found. */
export type ProgramFiles = Readonly<Record<string, string | null>>;

/** Where a shell in the directory of a call finds programs. */
export interface ProgramSearch {
  /** The file of a program that the agent may have written, if the shell would start that; else null. */
  findUntrusted(name: string): string | null;
  /** The file of a program outside of all directories that the agent can write to; null when there is none. */
  find(name: string): string | null;
}

export interface PermissionRuleText {
  readonly toolName: string;
  readonly ruleContent?: string;
}

export type PermissionBehavior = 'allow' | 'ask' | 'deny';

/** As hooks of PermissionRequest answer it. An update changes only the session, never a file. */
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
   * A check whether a deny rule forbids to read a file, an absolute path, in any mode; null when no rule
   * denies reading. For tools that find files which their calls do not name.
   */
  deniedReads(cwd: string): ((file: string) => boolean) | null;
  /** The existing files that deny rules are about, for a sandbox; looked for in these directories. */
  deniedFiles(cwd: string, searched: readonly string[]): DeniedFiles;
  /** Applies updates of a hook or the user; returns notes about what of them is ignored. */
  update(updates: readonly unknown[]): readonly string[];
}

/** The files and directories that exist and that deny rules with a path are about. */
export interface DeniedFiles {
  readonly reads: readonly string[];
  readonly edits: readonly string[];
  /** Paths in existing directories that do not exist and must not come to be. */
  readonly absentEdits: readonly string[];
  /** The rules of which the lists may lack something. */
  readonly unlisted: readonly UnlistedRule[];
}

export interface UnlistedRule {
  /** The rule and where it stands, for messages. */
  readonly rule: string;
  /** Why its files could not all be listed, for a message: `there are more than …`. */
  readonly why: string;
}

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
  readonly problems: readonly PermissionProblem[];
}

/** An entry of permission settings that does not count as it is written. */
export interface PermissionProblem {
  /** With its line. */
  readonly text: string;
  /** Whether it may be meant to deny, or to ask. */
  readonly mayHideGuard: boolean;
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
