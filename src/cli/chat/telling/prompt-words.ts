import { colors } from '../../words/colors.ts';
import { firstLines } from './shown-text.ts';

const SHOWN_LINES = 20;

/** What the person said, as it stands among the answers. */
export function promptWords(text: string): string {
  const [first = '', ...rest] = firstLines(text, SHOWN_LINES);
  return `\n${[`> ${first}`, ...rest.map((line) => `  ${line}`)].map(colors.bold).join('\n')}\n`;
}

export function pasteRefusal(characters: number, most: number): string {
  const [count, limit] = [characters, most].map((number) => number.toLocaleString('en-US'));
  return (
    `The paste of ${count} characters is too long for the model (${limit} at most), so it was left out. ` +
    'Keep it in a file and name that with @.'
  );
}
