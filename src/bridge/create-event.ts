import { normalizeEvent } from '../dialects/normalize-event.ts';
import type { EventOrigin, NewEvent } from '../store/event-store.ts';

/** One event of an agent as it arrived. */
export interface ArrivedEvent {
  readonly agent: string;
  readonly id: string;
  readonly receivedAt: number;
  readonly isVerified: boolean;
  readonly origin: EventOrigin;
  /** Stored byte for byte. */
  readonly payload: Uint8Array;
  /** The same, parsed; anything for a text that is no JSON. */
  readonly value: unknown;
}

/** Adds what the store and its readers need to know of an event. */
export function createEvent(arrived: ArrivedEvent): NewEvent {
  const { agent, id, receivedAt, isVerified, origin, payload, value } = arrived;
  const { event, foreignEvent, at, sessionId, workspace, tool, paths } = normalizeEvent(
    agent,
    value,
  );
  return {
    id,
    at: at ?? receivedAt,
    receivedAt,
    agent,
    event,
    foreignEvent,
    sessionId,
    workspace,
    tool,
    paths,
    isVerified,
    origin,
    effect: null,
    hooks: [],
    hasFailed: false,
    payload,
  };
}
