import type { AgentVocabulary, VocabularyRules } from '../vocabulary.ts';
import { CODEX } from './codex.ts';
import { COPILOT } from './copilot.ts';
import { CURSOR } from './cursor.ts';
import { DROID } from './droid.ts';
import { GEMINI } from './gemini.ts';
import { OPENCODE } from './opencode.ts';
import { QWEN } from './qwen.ts';

/** The table of the vocabularies of other agents. */
export const AGENT_RULES: Readonly<Record<AgentVocabulary, VocabularyRules>> = {
  codex: CODEX,
  gemini: GEMINI,
  copilot: COPILOT,
  qwen: QWEN,
  cursor: CURSOR,
  droid: DROID,
  opencode: OPENCODE,
};
