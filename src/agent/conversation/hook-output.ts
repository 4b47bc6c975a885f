import { isRecord } from '../../base/json.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { TextBlock } from '../../sessions/messages.ts';
import { type CallPart, joinParts } from '../tools/run-call.ts';
import type { ToolOutput } from '../tools/tool.ts';

/** The answer to a call with what hooks put in its place, as the model shall read it. */
export function applyHookOutputs(
  output: ToolOutput,
  verdicts: readonly Verdict[],
  parts: readonly CallPart[],
): ToolOutput {
  const given = verdicts.findLast((verdict) => verdict.output !== null);
  if (given === undefined) return output;
  const ofParts = collectPartOutputs(verdicts);
  if (output.parts === undefined || ofParts === null) {
    return replaceOutput(output, given.output, given.changes['failed']);
  }
  const outputs = output.parts.map((own, part) =>
    ofParts.has(part) ? replaceOutput(own, ofParts.get(part)) : own,
  );
  return joinParts(parts, outputs);
}

/** The last that hooks gave for each part; null when one of them gave an answer to the whole call. */
function collectPartOutputs(verdicts: readonly Verdict[]): ReadonlyMap<number, unknown> | null {
  const given = new Map<number, unknown>();
  for (const { part, decision } of verdicts.flatMap(({ outcomes }) => outcomes)) {
    if (decision?.output === undefined) continue;
    if (part === null) return null;
    given.set(part, decision.output);
  }
  return given;
}

function replaceOutput(output: ToolOutput, given: unknown, failed?: unknown): ToolOutput {
  const { images: _images, parts: _parts, error: _error, lastWords, ...rest } = output;
  const text = formatHookOutput(given);
  const success = typeof failed === 'boolean' ? !failed : output.success;
  return {
    ...rest,
    response: given,
    text,
    success,
    replaced: true,
    ...(success ? {} : { error: text }),
    ...(lastWords === undefined ? {} : { lastWords: text }),
  };
}

function formatHookOutput(given: unknown): string {
  if (typeof given === 'string') return given;
  if (Array.isArray(given) && given.length > 0 && given.every(isTextBlock)) {
    return given.map(({ text }) => text).join('\n');
  }
  if (typeof given === 'object' && given !== null) {
    if ('stdout' in given && typeof given.stdout === 'string') return given.stdout;
    if ('file' in given && typeof given.file === 'object' && given.file !== null) {
      if ('content' in given.file && typeof given.file.content === 'string') {
        return given.file.content;
      }
    }
  }
  return JSON.stringify(given) ?? '';
}

/** What MCP tools answer with. */
function isTextBlock(given: unknown): given is TextBlock {
  return isRecord(given) && given['type'] === 'text' && typeof given['text'] === 'string';
}
