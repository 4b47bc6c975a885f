import { type ExampleEvent, HOOK_EXAMPLES } from './examples.ts';
import { headerOf } from '../../templates.ts';

/** The comment at the head of an example of Cline's. */
export function clineHeader(event: ExampleEvent, mark: '#' | '//'): string {
  const example = HOOK_EXAMPLES[event];
  const words = {
    gets: [
      'It gets one JSON object on stdin. With every event come taskId, timestamp,',
      'workspaceRoots, userId and model; with this one also:',
    ],
    answers: `It prints one JSON object on stdout${example.answers.length > 1 ? '; fields may be combined' : ''}:`,
    end: ['Words for a person go to stderr.'],
  };
  return headerOf({ event, example, words }, mark);
}
