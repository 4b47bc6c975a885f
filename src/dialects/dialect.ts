import type { FailureKind, Verdict } from '../hooks/decision.ts';
import type { EventName, FiredEvent, HookEvent } from '../hooks/facts.ts';
import type { Vocabulary } from '../tool-vocabularies/tool-views.ts';
import type { Answer, Handler, HandlerInput } from '../hooks/handler.ts';
import type { ConfiguredServers, ServerConfig } from '../mcp/server-config.ts';
import type { ActivePlugin } from '../plugins/loaded-plugin.ts';
import type { DiscoveredUnit, Discovery } from './discovery.ts';
import type { HookImport } from './import-hooks.ts';
import type { AgentInstall } from './install.ts';
import type { DialectMachine, Surroundings } from './machine.ts';
import type { DialectOptions, PathOption } from './options.ts';
import type { PayloadEnvelope } from './payload-envelope.ts';
import type { PluginHooksOptions } from './ports.ts';
import type { HookTemplates } from './templates.ts';

/** A part that is imported when it is first used, so that a dialect costs no start-up. */
export type Lazy<Part> = () => Promise<Part>;

/**
 * Another agent's hooks: its events, payloads, answers and files. A dialect translates and never
 * decides. Name, events and vocabulary are required; a part that a dialect does not have is absent,
 * never a stub, and each command offers the dialects that have the part it needs.
 */
export interface Dialect {
  /** Used in ids, in JSON and as a value of `--dialect`, `--as` and `--from`; never changes. */
  readonly name: string;
  /** What its hooks are called in texts for users; the name where it is absent. */
  readonly label?: string;
  readonly events: DialectEvents;
  /** The names of its tools. */
  readonly vocabulary: Vocabulary;
  /** Settings, flags and variables that only this dialect has. */
  readonly options?: DialectOptions;
  /** Prepares discovery; must not read anything yet. */
  readonly discover?: (machine: DialectMachine) => Discoverer;
  /** Reads a file that the caller names as a hook of an event, given under its foreign name. */
  readonly discoverFile?: (file: string, eventName: string, machine: DialectMachine) => FoundAt;
  /** Reads the hooks of a directory that the caller names. */
  readonly discoverDirectory?: (directory: string, machine: DialectMachine) => FoundAt;
  /** Payload out: what this agent writes to a hook's stdin. */
  readonly encode?: Lazy<Encode>;
  /** Answer in: what a hook's output means to this agent. */
  readonly decode?: Lazy<Decode>;
  /**
   * Payload in: the event that this agent describes to a hook. Throws a HooklineError for none. Not lazy,
   * because `readCase` checks payloads and is synchronous.
   */
  readonly readPayload?: ReadPayload;
  /** Payload in, as far as it is stored: the event, its session, its call. Never throws. */
  readonly readEnvelope?: ReadEnvelope;
  /** Answer out: a verdict as the output of a hook process of this agent. */
  readonly writeAnswer?: Lazy<WriteAnswer>;
  /** What `hooks new` writes. */
  readonly templates?: HookTemplates;
  /** What `hooks import` copies. */
  readonly importFrom?: HookImport;
  /** Where our own entry is installed in this agent's settings: what `agents enable` writes. */
  readonly install?: Lazy<AgentInstall>;
  /** Another agent whose settings this one loads, too; its events may arrive under that one's name. */
  readonly alsoRuns?: AlsoRuns;
  /** Removes an entry from the text of its settings file; null when the user has to. */
  readonly removeEntry?: Lazy<RemoveEntry>;
  /** Mistakes in a hook's script that only this agent's users make, as sentences. */
  readonly checkScript?: Lazy<CheckScript>;
  /** Creates handlers for hooks of its plugins; each sees the changes of those before it. */
  readonly createPluginHandlers?: Lazy<CreatePluginHandlers>;
  /** Kinds of failures that its handlers report themselves, so that nothing else has to. */
  readonly reportedFailures?: readonly FailureKind[];
  /** Lists the directories that are searched for plugins: the user's, then those of the workspace. */
  readonly pluginDirectories?: (machine: MachinePlaces) => readonly PluginDirectory[];
  /** The usual names of its files and directories. */
  readonly ownPaths?: OwnPaths;
  /** Finds the directories of its instructions and skills: the user's and the administrator's, or null. */
  readonly instructionDirectories?: (machine: Surroundings) => {
    readonly user: string | null;
    readonly managed: string | null;
  };
  /** Directories of the user's that this agent creates, and that its hooks rely on. */
  readonly homeDirectories?: (machine: MachinePlaces) => readonly string[];
  /** Files and directories of this agent that were moved from their usual place and must not be written. */
  readonly protectedPlaces?: (machine: MachinePlaces) => readonly string[];
}

