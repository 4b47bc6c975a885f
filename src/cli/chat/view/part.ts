import { Markdown, type MarkdownTheme } from '@earendil-works/pi-tui/dist/components/markdown.js';
import {
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from '@earendil-works/pi-tui/dist/utils.js';
import type { EditorTheme } from '@earendil-works/pi-tui/dist/components/editor.js';
import type { SelectListTheme } from '@earendil-works/pi-tui/dist/components/select-list.js';
import { colors } from '../../output/colors.ts';

/** A piece of the log as lines for a width. An identical array means identical lines. */
export type Part = (width: number) => readonly string[];

/** Renders once per width. Lines are truncated, because the TUI package throws on a line that is too wide. */
export function createCachedPart(make: (width: number) => readonly string[]): Part {
  let cached: { readonly width: number; readonly lines: readonly string[] } | null = null;
  return (width) => {
    cached = cached?.width === width ? cached : { width, lines: fitLines(make(width), width) };
    return cached.lines;
  };
}

function fitLines(lines: readonly string[], width: number): readonly string[] {
  return lines.map((line) => fitWidth(line, width));
}

export function fitWidth(line: string, width: number): string {
  return visibleWidth(line) > width ? truncateToWidth(line, width, '…') : line;
}

/** Text with our own colors; long lines are wrapped. */
export function createTextPart(text: string): Part {
  return createCachedPart((width) => wrapLines(text, width));
}

export function wrapLines(text: string, width: number): string[] {
  const lines = text.replaceAll('\t', '    ').split('\n');
  return lines.flatMap((line) => wrapTextWithAnsi(line, Math.max(1, width)));
}

export function renderMarkdown(text: string, width: number): string[] {
  return new Markdown(text, 0, 0, markdownTheme).render(width).map((line) => line.trimEnd());
}

const keepText = (text: string): string => text;

const markdownTheme: MarkdownTheme = {
  heading: colors.cyan,
  link: colors.cyan,
  linkUrl: colors.dim,
  code: colors.yellow,
  codeBlock: keepText,
  codeBlockBorder: colors.dim,
  quote: colors.dim,
  quoteBorder: colors.dim,
  hr: colors.dim,
  listBullet: colors.cyan,
  bold: colors.bold,
  italic: keepText,
  strikethrough: colors.dim,
  underline: keepText,
};

const listTheme: SelectListTheme = {
  selectedPrefix: colors.cyan,
  selectedText: colors.cyan,
  description: colors.dim,
  scrollInfo: colors.dim,
  noMatch: colors.dim,
};

export const editorTheme: EditorTheme = { borderColor: colors.dim, selectList: listTheme };
