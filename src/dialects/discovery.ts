import { type ExpectedPath, findMisspeltPaths } from '../base/misspelt-paths.ts';
import type { FailurePolicy } from '../hooks/decision.ts';
import type { EventName, HookEvent } from '../hooks/facts.ts';
import type { Handler, Wave } from '../hooks/handler.ts';
import type { BrokenServer, ServerConfig } from '../mcp/server-config.ts';
import type { PermissionSettings } from '../permissions/permissions.ts';
import type { PluginEntry } from '../plugins/entry.ts';
import type { RunProgram } from '../process/run.ts';
import type { SandboxProfileName } from '../process/sandbox/profile.ts';
import type { Environment } from '../process/environment.ts';
import type { Binds, Starts } from '../trust/collect-unit.ts';

export type { Binds, Starts };

/** The origin: the user, the workspace, or a directory that the caller names. */
export type Place = 'home' | 'workspace' | 'given';

/**
 * What is listed, disabled, locked and trusted under one id. Every hook and plugin has one, and so do
 * permission rules and MCP servers that need trust.
 */
export interface DiscoveredUnit {
  /** Unique in this session and readable: `cline:workspace:PreToolUse`, `cline:workspace@lib:PreToolUse`. */
  readonly id: string;
  /**
   * Unique within its workspace root, whichever other roots are open; the key in the trust record and
   * in settings.
   */
  readonly ownId: string;
  readonly dialect: string;
  /** The event under its foreign name, or the part of the configuration: `permissions`, `mcpServers`, `plugin`. */
  readonly eventName: string;
  readonly path: string;
  /** Its line in the file at `path`, from 1; null when it is the whole file. */
  readonly line: number | null;
  readonly place: Place;
  /** The workspace root it belongs to; null for the user's own. */
  readonly root: string | null;
  readonly binds: Binds;
  /** Distinguishes it from another unit that gets its id later; the covered text by default. */
  readonly identity?: string;
  /** Set when there is nothing to trust, because it only reports its own problem. */
  readonly runsNothing?: true;
  /** Set for a file that cannot be parsed, so that nobody knows which hooks it holds. */
  readonly isWholeFile?: true;
  /** Why it is disabled outside of Hookline's own configuration. */
  readonly whyOff?: string;
  /** Set for an administrator's unit, which the user cannot disable. */
  readonly isFixed?: true;
  /** Remarks for the user, such as `not executable: off in VS Code`. */
  readonly notes: readonly string[];
  /** Those of its notes that say why it may not guard what it should, such as a misspelt matcher. */
  readonly mistakes?: readonly string[];
  /** Why every run of it will fail, or null. */
  readonly problem: string | null;
  /** Facts that only this dialect has, for `hooks list`. */
  readonly details: Readonly<Record<string, string>>;
}

/** A hook, before the host decides whether it may run. */
export interface FoundHook {
  readonly kind: 'hook';
  readonly unit: DiscoveredUnit;
  readonly events: readonly EventName[];
  readonly matcher: string | null;
  /** Its time limit, unless the user's configuration overrides it. */
  readonly timeoutMs: number;
  /** Its failure policy, unless the user's configuration overrides it. */
  readonly onFailure: FailurePolicy;
  toHandlers(grant: Grant): readonly Handler[];
}

/** The permission rules of one settings file. */
export interface FoundPermissions {
  readonly kind: 'permissions';
  /** Null when they allow nothing that needs trust. */
  readonly unit: DiscoveredUnit | null;
  readonly settings: PermissionSettings;
}

/**
 * What one settings file takes away from the sandbox of commands. Nothing in it allows more, so it needs
 * no trust. Paths are absolute and may have the wildcards of permission rules.
 */
export interface SandboxLimits {
  readonly file: string;
  /** Whether an administrator wrote it, whom no flag overrides. */
  readonly isManaged: boolean;
  /** Whether commands must not run without a sandbox. */
  readonly isRequired: boolean;
  /** Whether the model may not ask to leave it. */
  readonly forbidsExit: boolean;
  readonly unreadable: readonly string[];
  /** Exceptions of the unreadable places of this file. */
  readonly readable: readonly string[];
  readonly unwritable: readonly string[];
  readonly removedVariables: readonly string[];
  /** The only hosts that can be reached, as `name` or `*.name`; null for no such limit. */
  readonly hosts: readonly string[] | null;
  readonly deniedHosts: readonly string[];
  /** What of the file is ignored because it would allow more, as a sentence; null for nothing. */
  readonly note: string | null;
}

