import type { EventName, HookEvent } from '../../hooks/facts.ts';

/** What exit code 2 and a top-level `decision: "block"` mean. */
export type Blocking = 'blocks' | 'ignored';

export interface ClaudeEventRow {
  /** Our event that it is fired at. */
  readonly event: EventName;
  /** Whether its payload carries `permission_mode`. */
  readonly hasPermissionMode: boolean;
  /** What exit code 2 does. */
  readonly exit2: Blocking;
  readonly types: readonly HandlerType[];
}

export const HANDLER_TYPES = ['command', 'http', 'mcp_tool', 'prompt', 'agent'] as const;
export type HandlerType = (typeof HANDLER_TYPES)[number];

const ANY_TYPE = HANDLER_TYPES;
const NO_MODEL: readonly HandlerType[] = ['command', 'http', 'mcp_tool'];
const AT_START: readonly HandlerType[] = ['command', 'mcp_tool'];

function row<Event extends EventName>(event: Event, rest: Omit<ClaudeEventRow, 'event'>) {
  return { event, ...rest };
}

const GATE = { hasPermissionMode: true, exit2: 'blocks', types: ANY_TYPE } as const;
const QUIET_GATE = { ...GATE, hasPermissionMode: false } as const;
const NEWS = { hasPermissionMode: false, exit2: 'ignored', types: NO_MODEL } as const;
const QUIET_BLOCK = { ...NEWS, exit2: 'blocks' } as const;

/** Every event of the format, in the order in which Claude Code lists them. */
export const CLAUDE_EVENTS = {
  PreToolUse: row('PreToolUse', GATE),
  PostToolUse: row('PostToolUse', GATE),
  PostToolUseFailure: row('PostToolUseFailure', GATE),
  PostToolBatch: row('PostToolBatch', GATE),
  PermissionDenied: row('PermissionDenied', { ...GATE, exit2: 'ignored' }),
  Notification: row('Notification', NEWS),
  UserPromptSubmit: row('UserPromptSubmit', GATE),
  UserPromptExpansion: row('UserPromptExpansion', GATE),
  SessionStart: row('SessionStart', { ...NEWS, types: AT_START }),
  Stop: row('Stop', GATE),
  StopFailure: row('RunEnd', NEWS),
  SubagentStart: row('SubagentStart', NEWS),
  SubagentStop: row('SubagentStop', GATE),
  PreCompact: row('PreCompact', QUIET_BLOCK),
  PostCompact: row('PostCompact', NEWS),
  PreModelSwitch: row('PreModelSwitch', QUIET_BLOCK),
  PostModelSwitch: row('PostModelSwitch', NEWS),
  SessionEnd: row('SessionEnd', NEWS),
  PermissionRequest: row('PermissionRequest', { ...GATE, exit2: 'ignored' }),
  Setup: row('Setup', { ...NEWS, types: AT_START }),
  TeammateIdle: row('TeammateIdle', QUIET_GATE),
  TaskCreated: row('TaskCreated', QUIET_GATE),
  TaskCompleted: row('TaskCompleted', QUIET_GATE),
  Elicitation: row('Elicitation', QUIET_BLOCK),
  ElicitationResult: row('ElicitationResult', QUIET_BLOCK),
  ConfigChange: row('ConfigChange', QUIET_BLOCK),
  InstructionsLoaded: row('InstructionsLoaded', NEWS),
  WorktreeCreate: row('WorktreeCreate', QUIET_BLOCK),
  WorktreeRemove: row('WorktreeRemove', NEWS),
  CwdChanged: row('CwdChanged', NEWS),
  FileChanged: row('FileChanged', NEWS),
  DirectoryAdded: row('DirectoryAdded', NEWS),
  MessageDisplay: row('MessageDisplay', NEWS),
} satisfies Readonly<Record<string, ClaudeEventRow>>;

export type ClaudeEvent = keyof typeof CLAUDE_EVENTS;

export const CLAUDE_EVENT_NAMES = Object.keys(CLAUDE_EVENTS).filter(isClaudeEvent);

export function isClaudeEvent(name: string): name is ClaudeEvent {
  return Object.hasOwn(CLAUDE_EVENTS, name);
}

/** Events that have no moment here, and why. */
export const NEVER_FIRED: Readonly<Partial<Record<ClaudeEvent, string>>> = {
  PermissionDenied: 'no classifier decides about permissions',
  TeammateIdle: 'there are no teams of agents',
};

/** Events whose broken entries must not look as if nobody had objected. */
export const GATES: readonly ClaudeEvent[] = ['PreToolUse', 'PermissionRequest'];

export function isGate(event: ClaudeEvent): boolean {
  return GATES.includes(event);
}

/** The names under which Claude Code runs hooks at an event. */
export function listClaudeNames(event: HookEvent): readonly ClaudeEvent[] {
  return CLAUDE_EVENT_NAMES.filter(
    (name) =>
      CLAUDE_EVENTS[name].event === event.name &&
      (event.name !== 'RunEnd' || event.status === 'failed'),
  );
}

/** Our event that goes by this name in Claude's format, and what tells its moment from others. */
export function findClaudeEvent(name: string): {
  readonly event: EventName;
  readonly facts: Readonly<Record<string, string>>;
} | null {
  const known = CLAUDE_EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  if (known === undefined) return null;
  const facts = known === 'StopFailure' ? { status: 'failed', errorClass: 'unknown' } : {};
  return { event: CLAUDE_EVENTS[known].event, facts };
}
