import { headerOf } from '../../templates.ts';
import type { ClaudeExample } from './example.ts';
import { PLACE_EXAMPLES } from './place-events.ts';
import { SESSION_EXAMPLES } from './session-events.ts';
import { TOOL_EXAMPLES } from './tool-events.ts';

const EXAMPLES = { ...TOOL_EXAMPLES, ...SESSION_EXAMPLES, ...PLACE_EXAMPLES };

export type ClaudeExampleEvent = keyof typeof EXAMPLES;

/** An example for every event of Claude's format. */
export const CLAUDE_EXAMPLES: Readonly<Record<ClaudeExampleEvent, ClaudeExample>> = EXAMPLES;

const WORDS = {
  gets: [
    'It gets one JSON object on stdin. With every event come session_id,',
    'transcript_path, cwd and hook_event_name; with this one also:',
  ],
  answers: 'It answers with its exit code, or with one JSON object on stdout:',
  end: [],
};

/** The comment at the head of an example of Claude's format. */
export function claudeHeader(event: ClaudeExampleEvent, mark: '#' | '//'): string {
  return headerOf({ event, example: CLAUDE_EXAMPLES[event], words: WORDS }, mark);
}
