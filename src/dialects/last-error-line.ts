import { truncateText } from '../base/json.ts';

const LAST_LINE_CHARACTERS = 300;

/** Formats the line with the error, mostly the last one, after a colon; empty when there is none. */
export function formatLastErrorLine(output: string): string {
  const lines = output.trimEnd().split('\n');
  const last = lines.at(-1)?.trim() ?? '';
  const line = findLineBefore(last, lines) ?? last;
  return line === '' ? '' : `: ${truncateText(line, LAST_LINE_CHARACTERS)}`;
}

const END_OF_NODES_REPORT = /^Node\.js v\d/;
const ADVICE_OF_ENV = /\benv: use -\[v\]S/;

/** Finds the error where the last line is only the end of a program's report. */
function findLineBefore(last: string, lines: readonly string[]): string | undefined {
  if (END_OF_NODES_REPORT.test(last)) return lines.find(isErrorLine);
  return ADVICE_OF_ENV.test(last) ? lines.at(-2)?.trim() : undefined;
}

function isErrorLine(line: string): boolean {
  return /^(?:Uncaught )?(?:\w*Error\b.*|UnhandledPromiseRejection):/.test(line);
}
