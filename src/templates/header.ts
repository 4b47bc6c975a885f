import { type ExampleEvent, HOOK_EXAMPLES, type Row } from './events.ts';

/** The comment at the head of an example: when it runs, what it gets and what it may answer. */
export function headerOf(event: ExampleEvent, mark: '#' | '//'): string {
  const { runs, does, reads, answers } = HOOK_EXAMPLES[event];
  const lines = [
    `${event} runs ${runs}.`,
    `This one ${does}.`,
    '',
    'It gets one JSON object on stdin. With every event come taskId, timestamp,',
    'workspaceRoots, userId and model; with this one also:',
    ...columns(reads),
    `It prints one JSON object on stdout${answers.length > 1 ? '; fields may be combined' : ''}:`,
    ...columns(answers),
    'Words for a person go to stderr.',
  ];
  return `${lines.map((line) => `${mark} ${line}`.trimEnd()).join('\n')}\n`;
}

function columns(rows: readonly Row[]): string[] {
  const width = Math.max(...rows.map(([what]) => what.length));
  return rows.map(([what, meaning]) => `  ${what.padEnd(width)}  ${meaning}`);
}
