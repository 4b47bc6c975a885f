import { MODEL_SERVICES } from '../base/model-services.ts';

/** The keys of Hookline's own providers. */
export const OWN_PROVIDER_KEYS: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'OPENAI_API_KEY',
  'OPENAI_COMPATIBLE_API_KEY',
  'OPENROUTER_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'OLLAMA_API_KEY',
];

/** The model providers' keys that Hookline itself reads, and so keeps from foreign programs. */
export const PROVIDER_KEYS: readonly string[] = [
  ...new Set([...OWN_PROVIDER_KEYS, ...MODEL_SERVICES.flatMap(({ keyVariables }) => keyVariables)]),
];

export type Environment = Record<string, string>;

/** A copy of all variables that are set. */
export function copyEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A copy of `base` without the names to withhold, unless `pass` names them, plus `add`. */
export function buildChildEnvironment(rules: {
  readonly base: Readonly<Record<string, string | undefined>>;
  readonly withhold: readonly string[];
  readonly pass: readonly string[];
  readonly add: Readonly<Environment>;
  readonly platform: NodeJS.Platform;
}): Environment {
  const nameKey = rules.platform === 'win32' ? (name: string) => name.toUpperCase() : String;
  const passed = new Set(rules.pass.map(nameKey));
  const withheld = new Set(rules.withhold.map(nameKey).filter((name) => !passed.has(name)));
  const replaced = new Set(Object.keys(rules.add).map(nameKey));

  const environment: Environment = {};
  for (const [name, value] of Object.entries(rules.base)) {
    if (value === undefined) continue;
    const key = nameKey(name);
    if (!withheld.has(key) && !replaced.has(key)) environment[name] = value;
  }
  return Object.assign(environment, rules.add);
}
