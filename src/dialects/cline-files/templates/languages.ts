import { bashHook } from './bash.ts';
import type { ExampleEvent } from './examples.ts';
import { nodeHook, typescriptHook } from './javascript.ts';
import { pythonHook } from './python.ts';

export interface HookLanguage {
  /** The text of an example hook in this language. */
  readonly write: (event: ExampleEvent) => string;
  /** Programs that such a hook needs, by the names on the PATH; none of them is needed to write it. */
  readonly needs: readonly string[];
  /** How its files end. */
  readonly extension: '' | '.ts';
}

/** The languages in which there is an example for every event. */
export const HOOK_LANGUAGES = {
  bash: { write: bashHook, needs: ['bash', 'jq'], extension: '' },
  python: { write: pythonHook, needs: ['python3'], extension: '' },
  node: { write: nodeHook, needs: [], extension: '' },
  ts: { write: typescriptHook, needs: [], extension: '.ts' },
} as const satisfies Record<string, HookLanguage>;

export type HookLanguageName = keyof typeof HOOK_LANGUAGES;

export const HOOK_LANGUAGE_NAMES: readonly HookLanguageName[] =
  Object.keys(HOOK_LANGUAGES).filter(isHookLanguageName);

export function isHookLanguageName(name: string): name is HookLanguageName {
  return Object.hasOwn(HOOK_LANGUAGES, name);
}
