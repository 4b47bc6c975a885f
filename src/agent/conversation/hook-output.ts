import { dropUndefined } from '../../base/defined.ts';
import { isRecord } from '../../base/json.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { TextBlock } from '../../sessions/messages.ts';
import { type CallPart, joinPartOutputs } from '../tools/prepare-tool-call.ts';
import type { ToolOutput } from '../tools/tool.ts';

/** The tool output with the responses that hooks put in its place. */
export function applyHookOutputs(
  output: ToolOutput,
  verdicts: readonly Verdict[],
  parts: readonly CallPart[],
): ToolOutput {
  const last = verdicts.findLast((verdict) => verdict.output !== null);
  if (last === undefined) return output;
  const partOutputs = collectPartOutputs(verdicts);
  if (output.parts === undefined || partOutputs === null) {
    return replaceOutput(output, last.output, last.changes['failed']);
  }
  const outputs = output.parts.map((own, part) =>
    partOutputs.has(part) ? replaceOutput(own, partOutputs.get(part)) : own,
  );
  return joinPartOutputs(parts, outputs);
}

/**
 * The last output that a hook returned for each part; null when a hook returned an output for the whole
 * call.
 */
function collectPartOutputs(verdicts: readonly Verdict[]): ReadonlyMap<number, unknown> | null {
  const outputs = new Map<number, unknown>();
  for (const { part, decision } of verdicts.flatMap(({ outcomes }) => outcomes)) {
    if (decision?.output === undefined) continue;
    if (part === null) return null;
    outputs.set(part, decision.output);
  }
  return outputs;
}

function replaceOutput(output: ToolOutput, response: unknown, failed?: unknown): ToolOutput {
  const { images: _images, parts: _parts, error: _error, finalAnswer, ...rest } = output;
  const text = formatHookOutput(response);
  const success = typeof failed === 'boolean' ? !failed : output.success;
  return {
    ...rest,
    response,
    text,
    success,
    replaced: true,
    ...dropUndefined({
      error: success ? undefined : text,
      finalAnswer: finalAnswer === undefined ? undefined : text,
    }),
  };
}

function formatHookOutput(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response) && response.length > 0 && response.every(isTextBlock)) {
    return response.map(({ text }) => text).join('\n');
  }
  if (typeof response === 'object' && response !== null) {
    if ('stdout' in response && typeof response.stdout === 'string') return response.stdout;
    if ('file' in response && typeof response.file === 'object' && response.file !== null) {
      if ('content' in response.file && typeof response.file.content === 'string') {
        return response.file.content;
      }
    }
  }
  return JSON.stringify(response) ?? '';
}

/** The shape of an MCP tool's answer. */
function isTextBlock(block: unknown): block is TextBlock {
  return isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}
