import type { RunResult, RuntimeEvent } from '../../agent/runtime-event.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { getMessageText } from '../../sessions/messages.ts';
import { awaitsTrust, type Verdict } from '../../hooks/decision.ts';
import type { OnIssue, PluginIssue } from '../../plugins/issue.ts';
import type { CommandContext } from '../context.ts';
import { createDeltaBuffer } from '../../host/redact-stream.ts';
import { formatDuration, toOneLine, toPrintable, toPrintableLines } from './print.ts';
import { formatConsoleOutput } from './format-plugin.ts';
import { redactObject } from '../../host/redact-object.ts';
import { listFailures, toVerdictJson } from './format-verdict.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

/** Tells a person or a program about a run while it goes on, and how it ended. */
export interface RunReport {
  readonly observe: (event: RuntimeEvent) => void;
  readonly notice: (text: string) => void;
  /** Words of a plugin, which belong to nobody's answer. */
  readonly pluginOutput: (text: string) => void;
  /** Something is wrong with a plugin. */
  readonly issue: OnIssue;
  /** Waits until everything before it is told; null tells nothing more. */
  end(result: RunResult | null): Promise<void>;
  /** Whether a hook or plugin failed, or did not run because nobody trusts it. */
  hasHookFailures(): boolean;
}

export function createRunReport(context: CommandContext, form: OutputFormat): RunReport {
  let isUnsound = false;
  const advice = new Set<string>();
  const answer: Answer = { text: '', shown: '' };
  const pluginIssues: PluginIssue[] = [];
  // What is told must be told in order, and looking for secrets takes its time.
  let told = Promise.resolve();
  const said = new Set<string>();
  const complain = (error: unknown): void => {
    const text = `error: Not all of the run can be shown: ${toPrintable(getErrorMessage(error))}`;
    if (said.has(text)) return;
    said.add(text);
    context.print.note(text);
  };
  const later = (tell: () => Promise<void>): void => {
    told = told.then(tell).catch(complain);
  };
  const words = context.flags.raw === true ? null : createDeltaBuffer();
  const line = (event: RuntimeEvent): void =>
    later(async () => context.print.jsonLine(await redactObject(toJsonLine(event), context.flags)));
  const note = (text: string): void => {
    if (said.has(text)) return;
    said.add(text);
    later(async () => {
      const { shown } = await redactObject({ shown: text }, context.flags);
      context.print.note(shown);
    });
  };
  const notice = (text: string): void => note(`note: ${toPrintable(text)}`);
  return {
    notice,
    pluginOutput: (text) =>
      later(async () => {
        const { words } = await redactObject({ words: formatConsoleOutput(text) }, context.flags);
        if (words !== null) context.print.note(words);
      }),
    issue(issue) {
      pluginIssues.push(issue);
      notice(`plugin ${issue.plugin}: ${issue.message}`);
    },
    observe(event) {
      if (event.type === 'hook') isUnsound ||= !isHealthy(event.verdict);
      if (event.type === 'message-end') recordAnswer(answer, event);
      if (form === 'stream-json') (words?.take(event) ?? [event]).forEach(line);
      if (event.type === 'notification') later(async () => context.print.notify(event.text));
      for (const text of formatEvent(event)) note(text);
      for (const text of listHints(event)) advice.add(text);
      const doing = form === 'text' ? formatActivity(event) : undefined;
      if (doing !== undefined) later(async () => context.print.progress(doing));
    },
    async end(result) {
      words?.flush().forEach(line);
      if (form === 'text') advice.forEach(notice);
      await told;
      // Whoever waits for it must not take silence for an answer.
      if (result !== null) await printResult(context, form, { result, answer, pluginIssues });
    },
    hasHookFailures: () => isUnsound || pluginIssues.some(({ level }) => level === 'error'),
  };
}

/** What an agent said last, and what hooks let a person see of it. */
interface Answer {
  text: string;
  shown: string;
}

function recordAnswer(answer: Answer, event: Extract<RuntimeEvent, { type: 'message-end' }>): void {
  const said = getMessageText(event.message);
  if (said === '' || event.parentAgentId !== null) return;
  answer.text = said;
  answer.shown = event.shown;
}

function withShownText(result: RunResult, { text, shown }: Answer): RunResult {
  return result.text === text ? { ...result, text: shown } : result;
}

function isHealthy({ outcomes, skipped }: Verdict): boolean {
  return !outcomes.some(({ status }) => status === 'failed') && !skipped.some(awaitsTrust);
}

