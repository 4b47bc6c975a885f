import type { HookExample, Row, Trial } from '../../templates.ts';

/** What examples tell, the same in every language. */
export const REASONS = {
  deletes: 'This command would delete far too much. Name the directory that is meant.',
  empty: 'The prompt is empty.',
  key: 'The prompt holds a private key. Take it out, and consider it known.',
  unfinished: 'Your last message speaks of a TODO: do it, or say why it can wait.',
} as const;

/** What an example does, where one pattern serves several events. */
type Action =
  /** Appends a line with this field of the payload to a log. */
  | { readonly kind: 'log'; readonly field: string }
  /** Tells the model something. */
  | { readonly kind: 'context'; readonly text: string }
  /** Prints plain text, which the event takes as it is. */
  | { readonly kind: 'print'; readonly text: string }
  /** Something that no other event does. */
  | { readonly kind: 'own' };

export interface ClaudeExample extends HookExample {
  readonly action: Action;
  /** Which subjects it is for, unless the person says otherwise. */
  readonly matcher?: string;
  /** In seconds, where the usual time is too short to start an interpreter. */
  readonly timeout?: number;
}

const LOG_FILE = '~/.claude/hook-logs/events.log';

export const AS_IT_IS: Trial = { flags: {}, facts: {}, look: null };
export const SEE_LOG: Trial = { ...AS_IT_IS, look: `tail -n 1 ${LOG_FILE}` };

export const PASSES: Row = ['exit code 0', 'nothing to say'];
export const FAILS: Row = [
  'another exit code',
  'nothing to say, but the person is told of the failure',
];

/** What `hookSpecificOutput` looks like for an event. */
export function formatSpecificOutput(event: string, fields: string): string {
  return `{"hookSpecificOutput": {"hookEventName": "${event}", ${fields}}}`;
}

export function describeContextAnswer(event: string): Row {
  return [formatSpecificOutput(event, '"additionalContext": "..."'), 'text for the model'];
}

/** An event that is only watched: the example logs one field of its payload. */
export function createWatchExample(example: {
  readonly runs: string;
  readonly reads: readonly Row[];
  readonly field: string;
  readonly answers?: readonly Row[];
  readonly matcher?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}): ClaudeExample {
  const { runs, reads, field, answers = [], matcher, facts = {} } = example;
  return {
    runs,
    does: `appends a line to ${LOG_FILE}`,
    reads,
    answers: [PASSES, ...answers, FAILS],
    trial: { ...SEE_LOG, facts },
    action: { kind: 'log', field },
    ...(matcher === undefined ? {} : { matcher }),
  };
}
