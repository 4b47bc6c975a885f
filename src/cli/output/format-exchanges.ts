import { colors } from './colors.ts';
import type { DecodedExchange } from '../../trace/exchange.ts';
import { redactText } from '../../host/redact-object.ts';
import { indent, formatDuration, toOneLine } from './print.ts';

/** The output of `--debug`: everything sent to and received from each hook, redacted. */
export function formatExchanges(exchanges: readonly DecodedExchange[], isRaw: boolean): string {
  const texts = exchanges.map(formatExchange);
  return (isRaw ? texts : texts.map((text) => redactText(text))).join('\n');
}

function formatExchange({
  hook,
  asked,
  cwd,
  payload,
  ending,
  stdout,
  stderr,
  durationMs,
}: DecodedExchange) {
  return [
    `${colors.bold('debug')} ${toOneLine(hook)}: ${ending} ${colors.dim(`after ${formatDuration(durationMs)}`)}`,
    formatField('asked', asked),
    ...(cwd === null ? [] : [formatField('in', cwd)]),
    formatField('payload', payload),
    formatField('stdout', stdout),
    formatField('stderr', stderr),
  ].join('\n');
}

const WIDTH = 9;

function formatField(name: string, text: string): string {
  const label = colors.dim(`  ${name}`.padEnd(WIDTH + 2));
  const body = text.trimEnd();
  if (body === '') return `${label}${colors.dim('(nothing)')}`;
  return label + indent(body, ' '.repeat(WIDTH + 2)).trimStart();
}
