import { isRecord } from '../base/json.ts';
import type { EventName } from '../hooks/facts.ts';
import type { AgentVocabulary, ToolCall } from '../tool-vocabularies/tool-views.ts';

/** What a payload says about itself: enough to store and to find its event, without its facts. */
export interface PayloadEnvelope {
  /** Null for an event that means none of ours. */
  readonly event: EventName | null;
  /** The agent's own name of the event. */
  readonly foreignEvent: string | null;
  /** Milliseconds since the epoch, where the payload has a time. */
  readonly at: number | null;
  readonly sessionId: string | null;
  readonly workspace: string | null;
  readonly call: ToolCall | null;
}

/** Where an agent writes these fields; by default where Claude Code does. */
export interface EnvelopeKeys {
  readonly findEvent: (name: string) => EventName | null;
  /** Finds the name of the event in a payload that does not name it. */
  readonly findName?: (payload: Readonly<Record<string, unknown>>) => string | null;
  readonly session?: readonly string[];
  readonly tool?: readonly string[];
  readonly input?: readonly string[];
  readonly vocabulary?: AgentVocabulary;
}

const EMPTY: PayloadEnvelope = {
  event: null,
  foreignEvent: null,
  at: null,
  sessionId: null,
  workspace: null,
  call: null,
};

/** Reads the fields of any payload; what is missing or of another type is null. */
export function parseEnvelope(payload: unknown, keys: EnvelopeKeys): PayloadEnvelope {
  if (!isRecord(payload)) return EMPTY;
  const foreignEvent =
    findFirstText(payload, ['hook_event_name']) ?? keys.findName?.(payload) ?? null;
  return {
    event: foreignEvent === null ? null : keys.findEvent(foreignEvent),
    foreignEvent,
    at: readTime(payload['timestamp']),
    sessionId: findFirstText(payload, keys.session ?? ['session_id']),
    workspace: findWorkspace(payload),
    call: findCall(payload, keys),
  };
}

function findCall(
  payload: Readonly<Record<string, unknown>>,
  { tool = ['tool_name'], input = ['tool_input'], vocabulary }: EnvelopeKeys,
): ToolCall | null {
  const name = findFirstText(payload, tool);
  if (name === null) return null;
  const key = input.find((each) => payload[each] !== undefined);
  const call = { name, input: key === undefined ? {} : payload[key] };
  return vocabulary === undefined ? call : { ...call, vocabulary };
}

/** The current directory, or the first root of the workspace. */
function findWorkspace(payload: Readonly<Record<string, unknown>>): string | null {
  const cwd = findFirstText(payload, ['cwd']);
  if (cwd !== null) return cwd;
  const roots = payload['workspace_roots'] ?? payload['workspaceRoots'];
  const root: unknown = Array.isArray(roots) ? roots[0] : undefined;
  return typeof root === 'string' && root !== '' ? root : null;
}

export function findFirstText(
  payload: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): string | null {
  for (const key of keys) {
    const value = payload[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** Reads a time as milliseconds, seconds-precise ISO text, or digits; null for anything else. */
export function readTime(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const ms = typeof value === 'number' || /^\d+$/u.test(value) ? Number(value) : Date.parse(value);
  // An out-of-range number would make toISOString throw later.
  return Number.isNaN(new Date(ms).getTime()) ? null : Math.trunc(ms);
}
