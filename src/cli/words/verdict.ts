import { colors } from './colors.ts';
import { untoldFailure } from '../../dialects/unreported-failure.ts';
import { awaitsTrust, type Outcome, type Verdict } from '../../hooks/decision.ts';
import { indent, milliseconds, oneLine, plural, printable } from './print.ts';

/** The verdict as `--json` prints it. */
export function jsonVerdict(verdict: Verdict): object {
  return {
    ...verdict,
    outcomes: verdict.outcomes.map(({ decision: _decision, ...shown }) => shown),
  };
}

/** What came from the background after the verdict was given, as `--json` prints it. */
export function jsonLate(late: readonly Outcome[]): unknown {
  return late.map(({ decision, ...shown }) => ({
    ...shown,
    context: decision?.context ?? null,
    message: decision?.notice ?? null,
    wakes: decision?.wake === true,
  }));
}

/** The same as a person reads it. */
export function readableLate(late: readonly Outcome[]): string {
  return [
    'Later, from the background:',
    ...late.flatMap(({ hook, decision }) => [
      ...(decision?.context === undefined ? [] : [contextLine(hook, decision.context)]),
      ...(decision?.notice === undefined ? [] : [messageLine(hook, decision.notice)]),
    ]),
    ...late.map((outcome) => outcomeLine(outcome, lateResultOf(outcome))),
  ].join('\n');
}

export interface ToldFailure {
  readonly hook: string;
  readonly message: string;
}

/** Of a session's hooks: what is wrong with a plugin's is told as the plugin's. */
export function failuresIn(outcomes: readonly Outcome[]): readonly ToldFailure[] {
  return outcomes.flatMap((outcome) => {
    const failure = untoldFailure(outcome);
    return failure === null ? [] : [{ hook: outcome.hook, message: failure.message }];
  });
}

function lateResultOf({ status, decision }: Outcome): string {
  if (status === 'failed') return 'failed';
  return decision?.wake === true ? 'answered, which wakes an idle session' : 'answered';
}

/** The verdict as a person reads it: the answer first, then who said what. */
export function readableVerdict(verdict: Verdict): string {
  return [
    headline(verdict),
    ...verdict.reasons.map(({ hook, text }) => quoted(hook, text)),
    ...(verdict.stop === null ? [] : [`  ends the run: ${verdict.stop.reason}`]),
    ...(verdict.input === null ? [] : [`  input becomes ${JSON.stringify(verdict.input)}`]),
    ...(verdict.output === null ? [] : [`  output becomes ${JSON.stringify(verdict.output)}`]),
    ...changeLines(verdict),
    ...verdict.context.map(({ hook, text }) => contextLine(hook, text)),
    ...verdict.messages.map(({ hook, text }) => messageLine(hook, text)),
    ...verdict.outcomes.map((outcome) => outcomeLine(outcome, resultOf(outcome))),
    ...verdict.skipped.map(({ hook, why }) =>
      colors.dim(`  - ${oneLine(hook)}: not run: ${printable(why)}`),
    ),
    ...slowestLine(verdict),
    ...trustAdvice(verdict),
  ].join('\n');
}

function headline({ event, effect, outcomes }: Verdict): string {
  const ran = outcomes.length === 0 ? 'no hook ran' : plural(outcomes.length, 'hook run');
  return `${colors.bold(event)}: ${paintEffect(effect)} ${colors.dim(`(${ran})`)}`;
}

function paintEffect(effect: Verdict['effect']): string {
  if (effect === 'deny' || effect === 'stop') return colors.red(effect);
  return effect === 'ask' || effect === 'defer' ? colors.yellow(effect) : colors.green(effect);
}

function quoted(hook: string, text: string): string {
  const by = colors.dim(`(${oneLine(hook)})`);
  return text.includes('\n') ? `  ${by}\n${indent(text)}` : `  ${text} ${by}`;
}

function contextLine(hook: string, text: string): string {
  return `  context for the model ${quoted(hook, text).trim()}`;
}

function messageLine(hook: string, text: string): string {
  return `  message for you ${quoted(hook, text).trim()}`;
}

function changeLines({ changes }: Verdict): string[] {
  return Object.entries(changes).map(
    ([field, value]) => `  ${field} becomes ${JSON.stringify(value)}`,
  );
}

function outcomeLine(outcome: Outcome, result: string): string {
  const mark = outcome.status === 'failed' ? colors.red('✗') : colors.green('✓');
  const part = outcome.part === null ? '' : ` part ${outcome.part + 1}`;
  const again = outcome.pass === 2 ? ' again' : '';
  const line = `  ${mark} ${oneLine(outcome.hook)}${part}${again}: ${result} ${colors.dim(milliseconds(outcome.durationMs))}`;
  const details = [
    ...(outcome.failure === null
      ? []
      : [colors.red(`${outcome.failure.kind}: ${outcome.failure.message}`)]),
    ...outcome.notes.map((note) => colors.dim(printable(note))),
  ];
  return [line, ...details.map((detail) => indent(detail, '      '))].join('\n');
}

function resultOf({ status, effect, onFailure }: Outcome): string {
  if (status === 'failed') {
    return onFailure === 'closed' ? 'failed, so it blocks' : 'failed, so it says nothing';
  }
  return status === 'background' ? 'goes on in the background' : effect;
}

const WORTH_SAYING_MS = 1000;

function slowestLine({ slowest, outcomes }: Verdict): string[] {
  if (slowest === null || (outcomes.length < 2 && slowest.durationMs < WORTH_SAYING_MS)) return [];
  return [colors.dim(`  slowest: ${oneLine(slowest.hook)}, ${milliseconds(slowest.durationMs)}`)];
}

function trustAdvice({ skipped }: Verdict): string[] {
  return skipped.some(awaitsTrust) ? ['  look at them and let them run: `hookline trust`'] : [];
}
