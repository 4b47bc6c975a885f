import { getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';

/** Something that a person should know of a plugin. */
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
  /** Whether what it is about is lost. */
  readonly level: 'warning' | 'error';
}

export type OnIssue = (issue: PluginIssue) => void;

/** How many errors of one plugin that nothing caught are told of: a timer may throw for ever. */
const MAX_TOLD = 10;

/** Tells of errors that a plugin left for nobody to catch. */
export function createUncaughtIssues(
  plugin: () => string,
  onIssue: OnIssue,
): (error: unknown) => void {
  let count = 0;
  return (error) => {
    count += 1;
    if (count > MAX_TOLD) return;
    const rest = count === MAX_TOLD ? ' (further ones are not reported)' : '';
    const message = `an error that nothing caught: ${describeThrown(error)}${rest}`;
    onIssue({ plugin: plugin(), phase: 'uncaught', level: 'error', message });
  };
}

/** Of what is rejected with and is no error, Node.js makes one that explains rejections at length. */
function describeThrown(error: unknown): string {
  const message = getErrorMessage(error);
  const isExplained = isRecord(error) && error['code'] === 'ERR_UNHANDLED_REJECTION';
  const [, reason] = /with the reason "(.*)"\.$/su.exec(message) ?? [];
  return isExplained && reason !== undefined ? reason : message;
}
