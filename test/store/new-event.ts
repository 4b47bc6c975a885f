import { ulid } from 'ulid';
import type { NewEvent } from '../../src/store/event-store.ts';

/** An event as the bridge would store it. */
export function createEvent(fields: Partial<NewEvent> = {}): NewEvent {
  return {
    id: ulid(),
    at: 1_790_000_000_000,
    receivedAt: Date.now(),
    agent: 'claude',
    event: 'PreToolUse',
    foreignEvent: 'PreToolUse',
    sessionId: 'session-1',
    workspace: '/work/app',
    tool: 'Bash',
    paths: [],
    isVerified: true,
    origin: 'bridge',
    effect: null,
    hooks: [],
    hasFailed: false,
    payload: Buffer.from('{"hook_event_name":"PreToolUse"}'),
    ...fields,
  };
}
