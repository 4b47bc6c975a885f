import { stripVTControlCharacters } from 'node:util';

/** What a terminal would show of a program's output: no colours, no bytes that mean nothing. */
export function plainText(output: string): string {
  const lines = stripVTControlCharacters(output).replaceAll(/\r+\n/g, '\n');
  return afterReturns(lines).replaceAll(UNREADABLE, '\uFFFD');
}

// Control characters, and what decoding made of bytes that are no text; one stands for many.
const UNREADABLE = /(?:[^\P{Cc}\t\n]|\uFFFD)+/gu;

/** A progress bar writes one line again and again; the last state of it counts. */
function afterReturns(text: string): string {
  if (!text.includes('\r')) return text;
  const lines = text.split('\n').map((line) => {
    const written = line.replace(/\r$/, '');
    return written.slice(written.lastIndexOf('\r') + 1);
  });
  return lines.join('\n');
}

/** Without the empty lines around it. */
export function trimOutput(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}
