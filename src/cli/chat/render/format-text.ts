import { escapeTerminalText, escapeForeignText, toPrintable } from '../../output/print.ts';
import { redactObject } from '../../../host/redact-object.ts';
import type { GlobalFlags } from '../../context.ts';
import { isHooklineError, getErrorMessage } from '../../../base/errors.ts';
import { colors } from '../../output/colors.ts';

/** Text as it may be drawn: nothing in it moves the cursor, and a tab is as wide as it is counted. */
export function toScreenText(text: string): string {
  return escapeTerminalText(text).replaceAll('\t', '    ');
}

/** Text of a model or a person as it may be drawn: no colour in it is ours. */
export function toForeignScreenText(text: string): string {
  return escapeForeignText(text).replaceAll('\t', '    ');
}

/** The same as `shown`, without secrets. */
export async function redactScreenText(
  text: string,
  flags: Pick<GlobalFlags, 'raw'>,
): Promise<string> {
  const clean = await redactObject({ text }, flags);
  return toScreenText(clean.text);
}

/** The first lines of a text, and how many more there are. */
export function truncateLines(text: string, most: number): readonly string[] {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most), `… ${lines.length - most} more lines`];
}

/** What went wrong, and what to do about it, in sentences. */
export function formatProblem(error: unknown): string {
  const message = getErrorMessage(error);
  const hint = isHooklineError(error) ? error.hint : undefined;
  if (hint === undefined) return toPrintable(message);
  return toPrintable(`${message}${/[.!?…]$/u.test(message) ? '' : '.'} ${hint}`);
}

const MAX_PROMPT_LINES = 20;

/** What the person said, as it stands among the answers. */
export function formatPrompt(text: string): string {
  const [first = '', ...rest] = truncateLines(text, MAX_PROMPT_LINES);
  return `\n${[`> ${first}`, ...rest.map((line) => `  ${line}`)].map(colors.bold).join('\n')}\n`;
}

export function formatPasteRefusal(characters: number, most: number): string {
  const [count, limit] = [characters, most].map((number) => number.toLocaleString('en-US'));
  return (
    `The paste of ${count} characters is too long for the model (${limit} at most), so it was left out. ` +
    'Keep it in a file and name that with @.'
  );
}
