import { Markdown } from '@earendil-works/pi-tui/dist/components/markdown.js';
import {
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from '@earendil-works/pi-tui/dist/utils.js';
import { markdownTheme } from './theme.ts';

/** Something that was said, as lines of a width. The same array as before means the same lines. */
export interface Part {
  lines(width: number): readonly string[];
}

/** Lines that are made once for each width. A line that were too wide would end the program. */
export function cachedPart(make: (width: number) => readonly string[]): Part {
  let made: { readonly width: number; readonly lines: readonly string[] } | null = null;
  return {
    lines(width) {
      made = made?.width === width ? made : { width, lines: fitting(make(width), width) };
      return made.lines;
    },
  };
}

function fitting(lines: readonly string[], width: number): readonly string[] {
  return lines.map((line) => fit(line, width));
}

export function fit(line: string, width: number): string {
  return visibleWidth(line) > width ? truncateToWidth(line, width, '…') : line;
}

/** Plain text with colours of our own; long lines are wrapped. */
export function textPart(text: string): Part {
  return cachedPart((width) => wrapped(text, width));
}

export function wrapped(text: string, width: number): string[] {
  const lines = text.replaceAll('\t', '    ').split('\n');
  return lines.flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width)));
}

export function markdownPart(text: string): Part {
  return cachedPart((width) => renderMarkdown(text, width));
}

export function renderMarkdown(text: string, width: number): string[] {
  return new Markdown(text, 0, 0, markdownTheme).render(width).map((line) => line.trimEnd());
}
