import type { SlashCommand } from '../../agent/instructions/commands.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import {
  toOneLine,
  formatCount,
  toPrintable,
  formatTable,
  formatLocalTime,
  type Printer,
} from '../output/print.ts';
import type { Host } from '../../host/create-host.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { formatCost } from './render/status.ts';
import type { CommandCompletion, ChatView } from './view/view.ts';
import { truncateText } from '../../base/json.ts';
import type { SessionSummary } from '../../sessions/session-store.ts';
import { openStoredSessions } from '../config-files/stored-sessions.ts';
import { redactObject } from '../../host/redact-object.ts';
import type { Command, CommandContext } from '../context.ts';
import { toScreenText } from './render/format-text.ts';

/** What a command of the chat may use. */
interface ChatCommandContext {
  readonly context: CommandContext;
  readonly host: Host;
  readonly view: ChatView;
  readonly sessionId: string;
  /** Aborts when the person does not want to answer any more. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly leave: () => void;
  /** Goes on in another session, and ends this one for the reason. */
  readonly changeSession: (to: { readonly resume: string } | 'new') => Promise<void>;
}

interface ChatCommand extends CommandCompletion {
  /** Whether it must wait until the agent is done. */
  readonly needsIdle?: true;
  run(place: ChatCommandContext, argument: string): Promise<void> | void;
}

const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'help',
    about: 'what can be typed here',
    run: ({ host, say, sessionId }) => say(formatHelp(host, sessionId)),
  },
  { name: 'hooks', about: 'every hook found, and whether it runs', run: showHooks },
  { name: 'plugins', about: 'plugins that bring hooks or commands', run: showPlugins },
  {
    name: 'trust',
    about: 'look at hooks that are not trusted, and let them run',
    run: reviewHooks,
  },
  {
    name: 'model',
    about: 'which model it is; with a name, another one',
    needsIdle: true,
    run: switchModel,
  },
  {
    name: 'compact',
    about: 'sum up what was said, to make room',
    needsIdle: true,
    run: compactSession,
  },
  {
    name: 'clear',
    about: 'begin anew',
    needsIdle: true,
    run: ({ changeSession }) => changeSession('new'),
  },
  { name: 'resume', about: 'go on with an earlier session', needsIdle: true, run: resumeSession },
  {
    name: 'cost',
    about: 'tokens and money so far',
    run: ({ host, sessionId, say }) => say(formatCost(host.session(sessionId).state())),
  },
  { name: 'exit', about: 'leave', run: ({ leave }) => leave() },
];

const TYPED = /^\/([A-Za-z][\w:.-]*)(?:\s+([^]*))?$/u;

/** What stands behind a slash, as it is to be understood. */
export type TypedCommand =
  | {
      readonly kind: 'ours';
      readonly needsRest: boolean;
      run(place: ChatCommandContext): Promise<void>;
    }
  | { readonly kind: 'unknown'; readonly problem: string }
  /** For the agent: a command that somebody wrote down, or no command at all. */
  | { readonly kind: 'prompt' };

export function parseTyped(text: string, known: readonly string[]): TypedCommand {
  const [, name, argument = ''] = TYPED.exec(text) ?? [];
  if (name === undefined) return { kind: 'prompt' };
  const ours = findBuiltIn(name);
  if (ours === undefined && known.includes(name)) return { kind: 'prompt' };
  if (ours === undefined) return { kind: 'unknown', problem: formatUnknownCommand(name, known) };
  return {
    kind: 'ours',
    needsRest: ours.needsIdle === true,
    run: async (place) => ours.run(place, argument.trim()),
  };
}

/** A workspace must not decide what `/trust` means, so ours win. */
function findBuiltIn(name: string): ChatCommand | undefined {
  return COMMANDS.find((command) => command.name === (name === 'quit' ? 'exit' : name));
}

/** Whether it is a prompt that somebody wrote down under this name. */
export function isCustomCommand(text: string, commands: readonly SlashCommand[]): boolean {
  const [, typed] = TYPED.exec(text.trim()) ?? [];
  return commands.some(({ name }) => name === typed);
}

function formatUnknownCommand(name: string, known: readonly string[]): string {
  const meant = findClosestName(name, [...COMMANDS.map((command) => command.name), ...known]);
  const hint = meant === null ? '/help shows all of them.' : `Did you mean /${toPrintable(meant)}?`;
  return `There is no command /${toPrintable(name)}. ${hint}`;
}

/** Ours, and those that somebody wrote down for the session under other names. */
export function listCommands(host: Host, sessionId: string): readonly CommandCompletion[] {
  const theirs = host.session(sessionId).commands();
  return [
    ...COMMANDS,
    ...theirs
      .filter(({ name }) => findBuiltIn(name) === undefined)
      .map(({ name, description }) => ({ name, about: description })),
  ];
}

function formatHelp(host: Host, sessionId: string): string {
  const rows = listCommands(host, sessionId).map(({ name, about }) => [
    `  /${toOneLine(name)}`,
    toPrintable(about.split('\n')[0] ?? ''),
  ]);
  return [formatTable(rows), ...formatHiddenCommands(host, sessionId), '', KEYS].join('\n');
}

function formatHiddenCommands(host: Host, sessionId: string): readonly string[] {
  const hidden = host
    .session(sessionId)
    .commands()
    .filter(({ name }) => findBuiltIn(name) !== undefined);
  return hidden.map(
    ({ name, file }) =>
      `  /${toOneLine(name)} of ${toOneLine(file)} cannot be used here: the name is taken; rename the file`,
  );
}

