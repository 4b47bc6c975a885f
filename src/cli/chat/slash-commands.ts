import type { SlashCommand } from '../../agent/instructions/commands.ts';
import { findClosestName } from '../../base/spelling.ts';
import { oneLine, plural, printable, table } from '../words/print.ts';
import type { Host } from '../../host/create-host.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { runPrinted } from './printed-command.ts';
import { pickSession } from './pick-session.ts';
import { costWords } from './telling/status.ts';
import type { CommandPlace } from './command-place.ts';
import type { CompletedCommand } from './view/view.ts';

interface ChatCommand extends CompletedCommand {
  /** Whether it must wait until the agent is done. */
  readonly needsRest?: true;
  run(place: CommandPlace, argument: string): Promise<void> | void;
}

const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'help',
    about: 'what can be typed here',
    run: ({ host, say, sessionId }) => say(helpText(host, sessionId)),
  },
  { name: 'hooks', about: 'every hook found, and whether it runs', run: showHooks },
  { name: 'plugins', about: 'plugins that bring hooks or commands', run: showPlugins },
  { name: 'trust', about: 'look at hooks that are not trusted, and let them run', run: trust },
  {
    name: 'model',
    about: 'which model it is; with a name, another one',
    needsRest: true,
    run: switchModel,
  },
  { name: 'compact', about: 'sum up what was said, to make room', needsRest: true, run: compact },
  {
    name: 'clear',
    about: 'begin anew',
    needsRest: true,
    run: ({ changeSession }) => changeSession('new'),
  },
  { name: 'resume', about: 'go on with an earlier session', needsRest: true, run: resume },
  {
    name: 'cost',
    about: 'tokens and money so far',
    run: ({ host, sessionId, say }) => say(costWords(host.session(sessionId).state())),
  },
  { name: 'exit', about: 'leave', run: ({ leave }) => leave() },
];

const TYPED = /^\/([A-Za-z][\w:.-]*)(?:\s+([^]*))?$/u;

/** What stands behind a slash, as it is to be understood. */
export type TypedCommand =
  | { readonly kind: 'ours'; readonly needsRest: boolean; run(place: CommandPlace): Promise<void> }
  | { readonly kind: 'unknown'; readonly problem: string }
  /** For the agent: a command that somebody wrote down, or no command at all. */
  | { readonly kind: 'prompt' };

export function readTyped(text: string, known: readonly string[]): TypedCommand {
  const [, name, argument = ''] = TYPED.exec(text) ?? [];
  if (name === undefined) return { kind: 'prompt' };
  const ours = ownCommand(name);
  if (ours === undefined && known.includes(name)) return { kind: 'prompt' };
  if (ours === undefined) return { kind: 'unknown', problem: unknownCommand(name, known) };
  return {
    kind: 'ours',
    needsRest: ours.needsRest === true,
    run: async (place) => ours.run(place, argument.trim()),
  };
}

/** A workspace must not decide what `/trust` means, so ours win. */
function ownCommand(name: string): ChatCommand | undefined {
  return COMMANDS.find((command) => command.name === (name === 'quit' ? 'exit' : name));
}

/** Whether it is a prompt that somebody wrote down under this name. */
export function isWrittenCommand(text: string, commands: readonly SlashCommand[]): boolean {
  const [, typed] = TYPED.exec(text.trim()) ?? [];
  return commands.some(({ name }) => name === typed);
}

function unknownCommand(name: string, known: readonly string[]): string {
  const meant = findClosestName(name, [...COMMANDS.map((command) => command.name), ...known]);
  const hint = meant === null ? '/help shows all of them.' : `Did you mean /${printable(meant)}?`;
  return `There is no command /${printable(name)}. ${hint}`;
}

/** Ours, and those that somebody wrote down for the session under other names. */
export function allCommands(host: Host, sessionId: string): readonly CompletedCommand[] {
  const theirs = host.session(sessionId).commands();
  return [
    ...COMMANDS,
    ...theirs
      .filter(({ name }) => ownCommand(name) === undefined)
      .map(({ name, description }) => ({ name, about: description })),
  ];
}

function helpText(host: Host, sessionId: string): string {
  const rows = allCommands(host, sessionId).map(({ name, about }) => [
    `  /${oneLine(name)}`,
    printable(about.split('\n')[0] ?? ''),
  ]);
  return [table(rows), ...hiddenLines(host, sessionId), '', KEYS].join('\n');
}

function hiddenLines(host: Host, sessionId: string): readonly string[] {
  const hidden = host
    .session(sessionId)
    .commands()
    .filter(({ name }) => ownCommand(name) !== undefined);
  return hidden.map(
    ({ name, file }) =>
      `  /${oneLine(name)} of ${oneLine(file)} cannot be used here: the name is taken; rename the file`,
  );
}

const KEYS = table([
  ['  enter', 'send; while the agent works, what you send is told to it'],
  ['  shift+enter', 'a new line; also alt+enter, or \\ and enter'],
  ['  @', 'names a file'],
  ['  ctrl+o', 'what hooks and tools said; again folds it'],
  ['  shift+tab', 'the next permission mode'],
  ['  esc, ctrl+c', 'cancel the run; ctrl+c twice leaves'],
]);

async function showHooks({ context, view, signal }: CommandPlace): Promise<void> {
  const { listHooks } = await import('../commands/hooks-list.ts');
  return runPrinted(context, view, { command: listHooks, options: {}, signal });
}

async function trust({ context, host, view, signal }: CommandPlace): Promise<void> {
  const { trustHooks } = await import('../commands/trust.ts');
  await runPrinted(context, view, { command: trustHooks, options: { ids: [] }, signal });
  host.rescan();
}

function showPlugins({ host, sessionId, say }: CommandPlace): void {
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
    oneLine(source),
    plural(plugins.filter((each) => each === source).length, 'hook'),
  ]);
  const names = commands.map(({ name }) => [`/${oneLine(name)}`, 'command']);
  say(table([...loaded.map(pluginRow), ...rows, ...names]));
}

function pluginRow({ name, state, lastError, contributes }: PluginStatus): readonly string[] {
  const brought = Object.entries(contributes ?? {}).flatMap(([kind, names]) =>
    names.length === 0 ? [] : [`${kind}: ${names.map(oneLine).join(', ')}`],
  );
  return [oneLine(name), state, lastError === null ? brought.join('; ') : oneLine(lastError)];
}

async function switchModel(
  { host, sessionId, say, signal }: CommandPlace,
  name: string,
): Promise<void> {
  const { model } = host.session(sessionId).state();
  if (name === '') {
    say(
      `The model is ${oneLine(model.id)} (${oneLine(model.provider)}). /model NAME takes another.`,
    );
    return;
  }
  const refusal = await host.switchModel(sessionId, name, { source: 'command', signal });
  say(refusal ?? `The model is ${oneLine(host.session(sessionId).state().model.id)} now.`);
}

async function compact(
  { host, sessionId, say }: CommandPlace,
  instructions: string,
): Promise<void> {
  const session = host.session(sessionId);
  const problem = await session.compact(instructions === '' ? null : instructions);
  if (problem !== null) say(`It was not summed up: ${printable(problem)}`);
}

async function resume(place: CommandPlace, id: string): Promise<void> {
  const chosen = id === '' ? await pickSession(place) : id;
  if (chosen !== null) await place.changeSession({ resume: chosen });
}
