import type { RunResult, RuntimeEvent } from '../../../agent/runtime-event.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { type HookProblem, listHookProblems } from '../../../dialects/index.ts';
import { type Verdict, isAwaitingTrust } from '../../../hooks/decision.ts';
import { colors } from '../../output/colors.ts';
import { DeltaBuffer } from '../../../host/redact-stream.ts';
import {
  formatDuration,
  toOneLine,
  formatCount,
  toPrintable,
  toPrintableLines,
} from '../../output/print.ts';
import { redactObject } from '../../../host/redact-object.ts';
import { formatEnding } from '../../output/run-report.ts';
import type { CommandContext } from '../../context.ts';
import type { ActivityLine } from './activity-line.ts';
import { toForeignScreenText, toScreenText, truncateLines } from './format-text.ts';
import type { AnswerView, ChatView, Fold } from '../view/view.ts';
import { formatProblem, formatVerdict } from '../../output/format-verdict.ts';
import path from 'node:path';
import { listCallParts } from '../../../agent/call-parts.ts';
import { isRecord } from '../../../base/json.ts';
import { formatCall } from '../../output/format-transcript.ts';

/** Shows the events of a session as they happen. */
export class ChatReport {
  readonly #context: CommandContext;
  readonly #view: ChatView;
  readonly #activity: ActivityLine;
  readonly #hookActivity = new HookActivity();
  readonly #deltas: DeltaBuffer | null;
  /** Messages already shown in this run. */
  readonly #shownInRun = new Set<string>();
  /** Messages already shown in this chat. */
  readonly #shownInChat = new Set<string>();
  /** The session's directory; paths are shown relative to it. */
  #cwd = '';
  #answer: AnswerView | null = null;
  // A queue, because redaction is asynchronous and the order must be kept.
  #queue = Promise.resolve();

  constructor(context: CommandContext, view: ChatView, activity: ActivityLine) {
    this.#context = context;
    this.#view = view;
    this.#activity = activity;
    this.#deltas = context.flags.raw === true ? null : new DeltaBuffer();
  }

  observe(event: RuntimeEvent): void {
    for (const each of this.#deltas?.take(event) ?? [event]) this.#show(each);
  }

  /** Shows a line of text, with control characters escaped. */
  showText(text: string): void {
    this.#enqueue(async () => this.#view.showText(await this.#redact(text)));
  }

  /** Shows the summary of recent hook activity. */
  showHooks(): void {
    const hooks = this.#hookActivity.take();
    if (hooks !== null) this.#fold(hooks);
  }

  /** Resolves when everything queued is shown. */
  waitUntilShown(): Promise<void> {
    return this.#queue;
  }

  #show(event: RuntimeEvent): void {
    if (event.parentAgentId === null) this.#showMainAgent(event);
    switch (event.type) {
      case 'tool-end':
        if (event.deniedBy === null) this.#fold(formatEndedCall(event, this.#cwd));
        else this.showText(formatDeniedCallForChat(event, this.#cwd));
        break;
      case 'hook':
        this.#showVerdict(event.verdict);
        break;
      case 'hook-late':
        this.#showLate(event);
        break;
      case 'retry-start':
        this.showText(colors.yellow(formatRetry(event)));
        break;
      case 'compaction-end':
        if (event.summary !== null) this.showText(colors.dim(formatCompacted(event.tokensBefore)));
        break;
      case 'notification':
        this.#notify(event.text);
        break;
      case 'notice':
        if (event.level !== 'info') this.showText(formatNotice(event));
        break;
      default:
        break;
    }
    if (event.parentAgentId === null) {
      this.#enqueue(() => updateActivity(event, this.#activity));
    }
  }

  /** Events that are not shown for sub-agents, because only the parent agent reads them. */
  #showMainAgent(event: RuntimeEvent): void {
    switch (event.type) {
      case 'session-start':
        this.#cwd = event.cwd;
        break;
      case 'text-delta':
        this.#enqueue(() => this.#writeAnswer(event.text));
        break;
      case 'message-end':
        this.#enqueue(() => this.#endAnswer(event.shown));
        break;
      case 'reply':
        this.#enqueue(() => this.#endAnswer(event.text));
        break;
      case 'retry-start':
        if (event.discardsOutput) this.#enqueue(() => this.#discardAnswer());
        break;
      case 'run-end':
        this.#endRun(event.result);
        break;
      default:
        break;
    }
  }

  #showVerdict(verdict: Verdict): void {
    this.#hookActivity.add(verdict);
    const untrusted = listUntrusted(verdict).map((hook) =>
      colors.yellow(`not run: ${hook} needs review: /trust`),
    );
    for (const text of listHookMessages(verdict)) this.#showOnce(text, this.#shownInRun);
    for (const text of untrusted) this.#showOnce(text, this.#shownInChat);
  }

