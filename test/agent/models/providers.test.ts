import { MODEL_SERVICES } from '../../../src/base/model-services.ts';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { isHooklineError } from '../../../src/base/errors.ts';
import {
  KEY_VARIABLES,
  openModel,
  PROVIDERS,
  PROVIDER_NAMES,
  type ModelChoice,
} from '../../../src/agent/models/providers.ts';
import { PROVIDER_KEYS } from '../../../src/process/environment.ts';
import { collect, endOf, KEY, open, rawService, request } from './services.ts';

function choice(wanted: Partial<ModelChoice> & { provider: string }): ModelChoice {
  return { model: null, baseUrl: null, key: null, env: {}, ...wanted };
}

async function refusal(wanted: Partial<ModelChoice> & { provider: string }): Promise<unknown> {
  const error: unknown = await openModel(choice(wanted)).catch((thrown: unknown) => thrown);
  if (!isHooklineError(error)) throw new Error(`no refusal: ${String(error)}`);
  return { code: error.code, message: error.message, hint: error.hint };
}

test('the keys that are read are exactly those that are kept from workspace hooks', () => {
  expect(KEY_VARIABLES.toSorted()).toEqual(PROVIDER_KEYS.toSorted());
});

test('the providers have these names', () => {
  expect(PROVIDER_NAMES).toEqual([
    'anthropic',
    'openai',
    'gemini',
    'openai-compatible',
    'openrouter',
    'ollama',
    'scripted',
  ]);
});

test.each(PROVIDERS.filter(({ needsKey }) => needsKey))(
  '$name without a key says what to set',
  async ({ name, label, keyVariables }) => {
    expect(await refusal({ provider: name })).toEqual({
      code: 'MODEL_KEY_MISSING',
      message: `no API key found for ${label} (${keyVariables[0]})`,
      hint: `Set ${keyVariables[0]}, or "model.key" in the configuration, or pass --key; -P NAME chooses another provider.`,
    });
  },
);

test('an unknown provider is refused with a suggestion', async () => {
  const expectedHint = `Known providers: ${PROVIDER_NAMES.join(', ')}, and ${MODEL_SERVICES.length} services by name (docs/reference/models.md).`;
  expect(await refusal({ provider: 'antropic' })).toEqual({
    code: 'MODEL_UNKNOWN',
    message: 'unknown model provider "antropic"',
    hint: `Did you mean "anthropic"? ${expectedHint}`,
  });
  expect(await refusal({ provider: 'skynet' })).toMatchObject({ hint: expectedHint });
});

test('a custom server needs an address and a model', async () => {
  expect(await refusal({ provider: 'openai-compatible' })).toMatchObject({
    code: 'MODEL_UNKNOWN',
    message: 'provider "openai-compatible" requires a model',
  });
  expect(await refusal({ provider: 'openai-compatible', model: 'local' })).toMatchObject({
    code: 'MODEL_UNKNOWN',
    message: 'provider "openai-compatible" requires a base URL',
  });
  expect(await refusal({ provider: 'ollama', model: 'x', baseUrl: 'localhost:1' })).toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'the base URL of a model must begin with http:// or https://, found "localhost:1"',
  });
  expect(
    await refusal({ provider: 'ollama', model: 'x', baseUrl: 'http://me:secret@box/v1' }),
  ).toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'the base URL of a model must not contain a user name or password, found one for box',
  });
  expect(await refusal({ provider: 'scripted' })).toMatchObject({ code: 'MODEL_UNKNOWN' });
});

test('without a choice the provider’s own model is used, with its known facts', async () => {
  const model = await openModel(choice({ provider: 'claude', key: KEY }));
  const { provider, id, contextTokens, prices } = model;
  expect({ provider, id, contextTokens, prices }).toEqual({
    provider: 'anthropic',
    id: 'claude-sonnet-5-5',
    contextTokens: 1_000_000,
    prices: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  });
});

test.each([
  ['anthropic', {}, '/v1/messages', 'x-api-key', KEY],
  ['openai', {}, '/v1/responses', 'authorization', `Bearer ${KEY}`],
  ['openai-compatible', {}, '/v1/chat/completions', 'authorization', `Bearer ${KEY}`],
  ['openrouter', {}, '/api/v1/chat/completions', 'authorization', `Bearer ${KEY}`],
  ['ollama', { key: null }, '/v1/chat/completions', 'authorization', undefined],
  ['google', {}, '/v1beta/models/test-model:streamGenerateContent?alt=sse', 'x-goog-api-key', KEY],
  [
    'anthropic',
    { key: null, env: { ANTHROPIC_AUTH_TOKEN: 'token' } },
    '/v1/messages',
    'authorization',
    'Bearer token',
  ],
  [
    'gemini',
    { key: null, env: { GEMINI_API_KEY: '', GOOGLE_API_KEY: 'second' } },
    '/v1beta/models/test-model:streamGenerateContent?alt=sse',
    'x-goog-api-key',
    'second',
  ],
] as const)('%s with %o asks %s with its key', async (provider, input, url, header, value) => {
  const records: unknown[] = [];
  const baseUrl = await rawService((response, asked) => {
    records.push({ url: asked.url, key: asked.headers[header] });
    response.writeHead(500).end();
  });
  const model = await open({ provider, baseUrl, ...input });

  await collect(model, request('hello'));

  expect(records).toEqual([{ url, key: value }]);
});

test('a base URL with a path of its own is used as it is', async () => {
  const records: string[] = [];
  const baseUrl = await rawService((response, { url }) => {
    records.push(url);
    response.writeHead(500).end();
  });
  const model = await open({ provider: 'anthropic', baseUrl: `${baseUrl}/proxy/claude/` });

  await collect(model, request('hello'));

  expect(records).toEqual(['/proxy/claude/messages']);
});

test('the scripted provider plays its script', async () => {
  const model = await openModel(choice({ provider: 'scripted', script: [{ text: 'Hello.' }] }));
  const { content } = await endOf(model, request('hello'));
  expect(content).toEqual([{ type: 'text', text: 'Hello.' }]);
});

test('the AI SDK is loaded by no static import', () => {
  const folder = path.resolve(import.meta.dirname, '../../../src/agent/models');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const heads = files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      [...readFileSync(path.join(folder, name), 'utf8').matchAll(/^import .*?;$/gms)].map(String),
    );
  const ofSdk = heads.filter((head) => /from '(ai|@ai-sdk\/[^']+)';$/.test(head));
  expect(ofSdk.length).toBeGreaterThan(0);
  expect(ofSdk.filter((head) => !head.startsWith('import type '))).toEqual([]);
});
