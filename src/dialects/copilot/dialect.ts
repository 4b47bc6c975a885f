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
  install: async () => (await import('./install.ts')).copilotInstall,
  alsoRuns: {
    agent: 'claude',
    isOwnPayload: isCopilotPayload,
    identify(payload) {
      const { session_id: session, hook_event_name: name, timestamp, tool_input: input } = payload;
      if (typeof timestamp !== 'string' || typeof session !== 'string') return null;
      return [session, name, timestamp, input];
    },
  },
  ownPaths: {
    protected: [
      '.github/hooks/',
      '.github/copilot/settings*.json',
      '.copilot/hooks/',
      '.copilot/settings.json',
    ],
  },
} as const satisfies Dialect;

/** Claude Code sends the path of its transcript with every event, and never a time. */
function isCopilotPayload(payload: Readonly<Record<string, unknown>>): boolean {
  const { timestamp, transcript_path: transcript = '' } = payload;
  const isForeign = ['permission_mode', 'tool_use_id', 'cursor_version'].some(
    (key) => key in payload,
  );
  const isOwnTranscript = transcript === '' || /[/\\]session-state[/\\]/.test(String(transcript));
  return typeof timestamp === 'string' && !isForeign && isOwnTranscript;
}
