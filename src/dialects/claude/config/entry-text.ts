import { isRecord, parseJson } from '../../../base/json.ts';
import { formatCanonicalJson } from '../../../base/canonical-json.ts';
import type { Source } from '../entry.ts';

/**
 * What trust binds: an entry with its event and matcher, the same however the file is laid out and
 * whatever else stands in it.
 */
export function formatEntryText(
  entry: {
    readonly event: string;
    readonly matcher: string | undefined;
    readonly agentType: string | undefined;
    readonly handler: unknown;
  },
  source: Pick<Source, 'kind' | 'isCline'>,
): string {
  const kind = source.isCline ? `${source.kind} .cline` : source.kind;
  return formatCanonicalJson({ source: kind, ...entry });
}

/** An entry's text with the variables that its workspace sets for it. */
export function addEnvironmentToText(
  text: string,
  environment: Readonly<Record<string, string>> | undefined,
): string {
  const parsed = environment === undefined ? null : parseJson(text);
  if (parsed === null || !parsed.ok || !isRecord(parsed.value)) return text;
  return formatCanonicalJson({ ...parsed.value, environment });
}
