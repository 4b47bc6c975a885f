import { isRecord } from '../../../base/json.ts';
import type { PluginEntry } from '../../entry.ts';
import type { JsonSchema } from '../../contract/input-schema.ts';
import type {
  AgentExtensionCommand,
  AgentExtensionMcpServer,
  AgentExtensionMessageBuilder,
  AgentExtensionProvider,
  AgentExtensionRule,
} from '../../contract/plugin.ts';
import type { HookName } from '../../contract/runtime-hooks.ts';
import type { AgentTool } from '../../contract/tool.ts';
import type { SentChange } from './list-delta-cache.ts';
import type { Packed } from './serialize.ts';

/** Messages from a host to the process of a plugin. */
export type ToChild =
  | { readonly kind: 'call'; readonly id: number; readonly order: Order }
  /** The signal of a call has aborted. */
  | { readonly kind: 'abort'; readonly id: number; readonly reason: Packed }
  | { readonly kind: 'events'; readonly events: readonly ContextForm[] }
  | { readonly kind: 'ping'; readonly id: number }
  /** The result of a call to a port of the host. */
  | { readonly kind: 'reply'; readonly id: number; readonly ok: boolean; readonly value: Packed };

/** Requests of a host; each gets one answer. */
export type Order =
  | LoadOrder
  | SetUpOrder
  | { readonly type: 'hook'; readonly hook: HookName; readonly context: ContextForm }
  | ToolOrder
  | { readonly type: 'check'; readonly place: number; readonly input: Packed }
  | { readonly type: 'command'; readonly place: number; readonly input: string }
  | { readonly type: 'rule'; readonly place: number }
  | { readonly type: 'build'; readonly place: number; readonly messages: SentChange }
  | { readonly type: 'dispose' };

export interface LoadOrder {
  readonly type: 'load';
  readonly entry: PluginEntry;
  readonly cacheDirectory: string | null;
  readonly timeoutMs: number;
  readonly cwd: string;
  readonly workspaceInfo: Packed;
}

export interface SetUpOrder {
  readonly type: 'setup';
  /** The data fields of the context. */
  readonly fields: Packed;
  readonly ports: OfferedPorts;
  readonly isStrict: boolean;
}

/** The ports that the context has, besides data. */
export interface OfferedPorts {
  readonly logger: readonly string[] | null;
  readonly telemetry: TelemetryForm | null;
  readonly hasAutomation: boolean;
  readonly hasEvents: boolean;
}

export interface TelemetryForm {
  readonly methods: readonly string[];
  readonly isEnabled: boolean;
}

export interface ToolOrder {
  readonly type: 'tool';
  readonly place: number;
  readonly input: Packed;
  readonly context: ContextForm;
  readonly hasUpdates: boolean;
}

/** The argument of a hook, a tool or a listener; long lists in it are sent as changes. */
export interface ContextForm {
  readonly fields: Packed;
  readonly snapshot?: ListedForm;
  /** How a run ended. */
  readonly result?: ListedForm;
  readonly request?: RequestForm;
  /** The reason is set when it has already aborted. */
  readonly signal?: { readonly reason?: Packed };
  /** A text delta; the other side has the text before it. */
  readonly continues?: true;
}

/** An object with `messages`. */
export interface ListedForm {
  readonly fields: Packed;
  readonly messages: SentChange;
}

export interface RequestForm extends ListedForm {
  readonly tools: SentChange;
  readonly signal?: NonNullable<ContextForm['signal']>;
}

/** Messages from the process of a plugin to its host. */
export type FromChild =
  /** The process has started, and the time limit for the import begins. */
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'answer'; readonly id: number } & AnswerForm)
  | { readonly kind: 'update'; readonly id: number; readonly update: Packed }
  /** One batch of events was delivered. */
  | { readonly kind: 'delivered' }
  | { readonly kind: 'event-failed'; readonly error: Packed }
  | { readonly kind: 'pong'; readonly id: number }
  | ({ readonly kind: 'notify' } & PortCall)
  | ({ readonly kind: 'request'; readonly id: number } & PortCall)
  | { readonly kind: 'uncaught'; readonly error: Packed };

export interface AnswerForm {
  readonly ok: boolean;
  readonly value: Packed;
  /** Lists in the value, as changes of those in the argument. */
  readonly lists?: ListChanges;
  /** In-place changes of the request. */
  readonly request?: RequestChanges;
}

export interface ListChanges {
  readonly messages?: PackedChange;
  readonly tools?: PackedChange;
}

export type PackedChange = Omit<SentChange, 'list'>;

export interface RequestChanges {
  readonly set: Packed;
  readonly removed: readonly string[];
  readonly lists: ListChanges;
}

export interface PortCall {
  readonly port: 'logger' | 'telemetry' | 'automation' | 'events' | 'declared';
  readonly method: string;
  readonly args: Packed;
}

/** The result of the import. */
export type LoadedForm =
  | { readonly kind: 'helper' }
  | { readonly kind: 'failed'; readonly message: string }
  /** The export is no object. */
  | { readonly kind: 'other'; readonly value: unknown }
  | ({ readonly kind: 'loaded' } & PluginForm);

/** The data of a plugin. */
export interface PluginForm {
  /** Everything but its functions and hooks. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly hasSetup: boolean;
  readonly hooks: HooksForm;
}

/** Null when it has none; values that are no functions are sent as they are. */
export type HooksForm = Readonly<Record<string, HookForm>> | null;

export type HookForm =
  | { readonly isFunction: true; readonly failClosed: boolean }
  | { readonly isFunction: false; readonly value: unknown };

/** The result of `setup`: everything that it registered, and the hooks after it. */
export interface SetUpForm {
  readonly hooks: HooksForm;
  readonly tools: readonly ToolForm[];
  readonly commands: readonly FunctionForm<Omit<AgentExtensionCommand, 'handler'>>[];
  /** With their content, where it is no function. */
  readonly rules: readonly FunctionForm<
    Omit<AgentExtensionRule, 'content'> & { content?: string }
  >[];
  readonly messageBuilders: readonly FunctionForm<Omit<AgentExtensionMessageBuilder, 'build'>>[];
  readonly providers: readonly AgentExtensionProvider[];
  /** Ids of providers that are implemented by code, which stays in the other process. */
  readonly handlers: readonly string[];
  readonly mcpServers: readonly AgentExtensionMcpServer[];
}

export interface ToolForm {
  /** Everything but its function; the schema as JSON Schema. */
  readonly fields: Omit<AgentTool, 'execute' | 'inputSchema'> & { inputSchema: JsonSchema };
  /** Whether the original schema must validate too, because JSON Schema does not express all of it. */
  readonly checks: boolean;
}

/** A contribution without its function, where it has one. */
export interface FunctionForm<Fields> {
  readonly fields: Fields;
  readonly hasFunction: boolean;
}

export function isToChild(message: unknown): message is ToChild {
  return isRecord(message) && TO_CHILD.includes(message['kind']);
}

export function isFromChild(message: unknown): message is FromChild {
  return isRecord(message) && FROM_CHILD.includes(message['kind']);
}

const TO_CHILD: readonly unknown[] = ['call', 'abort', 'events', 'ping', 'reply'];
const FROM_CHILD: readonly unknown[] = [
  'ready',
  'answer',
  'update',
  'delivered',
  'event-failed',
  'pong',
  'notify',
  'request',
  'uncaught',
];
