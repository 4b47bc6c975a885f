import type { Dialect } from '../dialect.ts';
import { CURSOR_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of Cursor. */
export const cursor = {
  name: 'cursor',
  label: 'Cursor',
  events: CURSOR_EVENTS,
  vocabulary: 'cursor',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  ownPaths: { protected: ['.cursor/hooks.json', '.cursor/hooks/'] },
} as const satisfies Dialect;
