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
  install: async () => (await import('./install.ts')).cursorInstall,
  alsoRuns: {
    agent: 'claude',
    isOwnPayload: (payload) => 'cursor_version' in payload,
    identify(payload) {
      const { generation_id: generation, hook_event_name: name } = payload;
      if (typeof generation !== 'string' || typeof name !== 'string') return null;
      const { tool_use_id: call, tool_input: input, prompt, loop_count: loop, status } = payload;
      return [
        generation,
        CURSOR_EVENTS.find(name)?.event ?? name,
        call,
        input,
        prompt,
        loop,
        status,
      ];
    },
  },
  ownPaths: { protected: ['.cursor/hooks.json', '.cursor/hooks/'] },
} as const satisfies Dialect;
