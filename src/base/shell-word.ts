/** Quotes a text so that a POSIX shell reads it as one word. */
export function quoteShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
