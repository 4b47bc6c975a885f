import { headerOf } from '../header.ts';
import { CLAUDE_EXAMPLES, type ClaudeExampleEvent } from './events.ts';

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
