import { StringDecoder } from 'node:string_decoder';
import { truncateText } from '../../../base/json.ts';

/** How much of one line is passed on. */
const MAX_LINE = 10_000;
/** How many lines are passed on in one stretch of time; a plugin that prints without end must not occupy its host. */
const MAX_LINES = 500;
const STRETCH_MS = 1000;

/** Reads what a process prints, line by line. */
export interface OutputLines {
  read(chunk: Buffer): void;
  /** What stands behind the last line break. */
  end(): void;
}

export function createOutputLines(onLine: (line: string) => void): OutputLines {
  const decoder = new StringDecoder('utf8');
  const pass = limited(onLine);
  let rest = '';
  return {
    read(chunk) {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      // Nobody needs more of a line than is passed on.
      rest = truncateText(rest + first, MAX_LINE);
      for (const next of others) {
        pass(rest);
        rest = truncateText(next, MAX_LINE);
      }
    },
    end() {
      pass(rest + decoder.end());
      rest = '';
    },
  };
}

function limited(onLine: (line: string) => void): (line: string) => void {
  let passed = 0;
  let leftOut = 0;
  const begin = (): void => {
    passed = 0;
    if (leftOut > 0) onLine(`(${leftOut} more lines are left out)`);
    leftOut = 0;
  };
  let stretch: NodeJS.Timeout | null = null;
  return (line) => {
    const text = line.trimEnd();
    if (text === '') return;
    stretch ??= setTimeout(() => {
      stretch = null;
      begin();
    }, STRETCH_MS).unref();
    passed += 1;
    if (passed <= MAX_LINES) onLine(text);
    else leftOut += 1;
  };
}
