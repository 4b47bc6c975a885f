/**
 * A script as it stands in the file: backslashes are kept, but for those in front of a backtick
 * and of `${`, which a template literal cannot hold bare.
 */
export function script({ raw }: TemplateStringsArray): string {
  const text = raw.join('').replaceAll('\\`', '`').replaceAll('\\${', '${');
  return `${text.replace(/^\n/u, '').trimEnd()}\n`;
}
