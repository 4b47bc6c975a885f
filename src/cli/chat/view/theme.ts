import type { EditorTheme } from '@earendil-works/pi-tui/dist/components/editor.js';
import type { MarkdownTheme } from '@earendil-works/pi-tui/dist/components/markdown.js';
import type { SelectListTheme } from '@earendil-works/pi-tui/dist/components/select-list.js';
import { colors } from '../../output/colors.ts';

const plain = (text: string): string => text;

export const markdownTheme: MarkdownTheme = {
  heading: colors.cyan,
  link: colors.cyan,
  linkUrl: colors.dim,
  code: colors.yellow,
  codeBlock: plain,
  codeBlockBorder: colors.dim,
  quote: colors.dim,
  quoteBorder: colors.dim,
  hr: colors.dim,
  listBullet: colors.cyan,
  bold: colors.bold,
  italic: plain,
  strikethrough: colors.dim,
  underline: plain,
};

const listTheme: SelectListTheme = {
  selectedPrefix: colors.cyan,
  selectedText: colors.cyan,
  description: colors.dim,
  scrollInfo: colors.dim,
  noMatch: colors.dim,
};

export const editorTheme: EditorTheme = { borderColor: colors.dim, selectList: listTheme };
