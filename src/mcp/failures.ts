import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';

const MIB = 1024 * 1024;

/** The maximum length of a server's message; the model gets much less of it. */
export const MAX_MESSAGE_BYTES = 64 * MIB;

/** A server is not reachable, or violates the protocol: a failure of foreign code. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
}

/** The message of an error with its cause, because `fetch failed` alone explains nothing. */
export function describeFailure(error: unknown): string {
  const message = getErrorMessage(error);
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause === undefined) return message;
  const causeText = describeCause(cause);
  return causeText === '' || message.includes(causeText) ? message : `${message}: ${causeText}`;
}

/** An AggregateError of several addresses has no message, only a code. */
function describeCause(cause: unknown): string {
  const message = getErrorMessage(cause);
  return message === '' ? (getErrorCode(cause) ?? '') : message;
}

/** Whether the HTTP server is gone, or has dropped this session. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  return isRecord(error) && error['name'] === 'SdkHttpError';
}

const STREAM_LOST = 'SSE stream disconnected: ';

/** The failure for the waiting call when an error means an unreadable answer; null for other errors. */
export function toProtocolFailure(error: unknown): TransportFailure | null {
  if (!(error instanceof Error)) return null;
  const { name, message } = error;
  if (error instanceof SyntaxError || name.endsWith('ZodError')) {
    return new TransportFailure('the server sent an invalid protocol message');
  }
  const [, tooLongMessage] =
    new RegExp(`^${STREAM_LOST}TransportFailure: (.+)$`, 's').exec(message) ?? [];
  return tooLongMessage === undefined ? null : new TransportFailure(tooLongMessage);
}

const NPM_ERROR = /^npm (?:error|ERR!) +(?!A complete log)(\S.*\S)/;

/** The error line in the output of a program that ended, else its last lines. */
export function extractErrorText(message: string): string {
  const lines = message.trim().split('\n');
  const npmErrors = lines.flatMap((line) => NPM_ERROR.exec(line)?.[1] ?? []);
  // Most servers are started with npx, which prints the error first and many lines after it.
  if (npmErrors.length > 0) return `npm error ${npmErrors.slice(0, 2).join(', ')}`;
  const errorLine = lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b.*:/.test(line));
  return errorLine ?? lines.slice(-5).join('\n');
}
