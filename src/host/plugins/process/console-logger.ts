import { inspect } from 'node:util';
import type { BasicLogger } from '../../../plugins/contract/plugin.ts';

type Metadata = Readonly<Record<string, unknown>> | undefined;

/**
 * Cline always gives plugins a logger. Where the program has none, a person is told what went wrong, and
 * the rest on demand.
 */
export function consoleLogger(
  tell: (text: string, plugin: string) => void,
  { showsLog }: { readonly showsLog: boolean },
): BasicLogger {
  const say = (message: string, metadata: Metadata): void =>
    tell(`${message}${inWords(metadata)}`, String(metadata?.['pluginName']));
  const log = showsLog ? say : (): void => undefined;
  return { debug: log, log, error: say };
}

function inWords(metadata: Metadata): string {
  // Whoever reads it is told by whom, and knows where; only programs need these as fields.
  const { pluginName: _, sessionId: __, ...facts } = metadata ?? {};
  const words = Object.entries(facts).map(([key, value]) => `${key}: ${valueInWords(value)}`);
  return words.length === 0 ? '' : ` { ${words.join(', ')} }`;
}

function valueInWords(value: unknown): string {
  return value instanceof Error
    ? String(value)
    : inspect(value, { compact: true, breakLength: Infinity });
}
