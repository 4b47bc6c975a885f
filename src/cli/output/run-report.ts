import type { RunResult, RuntimeEvent } from '../../agent/runtime-event.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { getMessageText } from '../../sessions/messages.ts';
import { isAwaitingTrust, type Verdict } from '../../hooks/decision.ts';
import type { OnIssue, PluginIssue } from '../../plugins/diagnostic.ts';
import type { CommandContext } from '../context.ts';
import { createDeltaBuffer } from '../../host/redact-stream.ts';
import { formatDuration, toOneLine, toPrintable, toPrintableLines } from './print.ts';
import { formatConsoleOutput } from './format-plugin.ts';
import { redactObject } from '../../host/redact-object.ts';
import { listFailures, toVerdictJson } from './format-verdict.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

/** Reports a run to the user or a program, and its result. */
export interface RunReport {
  readonly observe: (event: RuntimeEvent) => void;
  readonly notice: (text: string) => void;
  /** Console output of a plugin. */
  readonly pluginOutput: (text: string) => void;
  /** A problem of a plugin. */
  readonly issue: OnIssue;
  /** Flushes pending output and prints the result, unless it is null. */
  end(result: RunResult | null): Promise<void>;
  /** Whether a hook or plugin failed or was not trusted. */
  hasHookFailures(): boolean;
}

export function createRunReport(context: CommandContext, format: OutputFormat): RunReport {
  let hasFailures = false;
  const hints = new Set<string>();
  const answer: Answer = { text: '', shown: '' };
  const pluginIssues: PluginIssue[] = [];
  // A queue, because redaction is asynchronous and the order must be kept.
  let queue = Promise.resolve();
  const printed = new Set<string>();
  const reportError = (error: unknown): void => {
    const text = `error: Output incomplete: ${toPrintable(getErrorMessage(error))}`;
    if (printed.has(text)) return;
    printed.add(text);
    context.print.note(text);
  };
  const enqueue = (print: () => Promise<void>): void => {
    queue = queue.then(print).catch(reportError);
  };
  const deltas = context.flags.raw === true ? null : createDeltaBuffer();
  const printLine = (event: RuntimeEvent): void => enqueue(() => printJsonLine(context, event));
  const note = (text: string): void => {
    if (printed.has(text)) return;
    printed.add(text);
    enqueue(async () => {
      const { redacted } = await redactObject({ redacted: text }, context.flags);
      context.print.note(redacted);
    });
  };
  const notice = (text: string): void => note(`note: ${toPrintable(text)}`);
  return {
    notice,
    pluginOutput: (text) => enqueue(() => printConsoleOutput(context, text)),
    issue(issue) {
      pluginIssues.push(issue);
      notice(`plugin ${issue.plugin}: ${issue.message}`);
    },
    observe(event) {
      if (event.type === 'hook') hasFailures ||= !isHealthy(event.verdict);
      if (event.type === 'message-end') recordAnswer(answer, event);
      if (format === 'stream-json') (deltas?.take(event) ?? [event]).forEach(printLine);
      if (event.type === 'notification') enqueue(async () => context.print.notify(event.text));
      for (const text of formatEvent(event)) note(text);
      for (const text of listHints(event)) hints.add(text);
      const activity = format === 'text' ? formatActivity(event) : undefined;
      if (activity !== undefined) enqueue(async () => context.print.progress(activity));
    },
    async end(result) {
      deltas?.flush().forEach(printLine);
      if (format === 'text') hints.forEach(notice);
      await queue;
      // Always printed, because a missing result would look like success.
      if (result !== null) await printResult(context, format, result, answer, pluginIssues);
    },
    hasHookFailures: () => hasFailures || pluginIssues.some(({ level }) => level === 'error'),
  };
}

async function printJsonLine({ print, flags }: CommandContext, event: RuntimeEvent): Promise<void> {
  print.jsonLine(await redactObject(toJsonLine(event), flags));
}

async function printConsoleOutput({ print, flags }: CommandContext, text: string): Promise<void> {
  const { output } = await redactObject({ output: formatConsoleOutput(text) }, flags);
  if (output !== null) print.note(output);
}

/** The last answer, and the text of it that hooks let the user see. */
interface Answer {
  text: string;
  shown: string;
}

function recordAnswer(answer: Answer, event: Extract<RuntimeEvent, { type: 'message-end' }>): void {
  const text = getMessageText(event.message);
  if (text === '' || event.parentAgentId !== null) return;
  answer.text = text;
  answer.shown = event.shown;
}

function withShownText(result: RunResult, { text, shown }: Answer): RunResult {
  return result.text === text ? { ...result, text: shown } : result;
}