/** The verdict's own fields stand on the line itself, as `hooks fire --json` prints them. */
function toJsonLine(event: RuntimeEvent): object {
  // Whoever reads the lines by eye looks for the type first.
  const first = { type: event.type };
  if (event.type !== 'hook') return Object.assign(first, event);
  const { verdict, ...rest } = event;
  return Object.assign(first, rest, toVerdictJson(verdict));
}

/** What a person should know although they asked for the answer only. */
function formatEvent(event: RuntimeEvent): readonly string[] {
  switch (event.type) {
    case 'hook':
      return formatHookEvents(event.verdict);
    case 'tool-end':
      if (event.deniedBy === null) return [];
      return [`denied: ${toOneLine(event.tool)}: ${toPrintableLines(formatDenial(event))}`];
    case 'retry-start':
      return [
        `${toPrintable(event.failure.message)} Trying again in ${formatDuration(event.waitMs)}.`,
      ];
    case 'reply':
      return event.isAll ? [] : [toPrintableLines(event.text)];
    case 'notice':
      return event.level === 'info' ? [] : [`${event.level}: ${toPrintable(event.text)}`];
    default:
      return [];
  }
}

/** What a person can do about it, said once at the end. */
function listHints(event: RuntimeEvent): readonly string[] {
  if (event.type === 'hook' && event.verdict.skipped.some(awaitsTrust)) {
    return ['`hookline trust` shows what is not trusted, and lets it run once you agree'];
  }
  if (event.type === 'tool-end' && event.deniedBy === 'nobody') {
    return [
      'a run asks nobody; say beforehand with --allow or --permission-mode what may be done, or use `hookline chat`',
    ];
  }
  return [];
}

/** What a hook wants to be asked says only why. */
function formatDenial({ deniedBy, output }: Extract<RuntimeEvent, { type: 'tool-end' }>): string {
  const { text } = output;
  const isTold = deniedBy !== 'nobody' || text.includes('Nobody is here');
  return isTold ? text : `${text} (a hook asks, and nobody is here to answer)`;
}

function formatHookEvents({ outcomes, skipped, messages, event }: Verdict): readonly string[] {
  return [
    ...skipped
      .filter(awaitsTrust)
      .map(({ hook, why }) => `not run: ${toOneLine(hook)}: ${toPrintable(why)}`),
    ...listFailures(outcomes).map(
      ({ hook, message }) => `failed: ${toOneLine(hook)}: ${toPrintableLines(message)}`,
    ),
    ...messages.map(
      ({ hook, text }) => `${event} (${toOneLine(hook)}) says: ${toPrintableLines(text)}`,
    ),
  ];
}

/** One line on a terminal about what it does now; null takes it away. */
function formatActivity(event: RuntimeEvent): string | null | undefined {
  switch (event.type) {
    case 'turn-start':
      return 'thinking …';
    case 'tool-start':
      return `${toOneLine(event.tool)} …`;
    case 'compaction-start':
      return 'summing up the conversation …';
    case 'run-end':
      return null;
    default:
      return undefined;
  }
}

interface Told {
  readonly result: RunResult;
  readonly answer: Answer;
  readonly pluginIssues: readonly PluginIssue[];
}

async function printResult(
  context: CommandContext,
  form: OutputFormat,
  { result, answer, pluginIssues }: Told,
): Promise<void> {
  const { print, flags } = context;
  if (form === 'text') return printTextResult(context, withShownText(result, answer));
  const shown = await redactObject({ ...result, pluginIssues }, flags);
  if (form === 'stream-json') print.jsonLine({ type: 'result', ...shown });
  else print.json(shown);
}

async function printTextResult({ print, flags }: CommandContext, result: RunResult): Promise<void> {
  const shown = await redactObject(result, flags);
  if (shown.text !== '') print.out(shown.text);
  if (shown.reason !== null)
    print.note(`${ENDING_LABELS[shown.ending]}: ${toPrintableLines(shown.reason)}`);
  if (shown.deferred !== null) {
    const { name } = shown.deferred;
    print.note(
      `deferred: ${toOneLine(name)}; decide with: hookline run --resume ${shown.sessionId}`,
    );
  }
}

export const ENDING_LABELS: Readonly<Record<RunResult['ending'], string>> = {
  done: 'ended',
  refused: 'refused',
  stopped_by_hook: 'stopped by a hook',
  tool_deferred: 'deferred',
  max_turns: 'out of turns',
  aborted: 'interrupted',
  model_failed: 'failed',
  failed: 'failed',
  loop: 'stopped, because it went in circles',
};