const KEYS = formatTable([
  ['  enter', 'send; while the agent works, what you send is told to it'],
  ['  shift+enter', 'a new line; also alt+enter, or \\ and enter'],
  ['  @', 'names a file'],
  ['  ctrl+o', 'what hooks and tools said; again folds it'],
  ['  shift+tab', 'the next permission mode'],
  ['  esc, ctrl+c', 'cancel the run; ctrl+c twice leaves'],
]);

async function showHooks({ context, view, signal }: ChatCommandContext): Promise<void> {
  const { listHooks } = await import('../commands/hooks-list.ts');
  return runInChat(context, view, { command: listHooks, options: {}, signal });
}

async function reviewHooks({ context, host, view, signal }: ChatCommandContext): Promise<void> {
  const { trustHooks } = await import('../commands/trust.ts');
  await runInChat(context, view, { command: trustHooks, options: { ids: [] }, signal });
  host.rescan();
}

function showPlugins({ host, sessionId, say }: ChatCommandContext): void {
  const hooks = host.hooks().flatMap(({ hook }) => hook.details['source'] ?? []);
  const plugins = hooks.filter((source) => source.startsWith('plugin'));
  const commands = host
    .session(sessionId)
    .commands()
    .filter(({ source }) => source === 'plugin');
  const loaded = host.plugins(sessionId)?.list() ?? [];
  if (plugins.length === 0 && commands.length === 0 && loaded.length === 0) {
    say('No plugin brings hooks or commands here.');
    return;
  }
  const rows = [...new Set(plugins)].map((source) => [
    toOneLine(source),
    formatCount(plugins.filter((each) => each === source).length, 'hook'),
  ]);
  const names = commands.map(({ name }) => [`/${toOneLine(name)}`, 'command']);
  say(formatTable([...loaded.map(formatPluginRow), ...rows, ...names]));
}

function formatPluginRow({ name, state, lastError, contributes }: PluginStatus): readonly string[] {
  const brought = Object.entries(contributes ?? {}).flatMap(([kind, names]) =>
    names.length === 0 ? [] : [`${kind}: ${names.map(toOneLine).join(', ')}`],
  );
  return [toOneLine(name), state, lastError === null ? brought.join('; ') : toOneLine(lastError)];
}

async function switchModel(
  { host, sessionId, say, signal }: ChatCommandContext,
  name: string,
): Promise<void> {
  const { model } = host.session(sessionId).state();
  if (name === '') {
    say(
      `The model is ${toOneLine(model.id)} (${toOneLine(model.provider)}). /model NAME takes another.`,
    );
    return;
  }
  const refusal = await host.switchModel(sessionId, name, { source: 'command', signal });
  say(refusal ?? `The model is ${toOneLine(host.session(sessionId).state().model.id)} now.`);
}

async function compactSession(
  { host, sessionId, say }: ChatCommandContext,
  instructions: string,
): Promise<void> {
  const session = host.session(sessionId);
  const problem = await session.compact(instructions === '' ? null : instructions);
  if (problem !== null) say(`It was not summed up: ${toPrintable(problem)}`);
}

async function resumeSession(place: ChatCommandContext, id: string): Promise<void> {
  const chosen = id === '' ? await pickSession(place) : id;
  if (chosen !== null) await place.changeSession({ resume: chosen });
}

const MAX_SESSIONS = 9;
const PROMPT_WIDTH = 40;

/** Has the person choose a stored session of this directory; null when there is none to choose. */
async function pickSession(place: ChatCommandContext): Promise<string | null> {
  const { host, view, context, sessionId, signal, say } = place;
  const stored = openStoredSessions()
    .store.list()
    .filter(({ id, startDirectory }) => startDirectory === host.startDirectory && id !== sessionId)
    .filter(({ messageCount }) => messageCount > 0)
    .slice(0, MAX_SESSIONS);
  if (stored.length === 0) {
    say('No other session is stored for this directory.');
    return null;
  }
  const { names } = await redactObject({ names: stored.map(formatSessionName) }, context.flags);
  const options = stored.map(({ id, lastUsedAt, messageCount }, at) => ({
    value: id,
    label: names[at] ?? id,
    key: String(at + 1),
    about: `${formatLocalTime(lastUsedAt)}, ${formatCount(messageCount, 'message')}`,
  }));
  return view.choose({ title: 'Go on with which session?', lines: [], options }, signal);
}

function formatSessionName({ title, firstPrompt }: SessionSummary): string {
  const words = (title ?? firstPrompt).replaceAll(/\s+/gu, ' ').trim();
  return toPrintable(
    words.length <= PROMPT_WIDTH ? words : `${truncateText(words, PROMPT_WIDTH - 1)}…`,
  );
}

interface PrintedCommand<Options> {
  readonly command: Command<Options>;
  readonly options: Options;
  readonly signal: AbortSignal;
}

/** Runs another command of the program, which prints into the chat and asks there. */
async function runInChat<Options>(
  { flags: { json: _json, ...flags }, ...context }: CommandContext,
  view: ChatView,
  { command, options, signal }: PrintedCommand<Options>,
): Promise<void> {
  const lines: string[] = [];
  const collect = (text: string): void => void lines.push(toScreenText(text));
  const print: Printer = {
    isTerminal: false,
    isStdoutTerminal: true,
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
