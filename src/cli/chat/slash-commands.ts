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

/** What a slash command of the chat can use. */
interface ChatCommandContext {
  readonly context: CommandContext;
  readonly host: Host;
  readonly view: ChatView;
  readonly sessionId: string;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  readonly showText: (text: string) => void;
  readonly leave: () => void;
  /** Switches to another session and ends this one. */
  readonly changeSession: (to: { readonly resume: string } | 'new') => Promise<void>;
}

interface ChatCommand extends CommandCompletion {
  /** Whether the command has to wait until the agent is idle. */
  readonly needsIdle?: true;
  run(command: ChatCommandContext, argument: string): Promise<void> | void;
}

const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'help',
    about: 'show commands and keys',
    run: ({ host, showText, sessionId }) => showText(formatHelp(host, sessionId)),
  },
  { name: 'hooks', about: 'list hooks and their state', run: showHooks },
  { name: 'plugins', about: 'list plugins', run: showPlugins },
  {
    name: 'trust',
    about: 'review and trust hooks',
    run: reviewHooks,
  },
  {
    name: 'model',
    about: 'show the model, or switch to another',
    needsIdle: true,
    run: switchModel,
  },
  {
    name: 'compact',
    about: 'compact the conversation',
    needsIdle: true,
    run: compactSession,
  },
  {
    name: 'clear',
    about: 'start a new session',
    needsIdle: true,
    run: ({ changeSession }) => changeSession('new'),
  },
  { name: 'resume', about: 'resume an earlier session', needsIdle: true, run: resumeSession },
  {
    name: 'cost',
    about: 'show tokens and cost',
    run: ({ host, sessionId, showText }) => showText(formatCost(host.session(sessionId).state())),
  },
  { name: 'exit', about: 'exit', run: ({ leave }) => leave() },
];

const TYPED = /^\/([A-Za-z][\w:.-]*)(?:\s+([^]*))?$/u;

/** How typed input is handled. */
export type TypedCommand =
  | {
      readonly kind: 'builtin';
      readonly needsIdle: boolean;
      run(command: ChatCommandContext): Promise<void>;
    }
  | { readonly kind: 'unknown'; readonly problem: string }
  /** Sent to the agent: a custom command or a plain prompt. */
  | { readonly kind: 'prompt' };

export function parseTyped(text: string, commandNames: readonly string[]): TypedCommand {
  const [, name, argument = ''] = TYPED.exec(text) ?? [];
  if (name === undefined) return { kind: 'prompt' };
  const builtIn = findBuiltIn(name);
  if (builtIn === undefined && commandNames.includes(name)) return { kind: 'prompt' };
  if (builtIn === undefined) {
    return { kind: 'unknown', problem: formatUnknownCommand(name, commandNames) };
  }
  return {
    kind: 'builtin',
    needsIdle: builtIn.needsIdle === true,
    run: async (command) => builtIn.run(command, argument.trim()),
  };
}

/** Built-in commands win, because a workspace must not redefine `/trust`. */
function findBuiltIn(name: string): ChatCommand | undefined {
  return COMMANDS.find((command) => command.name === (name === 'quit' ? 'exit' : name));
}

/** Whether the text runs a custom command. */
export function isCustomCommand(text: string, commands: readonly SlashCommand[]): boolean {
  const [, typed] = TYPED.exec(text.trim()) ?? [];
  return commands.some(({ name }) => name === typed);
}

function formatUnknownCommand(name: string, commandNames: readonly string[]): string {
  const closest = findClosestName(name, [
    ...COMMANDS.map((command) => command.name),
    ...commandNames,
  ]);
  const hint = closest === null ? 'See /help.' : `Did you mean /${toPrintable(closest)}?`;
  return `Unknown command /${toPrintable(name)}. ${hint}`;
}

/** Built-in commands and the session's custom commands with other names. */
export function listCommands(host: Host, sessionId: string): readonly CommandCompletion[] {
  const custom = host.session(sessionId).commands();
  return [
    ...COMMANDS,
    ...custom
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
      `  /${toOneLine(name)} of ${toOneLine(file)} is hidden by a built-in command; rename the file`,
  );
}

const KEYS = formatTable([
  ['  enter', 'send; also while the agent works'],
  ['  shift+enter', 'new line (also alt+enter, or \\ and enter)'],
  ['  @', 'mention a file'],
  ['  ctrl+o', 'show or hide output of hooks and tools'],
  ['  shift+tab', 'next permission mode'],
  ['  esc, ctrl+c', 'cancel the run; ctrl+c twice exits'],
]);

async function showHooks(command: ChatCommandContext): Promise<void> {
  const { listHooks } = await import('../commands/hooks-list.ts');
  return runInChat(command, listHooks, {});
}

