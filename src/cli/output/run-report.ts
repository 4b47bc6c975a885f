import type { RunResult, RuntimeEvent } from '../../agent/runtime-event.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { getMessageText } from '../../sessions/messages.ts';
import { listHookProblems } from '../../dialects/index.ts';
import { isAwaitingTrust, type Verdict } from '../../hooks/decision.ts';
import { formatIssue, type PluginIssue } from '../../plugins/plugin-issue.ts';
import type { CommandContext } from '../context.ts';
import { DeltaBuffer } from '../../host/redact-stream.ts';
import { formatDuration, toOneLine, toPrintable, toPrintableLines } from './print.ts';
import { formatConsoleOutput } from './format-plugin.ts';
import { SLOW_HOOK_MS } from './hook-progress.ts';
import { redactObject } from '../../host/redact-object.ts';
import { formatProblem, toVerdictJson } from './format-verdict.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

type SlowHook = NonNullable<Verdict['slowest']> & { readonly event: string };

/** Reports a run to the user or a program, and its result. */
export class RunReport {
  readonly #context: CommandContext;
  readonly #format: OutputFormat;
  readonly #deltas: DeltaBuffer | null;
  readonly #hints = new Set<string>();
  readonly #answer: Answer = { text: '', displayText: '' };
  readonly #pluginIssues: PluginIssue[] = [];
  /** Messages that were printed, each only once. */
  readonly #printed = new Set<string>();
  #hasFailures = false;
  #slowest: SlowHook = { hook: '', event: '', durationMs: 0 };
  // A queue, because redaction is asynchronous and the order must be kept.
  #queue = Promise.resolve();

  constructor(context: CommandContext, format: OutputFormat) {
    this.#context = context;
    this.#format = format;
    this.#deltas = context.flags.raw === true ? null : new DeltaBuffer();
  }

  observe(event: RuntimeEvent): void {
    const { print } = this.#context;
    if (event.type === 'hook') this.#observeHooks(event.verdict);
    if (event.type === 'hook-late') this.#hasFailures ||= event.failure !== null;
    if (event.type === 'message-end') recordAnswer(this.#answer, event);
    if (this.#format === 'stream-json') this.#printLines(this.#deltas?.take(event) ?? [event]);
    if (event.type === 'notification') this.#enqueue(async () => print.notify(event.text));
    for (const text of formatEvent(event)) this.#printOnce(text);
    for (const text of listHints(event)) this.#hints.add(text);
    const activity = this.#format === 'text' ? formatActivity(event) : undefined;
    if (activity !== undefined) this.#enqueue(async () => print.progress(activity));
  }

  printNotice(text: string): void {
    this.#printOnce(`note: ${toPrintable(text)}`);
  }

  /** Prints console output of a plugin. */
  printPluginOutput(text: string): void {
    this.#enqueue(() => printConsoleOutput(this.#context, text));
  }

  /** Records a problem of a plugin and prints it. */
  addIssue(issue: PluginIssue): void {
    this.#pluginIssues.push(issue);
    if (issue.isMissingGuard !== true) this.printNotice(formatIssue(issue));
  }

  /** Flushes pending output and prints the result, unless it is null. */
  async end(result: RunResult | null): Promise<void> {
    this.#printLines(this.#deltas?.flush() ?? []);
    if (this.#format === 'text') for (const hint of this.#hints) this.printNotice(hint);
    if (result !== null) this.#printSlowest();
    await this.#queue;
    // Always printed, because a missing result would look like success.
    if (result === null) return;
    await printResult(this.#context, this.#format, result, this.#answer, this.#pluginIssues);
  }

  /** Whether a hook or plugin failed or was not trusted. */
  hasHookFailures(): boolean {
    return this.#hasFailures || this.#pluginIssues.some(({ level }) => level === 'error');
  }

  #observeHooks(verdict: Verdict): void {
    this.#hasFailures ||= !isHealthy(verdict);
    const { event, slowest } = verdict;
    if (slowest !== null && slowest.durationMs > this.#slowest.durationMs) {
      this.#slowest = { ...slowest, event };
    }
  }

  #printSlowest(): void {
    const { hook, event, durationMs } = this.#slowest;
    if (durationMs < SLOW_HOOK_MS) return;
    this.printNotice(`the slowest hook was ${hook} at ${event}: ${formatDuration(durationMs)}`);
  }

  #printLines(events: readonly RuntimeEvent[]): void {
    for (const event of events) this.#enqueue(() => printJsonLine(this.#context, event));
  }

  #printOnce(text: string): void {
    if (this.#printed.has(text)) return;
    this.#printed.add(text);
    this.#enqueue(async () => {
      const { redacted } = await redactObject({ redacted: text }, this.#context.flags);
      this.#context.print.note(redacted);
    });
  }

