import {
  type RequestTarget,
  createAbortedFailure,
  convertModelError,
} from '../../../agent/models/failures.ts';
import {
  type ModelChunk,
  type ModelEnd,
  type ModelRequest,
  FAILURE_CLASSES,
  type ModelFailure,
} from '../../../agent/models/model.ts';
import { HooklineError, isHooklineError, getErrorMessage } from '../../../base/errors.ts';
import { startTimeLimit, waitOrAbort } from '../../../base/abort.ts';
import { toProviderMessages } from '../../../plugins/messages/provider-messages.ts';
import type { ApiHandler } from './api-handler.ts';
import { HandlerAnswer } from './handler-answer.ts';
import { readStream, type StreamLimits } from './handler-stream.ts';
import { truncateText, isRecord } from '../../../base/json.ts';

/** Creates a new handler for each request. */
interface HandlerSource {
  readonly target: RequestTarget;
  readonly limits: StreamLimits;
  createHandler(request: ModelRequest, signal: AbortSignal): Promise<ApiHandler>;
}

/** Streams a handler's answer to one request. Ends with one `end` or one `failure`; never throws. */
export async function* streamFromHandler(
  source: HandlerSource,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  const answer = new HandlerAnswer();
  let handler: ApiHandler | null = null;
  let hasBegun = false;
  const createFailure = (error: unknown): ModelChunk => ({
    type: 'failure',
    failure: toModelFailure(error, source.target, signal.aborted, hasBegun),
  });
  try {
    handler = await waitOrAbort(source.createHandler(request, both), both);
    for await (const chunk of readChunks(handler, request, source.limits, answer, both)) {
      const deltas = answer.add(chunk) ?? [];
      if (answer.size > source.limits.characters) throw createTooLongError(source.limits);
      hasBegun ||= deltas.length > 0;
      yield* deltas;
    }
    const end = await readEnd(handler, answer, both);
    yield 'wrong' in end ? createFailure(end.wrong) : end;
  } catch (error) {
    abortHandler(handler);
    yield createFailure(error);
  } finally {
    ending.abort();
  }
}

function readChunks(
  handler: ApiHandler,
  request: ModelRequest,
  limits: StreamLimits,
  answer: HandlerAnswer,
  signal: AbortSignal,
): AsyncIterable<unknown> {
  handler.setAbortSignal?.(signal);
  const tools = request.tools.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema },
  }));
  const messages = toProviderMessages(request.messages);
  const stream = handler.createMessage(request.system, messages, tools);
  return readStream(stream, signal, limits, () => answer.isDone);
}

function createTooLongError({ characters }: StreamLimits): HooklineError {
  return new HooklineError('MODEL_FAILED', {
    message: `its answer never ended: it said more than ${characters} characters`,
  });
}

async function readEnd(
  handler: ApiHandler,
  answer: HandlerAnswer,
  signal: AbortSignal,
): Promise<ModelEnd | { readonly wrong: unknown }> {
  const failure = answer.findFailure();
  if (failure !== null) return { wrong: failure };
  if (!answer.hasUsage) answer.add(await readUsage(handler, signal));
  const end = answer.createEnd();
  return typeof end === 'string' ? { wrong: end } : end;
}

const USAGE_MS = 5000;

/** An answer counts even where its usage is unknown. */
async function readUsage(handler: ApiHandler, signal: AbortSignal): Promise<unknown> {
  const ask = async (): Promise<unknown> => handler.getApiStreamUsage?.();
  const limit = startTimeLimit(signal, USAGE_MS);
  try {
    return await waitOrAbort(ask(), limit.signal);
  } catch {
    return null;
  } finally {
    limit.clear();
  }
}

/** Ignores late errors of foreign code that was aborted. */
function abortHandler(handler: ApiHandler | null): void {
  const work = async (): Promise<void> => handler?.abort?.();
  work().catch(() => undefined);
}

/** Converts what a handler threw, or returned as its failure. */
function toModelFailure(
  error: unknown,
  target: RequestTarget,
  isAborted: boolean,
  hasBegun: boolean,
): ModelFailure {
  if (isAborted) return createAbortedFailure(target);
  if (isFailure(error)) return error;
  if (isHooklineError(error)) return fromHooklineError(error, target);
  const service = toServiceError(error);
  return service === null
    ? fromErrorMessage(error, target)
    : convertModelError(service, target, { hasBegun, isAborted });
}

/** Whether it is the complete failure of one of Hookline's own models, which a handler passed on. */
function isFailure(error: unknown): error is ModelFailure {
  if (!isRecord(error)) return false;
  const { class: kind, message, status, isRetryable, retryAfterMs } = error;
  const isClass = FAILURE_CLASSES.some((each) => each === kind);
  const isTimed = retryAfterMs === null || typeof retryAfterMs === 'number';
  const isAnswered = status === null || typeof status === 'number';
  const isDescribed = typeof message === 'string' && typeof isRetryable === 'boolean';
  return isClass && isDescribed && isTimed && isAnswered;
}

/** A handler that was used wrongly or exceeded its limits; only a timeout is worth a retry. */
function fromHooklineError(error: HooklineError, { provider }: RequestTarget): ModelFailure {
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
function toServiceError(error: unknown): Record<string, unknown> | null {
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

/** Classes of failures by words in the messages of handlers, the most certain first. */
const FAILURE_WORDS: readonly (readonly [RegExp, FailureClass])[] = [
  [/quota|billing|credit|payment/i, 'billing_error'],
  [/\b429\b|rate.?limit|too many requests/i, 'rate_limit'],
  [/\b529\b|overloaded/i, 'overloaded'],
  [/\b40[13]\b|unauthori[sz]ed|api.?key|authenticat/i, 'authentication_failed'],
  [/too long|context (?:length|window)|maximum context|too many tokens/i, 'invalid_request'],
  [/\b50[0234]\b|internal server error|service unavailable/i, 'server_error'],
];

const RETRYABLE: readonly FailureClass[] = ['rate_limit', 'overloaded', 'server_error', 'protocol'];

function fromErrorMessage(error: unknown, { provider, secrets }: RequestTarget): ModelFailure {
  const text = truncateText(getErrorMessage(error).trim(), MAX_MESSAGE_LENGTH);
  const message = redactSecrets(text, secrets);
  const [, found = 'protocol'] = FAILURE_WORDS.find(([words]) => words.test(message)) ?? [];
  const kind = isBug(error) ? 'unknown' : found;
  return {
    class: kind,
    message: `${provider} failed: ${message === '' ? 'it does not say why' : message}`,
    status: null,
    isRetryable: RETRYABLE.includes(kind),
    retryAfterMs: null,
  };
}

const MAX_MESSAGE_LENGTH = 500;

/** A bug of the handler, which a retry would only repeat. */
function isBug(error: unknown): boolean {
  const bugs = [TypeError, ReferenceError, RangeError, SyntaxError];
  return bugs.some((each) => error instanceof each);
}

function redactSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 8)
    .reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text);
}
