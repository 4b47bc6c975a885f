import type * as acp from '@agentclientprotocol/sdk';
import { callParts, type CallToShow, currentText } from '../../agent/call-parts.ts';
import type { ToolOutput } from '../../agent/tools/tool.ts';
import { isRecord } from '../../base/json.ts';
import { verbatim } from './content.ts';
import { changeOf } from './tool-call.ts';

/** What an editor shows of a call that has ended. */
export function showResult(call: CallToShow, output: ToolOutput): acp.ToolCallContent[] {
  const changes = changesOf(call, output);
  const pictures = (output.images ?? []).map(pictureOf);
  if (output.success && (changes.length > 0 || pictures.length > 0)) {
    return [...changes, ...pictures];
  }
  const text = output.success ? output.text : (output.error ?? output.text);
  return [...changes, ...(text.trim() === '' ? [] : [verbatim(text, languageOf(call))])];
}

function changesOf(
  call: CallToShow,
  { response, parts, success }: ToolOutput,
): acp.ToolCallContent[] {
  return callParts(call).flatMap((part, index) => {
    const original = originalIn(parts?.[index]?.response ?? response);
    // What was not done left the file as it is.
    const change = changeOf(part, success ? () => original : currentText);
    return change === null ? [] : [change];
  });
}

function originalIn(response: unknown): string | null {
  const original = isRecord(response) ? response['originalFile'] : null;
  return typeof original === 'string' ? original : null;
}

function pictureOf({ source }: NonNullable<ToolOutput['images']>[number]): acp.ToolCallContent {
  const { data, media_type: mimeType } = source;
  return { type: 'content', content: { type: 'image', data, mimeType } };
}

function languageOf(call: CallToShow): string {
  return callParts(call)[0]?.name === 'Bash' ? 'console' : '';
}
