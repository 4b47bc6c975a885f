import type { RunResult, RuntimeEvent } from '../../../agent/runtime-event.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import type { Verdict } from '../../../hooks/decision.ts';
import { colors } from '../../words/colors.ts';
import { createDeltaWords, type DeltaWords } from '../../../host/secrets/delta-words.ts';
import { milliseconds, oneLine, plural, printable, printableLines } from '../../words/print.ts';
import { withoutSecrets } from '../../../host/secrets/without-secrets.ts';
import { WHY } from '../../words/run-report.ts';
import type { CommandContext } from '../../context.ts';
import { deniedCall, endedCall } from './call-words.ts';
import type { Doing } from './doing.ts';
import { createHookActivity, loudWords, untrustedIn } from './hook-activity.ts';
import { foreign, shown, shownWithoutSecrets } from './shown-text.ts';
import type { AnswerView, ChatView, Fold } from '../view/view.ts';

export interface ReportPlace {
  readonly context: CommandContext;
  readonly view: ChatView;
  readonly doing: Doing;
}

/** Shows what happens in a session while it happens. */
export class ChatReport {
  readonly #place: ReportPlace;
  readonly #activity = createHookActivity();
  readonly #words: DeltaWords | null;
  /** What need not be said again in this run. */
  readonly #said = new Set<string>();
  /** What need not be said again at all. */
  readonly #warned = new Set<string>();
  /** Where the session was opened; paths below it are said from there. */
  #cwd = '';
  #answer: AnswerView | null = null;
  // Looking for secrets takes its time, and what is shown must keep its order.
  #told = Promise.resolve();

  constructor(place: ReportPlace) {
    this.#place = place;
    this.#words = place.context.flags.raw === true ? null : createDeltaWords();
  }

  observe(event: RuntimeEvent): void {
    for (const each of this.#words?.take(event) ?? [event]) this.#tell(each);
  }

  /** A line of words, which are made harmless. */
  say(text: string): void {
    this.#later(async () => this.#place.view.say(await this.#clean(text)));
  }

  /** What was not told yet about hooks, in one line. */
  tellHooks(): void {
    const hooks = this.#activity.take();
    if (hooks !== null) this.#fold(hooks);
  }

  /** Waits until everything before it is shown. */
  settled(): Promise<void> {
    return this.#told;
  }

  #tell(event: RuntimeEvent): void {
    if (event.parentAgentId === null) this.#tellOwn(event);
    switch (event.type) {
      case 'tool-end':
        if (event.deniedBy === null) this.#fold(endedCall(event, this.#cwd));
        else this.say(deniedCall(event, this.#cwd));
        break;
      case 'hook':
        this.#tellHook(event.verdict);
        break;
      case 'retry-start':
        this.say(colors.yellow(retryWords(event)));
        break;
      case 'compaction-end':
        if (event.summary !== null) this.say(colors.dim(compactedWords(event.tokensBefore)));
        break;
      case 'notification':
        this.#notify(event.text);
        break;
      case 'notice':
        if (event.level !== 'info') this.say(noticeWords(event));
        break;
      default:
        break;
    }
    if (event.parentAgentId === null) this.#later(() => tellDoing(event, this.#place.doing));
  }

  /** What of a sub-agent only its parent reads. */
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
    const untrusted = untrustedIn(verdict).map((hook) =>
      colors.yellow(`not run: ${hook} is not trusted; /trust shows it`),
    );
    for (const text of loudWords(verdict)) this.#sayOnce(text, this.#said);
    for (const text of untrusted) this.#sayOnce(text, this.#warned);
  }

  #sayOnce(text: string, said: Set<string>): void {
    if (said.has(text)) return;
    said.add(text);
    this.say(text);
  }

  /** A dumb terminal would show what is meant for itself. */
  #notify(text: string): void {
    const { env, print } = this.#place.context;
    if (env['TERM'] !== 'dumb') print.notify(text);
  }

  #endRun(result: RunResult): void {
    if (result.reason !== null) this.say(endWords(result));
    this.tellHooks();
    this.#said.clear();
  }

  async #writeAnswer(text: string): Promise<void> {
    const clean = await this.#clean(foreign(text));
    this.#answer ??= this.#place.view.answer();
    this.#answer.append(clean);
  }

  async #endAnswer(text: string): Promise<void> {
    const whole = await this.#clean(foreign(text));
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
      const { head, details } = await withoutSecrets(fold, context.flags);
      view.fold({ head: shown(head), details: details.map(shown) });
    });
  }

  #clean(text: string): Promise<string> {
    return shownWithoutSecrets(text, this.#place.context.flags);
  }

  #later(tell: () => Promise<void> | void): void {
    this.#told = this.#told.then(tell).catch((error: unknown) => {
      const why = printable(getErrorMessage(error));
      this.#place.view.say(colors.red(`Not all of it can be shown: ${why}`));
    });
  }
}

function retryWords({ failure, waitMs }: Extract<RuntimeEvent, { type: 'retry-start' }>): string {
  return `${printable(failure.message)} Trying again in ${milliseconds(waitMs)}.`;
}

function noticeWords({ level, text }: Extract<RuntimeEvent, { type: 'notice' }>): string {
  return colors.yellow(`${level}: ${printable(text)}`);
}

function compactedWords(tokens: number): string {
  return `summed up what was said before (${plural(tokens, 'token')})`;
}

function endWords({ ending, reason, deferred }: RunResult): string {
  const call = deferred === null ? '' : ` ${oneLine(deferred.name)}`;
  const [why, text] = [WHY[ending], printableLines(reason ?? '')];
  // A reason may begin with the same word.
  return colors.yellow(call === '' && text.startsWith(why) ? text : `${why}${call}: ${text}`);
}

function tellDoing(event: RuntimeEvent, doing: Doing): void {
  switch (event.type) {
    case 'run-start':
    case 'turn-start':
      return doing.set('thinking … (esc cancels)');
    case 'tool-start':
      return doing.set(`${oneLine(event.tool)} … (esc cancels)`);
    case 'compaction-start':
      return doing.set('summing up the conversation …');
    case 'compaction-end':
    case 'run-end':
      return doing.set(null);
    default:
      return undefined;
  }
}
