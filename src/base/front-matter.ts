export interface FrontMatter {
  /** What stands between the two lines of dashes; null when the text does not begin with them. */
  readonly yaml: string | null;
  readonly body: string;
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Takes the YAML off the head of a markdown file; its first line is line 2 of the file. */
export function splitFrontMatter(markdown: string): FrontMatter {
  const found = FRONT_MATTER.exec(markdown);
  const yaml = found?.[1];
  if (found === null || yaml === undefined) return { yaml: null, body: markdown };
  return { yaml, body: markdown.slice(found[0].length) };
}
