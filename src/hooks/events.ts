import type { ChangeField, Decision, Effect } from './decision.ts';
import { type EventName, type HookEvent, withAnswer } from './facts.ts';

/** How one field of several decisions becomes one: declared order decides, never who finished first. */
export type MergeRule = 'last' | 'first' | 'join';

export interface EventRow<Name extends EventName> {
  /** When it happens. */
  readonly fires: string;
  /** What a refusal means, or null when it cannot be refused. */
  readonly refusal: string | null;
  /** The effects that count here; others are ignored with a note. */
  readonly effects: readonly Effect[];
  /** What `stop` does: obeyed, ignored with a note, or obeyed over any refusal. */
  readonly stop: 'obeyed' | 'ignored' | 'over-refusal';
  /** The fields that a decision may change, and how several answers merge. */
  readonly changes: Readonly<Partial<Record<ChangeField, MergeRule>>>;
  /** The value that matchers are tried on; tool events are matched by the tool's names instead. */
  readonly subject: ((event: HookEvent<Name>) => string) | null;
  /** The event as the next handler in order sees it after a decision that changes more than the input. */
  readonly after?: (event: HookEvent<Name>, decision: Decision) => HookEvent<Name>;
}

const NOTHING = {
  refusal: null,
  effects: [],
  stop: 'ignored',
  changes: {},
  subject: null,
} as const;
const REFUSABLE = { ...NOTHING, effects: ['deny'], stop: 'obeyed' } as const;
const CONTEXT = { context: 'join' } as const;
const DECLINABLE = { ...NOTHING, effects: ['deny'], changes: { answer: 'last' } } as const;

