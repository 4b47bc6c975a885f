/** Every error that Hookline itself raises. The key is the code; the text says when it occurs. */
export const ERROR_CODES = {
  CONFIG_UNREADABLE: 'A configuration file exists but cannot be read.',
  CONFIG_INVALID: 'A configuration file or setting has the wrong shape.',
  CONFIG_UNWRITABLE: 'A file of Hookline’s own could not be written.',
  EVENT_UNKNOWN: 'No event has this name in any vocabulary.',
  HOOK_UNKNOWN: 'No hook has this id.',
  HOOK_EXISTS: 'A hook file of this name is already there.',
  MATCHER_INVALID: 'A matcher is neither a list of names nor a usable regular expression.',
  PAYLOAD_INVALID: 'An event, payload or facts file has the wrong shape.',
  CASE_INVALID: 'A case directory cannot be read as a case, or an event cannot be made into one.',
  TRUST_INSIDE_AGENT: 'A trust command was run from inside an agent session or a hook.',
  TRUST_NEEDS_TERMINAL: 'A question needs an answer and there is no terminal to ask on.',
  TRUST_UNIT_TOO_LARGE: 'A hook directory holds more than trust can bind.',
  TRUST_RECORD_INVALID: 'The trust record cannot be read as one.',
  LOCK_INVALID: 'A lock file cannot be read as one, or is not the one that was named.',
  MODEL_KEY_MISSING: 'The model’s provider needs a key and none was given.',
  MODEL_UNKNOWN: 'No provider has this name, or the provider needs more to find a model.',
  MODEL_SCRIPT_INVALID: 'A scripted model’s file cannot be read as a list of turns.',
  MCP_FAILED: 'An MCP server is not there, or did not answer as it should.',
  MODEL_FAILED: 'The model gave no answer to a question that was put to it.',
  MODEL_REFUSED: 'A hook keeps the session’s model, so it was not switched.',
  PLUGIN_ENDED: 'A plugin’s own process has ended, or did not answer in time.',
  PLUGIN_EXIT: 'A plugin wanted to end the process that it shares with the agent.',
  PLUGIN_INVALID: 'A plugin’s manifest, or something that it registers, has the wrong shape.',
  PLUGIN_INSTALL_FAILED:
    'A plugin could not be installed, updated or taken away; all is as it was.',
  PLUGIN_LATE: 'A plugin registers something after its session was set up.',
  PLUGIN_UNKNOWN: 'No plugin goes by this name, or more than one does.',
  SDK_UNSUPPORTED: 'A part of Cline’s SDK was used that Hookline does not have.',
  SESSION_UNKNOWN: 'No stored session has this id.',
  SESSION_BUSY: 'The session is being used by another process, or by a run that has not ended.',
  SESSION_UNWRITABLE: 'A session cannot be stored, so it is not started.',
  WORKTREE_FAILED: 'A worktree was asked for and could not be made.',
  USAGE_INVALID: 'The command line cannot be understood.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  /** What was expected, what was found, and where. */
  readonly message: string;
  /** What the reader can do about it. */
  readonly hint?: string;
  readonly cause?: unknown;
}

// A plugin may carry its own copy of this package, so `instanceof` is not enough.
const BRAND = Symbol.for('hookline.error');

/** Raised when Hookline is used or configured wrongly, or when the machine refuses. */
export class HooklineError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly [BRAND] = true;

  constructor(code: ErrorCode, details: ErrorDetails) {
    super(details.message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'HooklineError';
    this.code = code;
    this.hint = details.hint;
  }
}

export function isHooklineError(value: unknown): value is HooklineError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Raised when Hookline contradicts itself: a bug to report, never a user's mistake. */
export class BugError extends Error {
  override readonly name = 'BugError';
}

export function invariant(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new BugError(sentence);
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function getErrorCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
