import { RequestError } from '@agentclientprotocol/sdk';
import { type HooklineError, isHooklineError } from '../base/errors.ts';

/** Runs a request; a HooklineError becomes an error of the protocol. */
export async function handleRequest<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw isHooklineError(error) ? toRequestError(error) : error;
  }
}

function toRequestError({ code, message, hint }: HooklineError): RequestError {
  const text = hint === undefined ? message : `${message}. ${hint}`;
  return new RequestError(NUMBERS[code] ?? INTERNAL, text, { code });
}

const INTERNAL = -32_603;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const NOT_FOUND = -32_002;

const NUMBERS: Readonly<Partial<Record<HooklineError['code'], number>>> = {
  SESSION_UNKNOWN: NOT_FOUND,
  SESSION_BUSY: INVALID_REQUEST,
  USAGE_INVALID: INVALID_PARAMS,
  MODEL_UNKNOWN: INVALID_PARAMS,
};

export function createUnknownSessionError(sessionId: string): RequestError {
  return new RequestError(NOT_FOUND, `session ${JSON.stringify(sessionId)} not found`, {
    sessionId,
  });
}

export function createInvalidParamsError(message: string): RequestError {
  return new RequestError(INVALID_PARAMS, message);
}

export function createInvalidRequestError(message: string): RequestError {
  return new RequestError(INVALID_REQUEST, message);
}

export function createInternalError(message: string): RequestError {
  return new RequestError(INTERNAL, message);
}
