import { HooklineError } from '../../../base/errors.ts';
import { type Provider, PROVIDERS } from '../providers.ts';
import type { CustomChoice } from './custom-provider.ts';

/** Who wants a key, and where it would go. */
export interface KeyAsker {
  readonly id: string;
  readonly label: string;
  readonly from: string;
  readonly baseUrl: string | null;
  /** Where its key is looked for, in this order. */
  readonly keyVariables: readonly string[];
}

/**
 * The key that was given, or the first that the environment has; null when there is none. A key of one
 * of Hookline's own providers goes only to that provider, unless the person says where to or that it may.
 */
export function keyFor(asker: KeyAsker, choice: CustomChoice): string | null {
  if (choice.key !== null && choice.key !== '') return choice.key;
  const found = asker.keyVariables.filter((name) => (choice.env[name] ?? '') !== '');
  const free = found.find((name) => mayHave(name, asker, choice));
  if (free !== undefined) return choice.env[free] ?? null;
  const [withheld] = found;
  if (withheld === undefined) return null;
  throw withheldKey(withheld, asker);
}

function mayHave(name: string, { baseUrl }: KeyAsker, choice: CustomChoice): boolean {
  const owner = ownerOf(name);
  if (owner === undefined || choice.baseUrl !== null) return true;
  return choice.passedKeys.includes(name) || isSameOrigin(owner.baseUrl, baseUrl);
}

function ownerOf(name: string): Provider | undefined {
  return PROVIDERS.find(({ keyVariables }) => keyVariables.includes(name));
}

function isSameOrigin(one: string | null, other: string | null): boolean {
  const origin = originOf(one);
  return origin !== null && origin === originOf(other);
}

function originOf(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).origin : null;
}

function withheldKey(name: string, { id, from, baseUrl }: KeyAsker): HooklineError {
  const owner = ownerOf(name)?.label ?? 'another provider';
  const where = originOf(baseUrl) ?? 'code of its own';
  return new HooklineError('MODEL_KEY_MISSING', {
    message: `The provider "${id}" of ${from} wants ${name}, which is the key for ${owner}, and would send it to ${where}; it does not get it.`,
    hint: `Pass a key with --key, or list ${name} in "env.pass" of your own configuration.`,
  });
}
