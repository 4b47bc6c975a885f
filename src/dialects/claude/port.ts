import type { Answer, HandlerInput } from '../../hooks/handler.ts';
import type { HookOutput } from '../dialect.ts';
import { findInventedVariables, explainUnsetVariable } from './config/command-notes.ts';
import { encodePayload } from './input/payload.ts';
import { listClaudeNames } from './events.ts';
import { decodeOutput } from './output/decide.ts';

/** Encodes the payload of a command hook; null when Claude Code has no such event. */
export function encode(input: HandlerInput): string | null {
  const [event] = listClaudeNames(input.event);
  if (event === undefined) return null;
  return encodePayload({ input, event, transcriptPath: '', home: null });
}

/** Decodes a command hook's output; an empty answer when Claude Code has no such event. */
export function decode(input: HandlerInput, output: HookOutput): Answer {
  const [event] = listClaudeNames(input.event);
  if (event === undefined) return {};
  return decodeOutput({
    ...output,
    event,
    label: 'hook',
    onFailure: 'continue',
    input,
    signal: null,
    isTruncated: false,
    spill: () => null,
  });
}

/** Lists variables that the script reads and no host sets. */
export function checkScript(script: string, eventName: string): readonly string[] {
  return findInventedVariables(script).map(
    (name) => `its script names ${name}, which ${explainUnsetVariable(name, eventName)}`,
  );
}
