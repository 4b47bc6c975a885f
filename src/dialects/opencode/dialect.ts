import type { Dialect } from '../dialect.ts';
import { OPENCODE_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of opencode, which are functions of plugins; an installed plugin calls Hookline for them. */
export const opencode = {
  name: 'opencode',
  label: 'opencode',
  events: OPENCODE_EVENTS,
  vocabulary: 'opencode',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  install: async () => (await import('./install.ts')).opencodeInstall,
  ownPaths: {
    protected: [
      '.opencode/plugin/',
      '.opencode/plugins/',
      '.config/opencode/',
      'opencode.json',
      'opencode.jsonc',
    ],
  },
} as const satisfies Dialect;
