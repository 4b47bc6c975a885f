import type { ClaudeExample } from './example.ts';
import { PLACE_EXAMPLES } from './place-events.ts';
import { SESSION_EXAMPLES } from './session-events.ts';
import { TOOL_EXAMPLES } from './tool-events.ts';

const EXAMPLES = { ...TOOL_EXAMPLES, ...SESSION_EXAMPLES, ...PLACE_EXAMPLES };

export type ClaudeExampleEvent = keyof typeof EXAMPLES;

/** An example for every event of Claude's format. */
export const CLAUDE_EXAMPLES: Readonly<Record<ClaudeExampleEvent, ClaudeExample>> = EXAMPLES;