/** Every event there is. Adding one is a row here and its facts; the compiler lists what else it needs. */
export const EVENTS: { readonly [Name in EventName]: EventRow<Name> } = {
  SessionStart: {
    ...NOTHING,
    fires: 'a session opens',
    changes: {
      context: 'join',
      initialMessage: 'last',
      title: 'last',
      watchPaths: 'join',
      reloadSkills: 'last',
    },
    subject: (event) => event.source,
  },
  Setup: {
    ...NOTHING,
    fires: 'before a session, for one-time preparation',
    changes: CONTEXT,
    subject: (event) => event.trigger,
  },
  SessionEnd: { ...NOTHING, fires: 'a session closes', subject: (event) => event.reason },
  TaskStart: {
    ...REFUSABLE,
    fires: 'first prompt of a new session',
    refusal: 'the task is not started',
    changes: CONTEXT,
  },
  TaskResume: {
    ...REFUSABLE,
    fires: 'first prompt of a resumed session',
    refusal: 'the task is not resumed',
    changes: CONTEXT,
  },
  UserPromptSubmit: {
    ...REFUSABLE,
    fires: 'every prompt: first, follow-up, resumed',
    refusal: 'the prompt is refused',
    changes: { context: 'join', prompt: 'last', suppressPrompt: 'last', title: 'last' },
    after: (event, { prompt }) => (prompt === undefined ? event : { ...event, prompt }),
  },
  UserPromptExpansion: {
    ...REFUSABLE,
    fires: 'a typed command expands to a prompt',
    refusal: 'the command is not expanded',
    changes: { context: 'join', suppressPrompt: 'last' },
    subject: (event) => event.command,
  },
  RunStart: {
    ...REFUSABLE,
    fires: 'every run, after its prompt was accepted',
    refusal: 'the run is not started',
    changes: CONTEXT,
  },
  ModelRequest: {
    ...REFUSABLE,
    fires: 'before each model request',
    refusal: 'the run stops',
    changes: { messages: 'last', tools: 'last', options: 'last' },
  },
  ModelResponse: {
    ...REFUSABLE,
    fires: 'after each model request',
    refusal: 'the run stops',
    changes: { messages: 'last' },
    after: (event, { messages }) =>
      messages === undefined ? event : { ...event, response: messages[0] },
  },
  PreToolUse: {
    ...NOTHING,
    fires: 'per tool call, before permission rules',
    refusal: 'the call is denied',
    effects: ['allow', 'ask', 'defer', 'deny'],
    stop: 'obeyed',
    changes: { input: 'last', context: 'join' },
  },
  PermissionRequest: {
    ...NOTHING,
    fires: 'before the user is asked',
    refusal: 'answers for the user: denied',
    effects: ['allow', 'deny'],
    stop: 'obeyed',
    changes: { input: 'last', permissions: 'join' },
  },
  PermissionDenied: {
    ...NOTHING,
    fires: 'a classifier denied a call',
    changes: { retry: 'last' },
  },
  PostToolUse: {
    ...REFUSABLE,
    fires: 'after each call that succeeded',
    refusal: 'feedback to the model',
    changes: { output: 'last', failed: 'last', context: 'join', classifierContext: 'join' },
    after: withAnswer,
  },
  PostToolUseFailure: {
    ...REFUSABLE,
    fires: 'after each call that failed',
    refusal: 'feedback to the model',
    changes: { output: 'last', failed: 'last', context: 'join' },
    after: withAnswer,
  },
  PostToolBatch: {
    ...REFUSABLE,
    fires: 'all calls of one turn are done',
    refusal: 'the run stops',
    changes: CONTEXT,
  },
  PreCompact: {
    ...NOTHING,
    fires: 'before the conversation is compacted',
    refusal: 'compaction is blocked',
    effects: ['deny'],
    changes: { context: 'join', instructions: 'join' },
    subject: (event) => event.trigger,
  },
  PostCompact: {
    ...NOTHING,
    fires: 'after the conversation was compacted',
    subject: (event) => event.trigger,
  },
  SubagentStart: {
    ...NOTHING,
    fires: 'a sub-agent starts',
    changes: CONTEXT,
    subject: (event) => event.agentType,
  },
  SubagentStop: {
    ...NOTHING,
    fires: 'a sub-agent is about to finish',
    refusal: 'it goes on',
    effects: ['deny'],
    stop: 'over-refusal',
    changes: CONTEXT,
    subject: (event) => event.agentType,
  },
  Stop: {
    ...NOTHING,
    fires: 'the agent is about to finish',
    refusal: 'it goes on',
    effects: ['deny'],
    stop: 'over-refusal',
    changes: CONTEXT,
  },
  TaskComplete: {
    ...NOTHING,
    fires: 'after Stop let go, once per finished task',
    refusal: 'the agent goes on',
    effects: ['deny'],
    stop: 'over-refusal',
    changes: CONTEXT,
  },
  RunEnd: {
    ...NOTHING,
    fires: 'exactly once per run: completed, aborted or failed',
    subject: (event) => event.errorClass ?? event.status,
  },
  Notification: {
    ...NOTHING,
    fires: 'the agent waits for the user, or is done after a long run',
    subject: (event) => event.type,
  },
  MessageDisplay: {
    ...NOTHING,
    fires: 'text of the model is shown',
    changes: { display: 'last' },
  },
  PreModelSwitch: {
    ...NOTHING,
    fires: 'somebody asks for another model',
    refusal: 'the model stays',
    effects: ['allow', 'ask', 'deny'],
    subject: (event) => event.toModel,
  },
  PostModelSwitch: {
    ...NOTHING,
    fires: 'the model was switched',
    changes: CONTEXT,
    subject: (event) => event.toModel,
  },
  TaskCreated: {
    ...NOTHING,
    fires: 'a task list item is created',
    refusal: 'the item is not created',
    effects: ['deny'],
  },
  TaskCompleted: {
    ...REFUSABLE,
    fires: 'a task list item is completed',
    refusal: 'the item stays open',
  },
  TeammateIdle: {
    ...REFUSABLE,
    fires: 'a teammate is about to idle',
    refusal: 'the teammate goes on',
  },
  Elicitation: {
    ...DECLINABLE,
    fires: 'an MCP server asks for input',
    refusal: 'declined',
    subject: (event) => event.server,
  },
  ElicitationResult: {
    ...DECLINABLE,
    fires: 'the user answered an MCP server',
    refusal: 'the answer becomes a decline',
    subject: (event) => event.server,
  },
  ConfigChange: {
    ...NOTHING,
    fires: 'a settings file changed during the session',
    refusal: 'the change is not applied',
    effects: ['deny'],
    subject: (event) => event.source,
  },
  InstructionsLoaded: {
    ...NOTHING,
    fires: 'an instructions file was loaded',
    subject: (event) => event.loadReason,
  },
  CwdChanged: {
    ...NOTHING,
    fires: 'the current directory changed',
    changes: { watchPaths: 'join' },
  },
  DirectoryAdded: {
    ...NOTHING,
    fires: 'a directory was added to the workspace',
    subject: (event) => event.source,
  },
  FileChanged: {
    ...NOTHING,
    fires: 'a watched file changed on disk',
    changes: { watchPaths: 'join' },
    subject: (event) => event.file.split(/[\\/]/).at(-1) ?? event.file,
  },
  WorktreeCreate: {
    ...NOTHING,
    fires: 'a worktree is needed',
    refusal: 'the worktree is not created',
    effects: ['deny'],
    changes: { worktreePath: 'last' },
  },
  WorktreeRemove: { ...NOTHING, fires: 'a worktree is removed' },
};

export const EVENT_NAMES: readonly EventName[] = Object.keys(EVENTS).filter(isEventName);

/** The value that matchers of non-tool events are tried on, or null when the event has none. */
export function getSubject<Name extends EventName>(event: HookEvent<Name>): string | null {
  const row: EventRow<Name> = EVENTS[event.name];
  return row.subject === null ? null : row.subject(event);
}

/** The event with what a decision changes of it, for the handlers in order after it. */
export function withChanges<Name extends EventName>(
  event: HookEvent<Name>,
  decision: Decision,
): HookEvent<Name> {
  const row: EventRow<Name> = EVENTS[event.name];
  return row.after === undefined ? event : row.after(event, decision);
}

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENTS, name);
}