function isHealthy({ outcomes, skipped }: Verdict): boolean {
  return !outcomes.some(({ status }) => status === 'failed') && !skipped.some(isAwaitingTrust);
}

/** The verdict's fields are inlined, as in `hooks fire --json`. */
function toJsonLine(event: RuntimeEvent): object {
  // The type comes first, for readability.
  const first = { type: event.type };
  if (event.type !== 'hook') return Object.assign(first, event);
  const { verdict, ...rest } = event;
  return Object.assign(first, rest, toVerdictJson(verdict));
}

/** Messages for stderr. */
function formatEvent(event: RuntimeEvent): readonly string[] {
  switch (event.type) {
    case 'hook':
      return formatHookEvents(event.verdict);
    case 'tool-end':
      if (event.deniedBy === null) return [];
      return [`denied: ${toOneLine(event.tool)}: ${toPrintableLines(formatDenial(event))}`];
    case 'retry-start':
      return [`${toPrintable(event.failure.message)} Retrying in ${formatDuration(event.waitMs)}.`];
    case 'reply':
      return event.isAll ? [] : [toPrintableLines(event.text)];
    case 'notice':
      return event.level === 'info' ? [] : [`${event.level}: ${toPrintable(event.text)}`];
    default:
      return [];
  }
}

/** Hints that are printed once at the end. */
function listHints(event: RuntimeEvent): readonly string[] {
  if (event.type === 'hook' && event.verdict.skipped.some(isAwaitingTrust)) {
    return ['run `hookline trust` to review hooks that are not trusted'];
  }
  if (event.type === 'tool-end' && event.deniedBy === 'nobody') {
    return [
      'a non-interactive run cannot ask: allow calls with --allow or --permission-mode, or use `hookline chat`',
    ];
  }
  return [];
}

/** A hook's question has only a reason, so the cause of the denial is added. */
function formatDenial({ deniedBy, output }: Extract<RuntimeEvent, { type: 'tool-end' }>): string {
  const { text } = output;
  const isComplete = deniedBy !== 'nobody' || text.endsWith('so the call is denied.');
  return isComplete ? text : `${text} (a hook asked for approval, and no user is available)`;
}

function formatHookEvents({ outcomes, skipped, messages, event }: Verdict): readonly string[] {
  return [
    ...skipped
      .filter(isAwaitingTrust)
      .map(({ hook, why }) => `not run: ${toOneLine(hook)}: ${toPrintable(why)}`),
    ...listFailures(outcomes).map(
      ({ hook, message }) => `failed: ${toOneLine(hook)}: ${toPrintableLines(message)}`,
    ),
    ...messages.map(
      ({ hook, text }) => `${event} (${toOneLine(hook)}) says: ${toPrintableLines(text)}`,
    ),
  ];
}

/** The progress line; null removes it. */
function formatActivity(event: RuntimeEvent): string | null | undefined {
  switch (event.type) {
    case 'turn-start':
      return 'thinking …';
    case 'tool-start':
      return `${toOneLine(event.tool)} …`;
    case 'compaction-start':
      return 'compacting the conversation …';
    case 'run-end':
      return null;
    default:
      return undefined;
  }
}

async function printResult(
  context: CommandContext,
  format: OutputFormat,
  result: RunResult,
  answer: Answer,
  pluginIssues: readonly PluginIssue[],
): Promise<void> {
  const { print, flags } = context;
  if (format === 'text') return printTextResult(context, withShownText(result, answer));
  const redacted = await redactObject({ ...result, pluginIssues }, flags);
  if (format === 'stream-json') print.jsonLine({ type: 'result', ...redacted });
  else print.json(redacted);
}

async function printTextResult({ print, flags }: CommandContext, result: RunResult): Promise<void> {
  const redacted = await redactObject(result, flags);
  if (redacted.text !== '') print.out(redacted.text);
  if (redacted.reason !== null) {
    print.note(`${ENDING_LABELS[redacted.ending]}: ${toPrintableLines(redacted.reason)}`);
  }
  if (redacted.deferred !== null) {
    const { name } = redacted.deferred;
    print.note(
      `deferred: ${toOneLine(name)}; decide with: hookline run --resume ${redacted.sessionId}`,
    );
  }
}

export const ENDING_LABELS: Readonly<Record<RunResult['ending'], string>> = {
  done: 'ended',
  refused: 'refused',
  stopped_by_hook: 'stopped by a hook',
  tool_deferred: 'deferred',
  max_turns: 'turn limit reached',
  aborted: 'interrupted',
  model_failed: 'failed',
  failed: 'failed',
  loop: 'stopped: repeating itself',
};
