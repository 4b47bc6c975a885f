import { systemClock } from '../../base/clock.ts';
import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { truncateText, isRecord, parseJson } from '../../base/json.ts';
import type { ModelFailure } from './model.ts';

/** The service that a request was sent to, for error messages. */
export interface RequestTarget {
  /** Display name: `Anthropic`. */
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** What to set when the key is refused. */
  readonly keyHint: string;
  /** Texts that must not appear in messages. */
  readonly secrets: readonly string[];
}

export interface RequestState {
  /** Whether output had already arrived. */
  readonly hasBegun: boolean;
  readonly isAborted: boolean;
}

/** Converts an error of the AI SDK, the network or a stream, without secrets. */
export function convertModelError(
  error: unknown,
  target: RequestTarget,
  state: RequestState,
): ModelFailure {
  if (state.isAborted) return createAbortedFailure(target);
  const parsed = parseError(error);
  if (parsed.isEmptyAnswer) return createTruncatedFailure(target, state);
  const kind = classifyError(parsed, state);
  const details = truncateText(redactSecrets(parsed.message, target.secrets).trim(), MAX_DETAILS);
  return {
    class: kind,
    message: redactSecrets(formatFailure(kind, parsed, target, details), target.secrets),
    ...dropUndefined({ details: details === '' ? undefined : details }),
    status: parsed.status,
    isRetryable: isRetryable(kind, parsed),
    retryAfterMs: parsed.retryAfterMs,
  };
}

export function createAbortedFailure({ provider }: RequestTarget): ModelFailure {
  return {
    class: 'aborted',
    message: `The request to ${provider} was aborted.`,
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  };
}

/** The failure for an answer that ended without a finish reason. */
export function createTruncatedFailure(
  { provider, baseUrl }: RequestTarget,
  { hasBegun }: RequestState,
): ModelFailure {
  return {
    class: 'protocol',
    message: hasBegun
      ? `${provider} cut off its answer.`
      : `${provider} sent no readable answer; if this persists, check the address ${baseUrl} (--base-url).`,
    status: null,
    isRetryable: true,
    retryAfterMs: null,
  };
}

const MAX_DETAILS = 500;

interface ParsedError {
  readonly status: number | null;
  /** The service's error type, such as `overloaded_error`. */
  readonly kind: string;
  /** The service's message, or the error's own. */
  readonly message: string;
  /** Such as `ECONNREFUSED`. */
  readonly networkCode: string | null;
  /** Whether the connection failed or broke, whatever the code. */
  readonly isNetworkError: boolean;
  /** Raised by the SDK about its arguments, before anything was sent. */
  readonly isAboutRequest: boolean;
  /** The stream ended without output. */
  readonly isEmptyAnswer: boolean;
  readonly retryAfterMs: number | null;
}

function parseError(error: unknown): ParsedError {
  const fields = isRecord(error) ? error : {};
  const body = getErrorBody(fields);
  const networkCode = findNetworkCode(error);
  // A connection that breaks after the headers still carries their status, so the network code wins.
  const status = networkCode === null ? (getNumber(fields, 'statusCode') ?? getStatus(body)) : null;
  const name = getString(fields, 'name');
  return {
    status,
    kind: `${getString(body, 'type')} ${getString(body, 'code')} ${getString(body, 'status')}`,
    message:
      getString(body, 'message') ||
      removeHtml(getString(fields, 'responseBody')) ||
      getMessage(error),
    networkCode,
    isNetworkError: networkCode !== null || /TypeError|APICallError/.test(name),
    isAboutRequest: REQUEST_ERRORS.test(name),
    isEmptyAnswer: name.includes('NoOutputGenerated'),
    retryAfterMs: parseRetryAfter(fields['responseHeaders']),
  };
}

const REQUEST_ERRORS =
  /MissingToolResults|InvalidPrompt|InvalidArgument|InvalidMessageRole|UnsupportedFunctionality|InvalidDataContent/;

/** The service's error object: from the response body, the parsed data, or the error itself. */
function getErrorBody(fields: Record<string, unknown>): Record<string, unknown> {
  const { responseBody, data } = fields;
  const written =
    getString(fields, 'responseBody') === '' ? (data ?? fields) : parseJsonText(responseBody);
  if (!isRecord(written)) return {};
  return isRecord(written['error']) ? written['error'] : written;
}

function parseJsonText(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  // Gemini wraps its errors in a list.
  return Array.isArray(parsed.value) ? parsed.value[0] : parsed.value;
}

/** An HTML page of a proxy is not a useful message. */
function removeHtml(text: string): string {
  return text.trimStart().startsWith('<') ? '' : text;
}

function getStatus(body: Record<string, unknown>): number | null {
  const code = Number(body['code']);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : null;
}

function findNetworkCode(error: unknown): string | null {
  let current = error;
  for (let depth = 0; depth < 5 && isRecord(current); depth++) {
    const { code } = current;
    if (typeof code === 'string' && NETWORK_CODES.test(code)) return code;
    current = current['cause'];
  }
  return null;
}

