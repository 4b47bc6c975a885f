import { inspect } from 'node:util';
import type { BasicLogger } from '../../../plugins/contract/plugin.ts';

type Metadata = Readonly<Record<string, unknown>> | undefined;

/**
 * Cline always gives plugins a logger. Where the program has none, what they log is told as what they
 * write with `console`; what is meant for debugging is told to nobody.
 */
export function consoleLogger(onConsole: (text: string) => void): BasicLogger {
  const log = (message: string, metadata?: Metadata): void =>
    onConsole(`${message}${inWords(metadata)}`);
  return { debug: () => undefined, log, error: log };
}

function inWords(metadata: Metadata): string {
  // Whoever reads it is told by whom; only programs need it as a field.
  const { pluginName: _, ...facts } = metadata ?? {};
  const words = Object.entries(facts).map(([key, value]) => `${key}: ${valueInWords(value)}`);
  return words.length === 0 ? '' : ` { ${words.join(', ')} }`;
}

function valueInWords(value: unknown): string {
  return value instanceof Error
    ? String(value)
    : inspect(value, { compact: true, breakLength: Infinity });
}
