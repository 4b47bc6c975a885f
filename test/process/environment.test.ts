import { expect, test } from 'vitest';
import {
  buildChildEnvironment,
  OWN_PROVIDER_KEYS,
  PROVIDER_KEYS,
} from '../../src/process/environment.ts';

const nothing = { withhold: [], pass: [], add: {}, platform: 'linux' } as const;

test('a program gets a copy of the base environment, without names that have no value', () => {
  const base = { PATH: '/bin', GONE: undefined };
  const environment = buildChildEnvironment({ ...nothing, base });
  expect(environment).toEqual({ PATH: '/bin' });
  expect(Object.keys(environment)).toEqual(['PATH']);
  expect(environment).not.toBe(base);
});

test('withheld names are left out unless they are passed by name', () => {
  const base = { OPENAI_API_KEY: 'a', GEMINI_API_KEY: 'b', GITHUB_TOKEN: 'c' };
  const rules = { ...nothing, base, withhold: PROVIDER_KEYS, pass: ['GEMINI_API_KEY'] };
  expect(buildChildEnvironment(rules)).toEqual({ GEMINI_API_KEY: 'b', GITHUB_TOKEN: 'c' });
});

test('added variables win over the base and over withholding', () => {
  const rules = { ...nothing, base: { A: '1', B: '2' }, withhold: ['B'], add: { A: '3', B: '4' } };
  expect(buildChildEnvironment(rules)).toEqual({ A: '3', B: '4' });
});

test('names differ by case, except on Windows', () => {
  const rules = {
    ...nothing,
    base: { Path: 'p', openai_api_key: 'k', Gemini_Api_Key: 'g' },
    withhold: ['OPENAI_API_KEY', 'GEMINI_API_KEY'],
    pass: ['gemini_api_key'],
    add: { PATH: 'q' },
  };
  expect(buildChildEnvironment({ ...rules, platform: 'win32' })).toEqual({
    Gemini_Api_Key: 'g',
    PATH: 'q',
  });
  expect(buildChildEnvironment(rules)).toEqual({
    Path: 'p',
    openai_api_key: 'k',
    Gemini_Api_Key: 'g',
    PATH: 'q',
  });
});

test('the withheld keys are those that Hookline reads, also for the services that it knows by name', () => {
  expect(PROVIDER_KEYS).toEqual(expect.arrayContaining(['GROQ_API_KEY', 'CLINE_API_KEY']));
  expect(PROVIDER_KEYS).not.toContain('GITHUB_TOKEN');
  expect([...OWN_PROVIDER_KEYS].sort()).toEqual([
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'OLLAMA_API_KEY',
    'OPENAI_API_KEY',
    'OPENAI_COMPATIBLE_API_KEY',
    'OPENROUTER_API_KEY',
  ]);
});
