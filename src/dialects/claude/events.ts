import type { EventName, HookEvent } from '../../hooks/facts.ts';

/** What exit code 2 and a top-level `decision: "block"` mean. */
type Blocking = 'blocks' | 'ignored';

interface ClaudeEventRow {
  /** The canonical event. */
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

function createRow<Event extends EventName>(event: Event, rest: Omit<ClaudeEventRow, 'event'>) {
  return { event, ...rest };
}

const GATE = { hasPermissionMode: true, exit2: 'blocks', types: ANY_TYPE } as const;
const QUIET_GATE = { ...GATE, hasPermissionMode: false } as const;
const INFORMATIONAL = { hasPermissionMode: false, exit2: 'ignored', types: NO_MODEL } as const;
const QUIET_BLOCK = { ...INFORMATIONAL, exit2: 'blocks' } as const;

/** Every event of the format, in the order in which Claude Code lists them. */
export const CLAUDE_EVENTS = {
  PreToolUse: createRow('PreToolUse', GATE),
  PostToolUse: createRow('PostToolUse', GATE),
  PostToolUseFailure: createRow('PostToolUseFailure', GATE),
  PostToolBatch: createRow('PostToolBatch', GATE),
  PermissionDenied: createRow('PermissionDenied', { ...GATE, exit2: 'ignored' }),
  Notification: createRow('Notification', INFORMATIONAL),
  UserPromptSubmit: createRow('UserPromptSubmit', GATE),
  UserPromptExpansion: createRow('UserPromptExpansion', GATE),
  SessionStart: createRow('SessionStart', { ...INFORMATIONAL, types: AT_START }),
  Stop: createRow('Stop', GATE),
  StopFailure: createRow('RunEnd', INFORMATIONAL),
  SubagentStart: createRow('SubagentStart', INFORMATIONAL),
  SubagentStop: createRow('SubagentStop', GATE),
  PreCompact: createRow('PreCompact', QUIET_BLOCK),
  PostCompact: createRow('PostCompact', INFORMATIONAL),
  PreModelSwitch: createRow('PreModelSwitch', QUIET_BLOCK),
  PostModelSwitch: createRow('PostModelSwitch', INFORMATIONAL),
  SessionEnd: createRow('SessionEnd', INFORMATIONAL),
  PermissionRequest: createRow('PermissionRequest', { ...GATE, exit2: 'ignored' }),
  Setup: createRow('Setup', { ...INFORMATIONAL, types: AT_START }),
  TeammateIdle: createRow('TeammateIdle', QUIET_GATE),
  TaskCreated: createRow('TaskCreated', QUIET_GATE),
  TaskCompleted: createRow('TaskCompleted', QUIET_GATE),
  Elicitation: createRow('Elicitation', QUIET_BLOCK),
  ElicitationResult: createRow('ElicitationResult', QUIET_BLOCK),
  ConfigChange: createRow('ConfigChange', QUIET_BLOCK),
  InstructionsLoaded: createRow('InstructionsLoaded', INFORMATIONAL),
  WorktreeCreate: createRow('WorktreeCreate', QUIET_BLOCK),
  WorktreeRemove: createRow('WorktreeRemove', INFORMATIONAL),
  CwdChanged: createRow('CwdChanged', INFORMATIONAL),
  FileChanged: createRow('FileChanged', INFORMATIONAL),
  DirectoryAdded: createRow('DirectoryAdded', INFORMATIONAL),
  MessageDisplay: createRow('MessageDisplay', INFORMATIONAL),
} satisfies Readonly<Record<string, ClaudeEventRow>>;

export type ClaudeEvent = keyof typeof CLAUDE_EVENTS;

export const CLAUDE_EVENT_NAMES = Object.keys(CLAUDE_EVENTS).filter(isClaudeEvent);

export function isClaudeEvent(name: string): name is ClaudeEvent {
  return Object.hasOwn(CLAUDE_EVENTS, name);
}

/** Events that never fire here, and why. */
export const NEVER_FIRED: Readonly<Partial<Record<ClaudeEvent, string>>> = {
  PermissionDenied: 'no classifier decides about permissions',
  TeammateIdle: 'there are no teams of agents',
};

/** Events at which a broken entry must be reported as a failure, because it may be a guard. */
export const GATES: readonly ClaudeEvent[] = ['PreToolUse', 'PermissionRequest'];

export function isGate(event: ClaudeEvent): boolean {
  return GATES.includes(event);
}

/** Lists Claude's names of an event. */
export function listClaudeNames(event: HookEvent): readonly ClaudeEvent[] {
  return CLAUDE_EVENT_NAMES.filter(
    (name) =>
      CLAUDE_EVENTS[name].event === event.name &&
      (event.name !== 'RunEnd' || (event.status === 'failed' && event.agent.parentId === null)),
  );
}

/**
 * Finds the canonical event for a Claude name, and the facts that distinguish it from others of that
 * event.
 */
export function findClaudeEvent(name: string): {
  readonly event: EventName;
  readonly facts: Readonly<Record<string, string>>;
} | null {
  const claudeName = CLAUDE_EVENT_NAMES.find((each) => each.toLowerCase() === name.toLowerCase());
  if (claudeName === undefined) return null;
  const facts = claudeName === 'StopFailure' ? { status: 'failed', errorClass: 'unknown' } : {};
  return { event: CLAUDE_EVENTS[claudeName].event, facts };
}
