import type { RunResult, RuntimeEvent } from '../../../agent/runtime-event.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import type { Verdict } from '../../../hooks/decision.ts';
import { colors } from '../../output/colors.ts';
import { createDeltaBuffer, type DeltaBuffer } from '../../../host/redact-stream.ts';
import {
  formatDuration,
  toOneLine,
  formatCount,
  toPrintable,
  toPrintableLines,
} from '../../output/print.ts';
import { redactObject } from '../../../host/redact-object.ts';
import { ENDING_LABELS } from '../../output/run-report.ts';
import type { CommandContext } from '../../context.ts';
import { formatDeniedCall, formatEndedCall } from './format-call.ts';
import type { ActivityLine } from './activity-line.ts';
import { createHookActivity, listHookMessages, listUntrusted } from './hook-activity.ts';
import { toForeignScreenText, toScreenText, redactScreenText } from './format-text.ts';
import type { AnswerView, ChatView, Fold } from '../view/view.ts';

export interface ReportPlace {
  readonly context: CommandContext;
  readonly view: ChatView;
  readonly activity: ActivityLine;
}

/** Shows the events of a session as they happen. */
export class ChatReport {
  readonly #place: ReportPlace;
  readonly #activity = createHookActivity();
  readonly #words: DeltaBuffer | null;
  /** Messages already shown in this run. */
  readonly #said = new Set<string>();
  /** Messages already shown in this chat. */
  readonly #warned = new Set<string>();
  /** The session's directory; paths are shown relative to it. */
  #cwd = '';
  #answer: AnswerView | null = null;
  // A queue, because redaction is asynchronous and the order must be kept.
  #told = Promise.resolve();

  constructor(place: ReportPlace) {
    this.#place = place;
    this.#words = place.context.flags.raw === true ? null : createDeltaBuffer();
  }

  observe(event: RuntimeEvent): void {
    for (const each of this.#words?.take(event) ?? [event]) this.#tell(each);
  }

  /** Shows a line of text, with control characters escaped. */
  say(text: string): void {
    this.#later(async () => this.#place.view.say(await this.#clean(text)));
  }

  /** Shows the summary of recent hook activity. */
  showHooks(): void {
    const hooks = this.#activity.take();
    if (hooks !== null) this.#fold(hooks);
  }

  /** Resolves when everything queued is shown. */
  waitUntilShown(): Promise<void> {
    return this.#told;
  }

  #tell(event: RuntimeEvent): void {
    if (event.parentAgentId === null) this.#tellOwn(event);
    switch (event.type) {
      case 'tool-end':
        if (event.deniedBy === null) this.#fold(formatEndedCall(event, this.#cwd));
        else this.say(formatDeniedCall(event, this.#cwd));
        break;
      case 'hook':
        this.#tellHook(event.verdict);
        break;
      case 'retry-start':
        this.say(colors.yellow(formatRetry(event)));
        break;
      case 'compaction-end':
        if (event.summary !== null) this.say(colors.dim(formatCompacted(event.tokensBefore)));
        break;
      case 'notification':
        this.#notify(event.text);
        break;
      case 'notice':
        if (event.level !== 'info') this.say(formatNotice(event));
        break;
      default:
        break;
    }
    if (event.parentAgentId === null)
      this.#later(() => updateActivity(event, this.#place.activity));
  }

  /** Events that are not shown for sub-agents, because only the parent agent reads them. */
  #tellOwn(event: RuntimeEvent): void {
    switch (event.type) {
      case 'session-start':
        this.#cwd = event.cwd;
        break;
      case 'text-delta':
        this.#later(() => this.#writeAnswer(event.text));
        break;
      case 'message-end':
        this.#later(() => this.#endAnswer(event.shown));
        break;
      case 'reply':
        this.#later(() => this.#endAnswer(event.text));
        break;
      case 'retry-start':
        if (event.discardsOutput) this.#later(() => this.#discardAnswer());
        break;
      case 'run-end':
        this.#endRun(event.result);
        break;
      default:
        break;
    }
  }

  #tellHook(verdict: Verdict): void {
    this.#activity.add(verdict);
    const untrusted = listUntrusted(verdict).map((hook) =>
      colors.yellow(`not run: ${hook} needs review: /trust`),
    );
    for (const text of listHookMessages(verdict)) this.#sayOnce(text, this.#said);
    for (const text of untrusted) this.#sayOnce(text, this.#warned);
  }

  #sayOnce(text: string, said: Set<string>): void {
    if (said.has(text)) return;
    said.add(text);
    this.say(text);
  }

  /** A dumb terminal would print the escape sequence. */
  #notify(text: string): void {
    const { env, print } = this.#place.context;
    if (env['TERM'] !== 'dumb') print.notify(text);
  }

  #endRun(result: RunResult): void {
    if (result.reason !== null) this.say(formatEnding(result));
    this.showHooks();
    this.#said.clear();
  }

  async #writeAnswer(text: string): Promise<void> {
    const clean = await this.#clean(toForeignScreenText(text));
    this.#answer ??= this.#place.view.answer();
    this.#answer.append(clean);
  }

  async #endAnswer(text: string): Promise<void> {
    const whole = await this.#clean(toForeignScreenText(text));
    if (whole !== '') this.#answer ??= this.#place.view.answer();
    this.#answer?.end(whole);
    this.#answer = null;
  }

  #discardAnswer(): void {
    this.#answer?.discard();
    this.#answer = null;
  }

  #fold(fold: Fold): void {
    const { context, view } = this.#place;
    this.#later(async () => {
      const { head, details } = await redactObject(fold, context.flags);
      view.fold({ head: toScreenText(head), details: details.map(toScreenText) });
    });
  }

  #clean(text: string): Promise<string> {
    return redactScreenText(text, this.#place.context.flags);
  }

  #later(tell: () => Promise<void> | void): void {
    this.#told = this.#told.then(tell).catch((error: unknown) => {
      const why = toPrintable(getErrorMessage(error));
      this.#place.view.say(colors.red(`Output incomplete: ${why}`));
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

function formatEnding({ ending, reason, deferred }: RunResult): string {
  const call = deferred === null ? '' : ` ${toOneLine(deferred.name)}`;
  const [why, text] = [ENDING_LABELS[ending], toPrintableLines(reason ?? '')];
  // Avoids repeating the label when the reason starts with it.
  return colors.yellow(call === '' && text.startsWith(why) ? text : `${why}${call}: ${text}`);
}

function updateActivity(event: RuntimeEvent, doing: ActivityLine): void {
  switch (event.type) {
    case 'run-start':
    case 'turn-start':
      return doing.set('thinking … (esc to cancel)');
    case 'tool-start':
      return doing.set(`${toOneLine(event.tool)} … (esc to cancel)`);
    case 'compaction-start':
      return doing.set('compacting the conversation …');
    case 'compaction-end':
    case 'run-end':
      return doing.set(null);
    default:
      return undefined;
  }
}
