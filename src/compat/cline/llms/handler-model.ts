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
import { createHandlerAnswer, type HandlerAnswer } from './handler-answer.ts';
import { readStream, type StreamLimits } from './handler-stream.ts';
import { truncateText, isRecord } from '../../../base/json.ts';

/** Where answers come from: a handler of its own for each request. */
interface HandlerSource {
  readonly asked: RequestTarget;
  readonly limits: StreamLimits;
  make(request: ModelRequest, signal: AbortSignal): Promise<ApiHandler>;
}

/** A handler's answer to one request. Ends with one `end` or one `failure`; never throws. */
export async function* streamFromHandler(
  source: HandlerSource,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  const asking = new AbortController();
  const both = AbortSignal.any([signal, asking.signal]);
  const answer = createHandlerAnswer();
  let handler: ApiHandler | null = null;
  let hasBegun = false;
  const failed = (error: unknown): ModelChunk => ({
    type: 'failure',
    failure: toModelFailure(error, source.asked, { hasBegun, isAborted: signal.aborted }),
  });
  try {
    handler = await waitOrAbort(source.make(request, both), both);
    for await (const chunk of readChunks(handler, { source, request, answer, signal: both })) {
      const told = answer.add(chunk) ?? [];
      if (answer.size() > source.limits.characters) throw createTooLongError(source.limits);
      hasBegun ||= told.length > 0;
      yield* told;
    }
    const end = await readEnd(handler, answer, both);
    yield 'wrong' in end ? failed(end.wrong) : end;
  } catch (error) {
    abortHandler(handler);
    yield failed(error);
  } finally {
    asking.abort();
  }
}

interface Asking {
  readonly source: HandlerSource;
  readonly request: ModelRequest;
  readonly answer: HandlerAnswer;
  readonly signal: AbortSignal;
}

function readChunks(
  handler: ApiHandler,
  { source, request, answer, signal }: Asking,
): AsyncIterable<unknown> {
  handler.setAbortSignal?.(signal);
  const tools = request.tools.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema },
  }));
  const messages = toProviderMessages(request.messages);
  const stream = handler.createMessage(request.system, messages, tools);
  const isDone = (): boolean => answer.done() !== null;
  return readStream(stream, { signal, limits: source.limits, isDone });
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
  const failed = answer.done()?.failed ?? null;
  if (failed !== null) return { wrong: failed };
  if (!answer.hasUsage()) answer.add(await readUsage(handler, signal));
  const end = answer.finished();
  return typeof end === 'string' ? { wrong: end } : end;
}

const USAGE_MS = 5000;

/** An answer is one, whether or not it can be told what it took. */
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

/** Foreign code that is told to stop may throw instead, which changes nothing any more. */
function abortHandler(handler: ApiHandler | null): void {
  const work = async (): Promise<void> => handler?.abort?.();
  work().catch(() => undefined);
}

interface HandlerMoment {
  readonly hasBegun: boolean;
  readonly isAborted: boolean;
}

/** What it means that a handler threw, or said that it failed. */
function toModelFailure(error: unknown, asked: RequestTarget, moment: HandlerMoment): ModelFailure {
  if (moment.isAborted) return createAbortedFailure(asked);
  if (isFailure(error)) return error;
  if (isHooklineError(error)) return fromHooklineError(error, asked);
  const service = toServiceError(error);
  return service === null
    ? fromErrorMessage(error, asked)
    : convertModelError(service, asked, moment);
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

function fromErrorMessage(error: unknown, { provider, secrets }: RequestTarget): ModelFailure {
  const words = redactSecrets(truncateText(getErrorMessage(error).trim(), MAX_WORDS), secrets);
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

function redactSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= 8)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}
