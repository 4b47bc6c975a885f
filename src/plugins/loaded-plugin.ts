import type {
  AgentExtensionAutomationEventType,
  AgentExtensionCommand,
  AgentExtensionMcpServer,
  AgentExtensionMessageBuilder,
  AgentExtensionProvider,
  AgentExtensionRule,
  AgentPlugin,
} from './contract/plugin.ts';
import type { HookName } from './contract/runtime-hooks.ts';
import type { AgentTool } from './contract/tool.ts';
import type { OnIssue } from './plugin-issue.ts';
import type { PluginEntry } from './entry.ts';
import { isRecord } from '../base/json.ts';

/** What one plugin registered, in its order. */
export interface Contributions {
  readonly tools: AgentTool[];
  readonly commands: AgentExtensionCommand[];
  readonly rules: AgentExtensionRule[];
  readonly messageBuilders: AgentExtensionMessageBuilder[];
  readonly providers: AgentExtensionProvider[];
  readonly automationEventTypes: AgentExtensionAutomationEventType[];
  readonly mcpServers: AgentExtensionMcpServer[];
}

/** The process of one plugin. */
export interface PluginProcessPort {
  /** Why the process has exited unexpectedly; null while it runs. */
  readonly readExit: () => string | null;
  /** Ends the process. Never rejects. */
  readonly end: () => Promise<void>;
}

/** How often a plugin's hook may fail before it is switched off. */
const MAX_FAILURES = 3;

/**
 * One plugin, from its import to its end: the object that its module exports, where it comes from, what it
 * registered, and how often its hooks failed. Everything that uses a plugin gets this object.
 */
export class LoadedPlugin<Plugin = unknown> {
  readonly kind = 'loaded';
  /** The plugin's own name; one without a name is called by its label, or by its number. */
  readonly name: string;
  readonly plugin: Plugin;
  /** Where it was imported from; null for an object of the embedding program. */
  readonly entry: PluginEntry | null;
  /** Null for a plugin in this process. */
  readonly process: PluginProcessPort | null;
  readonly contributions: Contributions = {
    tools: [],
    commands: [],
    rules: [],
    messageBuilders: [],
    providers: [],
    automationEventTypes: [],
    mcpServers: [],
  };
  readonly #onIssue: OnIssue;
  readonly #failures = new Map<HookName, number>();
  #lastError: string | null = null;

  /**
   * A number instead of an entry is the place of an object among those that the embedding program passed.
   * `onIssue` gets the failures of its hooks.
   */
  constructor(
    plugin: Plugin,
    from: PluginEntry | number,
    onIssue: OnIssue = () => undefined,
    process: PluginProcessPort | null = null,
  ) {
    const label =
      typeof from === 'number' ? `extension_${String(from).padStart(4, '0')}` : from.label;
    this.name = readName(plugin) ?? label;
    this.plugin = plugin;
    this.entry = typeof from === 'number' ? null : from;
    this.process = process;
    this.#onIssue = onIssue;
  }

  /** Its file, to which what it starts is attributed; null for an object of the embedding program. */
  get file(): string | null {
    return this.entry?.file ?? null;
  }

  /** Why its process has exited unexpectedly, so that nothing of the plugin works; null otherwise. */
  readExit(): string | null {
    return this.process === null ? null : this.process.readExit();
  }

  /** The last failure of one of its hooks. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Whether a hook failed so often that it is switched off for this session. */
  isOff(hook: HookName): boolean {
    return this.#failures.size > 0 && (this.#failures.get(hook) ?? 0) >= MAX_FAILURES;
  }

  /** Reports that a hook failed; after the third time in a session it is switched off. */
  countFailure(hook: HookName, failure: HookFailure): void {
    const count = (this.#failures.get(hook) ?? 0) + 1;
    if (count > MAX_FAILURES) return;
    this.#failures.set(hook, count);
    this.reportFailure(hook, failure);
    if (count < MAX_FAILURES) return;
    const off = `${hook} failed ${MAX_FAILURES} times and is disabled for this session`;
    this.#onIssue({ plugin: this.name, phase: 'hook', level: 'error', message: off });
  }

  /** Reports that a hook failed that is never switched off. */
  reportFailure(hook: HookName, { message, hint }: HookFailure): void {
    this.#lastError = `${hook}: ${message}`;
    const text = `${hook} failed: ${message}`;
    const issue = { plugin: this.name, phase: 'hook', level: 'warning', message: text } as const;
    this.#onIssue(hint === undefined ? issue : { ...issue, hint });
  }
}

interface HookFailure {
  readonly message: string;
  /** What its author can do about it. */
  readonly hint?: string;
}

/** Plugins whose hooks are called one after the other. */
export interface PluginGroup {
  readonly plugins: readonly ActivePlugin[];
  /** The time limit of one call. */
  readonly timeoutMs: number;
  readonly onIssue: OnIssue;
}

/** A plugin whose manifest was validated; in a registry, one whose set-up succeeded. */
export type ActivePlugin = LoadedPlugin<AgentPlugin>;

/** Reads the plugin's own name; null when it has none or its getter throws. */
export function readName(plugin: unknown): string | null {
  try {
    const name = isRecord(plugin) ? plugin['name'] : null;
    return typeof name === 'string' && name.trim() !== '' ? name : null;
  } catch {
    return null;
  }
}
