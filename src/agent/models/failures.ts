import { systemClock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { truncateText, isRecord, parseJson } from '../../base/json.ts';
import type { ModelFailure } from './model.ts';

/** Of whom something was asked. */
export interface Asked {
  /** As a person calls it: `Anthropic`. */
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  /** What to set when the key is refused. */
  readonly keyHint: string;
  /** Texts that no message may show. */
  readonly secrets: readonly string[];
}

export interface FailureMoment {
  /** Whether the answer had begun. */
  readonly hasBegun: boolean;
  readonly isAborted: boolean;
}

/** What an error of the AI SDK, of the network or within a stream means, without any secret. */
export function failureOf(error: unknown, asked: Asked, moment: FailureMoment): ModelFailure {
  if (moment.isAborted) return abortedFailure(asked);
  const facts = factsOf(error);
  if (facts.isEmptyAnswer) return cutFailure(asked, moment);
  const kind = classOf(facts, moment);
  const details = truncateText(withoutKeys(facts.words, asked.secrets).trim(), MAX_DETAILS);
  return {
    class: kind,
    message: withoutKeys(sentenceFor(kind, facts, { asked, details }), asked.secrets),
    ...(details === '' ? {} : { details }),
    status: facts.status,
    isRetryable: isRetryable(kind, facts),
    retryAfterMs: facts.retryAfterMs,
  };
}

export function abortedFailure({ provider }: Asked): ModelFailure {
  return {
    class: 'aborted',
    message: `The request to ${provider} was aborted.`,
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  };
}

/** An answer that ends without saying that it is complete. */
export function cutFailure(
  { provider, baseUrl }: Asked,
  { hasBegun }: FailureMoment,
): ModelFailure {
  return {
    class: 'protocol',
    message: hasBegun
      ? `${provider} broke off its answer in the middle.`
      : `${provider} sent no answer that can be read; if this goes on, check that ${baseUrl} is its address (--base-url).`,
    status: null,
    isRetryable: true,
    retryAfterMs: null,
  };
}

const MAX_DETAILS = 500;

interface ErrorFacts {
  readonly status: number | null;
  /** The service's own name of the error, such as `overloaded_error`. */
  readonly kind: string;
  /** The service's own words, or else the error's. */
  readonly words: string;
  /** Such as `ECONNREFUSED`. */
  readonly networkCode: string | null;
  /** Whether no connection came about or it broke, whatever its code. */
  readonly isNetworkError: boolean;
  /** Raised by the SDK about what it was handed, before anything was sent. */
  readonly isAboutRequest: boolean;
  /** The stream ended before anything came. */
  readonly isEmptyAnswer: boolean;
  readonly retryAfterMs: number | null;
}

function factsOf(error: unknown): ErrorFacts {
  const fields = isRecord(error) ? error : {};
  const body = bodyOf(fields);
  const networkCode = networkCodeOf(error);
  // A connection that breaks after the headers came still has their status.
  const status = networkCode === null ? (numberIn(fields, 'statusCode') ?? statusIn(body)) : null;
  const name = stringIn(fields, 'name');
  return {
    status,
    kind: `${stringIn(body, 'type')} ${stringIn(body, 'code')} ${stringIn(body, 'status')}`,
    words:
      stringIn(body, 'message') || pageless(stringIn(fields, 'responseBody')) || wordsOf(error),
    networkCode,
    isNetworkError: networkCode !== null || /TypeError|APICallError/.test(name),
    isAboutRequest: REQUEST_ERRORS.test(name),
    isEmptyAnswer: name.includes('NoOutputGenerated'),
    retryAfterMs: retryAfterOf(fields['responseHeaders']),
  };
}

const REQUEST_ERRORS =
  /MissingToolResults|InvalidPrompt|InvalidArgument|InvalidMessageRole|UnsupportedFunctionality|InvalidDataContent/;

/** The service's error object: in the body of the response, in what was parsed of it, or the error itself. */
function bodyOf(fields: Record<string, unknown>): Record<string, unknown> {
  const { responseBody, data } = fields;
  const written = stringIn(fields, 'responseBody') === '' ? (data ?? fields) : jsonIn(responseBody);
  if (!isRecord(written)) return {};
  return isRecord(written['error']) ? written['error'] : written;
}

function jsonIn(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  // Gemini wraps its errors in a list.
  return Array.isArray(parsed.value) ? parsed.value[0] : parsed.value;
}

/** A proxy's page says nothing to a person. */
function pageless(text: string): string {
  return text.trimStart().startsWith('<') ? '' : text;
}

function statusIn(body: Record<string, unknown>): number | null {
  const code = Number(body['code']);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : null;
}

function networkCodeOf(error: unknown): string | null {
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

function wordsOf(error: unknown): string {
  if (isRecord(error) && typeof error['message'] === 'string') return error['message'];
  return getErrorMessage(error);
}

/** In milliseconds, in seconds, or as a date. */
function retryAfterOf(headers: unknown): number | null {
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

function classOf(facts: ErrorFacts, { hasBegun }: FailureMoment): FailureClass {
  const { status, kind } = facts;
  if (/insufficient_quota|billing|credit/.test(kind)) return 'billing_error';
  // A status of 5xx may be the SDK's own, for an error within a stream that began with 200.
  const isSaidByStatus = status !== null && status < 500;
  const said = isSaidByStatus ? undefined : SAID.find(([pattern]) => pattern.test(kind));
  if (said !== undefined) return said[1];
  if (status !== null) return classOfStatus(status, facts.words);
  if (facts.isAboutRequest) return 'invalid_request';
  const isReached = hasBegun || BROKEN_OFF.test(facts.networkCode ?? '');
  return facts.isNetworkError && !isReached ? 'unreachable' : 'protocol';
}

/** The connection was there, and broke. */
const BROKEN_OFF = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_BODY_TIMEOUT)$/;

/** What services call their errors, also within a stream whose status was 200. */
const SAID: readonly (readonly [RegExp, FailureClass])[] = [
  [/overloaded/, 'overloaded'],
  [/rate_limit|RESOURCE_EXHAUSTED/, 'rate_limit'],
  [/authentication|invalid_api_key|permission|UNAUTHENTICATED/i, 'authentication_failed'],
  [/model_not_found|not_found/i, 'model_not_found'],
  [/invalid_request/, 'invalid_request'],
];

function classOfStatus(status: number, words: string): FailureClass {
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

function isRetryable(kind: FailureClass, { status }: ErrorFacts): boolean {
  // A page that is no answer at all is the same page a second later.
  if (kind === 'protocol') return status === null;
  return ['rate_limit', 'overloaded', 'server_error', 'unreachable'].includes(kind);
}

function sentenceFor(
  kind: FailureClass,
  facts: ErrorFacts,
  { asked, details }: { readonly asked: Asked; readonly details: string },
): string {
  const { provider, model, baseUrl, keyHint } = asked;
  const status = facts.status === null ? '' : ` (HTTP ${facts.status})`;
  const words = details === '' ? '' : `: ${firstLine(details)}`;
  switch (kind) {
    case 'rate_limit':
      return `${provider} was asked for ${model} and answered that too many requests came in${status}.`;
    case 'overloaded':
      return `${provider} was asked for ${model} and answered that it is overloaded${status}.`;
    case 'server_error':
      return `${provider} was asked for ${model} and failed on its own side${status}${words}`;
    case 'authentication_failed':
      return `${provider} refused the key${status}; ${keyHint}.`;
    case 'billing_error':
      return `${provider} refused the request for reasons of payment${status}${words}`;
    case 'model_not_found':
      return `${provider} has no model "${model}" at ${baseUrl}${status}; choose another with --model, or another address with --base-url.`;
    case 'unreachable':
      return `${provider} cannot be reached at ${baseUrl} (${facts.networkCode ?? firstLine(details)}); check the network, or set another address with --base-url.`;
    case 'protocol':
      return facts.status === null
        ? `${provider} broke off or garbled its answer${words}`
        : `What answered at ${baseUrl} is not the service that ${provider} should be${status}; check --base-url.`;
    default:
      return `${provider} refused the request for ${model} as invalid${status}${words}`;
  }
}

function firstLine(text: string): string {
  return truncateText(text.split('\n', 1)[0] ?? '', 200);
}

function withoutKeys(text: string, secrets: readonly string[]): string {
  return (
    secrets
      // Whatever is shorter is no key, and may be part of any word.
      .filter((secret) => secret.length >= 8)
      .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
  );
}

function stringIn(record: Record<string, unknown>, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value : '';
}

function numberIn(record: Record<string, unknown>, key: string): number | null {
  const value = record[key];
  return typeof value === 'number' ? value : null;
}
