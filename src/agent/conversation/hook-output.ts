import { isRecord } from '../../base/json.ts';
import type { Verdict } from '../../hooks/decision.ts';
import type { TextBlock } from '../../sessions/messages.ts';
import type { ToolOutput } from '../tools/tool.ts';

/** What a hook put in the place of the answer, as the model shall read it. */
export function withHookOutput(
  output: ToolOutput,
  { output: given, changes: { failed } }: Verdict,
): ToolOutput {
  const { images: _images, parts: _parts, error: _error, lastWords, ...rest } = output;
  const text = outputText(given);
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

function outputText(given: unknown): string {
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
