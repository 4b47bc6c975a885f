import { createPluginOptions, type CommandContext } from '../context.ts';
import { stdin, stdout } from 'node:process';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { SessionSelection } from '../../host/agent/open-stored-session.ts';
import type { Host, HostOptions } from '../../host/create-host.ts';
import { colors } from '../output/colors.ts';
import { formatConsoleOutput } from '../output/format-plugin.ts';
import { toPrintable } from '../output/print.ts';
import { createTerminalUser } from './prompts/terminal-user.ts';
import { Chat, MIN_PASTE_LIMIT } from './chat.ts';
import { LineView } from './view/line-view.ts';
import { PromptHistory } from './prompt-history.ts';
import { QueuedPrompts } from './prompt-sender.ts';
import { ActivityLine } from './render/activity-line.ts';
import { ChatReport } from './render/report.ts';
import { Screen } from './view/screen.ts';
import { ChatTerminal } from './view/terminal.ts';
import type { ChatView, UserActions } from './view/view.ts';

/** Opens the chat's terminal with its view, which accepts input before there is a host. */
export function openChatApp(context: CommandContext, directory: string) {
  let chat: Chat | null = null;
  const leaving = new AbortController();
  const leave = (exitCode: ExitCode): void => {
    leaving.abort();
    chat?.leave(exitCode);
  };
  const getPasteLimit = (): number => chat?.getPasteLimit() ?? MIN_PASTE_LIMIT;
  const actions: UserActions = {
    submit: (text) => (chat === null ? queued.add(text) : chat.submit(text)),
    interrupt: () => (chat === null ? leave(EXIT.interrupted) : chat.interrupt()),
    escape: () => chat?.cancel(),
    leave: () => leave(EXIT.fine),
    cycleMode: () => chat?.cycleMode(),
    unfold: () => report.showHooks(),
    getPasteLimit,
    rejectPaste: (characters) =>
      report.showText(colors.yellow(formatPasteRefusal(characters, getPasteLimit()))),
    noteKey: () => chat?.noteKey(),
  };
  const streams = { input: stdin, output: stdout };
  const handleClosed = (): void => {
    view.dismissAll();
    leave(EXIT.interrupted);
  };
  const view: ChatView =
    context.env['TERM'] === 'dumb'
      ? new LineView(stdin, stdout, actions)
      : new Screen(new ChatTerminal(streams, handleClosed), actions, directory);
  const queued = new QueuedPrompts(view);
  const activity = new ActivityLine((text) => view.setActivity(text));
  const report = new ChatReport(context, view, activity);
  const history = new PromptHistory();
  view.addHistory(history.prompts);
  view.setStatus(colors.dim('/help for help'));
  context.signal.addEventListener('abort', handleClosed, { once: true });
  const hostOptions: HostOptions = {
    person: createTerminalUser(view, () => chat?.getCwd() ?? directory),
    onProgress: (progress) => activity.observe(progress),
    onNotice: (text) => report.showText(colors.dim(`note: ${toPrintable(text)}`)),
    plugins: {
      ...createPluginOptions(context.flags),
      onConsole: createConsoleListener(report),
    },
  };
  return {
    /** Options for the host that the chat runs on. */
    hostOptions,
    async run(host: Host, request: SessionSelection, prompt: string | null): Promise<ExitCode> {
      if (leaving.signal.aborted) return EXIT.interrupted;
      if (prompt !== null) queued.addFirst(prompt);
      chat = new Chat({ context, host, view, report, activity, history, queued });
      return chat.run(request);
    },
    showNote: (text: string) => report.showText(colors.dim(toPrintable(text))),
    waitUntilDrawn: () => view.waitUntilDrawn(),
    close: () => view.close(),
  };
}

function createConsoleListener(report: ChatReport): (text: string) => void {
  return (text) => {
    const output = formatConsoleOutput(text);
    if (output !== null) report.showText(colors.dim(output));
  };
}

function formatPasteRefusal(characters: number, most: number): string {
  const [count, limit] = [characters, most].map((number) => number.toLocaleString('en-US'));
  return (
    `Paste of ${count} characters exceeds the model’s limit of ${limit} and was discarded. ` +
    'Save it to a file and mention it with @.'
  );
}
