import type { Dialect } from '../dialect.ts';
import { GEMINI_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of Google's Gemini CLI. */
export const gemini = {
  name: 'gemini',
  label: 'Gemini CLI',
  events: GEMINI_EVENTS,
  vocabulary: 'gemini',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  install: async () => (await import('./install.ts')).geminiInstall,
  ownPaths: {
    protected: ['.gemini/settings.json', '.gemini/trusted_hooks.json', '.gemini/extensions/'],
  },
} as const satisfies Dialect;