const NETWORK_CODES =
  /^(E[A-Z_]+|UND_ERR_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

function getMessage(error: unknown): string {
  if (isRecord(error) && typeof error['message'] === 'string') return error['message'];
  return getErrorMessage(error);
}

/** In milliseconds, in seconds, or as a date. */
function parseRetryAfter(headers: unknown): number | null {
  if (!isRecord(headers)) return null;
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const written = headers['retry-after'];
  if (typeof written !== 'string') return null;
  const seconds = Number(written);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(written);
  return Number.isNaN(date) ? null : Math.max(0, date - systemClock.now());
}

type FailureClass = ModelFailure['class'];

function classifyError(parsed: ParsedError, { hasBegun }: RequestState): FailureClass {
  const { status, kind } = parsed;
  if (/insufficient_quota|billing|credit/.test(kind)) return 'billing_error';
  // A 5xx status may come from the SDK, for an error in a stream that began with 200.
  const isClientError = status !== null && status < 500;
  const knownError = isClientError
    ? undefined
    : ERROR_NAMES.find(([pattern]) => pattern.test(kind));
  if (knownError !== undefined) return knownError[1];
  if (status !== null) return classifyStatus(status, parsed.message);
  if (parsed.isAboutRequest) return 'invalid_request';
  const isReached = hasBegun || CONNECTION_LOST.test(parsed.networkCode ?? '');
  return parsed.isNetworkError && !isReached ? 'unreachable' : 'protocol';
}

/** Codes of a connection that was established and then broke. */
const CONNECTION_LOST = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_BODY_TIMEOUT)$/;

/** Error types of the services, also inside a stream with status 200. */
const ERROR_NAMES: readonly (readonly [RegExp, FailureClass])[] = [
  [/overloaded/, 'overloaded'],
  [/rate_limit|RESOURCE_EXHAUSTED/, 'rate_limit'],
  [/authentication|invalid_api_key|permission|UNAUTHENTICATED/i, 'authentication_failed'],
  [/model_not_found|not_found/i, 'model_not_found'],
  [/invalid_request/, 'invalid_request'],
];

function classifyStatus(status: number, words: string): FailureClass {
  if (status === 429) return 'rate_limit';
  if (status === 529) return 'overloaded';
  if (status === 408 || status >= 500) return 'server_error';
  if (status === 401 || status === 403) return 'authentication_failed';
  if (status === 402) return 'billing_error';
  if (status === 404) return 'model_not_found';
  if (status < 300) return 'protocol';
  if (/credit|billing/i.test(words)) return 'billing_error';
  return /api key/i.test(words) ? 'authentication_failed' : 'invalid_request';
}

function isRetryable(kind: FailureClass, { status }: ParsedError): boolean {
  // A response that is not from the service will not change on a retry.
  if (kind === 'protocol') return status === null;
  return ['rate_limit', 'overloaded', 'server_error', 'unreachable'].includes(kind);
}

function formatFailure(
  kind: FailureClass,
  parsed: ParsedError,
  { provider, model, baseUrl, keyHint }: RequestTarget,
  details: string,
): string {
  const status = parsed.status === null ? '' : ` (HTTP ${parsed.status})`;
  const words = details === '' ? '' : `: ${getFirstLine(details)}`;
  switch (kind) {
    case 'rate_limit':
      return `${provider} rate-limited the request for ${model}${status}.`;
    case 'overloaded':
      return `${provider} is overloaded and could not serve ${model}${status}.`;
    case 'server_error':
      return `${provider} failed with a server error for ${model}${status}${words}`;
    case 'authentication_failed':
      return `${provider} rejected the API key${status}; ${keyHint}.`;
    case 'billing_error':
      return `${provider} rejected the request because of billing${status}${words}`;
    case 'model_not_found':
      return `${provider} has no model "${model}" at ${baseUrl}${status}; set another with --model, or another address with --base-url.`;
    case 'unreachable':
      return `${provider} cannot be reached at ${baseUrl} (${parsed.networkCode ?? getFirstLine(details)}); check the network, or set another address with --base-url.`;
    case 'protocol':
      return parsed.status === null
        ? `${provider} sent an incomplete or invalid answer${words}`
        : `Unexpected response from ${baseUrl}${status}; check --base-url.`;
    default:
      return `${provider} rejected the request for ${model} as invalid${status}${words}`;
  }
}

function getFirstLine(text: string): string {
  return truncateText(text.split('\n', 1)[0] ?? '', 200);
}

function redactSecrets(text: string, secrets: readonly string[]): string {
  return (
    secrets
      // Shorter values are not keys and could be part of any word.
      .filter((secret) => secret.length >= 8)
      .reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text)
  );
}

function getString(record: Record<string, unknown>, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value : '';
}

function getNumber(record: Record<string, unknown>, key: string): number | null {
  const value = record[key];
  return typeof value === 'number' ? value : null;
}
