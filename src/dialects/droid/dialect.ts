import type { Dialect } from '../dialect.ts';
import { DROID_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of Factory's Droid. */
export const droid = {
  name: 'droid',
  label: 'Droid',
  events: DROID_EVENTS,
  vocabulary: 'droid',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  install: async () => (await import('./install.ts')).droidInstall,
  ownPaths: {
    protected: ['.factory/hooks.json', '.factory/hooks/', '.factory/settings*.json'],
  },
} as const satisfies Dialect;
