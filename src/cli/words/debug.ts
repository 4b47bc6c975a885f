import { colors } from './colors.ts';
import type { Exchange } from '../../dialects/discovery.ts';
import { redactTexts } from '../../host/redact.ts';
import { indent, milliseconds, oneLine } from './print.ts';

/** What `--debug` prints: everything that went to each hook and came back, without secrets. */
export async function readableExchanges(
  exchanges: readonly Exchange[],
  isRaw: boolean,
): Promise<string> {
  const texts = exchanges.map(describe);
  return (isRaw ? texts : await redactTexts(texts)).join('\n');
}

function describe({ hook, asked, cwd, payload, ending, stdout, stderr, durationMs }: Exchange) {
  return [
    `${colors.bold('debug')} ${oneLine(hook)}: ${ending} ${colors.dim(`after ${milliseconds(durationMs)}`)}`,
    field('asked', asked),
    ...(cwd === null ? [] : [field('in', cwd)]),
    field('payload', payload),
    field('stdout', stdout),
    field('stderr', stderr),
  ].join('\n');
}

const WIDTH = 9;

function field(name: string, text: string): string {
  const label = colors.dim(`  ${name}`.padEnd(WIDTH + 2));
  const body = text.trimEnd();
  if (body === '') return `${label}${colors.dim('(nothing)')}`;
  return label + indent(body, ' '.repeat(WIDTH + 2)).trimStart();
}
