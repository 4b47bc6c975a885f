import type { ScriptLanguage } from '../../templates.ts';
import { bashHook } from './bash.ts';
import type { ExampleEvent } from './examples.ts';
import { nodeHook, typescriptHook } from './javascript.ts';
import { pythonHook } from './python.ts';

interface HookLanguage {
  /** The text of an example hook in this language. */
  readonly write: (event: ExampleEvent) => string;
  /** How its files end. */
  readonly extension: '' | '.ts';
}

/** The languages in which there is an example for every event. */
export const HOOK_LANGUAGES: Readonly<Record<ScriptLanguage, HookLanguage>> = {
  bash: { write: bashHook, extension: '' },
  python: { write: pythonHook, extension: '' },
  node: { write: nodeHook, extension: '' },
  ts: { write: typescriptHook, extension: '.ts' },
};
