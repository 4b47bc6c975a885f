import type { Dialect } from '../dialect.ts';
import { QWEN_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of Qwen Code. */
export const qwen = {
  name: 'qwen',
  label: 'Qwen Code',
  events: QWEN_EVENTS,
  vocabulary: 'qwen',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  install: async () => (await import('./install.ts')).qwenInstall,
  ownPaths: { protected: ['.qwen/settings.json', '.qwen/extensions/'] },
} as const satisfies Dialect;
