import { stripVTControlCharacters } from 'node:util';

/** What a terminal would show of a program's output: no colours, no bytes that mean nothing. */
export function plainText(output: string): string {
  const lines = stripVTControlCharacters(output).split('\n').map(lastState);
  return lines.join('\n').replaceAll(UNREADABLE, '\uFFFD');
}

// Control characters, and what decoding made of bytes that are no text; one stands for many.
const UNREADABLE = /(?:[^\P{Cc}\t\n]|\uFFFD)+/gu;

/** A progress bar writes one line again and again; what it wrote last counts. */
function lastState(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

/** Without the empty lines around it. */
export function trimOutput(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}
