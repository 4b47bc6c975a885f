import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';

const MIB = 1024 * 1024;

/** How long one message of a server may be; what the model is shown of it is much less. */
export const MAX_MESSAGE_BYTES = 64 * MIB;

/** A server that cannot be reached, or does not keep to the protocol: a failure of foreign code. */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';
}

/** Why something failed, with what lies behind it: `fetch failed` alone tells nobody anything. */
export function describeFailure(error: unknown): string {
  const said = getErrorMessage(error);
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause === undefined) return said;
  const behind = wordsOf(cause);
  return behind === '' || said.includes(behind) ? said : `${said}: ${behind}`;
}

/** Of several addresses that were tried, only the code is told. */
function wordsOf(cause: unknown): string {
  const message = getErrorMessage(cause);
  return message === '' ? (getErrorCode(cause) ?? '') : message;
}

/** The service behind an address is gone, or has forgotten this connection. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  return isRecord(error) && error['name'] === 'SdkHttpError';
}

const STREAM_LOST = 'SSE stream disconnected: ';

/** What makes an answer unreadable, as the call that waits for it is told; null for all else. */
export function toProtocolFailure(error: unknown): TransportFailure | null {
  if (!(error instanceof Error)) return null;
  const { name, message } = error;
  if (error instanceof SyntaxError || name.endsWith('ZodError')) {
    return new TransportFailure('the server sent what is no message of the protocol');
  }
  const [, tooLong] = new RegExp(`^${STREAM_LOST}TransportFailure: (.+)$`, 's').exec(message) ?? [];
  return tooLong === undefined ? null : new TransportFailure(tooLong);
}

const NPM_ERROR = /^npm (?:error|ERR!) +(?!A complete log)(\S.*\S)/;

/** Of what a program said before it ended: the error that it names, else its last lines. */
export function extractErrorText(said: string): string {
  const lines = said.trim().split('\n');
  const npm = lines.flatMap((line) => NPM_ERROR.exec(line)?.[1] ?? []);
  // Most servers are started with npx, which says what is wrong first, and then a lot more.
  if (npm.length > 0) return `npm error ${npm.slice(0, 2).join(', ')}`;
  const named = lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b.*:/.test(line));
  return named ?? lines.slice(-5).join('\n');
}
