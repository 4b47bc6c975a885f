import type { Place } from '../discovery.ts';
import type { ClaudeEvent } from './events.ts';

export const SOURCE_KINDS = [
  'user',
  'project',
  'local',
  'flag',
  'plugin',
  'skill',
  'agent',
  'managed',
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** A file, or a part of one, that configures hooks. */
export interface Source {
  readonly kind: SourceKind;
  /** Part of the id of its hooks: `user`, `project-cline`, `plugin:formatter` … */
  readonly label: string;
  /** Absolute. */
  readonly file: string;
  readonly place: Place;
  /** The real path of its workspace root; null for the user's own. */
  readonly root: string | null;
  /** Whether it is a file in `.cline`, whose matchers are tried on every name of a tool. */
  readonly isCline: boolean;
  /** Set for `.cline/settings.json`, of which nothing but the hooks counts. */
  readonly hasOnlyHooks?: true;
  /** Equal handlers of one family run once; each plugin and each skill is its own family. */
  readonly family: string;
  readonly plugin: PluginFacts | null;
  /** Set for a slash command only: its name without the slash. */
  readonly command?: string;
}

export interface PluginFacts {
  /** For a skill, the name under which it is invoked: `greet`, or `formatter:greet` of a plugin. */
  readonly name: string;
  /** Value of CLAUDE_PLUGIN_ROOT; for a skill of no plugin its directory. Absolute. */
  readonly root: string;
  /** Value of CLAUDE_PLUGIN_DATA; null for skills of no plugin. */
  readonly data: string | null;
  /** The user's options: CLAUDE_PLUGIN_OPTION_<KEY>, `${user_config.KEY}`. */
  readonly options: Readonly<Record<string, string>>;
}

interface EntryFacts {
  readonly event: ClaudeEvent;
  /** As written; undefined when there is none. */
  readonly matcher: string | undefined;
  /** As written; undefined when there is none or it is empty. */
  readonly condition: string | undefined;
  /** Set for a sub-agent only: the agent type for which it fires. */
  readonly agentType?: string;
  /** As written; null when there is none. */
  readonly timeoutMs: number | null;
  readonly statusMessage: string | null;
  /** Whether it runs for one event only. */
  readonly once: boolean;
  readonly onFailure: 'continue' | 'block';
  readonly source: Source;
  /** Counted from 1, in the source's file. */
  readonly line: number;
  /** The entry as written with its event and matcher: the text that trust covers. */
  readonly text: string;
  /** Warnings, such as a timeout read as milliseconds. */
  readonly notes: readonly string[];
  /** Fields that are misspelt or misplaced, so that they have no effect. */
  readonly mistakes?: readonly string[];
  /** Variables that the settings of its own workspace set; trusted together with the entry. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface CommandEntry extends EntryFacts {
  readonly type: 'command';
  readonly command: string;
  /** When not null, even if empty, the command runs without a shell. */
  readonly args: readonly string[] | null;
  readonly shell: 'bash' | 'powershell' | null;
  readonly async: boolean;
  readonly asyncRewake: boolean;
  /** Precedes what an asyncRewake hook wrote when it wakes the model. */
  readonly rewakeMessage: string | null;
  /** The line that the user reads when it does. */
  readonly rewakeSummary: string | null;
}

export interface HttpEntry extends EntryFacts {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowedEnvVars: readonly string[];
}

export interface McpToolEntry extends EntryFacts {
  readonly type: 'mcp_tool';
  readonly server: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface PromptEntry extends EntryFacts {
  readonly type: 'prompt' | 'agent';
  readonly prompt: string;
  readonly model: string | null;
  readonly continueOnBlock: boolean;
}

/** One valid handler. */
export type Entry = CommandEntry | HttpEntry | McpToolEntry | PromptEntry;

/** An entry with the time limit that it runs with. */
export type Limited<Kind extends Entry> = Kind & { readonly timeoutMs: number };

/** An invalid entry. */
export interface BrokenEntry {
  readonly source: Source;
  readonly line: number;
  /** Null when the event is unknown. */
  readonly event: ClaudeEvent | null;
  /** What was expected and what was found. */
  readonly why: string;
}
