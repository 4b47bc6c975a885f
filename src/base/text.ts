/** Quotes a text so that a POSIX shell reads it as one word. */
export function quoteShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Splits a markdown file; `yaml` starts in line 2 of the file and is null without front matter. */
export function splitFrontMatter(markdown: string): {
  readonly yaml: string | null;
  readonly body: string;
} {
  const match = FRONT_MATTER.exec(markdown);
  const yaml = match?.[1];
  if (match === null || yaml === undefined) return { yaml: null, body: markdown };
  return { yaml, body: markdown.slice(match[0].length) };
}

/** Escapes text for a regular expression that matches it literally. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
