import { getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';

/** A problem of a plugin that the user should know about. */
export interface PluginIssue {
  readonly plugin: string;
  readonly phase:
    | 'discover'
    | 'import'
    | 'validate'
    | 'setup'
    | 'hook'
    | 'tool'
    | 'rule'
    | 'builder'
    | 'command'
    | 'provider'
    | 'mcp'
    | 'automation'
    | 'uncaught';
  readonly message: string;
  /** What its author can do about it. */
  readonly hint?: string;
  /** An error means that the subject does not work. */
  readonly level: 'warning' | 'error';
  /** The rule of its manifest that it breaks, for which a strict host refuses the plugin. */
  readonly violation?: string;
  /** Set when the host reports it, too, among the guards that may be missing. */
  readonly isMissingGuard?: true;
}

export type OnIssue = (issue: PluginIssue) => void;

/** Formats an issue as one line for the user. */
export function formatIssue({ plugin, message, hint }: PluginIssue): string {
  return `plugin ${plugin}: ${message}${hint === undefined ? '' : ` (${hint.replace(/\.$/, '')})`}`;
}

/** How many uncaught errors of one plugin are reported: a timer may throw for ever. */
const MAX_REPORTED = 10;

/** Reports the uncaught errors of plugins. */
export function createUncaughtIssues(
  plugin: () => string,
  onIssue: OnIssue,
): (error: unknown) => void {
  let count = 0;
  return (error) => {
    count += 1;
    if (count > MAX_REPORTED) return;
    const rest = count === MAX_REPORTED ? ' (further ones are not reported)' : '';
    const message = `an error that nothing caught: ${describeThrown(error)}${rest}`;
    onIssue({ plugin: plugin(), phase: 'uncaught', level: 'error', message });
  };
}

/** For a rejection with a value that is no error, Node.js creates an error with a long explanation. */
function describeThrown(error: unknown): string {
  const message = getErrorMessage(error);
  const isExplained = isRecord(error) && error['code'] === 'ERR_UNHANDLED_REJECTION';
  const [, reason] = /with the reason "(.*)"\.$/su.exec(message) ?? [];
  return isExplained && reason !== undefined ? reason : message;
}
