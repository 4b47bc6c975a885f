import type { FailurePolicy } from '../hooks/decision.ts';
import type { EventName } from '../hooks/facts.ts';
import type { Handler, Wave } from '../hooks/handler.ts';
import type { ConfiguredServers, ServerConfig } from '../mcp/server-config.ts';
import type { PluginEntry } from '../plugins/entry.ts';
import type { PermissionSettings } from '../permissions/settings.ts';
import type { Environment } from '../process/environment.ts';

/** Whose hook it is: the person's own, the workspace's, or one from a directory the caller named. */
export type Place = 'home' | 'workspace' | 'given';

/** What must stay as it was for a trust decision to hold. */
export interface Binds {
  /** The hook itself, as discovered; may be a symbolic link. */
  readonly entry: string;
  /** What an entry of a configuration file says; bound instead of the bytes of that file. */
  readonly text?: string;
  readonly files: readonly string[];
  readonly directories: readonly string[];
  /** Directories in these that belong to others: bound is that they are there; real paths. */
  readonly apart?: readonly string[];
  /** Set for a package: `state` and `cache` are names of its code as well. */
  readonly isPackage?: true;
}

/** How a found hook may run, decided by the host and its configuration. */
export interface Grant {
  readonly onFailure: FailurePolicy;
  readonly timeoutMs: number;
  readonly environment: Readonly<Environment>;
  /** Why it may not run now, or null. Asked right before each run; a wave looks at each file once. */
  readonly withheld: (wave?: Wave) => string | null;
}

/** A hook that a dialect found, before anybody decided whether it may run. */
export interface FoundHook {
  /** Unique in this session and readable: `cline:workspace:PreToolUse`, `cline:workspace@lib:PreToolUse`. */
  readonly id: string;
  /** Unique within its workspace root, whichever other roots are open; what trust and switches remember. */
  readonly ownId: string;
  readonly dialect: string;
  /** The name under which its own world knows the event. */
  readonly eventName: string;
  readonly events: readonly EventName[];
  readonly matcher: string | null;
  readonly path: string;
  /** Where it stands in the file at `path`, from 1; null when it is the file. */
  readonly line: number | null;
  readonly place: Place;
  /** The workspace root it belongs to; null for the person's own hooks. */
  readonly root: string | null;
  readonly binds: Binds;
  /** Set when there is nothing to trust, because it only reports its own problem. */
  readonly runsNothing?: true;
  /** Set when it is no hook but what settings of a workspace allow: that needs the same trust. */
  readonly permissions?: PermissionSettings;
  /** Set when it is no hook but an MCP server of a workspace, which starts with the same trust. */
  readonly mcpServer?: ServerConfig;
  /** Set when it is no hook but a Cline plugin, which is loaded with the same trust. */
  readonly plugin?: PluginEntry;
  /** Why the person has it switched off elsewhere than in Hookline's own configuration. */
  readonly whyOff?: string;
  /** Set for an administrator's: nobody below can switch it off. */
  readonly isFixed?: true;
  /** How long it may run, unless the person's configuration says otherwise. */
  readonly timeoutMs: number;
  /** What its failure means, unless the person's configuration says otherwise. */
  readonly onFailure: FailurePolicy;
  /** What a person should know, such as `not executable: off in VS Code`. */
  readonly notes: readonly string[];
  /** Why every run of it will fail, or null. */
  readonly problem: string | null;
  /** Facts that only this dialect has, for `hooks list`. */
  readonly details: Readonly<Record<string, string>>;
  toHandlers(grant: Grant): readonly Handler[];
}

/** A plugin by its name and where it lies. */
export interface PluginPlace {
  readonly name: string;
  readonly directory: string;
}

export interface Ignored {
  readonly path: string;
  readonly why: string;
  /** Set when somebody's hook may be there that cannot be seen: then a pass does not mean that all agreed. */
  readonly mayHideHook?: true;
  /** Set when nobody would wonder about it; only programs are told. */
  readonly isQuiet?: true;
}

/** All that a dialect found. Everything in its places is a hook or is ignored with a reason. */
export interface Discovery {
  readonly hooks: readonly FoundHook[];
  readonly ignored: readonly Ignored[];
  /** Directories whose changes call for another look; they need not exist. */
  readonly watched: readonly string[];
  /** Files whose change is announced as ConfigChange, and counts only if no hook refuses it. */
  readonly announced: readonly AnnouncedFile[];
  /** What settings say about tool calls themselves, in declared order. */
  readonly permissions?: readonly PermissionSettings[];
  /** MCP servers that settings, `.mcp.json` and plugins name, whoever they are. */
  readonly mcpServers?: ConfiguredServers;
  /** Plugins that are in use, which may hold more than hooks. */
  readonly plugins?: readonly PluginPlace[];
}

export interface AnnouncedFile {
  readonly file: string;
  /** What ConfigChange calls it: `project_settings` … */
  readonly source: string;
}

/** A foreign hook vocabulary. `discover` must not run anything and must not throw. */
export interface Dialect {
  readonly name: string;
  discover(options?: DiscoverOptions): Discovery;
  /** How changes of announced files come to count. */
  readonly changes?: AnnouncedChanges;
}

export interface DiscoverOptions {
  /** Announced files are not read again, but count as they last did. */
  readonly keepsAnnounced?: boolean;
}

export interface AnnouncedChanges {
  /** Whether the file holds something else than what counts. */
  isPending(file: string): boolean;
  /** Looks at what a changed file holds now, without letting it count. */
  look(file: string): void;
  /** Lets what was looked at count, or drops it. */
  settle(file: string, isTaken: boolean): void;
}
