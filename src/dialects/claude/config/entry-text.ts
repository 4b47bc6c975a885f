import { isRecord, parseJson, formatCanonicalJson } from '../../../base/json.ts';
import type { Source } from '../entry.ts';

/**
 * Formats an entry with its event and matcher as the text that trust covers. It does not depend on
 * the layout of the file or on other entries.
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

/** Adds the variables that the workspace's settings set to the text that trust covers. */
export function addEnvironmentToText(
  text: string,
  environment: Readonly<Record<string, string>> | undefined,
): string {
  const parsed = environment === undefined ? null : parseJson(text);
  if (parsed === null || !parsed.ok || !isRecord(parsed.value)) return text;
  return formatCanonicalJson({ ...parsed.value, environment });
}