  #enqueue(print: () => Promise<void>): void {
    this.#queue = this.#queue.then(print).catch((error: unknown) => this.#reportError(error));
  }

  #reportError(error: unknown): void {
    const text = `error: Output incomplete: ${toPrintable(getErrorMessage(error))}`;
    if (this.#printed.has(text)) return;
    this.#printed.add(text);
    this.#context.print.note(text);
  }
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
  displayText: string;
}

function recordAnswer(answer: Answer, event: Extract<RuntimeEvent, { type: 'message-end' }>): void {
  const text = getMessageText(event.message);
  if (text === '' || event.parentAgentId !== null) return;
  answer.text = text;
  answer.displayText = event.shown;
}

function withDisplayText(result: RunResult, { text, displayText }: Answer): RunResult {
  return result.text === text ? { ...result, text: displayText } : result;
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
    case 'hook-late':
      return [
        ...listHookProblems([event]).map(formatProblem),
        ...(event.notice === null ? [] : [formatHookNotice(event.event, event.hook, event.notice)]),
      ];
    case 'tool-end':
      if (event.deniedBy === null) return [];
      return [
        `denied: ${toOneLine(event.tool)}: ${toPrintableLines(formatDenialForTerminal(event))}${formatHooks(event)}`,
      ];
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

function formatHooks({ deniedByHooks = [] }: Extract<RuntimeEvent, { type: 'tool-end' }>): string {
  return deniedByHooks.length === 0 ? '' : ` (${toOneLine(deniedByHooks.join(', '))})`;
}

/** A hook's question has only a reason, so the cause of the denial is added. */
function formatDenialForTerminal({
  deniedBy,
  question,
  output: { text },
}: Extract<RuntimeEvent, { type: 'tool-end' }>): string {
  return deniedBy === 'nobody' && question?.askedBy === 'hook'
    ? `${text} (a hook asked for approval, and no user is available)`
    : text;
}

function formatHookEvents({ outcomes, skipped, messages, event }: Verdict): readonly string[] {
  return [
    ...skipped
      .filter(isAwaitingTrust)
      .map(({ hook, why }) => `not run: ${toOneLine(hook)}: ${toPrintable(why)}`),
    ...listHookProblems(outcomes).map(formatProblem),
    ...messages.map(({ hook, text }) => formatHookNotice(event, hook, text)),
  ];
}

function formatHookNotice(event: string, hook: string, text: string): string {
  return `${event} (${toOneLine(hook)}) says: ${toPrintableLines(text)}`;
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
      return event.parentAgentId === null ? null : undefined;
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
  if (format === 'text') return printTextResult(context, withDisplayText(result, answer));
  const redacted = await redactObject({ ...result, pluginIssues }, flags);
  if (format === 'stream-json') print.jsonLine({ type: 'result', ...redacted });
  else print.json(redacted);
}

async function printTextResult({ print, flags }: CommandContext, result: RunResult): Promise<void> {
  const redacted = await redactObject(result, flags);
  if (redacted.text !== '') print.out(redacted.text);
  if (redacted.reason !== null) print.note(formatEnding(redacted));
  if (redacted.deferred !== null) {
    const { name } = redacted.deferred;
    print.note(
      `deferred: ${toOneLine(name)}; decide with: hookline run --resume ${redacted.sessionId}`,
    );
  }
}

/** How and why a run ended, with the hooks that ended it. */
export function formatEnding(
  { ending, reason, endedByHooks = [] }: Pick<RunResult, 'ending' | 'reason' | 'endedByHooks'>,
  call = '',
): string {
  const hooks = endedByHooks.length === 0 ? '' : ` (${toOneLine(endedByHooks.join(', '))})`;
  const label = ENDING_LABELS[ending];
  const why = toPrintableLines((reason ?? '').replace(/^Operation stopped by hook: /, ''));
  // The label is not repeated where the reason starts with it.
  const isLabelled = call === '' && hooks === '' && why.startsWith(label);
  return isLabelled ? why : `${label}${call}${hooks}: ${why}`;
}

const ENDING_LABELS: Readonly<Record<RunResult['ending'], string>> = {
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