  #showLate(late: Extract<RuntimeEvent, { type: 'hook-late' }>): void {
    for (const problem of listHookProblems([late])) {
      this.#showOnce(formatHookProblem(problem), this.#shownInRun);
    }
    if (late.notice !== null) this.showText(formatHookNotice(late.event, late.hook, late.notice));
  }

  #showOnce(text: string, alreadyShown: Set<string>): void {
    if (alreadyShown.has(text)) return;
    alreadyShown.add(text);
    this.showText(text);
  }

  /** A dumb terminal would print the escape sequence. */
  #notify(text: string): void {
    const { env, print } = this.#context;
    if (env['TERM'] !== 'dumb') print.notify(text);
  }

  #endRun(result: RunResult): void {
    if (result.reason !== null) this.showText(formatRunEnding(result));
    this.showHooks();
    this.#shownInRun.clear();
  }

  async #writeAnswer(text: string): Promise<void> {
    const clean = await this.#redact(toForeignScreenText(text));
    this.#answer ??= this.#view.answer();
    this.#answer.append(clean);
  }

  async #endAnswer(text: string): Promise<void> {
    const whole = await this.#redact(toForeignScreenText(text));
    if (whole !== '') this.#answer ??= this.#view.answer();
    this.#answer?.end(whole);
    this.#answer = null;
  }

  #discardAnswer(): void {
    this.#answer?.discard();
    this.#answer = null;
  }

  #fold(fold: Fold): void {
    this.#enqueue(async () => {
      const { head, details } = await redactObject(fold, this.#context.flags);
      this.#view.fold({ head: toScreenText(head), details: details.map(toScreenText) });
    });
  }

  async #redact(text: string): Promise<string> {
    const redacted = await redactObject({ text }, this.#context.flags);
    return toScreenText(redacted.text);
  }

  #enqueue(show: () => Promise<void> | void): void {
    this.#queue = this.#queue.then(show).catch((error: unknown) => {
      const why = toPrintable(getErrorMessage(error));
      this.#view.showText(colors.red(`Output incomplete: ${why}`));
    });
  }
}

function formatRetry({ failure, waitMs }: Extract<RuntimeEvent, { type: 'retry-start' }>): string {
  return `${toPrintable(failure.message)} Retrying in ${formatDuration(waitMs)}.`;
}

function formatNotice({ level, text }: Extract<RuntimeEvent, { type: 'notice' }>): string {
  return colors.yellow(`${level}: ${toPrintable(text)}`);
}

function formatCompacted(tokens: number): string {
  return `Conversation compacted (${formatCount(tokens, 'token')})`;
}

function formatRunEnding(result: RunResult): string {
  const { deferred } = result;
  const call = deferred === null ? '' : ` ${toOneLine(deferred.name)}`;
  return colors.yellow(formatEnding(result, call));
}

function updateActivity(event: RuntimeEvent, activity: ActivityLine): void {
  switch (event.type) {
    case 'run-start':
    case 'turn-start':
      return activity.set('thinking … (esc to cancel)');
    case 'tool-start':
      return activity.set(`${toOneLine(event.tool)} … (esc to cancel)`);
    case 'compaction-start':
      return activity.set('compacting the conversation …');
    case 'compaction-end':
    case 'run-end':
      return activity.set(null);
    default:
      return undefined;
  }
}

/** Collects hook verdicts for one summary line. */
class HookActivity {
  #verdicts: Verdict[] = [];

  add(verdict: Verdict): void {
    const skipped = verdict.skipped.filter(({ kind }) => kind !== 'misfit');
    if (verdict.outcomes.length + skipped.length > 0) this.#verdicts.push({ ...verdict, skipped });
  }

  /** The summary with folded details; null when no hook ran. */
  take(): Fold | null {
    const verdicts = this.#verdicts;
    this.#verdicts = [];
    return verdicts.length === 0 ? null : toFold(verdicts);
  }
}

function toFold(verdicts: readonly Verdict[]): Fold {
  return {
    head: colors.dim(`${formatHead(verdicts)} (ctrl+o)`),
    details: verdicts.flatMap((verdict) => formatVerdict(verdict).split('\n')),
  };
}

function formatHead(verdicts: readonly Verdict[]): string {
  const outcomes = verdicts.flatMap((verdict) => verdict.outcomes);
  const withheld = new Set(
    verdicts.flatMap(({ skipped }) =>
      skipped.filter(({ kind }) => kind === 'withheld').map(({ hook }) => hook),
    ),
  );
  const slowest = Math.max(0, ...outcomes.map(({ durationMs }) => durationMs));
  const ran = formatCount(new Set(outcomes.map(({ hook }) => hook)).size, 'hook');
  return [
    ...(outcomes.length === 0 ? [] : [`${ran}, slowest ${formatDuration(slowest)}`]),
    ...(withheld.size === 0 ? [] : [`${formatCount(withheld.size, 'hook')} not run`]),
  ].join(', ');
}

