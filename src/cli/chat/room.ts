import { pluginOptions } from '../plugin-options.ts';
import { stdin, stdout } from 'node:process';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { CommandContext } from '../context.ts';
import type { SessionSelection } from '../../host/agent/open-stored-session.ts';
import type { Host, HostOptions } from '../../host/create-host.ts';
import { colors } from '../words/colors.ts';
import { pluginWords } from '../words/plugin.ts';
import { oneLine, printable, printableLines } from '../words/print.ts';
import { personAt } from './asking/person.ts';
import { Chat, LEAST_PASTED } from './chat.ts';
import { LineView } from './line-view.ts';
import { openPromptHistory } from './prompt-history.ts';
import { QueuedPrompts } from './queued-prompts.ts';
import { createDoing } from './telling/doing.ts';
import { pasteRefusal } from './telling/prompt-words.ts';
import { ChatReport } from './telling/report.ts';
import { Screen } from './view/screen.ts';
import { ChatTerminal } from './view/terminal.ts';
import type { ChatView, Gestures } from './view/view.ts';

/** The terminal with everything in it; can be typed into before there is a host. */
export interface Room {
  /** What the host that is opened for it must be told. */
  readonly observing: HostOptions;
  converse(host: Host, beginning: Beginning): Promise<ExitCode>;
  /** Waits until it can be seen. */
  drawn(): Promise<void>;
  close(): Promise<void>;
}

export interface Beginning {
  readonly wish: SessionSelection;
  readonly prompt: string | null;
}

export function openRoom(context: CommandContext, directory: string): Room {
  let chat: Chat | null = null;
  const left = new AbortController();
  const leave = (exitCode: ExitCode): void => {
    left.abort();
    chat?.leave(exitCode);
  };
  const pasteLimit = (): number => chat?.pasteLimit() ?? LEAST_PASTED;
  const gestures: Gestures = {
    submit: (text) => (chat === null ? queued.add(text) : chat.submit(text)),
    interrupt: () => (chat === null ? leave(EXIT.interrupted) : chat.interrupt()),
    escape: () => chat?.cancel(),
    leave: () => leave(EXIT.fine),
    nextMode: () => chat?.nextMode(),
    unfold: () => report.tellHooks(),
    pasteLimit,
    refusedPaste: (characters) => report.say(colors.yellow(pasteRefusal(characters, pasteLimit()))),
    typed: () => chat?.typed(),
  };
  const streams = { input: stdin, output: stdout };
  const gone = (): void => {
    view.dismissAll();
    leave(EXIT.interrupted);
  };
  const view: ChatView =
    context.env['TERM'] === 'dumb'
      ? new LineView(streams, gestures)
      : new Screen({ terminal: new ChatTerminal(streams, gone), directory, gestures });
  const queued = new QueuedPrompts(view);
  const doing = createDoing((text) => view.setDoing(text));
  const report = new ChatReport({ context, view, doing });
  const history = openPromptHistory();
  view.addHistory(history.prompts);
  view.setStatus(colors.dim('/help shows what can be typed'));
  context.signal.addEventListener('abort', gone, { once: true });
  return {
    observing: {
      person: personAt(view, () => chat?.cwd() ?? directory),
      onProgress: doing.observe,
      onNotice: (text) => report.say(colors.dim(`note: ${printable(text)}`)),
      plugins: {
        ...pluginOptions(context.flags),
        onConsole: sayDimly(report),
      },
      onLate({ outcome: { hook, decision } }) {
        if (decision?.notice === undefined) return;
        report.say(`${colors.yellow(`${oneLine(hook)} says:`)} ${printableLines(decision.notice)}`);
      },
    },
    async converse(host, { wish, prompt }) {
      if (left.signal.aborted) return EXIT.interrupted;
      if (prompt !== null) queued.addFirst(prompt);
      chat = new Chat({ context, host, view, report, doing, history, queued });
      return chat.converse(wish);
    },
    drawn: () => view.drawn(),
    close: () => view.close(),
  };
}

function sayDimly(report: ChatReport): (text: string) => void {
  return (text) => {
    const words = pluginWords(text);
    if (words !== null) report.say(colors.dim(words));
  };
}
