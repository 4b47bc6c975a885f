import { dropUndefined } from '../../../base/defined.ts';
import type { HookExample, Row, Trial } from '../../templates.ts';

/** The reasons that examples give, the same in every language. */
export const REASONS = {
  deletes: 'This command would delete far too much. Name the directory that is meant.',
  empty: 'The prompt is empty.',
  key: 'The prompt contains a private key. Remove it, and treat the key as leaked.',
  unfinished: 'Your last message mentions a TODO: finish it, or explain why it can wait.',
} as const;

/** What an example does; several events share one kind. */
type Action =
  /** Appends a line with this field of the payload to a log. */
  | { readonly kind: 'log'; readonly field: string }
  /** Adds text to the model's context. */
  | { readonly kind: 'context'; readonly text: string }
  /** Prints plain text, which the event reads as it is. */
  | { readonly kind: 'print'; readonly text: string }
  /** Something specific to the event. */
  | { readonly kind: 'own' };

export interface ClaudeExample extends HookExample {
  readonly action: Action;
  /** The default matcher. */
  readonly matcher?: string;
  /** In seconds; set where the default is too short to start an interpreter. */
  readonly timeout?: number;
}

const LOG_FILE = '~/.claude/hook-logs/events.log';

export const AS_IT_IS: Trial = { flags: {}, facts: {}, look: null };
export const SEE_LOG: Trial = { ...AS_IT_IS, look: `tail -n 1 ${LOG_FILE}` };

export const PASSES: Row = ['exit code 0', 'no decision'];
export const FAILS: Row = [
  'another exit code',
  'no answer, and the failure is reported to the user',
];

/** Formats `hookSpecificOutput` for an event. */
export function formatSpecificOutput(event: string, fields: string): string {
  return `{"hookSpecificOutput": {"hookEventName": "${event}", ${fields}}}`;
}

export function describeContextAnswer(event: string): Row {
  return [formatSpecificOutput(event, '"additionalContext": "..."'), 'text for the model'];
}

/** Creates an example that logs one field of the payload. */
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
    ...dropUndefined({ matcher }),
  };
}
