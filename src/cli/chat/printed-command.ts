import type { Command, CommandContext } from '../context.ts';
import type { Printer } from '../words/print.ts';
import { shown } from './telling/shown-text.ts';
import type { ChatView } from './view/view.ts';

export interface PrintedCommand<Options> {
  readonly command: Command<Options>;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/** Runs another command of the program, which prints into the chat and asks there. */
export async function runPrinted<Options>(
  { flags: { json: _json, ...flags }, ...context }: CommandContext,
  view: ChatView,
  { command, options, signal }: PrintedCommand<Options>,
): Promise<void> {
  const lines: string[] = [];
  const collect = (text: string): void => void lines.push(shown(text));
  const print: Printer = {
    isTerminal: false,
    isAnswerShown: true,
    out: collect,
    note: collect,
    json: (value) => collect(JSON.stringify(value, null, 2)),
    jsonLine: (value) => collect(JSON.stringify(value)),
    notify: () => undefined,
    progress: () => undefined,
  };
  const confirm = async (question: string): Promise<boolean> => {
    const shownLines = lines.splice(0).flatMap((text) => text.split('\n'));
    const answer = await view.choose(
      { title: question, lines: shownLines, options: YES_NO },
      signal,
    );
    return answer === 'yes';
  };
  await command({ ...context, flags, print, confirm }, options);
  if (lines.length > 0) view.say(lines.join('\n'));
}

const YES_NO = [
  { value: 'no', key: 'n', label: 'No' },
  { value: 'yes', key: 'y', label: 'Yes' },
];
