import type { Dialect } from '../dialect.ts';
import { CODEX_EVENTS } from './events.ts';
import { readEnvelope, readPayload } from './read-payload.ts';

/** The hooks of OpenAI's Codex CLI. */
export const codex = {
  name: 'codex',
  label: 'Codex',
  events: CODEX_EVENTS,
  vocabulary: 'codex',
  // Called by name: the bundle loads the reader with the first call.
  readPayload: (payload) => readPayload(payload),
  readEnvelope: (payload) => readEnvelope(payload),
  writeAnswer: async () => (await import('./write-answer.ts')).writeAnswer,
  install: async () => (await import('./install.ts')).codexInstall,
  ownPaths: { protected: ['.codex/hooks.json', '.codex/config.toml'] },
} as const satisfies Dialect;
