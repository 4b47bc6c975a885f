import type { HookEvent } from '../../../hooks/facts.ts';
import type { HandlerInput } from '../../../hooks/handler.ts';
import { CLAUDE_EVENTS, type ClaudeEvent } from '../names.ts';
import { eventFields } from './event-fields.ts';
import type { Fields } from './fields.ts';

export interface PayloadRequest {
  readonly input: HandlerInput;
  readonly event: ClaudeEvent;
  /** Where the transcript is when the host keeps none. */
  readonly transcriptPath: string;
  /** What `~` in the path of a tool means; null leaves it as it is. */
  readonly home: string | null;
  /** What only this run knows, such as its CLAUDE_ENV_FILE. */
  readonly extras?: Fields;
}

/** What a hook reads on stdin: one line of JSON, keys in Claude's order, absent ones left out. */
export function encodePayload(request: PayloadRequest): string {
  const { input, home, extras } = request;
  const common = commonFields(request);
  const transcriptPath = common.transcript_path;
  const own = eventFields(input, { home, transcriptPath });
  return `${JSON.stringify({ ...common, ...own, ...extras })}\n`;
}

function commonFields({ input: { event }, event: name, transcriptPath }: PayloadRequest) {
  return {
    session_id: event.sessionId,
    transcript_path: event.transcriptPath ?? transcriptPath,
    cwd: event.cwd,
    prompt_id: event.promptId ?? undefined,
    permission_mode: CLAUDE_EVENTS[name].hasPermissionMode ? permissionMode(event) : undefined,
    ...agentFields(event),
    effort: effort(name, event),
    hook_event_name: name,
  };
}

const PERMISSION_MODES = new Set([
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'auto',
  'bypassPermissions',
]);

/** Hooks compare it with Claude's words only; `manual` arrives there as `default` too. */
function permissionMode(event: HookEvent): string {
  return PERMISSION_MODES.has(event.permissionMode) ? event.permissionMode : 'default';
}

function agentFields(event: HookEvent): Fields {
  const { id, parentId, type } = event.agent;
  if (event.name === 'SubagentStart' || event.name === 'SubagentStop') {
    return { agent_id: id, agent_type: event.agentType };
  }
  return { agent_id: parentId === null ? undefined : id, agent_type: type ?? undefined };
}

const EVENTS_WITH_EFFORT: ReadonlySet<string> = new Set<ClaudeEvent>([
  'PreToolUse',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'Stop',
  'SubagentStop',
]);

/** Whether hooks of an event are told how hard the model thinks. */
export function tellsEffort(name: string): boolean {
  return EVENTS_WITH_EFFORT.has(name);
}

function effort(name: ClaudeEvent, event: HookEvent): Fields | undefined {
  if (event.effort === undefined || !tellsEffort(name)) return undefined;
  return { level: event.effort };
}
