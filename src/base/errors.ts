/** Every error that Hookline itself raises. The key is the code; the text says when it occurs. */
export const ERROR_CODES = {
  AGENT_MISSING: 'An agent that is to be switched on is not installed on this machine.',
  AGENT_OCCUPIED: 'A file of somebody else stands where a hook of an agent would be installed.',
  AGENT_UNKNOWN: 'No agent with settings to change has this name.',
  BRIDGE_PORT_TAKEN: 'The bridge cannot listen on a port.',
  BRIDGE_RUNNING: 'Another bridge of this home is running.',
  BRIDGE_UNREACHABLE: 'No bridge is running, or it does not answer.',
  CONFIG_UNREADABLE: 'A configuration file exists but cannot be read.',
  CONFIG_INVALID: 'A configuration file or setting has the wrong shape.',
  CONFIG_UNWRITABLE: 'A file of Hookline’s own could not be written.',
  GUARD_MISSING: 'A hook, rule or setting does not count as it is written, under --strict.',
  EVENT_UNKNOWN: 'No event has this name in any vocabulary.',
  HOOK_UNKNOWN: 'No hook has this id.',
  HOOK_EXISTS: 'A hook file with this name already exists.',
  MATCHER_INVALID: 'A matcher is neither a list of names nor a usable regular expression.',
  PAYLOAD_INVALID: 'An event, payload or facts file has the wrong shape.',
  CASE_INVALID: 'A case directory is invalid, or an event cannot be recorded as a case.',
  TRUST_INSIDE_AGENT: 'A trust command was run from inside an agent session or a hook.',
  TRUST_NEEDS_TERMINAL: 'A confirmation is required and there is no terminal to ask on.',
  TRUST_UNIT_TOO_LARGE: 'A hook directory has too many or too large files to be trusted.',
  TRUST_RECORD_INVALID: 'The trust record is invalid or not safe to use.',
  LOCK_INVALID: 'A lock file is invalid, or is not the expected one.',
  MODEL_KEY_MISSING: 'The model’s provider needs an API key and none is configured.',
  MODEL_UNKNOWN: 'No provider has this name, or the provider needs more settings to find a model.',
  MODEL_SCRIPT_INVALID: 'The file of a scripted model is not a list of turns.',
  MCP_FAILED: 'An MCP server is not reachable, or its answer is invalid.',
  MODEL_FAILED: 'The model did not answer a request.',
  MODEL_REFUSED: 'A hook refused to switch the session’s model.',
  OUTPUT_UNWRITABLE: 'What a command prints could not be written.',
  PACKAGE_MISSING: 'A part of Hookline needs a package that this installation left out.',
  PLUGIN_ENDED: 'A plugin’s process has exited, or did not answer in time.',
  PLUGIN_EXIT: 'A plugin tried to exit the process that it shares with the agent.',
  PLUGIN_INVALID: 'A plugin’s manifest, or something that it registers, has the wrong shape.',
  PLUGIN_INSTALL_FAILED:
    'A plugin could not be installed, updated or uninstalled; nothing was changed.',
  PLUGIN_LATE: 'A plugin registered something after its session was set up.',
  PLUGIN_UNKNOWN: 'No plugin has this name, or more than one has.',
  RUN_FAILED: 'A run ended because its model or its session failed, under --json.',
  SANDBOX_UNAVAILABLE: 'The sandbox was required and does not work on this machine.',
  SDK_UNSUPPORTED: 'A part of Cline’s SDK was used that Hookline does not have.',
  SESSION_UNKNOWN: 'No stored session has this id.',
  SESSION_BUSY: 'The session is in use by another process, or by a run that has not ended.',
  SESSION_UNREACHABLE: 'A hook called back, and its session is not there or is no session.',
  SESSION_UNWRITABLE: 'A session cannot be stored, so it is not started.',
  STORE_NEWER: 'The event store was written by a newer version of Hookline.',
  STORE_UNUSABLE: 'The event store cannot be opened, read or written.',
  WORKTREE_FAILED: 'A worktree could not be created.',
  USAGE_INVALID: 'The command line is invalid.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

// A plugin may bundle its own copy of this package, so `instanceof` is not enough.
const BRAND = Symbol.for('hookline.error');

/** Thrown when Hookline is used or configured wrongly, or when a system call fails. */
export class HooklineError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly [BRAND] = true;

  constructor(
    code: ErrorCode,
    details: {
      /** What was expected, what was found, and where. */
      readonly message: string;
      /** What the reader can do about it. */
      readonly hint?: string;
      readonly cause?: unknown;
    },
  ) {
    super(details.message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'HooklineError';
    this.code = code;
    this.hint = details.hint;
  }
}

export function isHooklineError(value: unknown): value is HooklineError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** Thrown when an invariant of Hookline does not hold: a bug to report, never a user's mistake. */
export class BugError extends Error {
  override readonly name = 'BugError';
}

export function invariant(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new BugError(sentence);
}

/** Returns null when `work` throws. */
export function tryOrNull<Value>(work: () => Value): Value | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function getErrorCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
