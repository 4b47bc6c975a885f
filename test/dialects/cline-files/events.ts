import { encodePayload } from '../../../src/dialects/cline-files/payload.ts';
import type { FileHookName, Profile } from '../../../src/dialects/cline-files/events.ts';
import { EventViews } from '../../../src/hooks/event-views.ts';
import type { FiredEvent, HookEvent } from '../../../src/hooks/facts.ts';
import { MOMENT } from '../../hooks/handlers.ts';

export function eventOf(fired: FiredEvent): HookEvent {
  return { ...MOMENT, ...fired };
}

/** What each run of a hook of this profile would read on stdin. */
export function payloadsOf(fired: FiredEvent, name: FileHookName, profile: Profile): unknown[] {
  return new EventViews(eventOf(fired), undefined)
    .getView(profile)
    .inputs.map((input) => JSON.parse(encodePayload(input, name, profile)));
}

export function payloadOf(fired: FiredEvent, name: FileHookName, profile: Profile): unknown {
  return payloadsOf(fired, name, profile)[0];
}