/** What is known of events that arrive twice: from an agent's own hooks, and from those of another agent. */
export interface AlsoRuns {
  /** The name of the other agent. */
  readonly agent: string;
  /** Whether this agent, not the other one, wrote a payload that came under the other's name. */
  readonly isOwnPayload: (payload: Readonly<Record<string, unknown>>) => boolean;
  /** Lists what makes an event of this agent different from all others; null when the payload does not say it. */
  readonly identify: (payload: Readonly<Record<string, unknown>>) => readonly unknown[] | null;
}

/** The usual names of an agent's files and directories, with `/` between their parts. */
export interface OwnPaths {
  /**
   * Names that control what runs, so that writing them needs the user's approval, at any depth. A name
   * ends in `/` for a directory with all that is in it, and `*` stands for any part of a name.
   */
  readonly protected: readonly string[];
  /** Names below a workspace root, which are reported in a start directory that is not one. */
  readonly inRoots?: readonly string[];
  /** Names of the files that contain hook entries, in whichever directory; `doctor` reports what it ignores in them. */
  readonly settings?: readonly string[];
  /** Directories of hooks in the user's home, which a test case may bring. */
  readonly inHome?: readonly HomeDirectory[];
}

export interface HomeDirectory {
  readonly path: string;
  /** The option that names it, where it is not searched below a workspace root, too. */
  readonly option?: PathOption;
}

/** Foreign names of events, and the canonical events that they mean. */
export interface DialectEvents {
  readonly names: readonly string[];
  /** Set when these are names of functions in a module, under which no event can be fired. */
  readonly areFunctions?: true;
  /** Finds the event with this name, ignoring case, or null. */
  find(name: string): ForeignEvent | null;
  /** Lists the foreign names of an event; there may be several. */
  listNames(event: HookEvent): readonly string[];
}

export interface ForeignEvent {
  readonly event: EventName;
  /** The facts that distinguish it from others of the same event. */
  readonly facts: Readonly<Record<string, string>>;
}

/** Finds what a dialect has on one machine. `discover` must not run anything and must not throw. */
export interface Discoverer {
  discover(options?: DiscoverOptions): Discovery;
  /** Applies changes of announced files. */
  readonly changes?: AnnouncedChanges;
  /** Creates the trust unit of an MCP server that the caller names; null when it needs none. */
  readonly createServerUnit?: (server: ServerConfig) => DiscoveredUnit | null;
  /**
   * Reads the user's own MCP servers in files that have no hooks. Apart from `discover`, because listing
   * hooks must not read these files, and because other programs change them: each start of servers
   * reads them again.
   */
  readonly readUserServers?: () => ConfiguredServers;
}

export interface DiscoverOptions {
  /** Keeps the last effective text of announced files instead of reading them again. */
  readonly keepsAnnounced?: boolean;
}

export interface AnnouncedChanges {
  /** Whether the file differs from the text in effect. */
  isPending(file: string): boolean;
  /** Reads a changed file without making its text effective. */
  readPending(file: string): void;
  /** Makes the text that was read effective, or drops it. */
  resolvePending(file: string, isTaken: boolean): void;
}

export type FoundAt = Pick<Discovery, 'hooks' | 'ignored'>;

/** Null when this agent has no such event. */
export type Encode = (input: HandlerInput) => string | null;
export type Decode = (input: HandlerInput, output: HookOutput) => Answer;
export type ReadPayload = (payload: unknown) => FiredEvent;
export type ReadEnvelope = (payload: unknown) => PayloadEnvelope;
/** `foreignEvent` is the agent's own name of the event, where several mean the same; the first when absent. */
export type WriteAnswer = (
  event: HookEvent,
  verdict: Verdict,
  foreignEvent?: string | null,
) => WrittenAnswer;

/** How a hook process ended and what it printed. */
export interface HookOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/**
 * A verdict in an agent's own format. A refusal is never lost: it becomes the strictest one that the
 * format has.
 */
export interface WrittenAnswer extends HookOutput {
  /** Sentences about parts of the verdict that the format cannot express at this event. */
  readonly losses: readonly string[];
}

export type RemoveEntry = (unit: DiscoveredUnit, text: string) => RemovedEntry | null;

export interface RemovedEntry {
  /** The file's text without the entry. */
  readonly text: string;
  /** The entry as the only one of a file. */
  readonly entry: string;
}

export type CreatePluginHandlers = (
  plugins: readonly ActivePlugin[],
  options: PluginHooksOptions,
) => readonly Handler[];

export type CheckScript = (script: string, eventName: string) => readonly string[];

export type MachinePlaces = Pick<DialectMachine, 'surroundings' | 'workspaceRoots'>;

export interface PluginDirectory {
  readonly directory: string;
  /** The workspace root it belongs to; null for the user's own. */
  readonly workspace: string | null;
}
