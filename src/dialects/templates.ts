import type { HookExample, Row } from './cline-files/templates/examples.ts';

/** What the comment at the head of an example says of every event of its format. */
interface HeaderWords {
  /** What comes in with every event; the fields of this one follow. */
  readonly gets: readonly string[];
  /** How an answer is given; the answers follow. */
  readonly answers: string;
  readonly end: readonly string[];
}

interface Headed {
  readonly event: string;
  readonly example: HookExample;
  readonly words: HeaderWords;
}

/** The comment at the head of an example: when it runs, what it gets and what it may answer. */
export function headerOf({ event, example, words }: Headed, mark: '#' | '//'): string {
  const { runs, does, reads, answers } = example;
  const lines = [
    `${event} runs ${runs}.`,
    `This one ${does}.`,
    '',
    ...words.gets,
    ...columns(reads),
    words.answers,
    ...columns(answers),
    ...words.end,
  ];
  return `${lines.map((line) => `${mark} ${line}`.trimEnd()).join('\n')}\n`;
}

// What is longer than this has a line of its own, so that the others stay beside their meaning.
const MAX_COLUMN = 44;

function columns(rows: readonly Row[]): string[] {
  const lengths = rows.map(([what]) => what.length);
  const width = Math.max(0, ...lengths.filter((length) => length <= MAX_COLUMN));
  return rows.flatMap(([what, meaning]) =>
    what.length > MAX_COLUMN
      ? [`  ${what}`, `  ${''.padEnd(width)}  ${meaning}`]
      : [`  ${what.padEnd(width)}  ${meaning}`],
  );
}

/**
 * A script as it stands in the file: backslashes are kept, but for those in front of a backtick
 * and of `${`, which a template literal cannot hold bare.
 */
export function script({ raw }: TemplateStringsArray): string {
  const text = raw.join('').replaceAll('\\`', '`').replaceAll('\\${', '${');
  return `${text.replace(/^\n/u, '').trimEnd()}\n`;
}
