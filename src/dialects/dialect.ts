import type { Verdict } from '../hooks/decision.ts';
import type { EventName, FiredEvent, HookEvent } from '../hooks/facts.ts';
import type { Vocabulary } from '../tool-vocabularies/tool-views.ts';
import type { Answer, HandlerInput } from '../hooks/handler.ts';
import type { ServerConfig } from '../mcp/server-config.ts';
import type { DiscoveredUnit, Discovery, FoundHook, Ignored } from './discovery.ts';
import type { ImportHooks } from './import-hooks.ts';
import type { DialectMachine, MachineFacts } from './machine.ts';
import type { HookTemplates } from './templates.ts';

/** A part that is imported when it is first used, so that a dialect costs no start-up. */
export type Lazy<Part> = () => Promise<Part>;

/**
 * Another agent's hooks: its events, payloads, answers and files. A dialect translates and never
 * decides. Name, events and vocabulary are required; a part that a dialect does not have is absent,
 * never a stub, and each command offers the dialects that have the part it needs.
 */
export interface Dialect {
  /** Stands in ids, in JSON and behind `--dialect`, `--as` and `--from`; never changes. */
  readonly name: string;
  readonly events: DialectEvents;
  /** The names that its tools have. */
  readonly vocabulary: Vocabulary;
  /** Prepares discovery; must not read anything yet. */
  readonly discover?: (machine: DialectMachine) => Discoverer;
  /** The hook that a file is which the caller names, for an event under its foreign name. */
  readonly discoverFile?: (file: string, eventName: string, machine: DialectMachine) => FoundAt;
  /** The hooks of a directory that the caller names. */
  readonly discoverDirectory?: (directory: string, machine: DialectMachine) => FoundAt;
  /** Payload out: what this agent writes to a hook's stdin. */
  readonly encode?: Lazy<Encode>;
  /** Answer in: what a hook's output means to this agent. */
  readonly decode?: Lazy<Decode>;
  /** Payload in: the event that this agent describes to a hook. Throws a HooklineError for none. */
  readonly readPayload?: Lazy<ReadPayload>;
  /** Answer out: a verdict as the output of a hook process of this agent. */
  readonly writeAnswer?: Lazy<WriteAnswer>;
  /** What `hooks new` writes. */
  readonly templates?: HookTemplates;
  /** What `hooks import` copies. */
  readonly importFrom?: Lazy<ImportHooks>;
  /** Takes an entry out of the text of its settings file; null when a person has to. */
  readonly removeEntry?: Lazy<RemoveEntry>;
  /** Why settings that the caller names cannot be used, or null. */
  readonly checkSettings?: Lazy<CheckSettings>;
  /** Mistakes in a hook's script that only this agent's users make, as sentences. */
  readonly checkScript?: Lazy<CheckScript>;
  /** Directories that plugins are looked for in: the user's, then those of the workspace. */
  readonly pluginDirectories?: (machine: MachinePlaces) => readonly PluginDirectory[];
  /** Files and directories of this agent that were moved from their usual place and must not be written. */
  readonly protectedPlaces?: (machine: MachinePlaces) => readonly string[];
}

/** Foreign names of events, and the canonical events that they mean. */
export interface DialectEvents {
  readonly names: readonly string[];
  /** The event that this name means here, or null; spelling in upper or lower case does not matter. */
  find(name: string): ForeignEvent | null;
  /** The foreign names of an event; more than one when its hooks have several names. */
  listNames(event: HookEvent): readonly string[];
}

export interface ForeignEvent {
  readonly event: EventName;
  /** What tells this moment from others of the same event. */
  readonly facts: Readonly<Record<string, string>>;
}

/** Finds what a dialect has on one machine. `discover` must not run anything and must not throw. */
export interface Discoverer {
  discover(options?: DiscoverOptions): Discovery;
  /** How changes of announced files come to count. */
  readonly changes?: AnnouncedChanges;
  /** The trust unit of an MCP server that the caller names; null when it needs none. */
  readonly createServerUnit?: (server: ServerConfig) => DiscoveredUnit | null;
}

export interface DiscoverOptions {
  /** Announced files are not read again, but count as they last did. */
  readonly keepsAnnounced?: boolean;
}

export interface AnnouncedChanges {
  /** Whether the file holds something else than what counts. */
  isPending(file: string): boolean;
  /** Reads what a changed file holds now, without letting it count. */
  readPending(file: string): void;
  /** Lets what was read count, or drops it. */
  resolvePending(file: string, isTaken: boolean): void;
}

export interface FoundAt {
  readonly hooks: readonly FoundHook[];
  readonly ignored: readonly Ignored[];
}

/** Null when this agent has no such event. */
export type Encode = (input: HandlerInput) => string | null;
export type Decode = (input: HandlerInput, output: HookOutput) => Answer;
export type ReadPayload = (payload: unknown) => FiredEvent;
export type WriteAnswer = (event: HookEvent, verdict: Verdict) => WrittenAnswer;

/** How a hook process ended and what it printed. */
export interface HookOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A verdict in an agent's own format. A refusal is never among the losses: it becomes the strictest one there is. */
export interface WrittenAnswer extends HookOutput {
  /** What of the verdict this agent cannot be told at this event, as sentences. */
  readonly losses: readonly string[];
}

export type RemoveEntry = (unit: DiscoveredUnit, text: string) => RemovedEntry | null;

export interface RemovedEntry {
  /** The file's text without the entry. */
  readonly text: string;
  /** The entry as it would stand alone in a file. */
  readonly entry: string;
}

export type CheckSettings = (
  text: string,
) => { readonly line: number; readonly why: string } | null;

export type CheckScript = (script: string, eventName: string) => readonly string[];

export type MachinePlaces = Pick<DialectMachine, 'workspaceRoots'> & {
  readonly surroundings: MachineFacts;
};

export interface PluginDirectory {
  readonly directory: string;
  /** The workspace root it belongs to; null for the user's own. */
  readonly workspace: string | null;
}