/** A configured MCP server. */
export interface FoundServer {
  readonly kind: 'mcpServer';
  /** Null for a server of the user's own, and for one that is not used. */
  readonly unit: DiscoveredUnit | null;
  readonly server: ServerConfig;
}

/** A plugin on disk whose module can be loaded. */
export interface FoundPlugin {
  readonly kind: 'plugin';
  readonly unit: DiscoveredUnit;
  readonly entry: PluginEntry;
}

/** An include or a link in the workspace's texts for the model that leads out of the workspace. */
export interface FoundTextExit {
  readonly kind: 'include';
  readonly unit: DiscoveredUnit;
  /** The path that the model would be shown. */
  readonly target: string;
}

export type Discovered = FoundHook | FoundPermissions | FoundServer | FoundPlugin | FoundTextExit;

/** A discovered thing that is listed, disabled, locked and trusted. */
export type DiscoveredWithUnit = Discovered & { readonly unit: DiscoveredUnit };

/** A file or a key in a place of hooks that has no effect. */
export interface Ignored {
  readonly path: string;
  readonly why: string;
  /**
   * Set when it may contain a hook or a deny rule that does not count, so that a pass does not mean
   * that all guards agreed.
   */
  readonly mayHideHook?: true;
  /** Set for files that are expected there; listed in JSON only. */
  readonly isQuiet?: true;
}

/** Lists places whose names are probably misspelt, and which are therefore not read. */
export function listMisspeltPlaces(expected: readonly ExpectedPath[]): readonly Ignored[] {
  const found = new Map(findMisspeltPaths(expected).map((each) => [each.path, each.meant]));
  return [...found].map(([place, meant]) => ({
    path: place,
    why: `is not read because of its name; did you mean ${meant}?`,
    mayHideHook: true,
  }));
}

/** Lists what of a file's permission rules does not count as it is written. */
export function listRuleProblems({ file, problems }: PermissionSettings): readonly Ignored[] {
  return problems.map(({ text, mayHideGuard }) => ({
    path: file,
    why: text,
    ...(mayHideGuard ? { mayHideHook: true } : {}),
  }));
}

/** The result of a discovery. Everything in the dialect's places has a kind or is ignored with a reason. */
export interface Discovery {
  readonly hooks: readonly FoundHook[];
  readonly ignored: readonly Ignored[];
  /** Directories whose changes require another discovery; they need not exist. */
  readonly watched: readonly string[];
  /** Files whose change fires ConfigChange, and takes effect only if no hook refuses it. */
  readonly announced?: readonly AnnouncedFile[];
  /** In declared order. */
  readonly permissions?: readonly FoundPermissions[];
  readonly sandboxLimits?: readonly SandboxLimits[];
  /** Variables that settings of the user and the administrator set for commands and servers. */
  readonly variables?: Readonly<Environment>;
  readonly mcpServers?: readonly FoundServer[];
  readonly brokenServers?: readonly BrokenServer[];
  readonly plugins?: readonly FoundPlugin[];
  /** Directories of plugins in use that may hold skills and agents beside hooks. */
  readonly pluginFolders?: readonly PluginFolder[];
}

/** The name and directory of a plugin. */
export interface PluginFolder {
  readonly name: string;
  readonly directory: string;
}

export interface AnnouncedFile {
  readonly file: string;
  /** Its `source` in ConfigChange: `project_settings` … */
  readonly source: string;
}

/** The sandbox that the program of a hook runs in. */
export interface GrantedSandbox {
  readonly profile: SandboxProfileName;
  readonly run: RunProgram;
}

/** The host's decision about how a hook may run. */
export interface Grant {
  readonly onFailure: FailurePolicy;
  readonly timeoutMs: number;
  readonly environment: Readonly<Environment>;
  /** Builds the variables by which it calls back into the session of an event; absent when it may not. */
  readonly callback?: (event: HookEvent) => Readonly<Environment>;
  /** How its program is run, and in which profile; with the user's rights when absent. */
  readonly sandbox?: GrantedSandbox;
  /** Returns why it may not run now, or null. Called right before each run; one wave reads each file once. */
  readonly withheld: (wave?: Wave) => string | null;
}
