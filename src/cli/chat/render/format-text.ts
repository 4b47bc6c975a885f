import { escapeTerminalText, escapeForeignText, toPrintable } from '../../output/print.ts';
import { isHooklineError, getErrorMessage } from '../../../base/errors.ts';
import { colors } from '../../output/colors.ts';

/** Escapes control characters and expands tabs. */
export function toScreenText(text: string): string {
  return escapeTerminalText(text).replaceAll('\t', '    ');
}

/** Like toScreenText for text of a model or a user, whose colors are escaped, too. */
export function toForeignScreenText(text: string): string {
  return escapeForeignText(text).replaceAll('\t', '    ');
}

/** The first lines of a text and the number of the rest. */
export function truncateLines(text: string, most: number): readonly string[] {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most), `… ${lines.length - most} more lines`];
}

/** The message and hint of an error. */
export function formatProblem(error: unknown): string {
  const message = getErrorMessage(error);
  const hint = isHooklineError(error) ? error.hint : undefined;
  if (hint === undefined) return toPrintable(message);
  return toPrintable(`${message}${/[.!?…]$/u.test(message) ? '' : '.'} ${hint}`);
}

const MAX_PROMPT_LINES = 20;

/** A prompt of the user in the log. */
export function formatPrompt(text: string): string {
  const [first = '', ...rest] = truncateLines(text, MAX_PROMPT_LINES);
  return `\n${[`> ${first}`, ...rest.map((line) => `  ${line}`)].map(colors.bold).join('\n')}\n`;
}