async function reviewHooks(command: ChatCommandContext): Promise<void> {
  const { trustHooks } = await import('../commands/trust.ts');
  await runInChat(command, trustHooks, { ids: [] });
  command.host.rescan();
}

function showPlugins({ host, sessionId, showText }: ChatCommandContext): void {
  const hooks = host.hooks().flatMap(({ hook }) => hook.details['source'] ?? []);
  const plugins = hooks.filter((source) => source.startsWith('plugin'));
  const commands = host
    .session(sessionId)
    .commands()
    .filter(({ source }) => source === 'plugin');
  const loaded = host.plugins(sessionId)?.list() ?? [];
  if (plugins.length === 0 && commands.length === 0 && loaded.length === 0) {
    showText('No plugins.');
    return;
  }
  const rows = [...new Set(plugins)].map((source) => [
    toOneLine(source),
    formatCount(plugins.filter((each) => each === source).length, 'hook'),
  ]);
  const names = commands.map(({ name }) => [`/${toOneLine(name)}`, 'command']);
  showText(formatTable([...loaded.map(formatPluginRow), ...rows, ...names]));
}

function formatPluginRow({ name, state, lastError, contributes }: PluginStatus): readonly string[] {
  const contributions = Object.entries(contributes ?? {}).flatMap(([kind, names]) =>
    names.length === 0 ? [] : [`${kind}: ${names.map(toOneLine).join(', ')}`],
  );
  return [
    toOneLine(name),
    state,
    lastError === null ? contributions.join('; ') : toOneLine(lastError),
  ];
}

async function switchModel(
  { host, sessionId, showText, signal }: ChatCommandContext,
  name: string,
): Promise<void> {
  const session = host.session(sessionId);
  if (name === '') {
    const { model } = session.state();
    showText(
      `Model: ${toOneLine(model.id)} (${toOneLine(model.provider)}). Switch with /model NAME.`,
    );
    return;
  }
  const refusal = await session.switchModel({ model: name, source: 'command', signal });
  showText(refusal ?? `Switched to ${toOneLine(session.state().model.id)}.`);
}

async function compactSession(
  { host, sessionId, showText }: ChatCommandContext,
  instructions: string,
): Promise<void> {
  const session = host.session(sessionId);
  const problem = await session.compact(instructions === '' ? null : instructions);
  if (problem !== null) showText(`Compaction failed: ${toPrintable(problem)}`);
}

async function resumeSession(command: ChatCommandContext, id: string): Promise<void> {
  const chosen = id === '' ? await pickSession(command) : id;
  if (chosen !== null) await command.changeSession({ resume: chosen });
}

const MAX_SESSIONS = 9;
const PROMPT_WIDTH = 40;

/** Lets the user choose a stored session of this directory; null when there is none or they cancel. */
async function pickSession(command: ChatCommandContext): Promise<string | null> {
  const { host, view, context, sessionId, signal, showText } = command;
  const stored = openStoredSessions()
    .store.list()
    .filter(({ id, startDirectory }) => startDirectory === host.startDirectory && id !== sessionId)
    .filter(({ messageCount }) => messageCount > 0)
    .slice(0, MAX_SESSIONS);
  if (stored.length === 0) {
    showText('No other sessions for this directory.');
    return null;
  }
  const { names } = await redactObject({ names: stored.map(formatSessionName) }, context.flags);
  const options = stored.map(({ id, lastUsedAt, messageCount }, at) => ({
    value: id,
    label: names[at] ?? id,
    key: String(at + 1),
    about: `${formatLocalTime(lastUsedAt)}, ${formatCount(messageCount, 'message')}`,
  }));
  return view.choose({ title: 'Resume which session?', lines: [], options }, signal);
}

function formatSessionName({ title, firstPrompt }: SessionSummary): string {
  const text = (title ?? firstPrompt).replaceAll(/\s+/gu, ' ').trim();
  return toPrintable(
    text.length <= PROMPT_WIDTH ? text : `${truncateText(text, PROMPT_WIDTH - 1)}…`,
  );
}

/** Runs a CLI command whose output and questions appear in the chat. */
async function runInChat<Options>(
  { context: { flags: allFlags, ...context }, view, signal }: ChatCommandContext,
  command: Command<Options>,
  options: Options,
): Promise<void> {
  const { json: _json, ...flags } = allFlags;
  const lines: string[] = [];
  const collect = (text: string): void => void lines.push(toScreenText(text));
  const print: Printer = {
    isTerminal: false,
    isStdoutTerminal: true,
    isStdoutClosed: () => false,
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
  if (lines.length > 0) view.showText(lines.join('\n'));
}

const YES_NO = [
  { value: 'no', key: 'n', label: 'No' },
  { value: 'yes', key: 'y', label: 'Yes' },
];
