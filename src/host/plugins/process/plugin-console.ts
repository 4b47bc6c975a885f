import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import type { BasicLogger } from '../../../plugins/contract/plugin.ts';

type Line = (text: string) => void;

const listeners: Line[] = [];
let restore: (() => void) | null = null;

/**
 * Has what plugins write with `console` told instead of printed: whoever reads the program's own
 * output must find nothing else in it. Counts for all plugins of this process; the last one told wins.
 */
export function redirectConsole(onLine: Line): () => void {
  listeners.push(onLine);
  restore ??= replaceConsole();
  return () => {
    const place = listeners.indexOf(onLine);
    if (place >= 0) listeners.splice(place, 1);
    if (listeners.length > 0) return;
    restore?.();
    restore = null;
  };
}

function replaceConsole(): () => void {
  const sink = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      listeners.at(-1)?.(String(chunk).replace(/\n$/, ''));
      done();
    },
  });
  const { console: shared } = globalThis;
  const before = { ...shared };
  Object.assign(shared, new Console({ stdout: sink, stderr: sink }));
  return () => void Object.assign(shared, before);
}

type Metadata = Readonly<Record<string, unknown>> | undefined;

/**
 * Cline always gives plugins a logger. Where the program has none, a person is told what went wrong, and
 * the rest on demand.
 */
export function createConsoleLogger(
  tell: (text: string, plugin: string) => void,
  { showsLog }: { readonly showsLog: boolean },
): BasicLogger {
  const say = (message: string, metadata: Metadata): void =>
    tell(`${message}${formatMetadata(metadata)}`, String(metadata?.['pluginName']));
  const log = showsLog ? say : (): void => undefined;
  return { debug: log, log, error: say };
}

function formatMetadata(metadata: Metadata): string {
  // Whoever reads it is told by whom, and knows where; only programs need these as fields.
  const { pluginName: _, sessionId: __, ...facts } = metadata ?? {};
  const words = Object.entries(facts).map(([key, value]) => `${key}: ${formatValue(value)}`);
  return words.length === 0 ? '' : ` { ${words.join(', ')} }`;
}

function formatValue(value: unknown): string {
  return value instanceof Error
    ? String(value)
    : inspect(value, { compact: true, breakLength: Infinity });
}