/** Failures and messages of hooks, which are shown at once. */
function listHookMessages({ event, outcomes, messages }: Verdict): readonly string[] {
  return [
    ...listHookProblems(outcomes).map(formatHookProblem),
    ...messages.map(({ hook, text }) => formatHookNotice(event, hook, text)),
  ];
}

function formatHookProblem(problem: HookProblem): string {
  const text = `hook ${formatProblem(problem)}`;
  return problem.kind === 'failed' ? colors.red(text) : colors.yellow(text);
}

function formatHookNotice(event: string, hook: string, text: string): string {
  return `${colors.yellow(`${event} (${toOneLine(hook)}) says:`)} ${toPrintableLines(text)}`;
}

/** Ids of hooks that are not trusted. */
function listUntrusted({ skipped }: Verdict): readonly string[] {
  return skipped.filter(isAwaitingTrust).map(({ hook }) => toPrintable(hook));
}

type ToolEnd = Extract<RuntimeEvent, { type: 'tool-end' }>;

const MAX_OUTPUT_LINES = 200;
const LINE_WIDTH = 160;

/** A finished call: one line, with its output folded. */
export function formatEndedCall(ended: ToolEnd, cwd: string): Fold {
  const { output, parentAgentId } = ended;
  const inset = parentAgentId === null ? '' : '  ';
  const mark = output.success ? colors.cyan('•') : colors.red('✗');
  const text = removeErrorTags(output.text);
  return {
    head: `${inset}${mark} ${formatAnswers(ended) ?? formatCallAndResult(ended, text, cwd)}`,
    details: truncateLines(text, MAX_OUTPUT_LINES).map(toPrintable),
  };
}

function formatDeniedCallForChat(ended: ToolEnd, cwd: string): string {
  const { tool, input, output, deniedBy, deniedByHooks = [], question } = ended;
  const call = formatFirstLine(formatSubject({ tool, input }), cwd);
  const isByUser = deniedBy === 'person' && question !== null;
  const reason = isByUser ? (question.userReason ?? '') : removeErrorTags(output.text);
  const by = deniedByHooks.length === 0 ? deniedBy : toOneLine(deniedByHooks.join(', '));
  const label = isByUser ? 'You denied this' : `denied (${by})`;
  const why = reason === '' ? '' : `: ${toPrintableLines(reason)}`;
  return `${colors.red('✗')} ${truncateLine(call)}\n  ${colors.red(label)}${why}`;
}

function formatCallAndResult({ tool, input, output }: ToolEnd, text: string, cwd: string): string {
  const lines = text.trimEnd() === '' ? [] : text.trimEnd().split('\n');
  const size = lines.length > 1 ? ` (${formatCount(lines.length, 'line')})` : '';
  const isTelling = lines.length === 1 || !output.success;
  const first = isTelling ? `: ${formatFirstLine(lines[0] ?? '', cwd)}` : '';
  const call = formatFirstLine(formatSubject({ tool, input }), cwd);
  return `${truncateLine(call)}${colors.dim(`${truncateLine(first)}${size}`)}`;
}

/** The questions with the user's answers; null when the call asked none. */
function formatAnswers({ output: { response, success } }: ToolEnd): string | null {
  if (!success || !isRecord(response) || !isRecord(response['answers'])) return null;
  const answers = Object.entries(response['answers']).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  if (!Array.isArray(response['questions']) || answers.length === 0) return null;
  return answers
    .map(
      ([question, answer]) =>
        `${truncateLine(toPrintable(question))} ${colors.dim(`→ ${truncateLine(toPrintable(answer))}`)}`,
    )
    .join('\n  ');
}

function formatSubject({ tool, input }: Pick<ToolEnd, 'tool' | 'input'>): string {
  const questions = listQuestions({ tool, input });
  return questions.length === 0 ? formatCall({ name: tool, input }) : questions.join(' ');
}

function listQuestions({ tool, input }: Pick<ToolEnd, 'tool' | 'input'>): readonly string[] {
  const [part] = listCallParts({ tool, input, cwd: path.sep });
  const questions: unknown = part?.name === 'AskUserQuestion' ? part.fields['questions'] : [];
  if (!Array.isArray(questions)) return [];
  return questions.flatMap((each: unknown) =>
    isRecord(each) && typeof each['question'] === 'string' ? [each['question']] : [],
  );
}

/** The error tags are for the model only. */
function removeErrorTags(text: string): string {
  return text.replaceAll(/^<error>(.*)<\/error>$/gmu, '$1');
}

/** The first line, with paths relative to the cwd. */
function formatFirstLine(text: string, cwd: string): string {
  const [first = ''] = text.split('\n');
  return toPrintable(cwd === '' ? first : first.replaceAll(`${cwd}${path.sep}`, ''));
}

function truncateLine(text: string): string {
  return text.length <= LINE_WIDTH ? text : `${text.slice(0, LINE_WIDTH - 1)}…`;
}
