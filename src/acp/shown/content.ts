import type * as acp from '@agentclientprotocol/sdk';
import { truncateText } from '../../base/json.ts';

const LONGEST_SHOWN = 30_000;

export function textContent(text: string): acp.ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** Text as it is, whatever it would mean as markdown. */
export function verbatim(text: string, language = ''): acp.ToolCallContent {
  const shown = text.length > LONGEST_SHOWN ? `${truncateText(text, LONGEST_SHOWN)}\n…` : text;
  const fence = fenceFor(shown);
  return textContent(`${fence}${language}\n${shown.trimEnd()}\n${fence}`);
}

/** Longer than any that stands in the text. */
function fenceFor(text: string): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const longest = runs.reduce((length, run) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}

/** A paragraph that nobody takes for the model's own words. */
export function quoted(text: string): string {
  const lines = text.trim().split(/\r?\n/);
  return `\n\n${lines.map((line) => `> ${line}`).join('\n')}\n\n`;
}
