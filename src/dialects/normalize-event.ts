import { getTypeName, isRecord } from '../base/json.ts';
import type { EventName } from '../hooks/facts.ts';
import { summarizeCall } from '../tool-vocabularies/tool-views.ts';
import { findDialect, listDialectsWith } from './index.ts';
import type { PayloadEnvelope } from './payload-envelope.ts';

/** A payload of any agent in the words that all of them share. */
export interface NormalizedEvent {
  readonly agent: string;
  /** Null for an event that means none of ours. */
  readonly event: EventName | null;
  /** The agent's own name of the event. */
  readonly foreignEvent: string | null;
  /** The payload's own time in milliseconds since the epoch, where it has one. */
  readonly at: number | null;
  readonly sessionId: string | null;
  /** The current directory, or the first root of the workspace. */
  readonly workspace: string | null;
  /** The tool under Claude's name: `Bash`, `Edit`, `mcp__server__tool`. */
  readonly tool: string | null;
  /** The files that the call names, absolute where the current directory is known. */
  readonly paths: readonly string[];
  /** Why the payload could not be read further, as a sentence. */
  readonly problem: string | null;
}

/** Reads what an event store needs of a payload, without building the event. Never throws. */
export function normalizeEvent(agent: string, payload: unknown): NormalizedEvent {
  const read = findDialect(agent)?.readEnvelope;
  if (read === undefined) {
    const known = listDialectsWith('readEnvelope').join(', ');
    return describeUnread(agent, `payloads of "${agent}" cannot be read; known are: ${known}`);
  }
  if (!isRecord(payload)) {
    return describeUnread(agent, `expected an object, found ${getTypeName(payload)}`);
  }
  const envelope = read(payload);
  const { event, foreignEvent, at, sessionId, workspace, call } = envelope;
  const summary = call === null ? null : summarizeCall(call, workspace);
  return {
    agent,
    event,
    foreignEvent,
    at,
    sessionId,
    workspace,
    tool: summary?.tool ?? null,
    paths: summary?.paths ?? [],
    problem: findProblem(envelope),
  };
}

function findProblem({ foreignEvent, event }: PayloadEnvelope): string | null {
  if (foreignEvent === null) return 'the payload does not name its event';
  return event === null ? `"${foreignEvent}" means no event here` : null;
}

function describeUnread(agent: string, problem: string): NormalizedEvent {
  return {
    agent,
    event: null,
    foreignEvent: null,
    at: null,
    sessionId: null,
    workspace: null,
    tool: null,
    paths: [],
    problem,
  };
}
