import { harmless, plainText } from '../../words/print.ts';
import { withoutSecrets } from '../../../host/secrets/without-secrets.ts';
import type { GlobalFlags } from '../../context.ts';

/** Text as it may be drawn: nothing in it moves the cursor, and a tab is as wide as it is counted. */
export function shown(text: string): string {
  return harmless(text).replaceAll('\t', '    ');
}

/** Text of a model or a person as it may be drawn: no colour in it is ours. */
export function foreign(text: string): string {
  return plainText(text).replaceAll('\t', '    ');
}

/** The same as `shown`, without secrets. */
export async function shownWithoutSecrets(
  text: string,
  flags: Pick<GlobalFlags, 'raw'>,
): Promise<string> {
  const clean = await withoutSecrets({ text }, flags);
  return shown(clean.text);
}

/** The first lines of a text, and how many more there are. */
export function firstLines(text: string, most: number): readonly string[] {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most), `… ${lines.length - most} more lines`];
}
