import type { Dialect } from '../dialect.ts';
import { COPILOT_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of GitHub's Copilot CLI. */
export const copilot = {
  name: 'copilot',
  label: 'Copilot CLI',
  events: COPILOT_EVENTS,
  vocabulary: 'copilot',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  ownPaths: {
    protected: [
      '.github/hooks/',
      '.github/copilot/settings*.json',
      '.copilot/hooks/',
      '.copilot/settings.json',
    ],
  },
} as const satisfies Dialect;
