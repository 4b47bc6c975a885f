import type { RequestTarget } from '../../agent/models/failures.ts';
import type { ModelChunk, ModelEnd, ModelRequest } from '../../agent/models/model.ts';
import { HooklineError } from '../../base/errors.ts';
import { startTimeLimit } from '../../base/time-limit.ts';
import { waitOrAbort } from '../../base/abort.ts';
import { toProviderMessages } from '../../dialects/cline-plugin/builder-messages.ts';
import type { ApiHandler } from './api-handler.ts';
import { createHandlerAnswer, type HandlerAnswer } from './handler-answer.ts';
import { handlerFailure } from './handler-failure.ts';
import { readStream, type StreamLimits } from './handler-stream.ts';

/** Where answers come from: a handler of its own for each request. */
export interface HandlerSource {
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
    failure: handlerFailure(error, source.asked, { hasBegun, isAborted: signal.aborted }),
  });
  try {
    handler = await waitOrAbort(source.make(request, both), both);
    for await (const chunk of chunksOf(handler, { source, request, answer, signal: both })) {
      const told = answer.add(chunk) ?? [];
      if (answer.size() > source.limits.characters) throw tooLong(source.limits);
      hasBegun ||= told.length > 0;
      yield* told;
    }
    const end = await endOf(handler, answer, both);
    yield 'wrong' in end ? failed(end.wrong) : end;
  } catch (error) {
    giveUp(handler);
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

function chunksOf(
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

function tooLong({ characters }: StreamLimits): HooklineError {
  return new HooklineError('MODEL_FAILED', {
    message: `its answer never ended: it said more than ${characters} characters`,
  });
}

async function endOf(
  handler: ApiHandler,
  answer: HandlerAnswer,
  signal: AbortSignal,
): Promise<ModelEnd | { readonly wrong: unknown }> {
  const failed = answer.done()?.failed ?? null;
  if (failed !== null) return { wrong: failed };
  if (!answer.hasUsage()) answer.add(await usageOf(handler, signal));
  const end = answer.finished();
  return typeof end === 'string' ? { wrong: end } : end;
}

const USAGE_MS = 5000;

/** An answer is one, whether or not it can be told what it took. */
async function usageOf(handler: ApiHandler, signal: AbortSignal): Promise<unknown> {
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
function giveUp(handler: ApiHandler | null): void {
  const work = async (): Promise<void> => handler?.abort?.();
  work().catch(() => undefined);
}
