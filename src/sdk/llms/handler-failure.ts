import {
  createAbortedFailure,
  toModelFailure,
  type RequestTarget,
} from '../../agent/models/failures.ts';
import { FAILURE_CLASSES, type ModelFailure } from '../../agent/models/model.ts';
import { type HooklineError, isHooklineError, getErrorMessage } from '../../base/errors.ts';
import { truncateText, isRecord } from '../../base/json.ts';

export interface HandlerMoment {
  readonly hasBegun: boolean;
  readonly isAborted: boolean;
}

/** What it means that a handler threw, or said that it failed. */
export function handlerFailure(
  error: unknown,
  asked: RequestTarget,
  moment: HandlerMoment,
): ModelFailure {
  if (moment.isAborted) return createAbortedFailure(asked);
  if (isFailure(error)) return error;
  if (isHooklineError(error)) return ownFailure(error, asked);
  const service = asServiceError(error);
  return service === null ? failureInWords(error, asked) : toModelFailure(service, asked, moment);
}

/** One of Hookline's own models that works for a handler fails with all that is known about it. */
function isFailure(error: unknown): error is ModelFailure {
  if (!isRecord(error)) return false;
  const { class: kind, message, status, isRetryable, retryAfterMs } = error;
  const isClass = FAILURE_CLASSES.some((each) => each === kind);
  const isTimed = retryAfterMs === null || typeof retryAfterMs === 'number';
  const isAnswered = status === null || typeof status === 'number';
  const isTold = typeof message === 'string' && typeof isRetryable === 'boolean';
  return isClass && isTold && isTimed && isAnswered;
}

/** It was used wrongly, or it went beyond its limits; only silence may be over a little later. */
function ownFailure(error: HooklineError, { provider }: RequestTarget): ModelFailure {
  const { code, message } = error;
  const limits = code === 'MODEL_FAILED' ? 'protocol' : 'invalid_request';
  return {
    class: code === 'MODEL_KEY_MISSING' ? 'authentication_failed' : limits,
    message: `${provider} failed: ${message}`,
    status: null,
    isRetryable: hasNetworkCode(error),
    retryAfterMs: null,
  };
}

/** Errors of services' own SDKs have a `status` and headers; those of the network a code. */
function asServiceError(error: unknown): Record<string, unknown> | null {
  if (!isRecord(error)) return null;
  const status = error['statusCode'] ?? error['status'];
  const hasStatus = typeof status === 'number' && status >= 400 && status <= 599;
  if (!hasStatus) return hasNetworkCode(error) ? error : null;
  const headers = error['responseHeaders'] ?? error['headers'];
  return {
    name: error['name'],
    message: error['message'],
    statusCode: status,
    responseBody: error['responseBody'],
    data: error['data'] ?? error['error'],
    responseHeaders: headers instanceof Headers ? Object.fromEntries(headers) : headers,
  };
}

function hasNetworkCode(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < 5 && isRecord(current); depth++) {
    const { code } = current;
    if (typeof code === 'string' && /^(?:E(?!RR_)[A-Z]+|UND_ERR_\w+)$/.test(code)) return true;
    current = current['cause'];
  }
  return false;
}

type FailureClass = ModelFailure['class'];

/** What handlers say in their own words, the most certain first. */
const SAID: readonly (readonly [RegExp, FailureClass])[] = [
  [/quota|billing|credit|payment/i, 'billing_error'],
  [/\b429\b|rate.?limit|too many requests/i, 'rate_limit'],
  [/\b529\b|overloaded/i, 'overloaded'],
  [/\b40[13]\b|unauthori[sz]ed|api.?key|authenticat/i, 'authentication_failed'],
  [/too long|context (?:length|window)|maximum context|too many tokens/i, 'invalid_request'],
  [/\b50[0234]\b|internal server error|service unavailable/i, 'server_error'],
];

const RETRYABLE: readonly FailureClass[] = ['rate_limit', 'overloaded', 'server_error', 'protocol'];

function failureInWords(error: unknown, { provider, secrets }: RequestTarget): ModelFailure {
  const words = withoutSecrets(truncateText(getErrorMessage(error).trim(), MAX_WORDS), secrets);
  const said = SAID.find(([pattern]) => pattern.test(words))?.[1] ?? 'protocol';
  const kind = isBug(error) ? 'unknown' : said;
  return {
    class: kind,
    message: `${provider} failed: ${words === '' ? 'it does not say why' : words}`,
    status: null,
    isRetryable: RETRYABLE.includes(kind),
    retryAfterMs: null,
  };
}

const MAX_WORDS = 500;

/** What the code did wrong, it does wrong a second later as well. */
function isBug(error: unknown): boolean {
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError];
  return bugs.some((each) => error instanceof each);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 8)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}
