import type { ScriptLanguage } from '../../templates.ts';
import { claudeBashHook } from './bash.ts';
import type { ClaudeExampleEvent } from './examples.ts';
import { claudeNodeHook, claudeTypescriptHook } from './javascript.ts';
import { claudePythonHook } from './python.ts';

interface ClaudeHookLanguage {
  /** The text of an example script in this language. */
  readonly write: (event: ClaudeExampleEvent) => string;
  readonly extension: string;
}

/** How examples of Claude's format are written; the programs that they need are those of any example. */
export const CLAUDE_HOOK_LANGUAGES: Readonly<Record<ScriptLanguage, ClaudeHookLanguage>> = {
  bash: { write: claudeBashHook, extension: '.sh' },
  python: { write: claudePythonHook, extension: '.py' },
  // Modules whatever the nearest package.json says.
  node: { write: claudeNodeHook, extension: '.mjs' },
  ts: { write: claudeTypescriptHook, extension: '.mts' },
};
