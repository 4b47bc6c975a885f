import { expect, test } from 'vitest';
import { convertModelError, type RequestTarget } from '../../../src/agent/models/failures.ts';
import type { ModelFailure } from '../../../src/agent/models/model.ts';
import { systemClock } from '../../../src/base/clock.ts';

const ASKED: RequestTarget = {
  provider: 'Anthropic',
  model: 'claude-x',
  baseUrl: 'https://api.example.com/v1',
  keyHint: 'set ANTHROPIC_API_KEY',
  secrets: ['sk-12345'],
};

function failure(error: unknown, hasBegun = false): ModelFailure {
  return convertModelError(error, ASKED, { hasBegun, isAborted: false });
}

function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

test.each([
  ['ENOTFOUND', 'unreachable'],
  ['ECONNREFUSED', 'unreachable'],
  ['UND_ERR_CONNECT_TIMEOUT', 'unreachable'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable'],
  ['ECONNRESET', 'protocol'],
  ['UND_ERR_SOCKET', 'protocol'],
])('the network error %s is %s', (code, kind) => {
  const error = new TypeError('fetch failed', { cause: coded('no', code) });
  expect(failure(error)).toMatchObject({ class: kind, status: null, isRetryable: true });
});

test('a network error in the middle of an answer breaks it off', () => {
  const error = new TypeError('terminated', { cause: coded('other side closed', 'ETIMEDOUT') });
  expect(failure(error, true)).toEqual({
    class: 'protocol',
    message: 'Anthropic sent an incomplete or invalid answer: terminated',
    details: 'terminated',
    status: null,
    isRetryable: true,
    retryAfterMs: null,
  });
});

test('whatever went wrong, an abort is an abort', () => {
  const aborted = convertModelError(coded('x', 'ECONNRESET'), ASKED, {
    hasBegun: true,
    isAborted: true,
  });
  expect(aborted.class).toBe('aborted');
});

test.each([
  [{ 'retry-after-ms': '1500' }, 1500],
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': 'soon' }, null],
  [{}, null],
])('the headers %o name a time', (responseHeaders, expected) => {
  const error = Object.assign(new Error('no'), { statusCode: 429, responseHeaders });
  expect(failure(error).retryAfterMs).toBe(expected);
});

test('a date to wait for is turned into a time', () => {
  const date = new Date(systemClock.now() + 3_600_000).toUTCString();
  const error = Object.assign(new Error('no'), {
    statusCode: 503,
    responseHeaders: { 'retry-after': date },
  });
  const { retryAfterMs } = failure(error);
  expect(retryAfterMs).toBeGreaterThan(3_000_000);
  expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
});

test('a proxy’s page is left out, and long messages are cut', () => {
  const page = {
    statusCode: 502,
    responseBody: '<html>Bad gateway</html>',
    message: 'Bad Gateway',
  };
  expect(failure(page)).toMatchObject({ class: 'server_error', details: 'Bad Gateway' });
  const long = { statusCode: 400, responseBody: 'x'.repeat(100_000), message: 'Bad' };
  expect(failure(long).details).toHaveLength(500);
});

test.each([
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'overloaded'],
  [{ type: 'rate_limit_error', message: 'Slow' }, 'rate_limit'],
  [{ type: 'authentication_error', message: 'Key' }, 'authentication_failed'],
  [{ type: 'not_found_error', message: 'model: x' }, 'model_not_found'],
  [{ type: 'invalid_request_error', message: 'Too long' }, 'invalid_request'],
  [{ type: 'billing_error', message: 'Pay' }, 'billing_error'],
  [{ code: 429, message: 'Upstream' }, 'rate_limit'],
  [{ code: '503', message: 'Upstream' }, 'server_error'],
  ['just a text', 'protocol'],
  [null, 'protocol'],
])('the error %o within a stream is %s', (error, kind) => {
  expect(failure(error, true).class).toBe(kind);
});

test('what the SDK refuses to send is an invalid request', () => {
  const error = Object.assign(new Error('Tool result is missing'), {
    name: 'AI_MissingToolResultsError',
  });
  expect(failure(error)).toMatchObject({ class: 'invalid_request', isRetryable: false });
});

test('secrets are left out', () => {
  const error = {
    statusCode: 400,
    responseBody: '{"error":{"message":"bad sk-12345 and sk-12345"}}',
  };
  expect(JSON.stringify(failure(error))).not.toContain('sk-12345');
});
