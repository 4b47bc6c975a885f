import { colors } from './colors.ts';
import { SLOW_HOOK_MS } from './hook-progress.ts';
import type { HookProblem } from '../../dialects/index.ts';
import { type Failure, isAwaitingTrust, type Outcome, type Verdict } from '../../hooks/decision.ts';
import {
  indent,
  formatDuration,
  toOneLine,
  formatCount,
  toPrintable,
  toPrintableLines,
} from './print.ts';

/** The verdict in `--json` output. */
export function toVerdictJson(verdict: Verdict): object {
  return {
    ...verdict,
    outcomes: verdict.outcomes.map(({ decision: _decision, ...fields }) => fields),
  };
}

/** Outcomes of background hooks in `--json` output. */
export function toLateJson(late: readonly Outcome[]): unknown {
  return late.map(({ decision, ...fields }) => ({
    ...fields,
    context: decision?.context ?? null,
    message: decision?.notice ?? null,
    wakes: decision?.wake === true,
  }));
}

/** Outcomes of background hooks as text. */
export function formatLate(late: readonly Outcome[]): string {
  return [
    'Background hooks:',
    ...late.flatMap(({ hook, decision }) => [
      ...(decision?.context === undefined ? [] : [formatContext(hook, decision.context)]),
      ...(decision?.notice === undefined ? [] : [formatMessage(hook, decision.notice)]),
    ]),
    ...late.map((outcome) => formatOutcome(outcome, formatLateResult(outcome))),
  ].join('\n');
}

/** A problem of a hook as lines: what happened, and below it what to do. */
export function formatProblem({ hook, kind, message, hint }: HookProblem): string {
  const line = `${kind}: ${toOneLine(hook)}: ${toPrintableLines(message)}`;
  return hint === null ? line : `${line}\n  ${toPrintable(hint)}`;
}

function formatLateResult({ status, decision }: Outcome): string {
  if (status === 'failed') return 'failed';
  return decision?.wake === true ? 'answered (wakes an idle session)' : 'answered';
}

/** The verdict as text: the decision first, then the details. */
export function formatVerdict(verdict: Verdict): string {
  return [
    formatHeadline(verdict),
    ...verdict.reasons.map(({ hook, text }) => formatQuote(hook, text)),
    ...(verdict.stop === null ? [] : [`  ends the run: ${verdict.stop.reason}`]),
    ...(verdict.input === null ? [] : [`  input becomes ${JSON.stringify(verdict.input)}`]),
    ...(verdict.output === null ? [] : [`  output becomes ${JSON.stringify(verdict.output)}`]),
    ...formatChanges(verdict),
    ...verdict.context.map(({ hook, text }) => formatContext(hook, text)),
    ...verdict.messages.map(({ hook, text }) => formatMessage(hook, text)),
    ...verdict.outcomes.map((outcome) =>
      formatOutcome(outcome, formatResult(outcome), verdict.reasons),
    ),
    ...verdict.skipped.map(({ hook, why }) =>
      colors.dim(`  - ${toOneLine(hook)}: not run: ${toPrintable(why)}`),
    ),
    ...formatSlowest(verdict),
    ...formatTrustHint(verdict),
  ].join('\n');
}

function formatHeadline({ event, effect, outcomes }: Verdict): string {
  const { length } = outcomes.filter((outcome) => !isUnread(outcome));
  const ran = length === 0 ? 'no hook ran' : formatCount(length, 'hook run');
  return `${colors.bold(event)}: ${colorEffect(effect)} ${colors.dim(`(${ran})`)}`;
}

function colorEffect(effect: Verdict['effect']): string {
  if (effect === 'deny' || effect === 'stop') return colors.red(effect);
  return effect === 'ask' || effect === 'defer' ? colors.yellow(effect) : colors.green(effect);
}

function formatQuote(hook: string, text: string): string {
  const by = colors.dim(`(${toOneLine(hook)})`);
  return text.includes('\n') ? `  ${by}\n${indent(text)}` : `  ${text} ${by}`;
}

function formatContext(hook: string, text: string): string {
  return `  context for the model: ${formatQuote(hook, text).trim()}`;
}

function formatMessage(hook: string, text: string): string {
  return `  message for you: ${formatQuote(hook, text).trim()}`;
}

function formatChanges({ changes }: Verdict): string[] {
  return Object.entries(changes).map(
    ([field, value]) => `  ${field} becomes ${JSON.stringify(value)}`,
  );
}

/** Whether it stands for a file or entry that cannot be read, so that no hook ran. */
function isUnread({ failure }: Outcome): boolean {
  return failure?.kind === 'config';
}

/** `reasons` are printed above; a failure that refuses is one of them. */
function formatOutcome(outcome: Outcome, result: string, reasons: Verdict['reasons'] = []): string {
  if (outcome.failure?.kind === 'config') return formatUnread(outcome, outcome.failure);
  const mark = outcome.status === 'failed' ? colors.red('✗') : colors.green('✓');
  const part = outcome.part === null ? '' : ` part ${outcome.part + 1}`;
  const again = outcome.pass === 2 ? ' again' : '';
  const asked = outcome.vocabulary === undefined ? '' : ` (${outcome.vocabulary})`;
  const line = `  ${mark} ${toOneLine(outcome.hook)}${part}${asked}${again}: ${result} ${colors.dim(formatDuration(outcome.durationMs))}`;
  const { failure } = outcome;
  const details = [
    ...(failure === null || reasons.some(({ text }) => text === failure.message)
      ? []
      : [colors.red(`${failure.kind}: ${failure.message}`)]),
    ...(failure?.hint === undefined ? [] : [toPrintable(failure.hint)]),
    ...(outcome.warnings ?? []).map((text) => colors.yellow(`warning: ${toPrintable(text)}`)),
    ...outcome.notes.map((note) => colors.dim(toPrintable(note))),
  ];
  return [line, ...details.map((detail) => indent(detail, '      '))].join('\n');
}

function formatUnread({ source, onFailure }: Outcome, { message, hint = '' }: Failure): string {
  const line = `  ${colors.red('✗')} ${toOneLine(source)}: not read ${formatPolicy(onFailure)}`;
  return [line, indent(colors.red(message), '      '), indent(toPrintable(hint), '      ')].join(
    '\n',
  );
}

function formatPolicy(onFailure: Outcome['onFailure']): string {
  return onFailure === 'closed' ? '(blocks: fail-closed)' : '(ignored: fail-open)';
}

function formatResult({ status, effect, onFailure }: Outcome): string {
  if (status === 'failed') return `failed ${formatPolicy(onFailure)}`;
  return status === 'background' ? 'running in the background' : effect;
}

function formatSlowest({ slowest, outcomes }: Verdict): string[] {
  const { length } = outcomes.filter((outcome) => !isUnread(outcome));
  if (slowest === null || length === 0) return [];
  if (length < 2 && slowest.durationMs < SLOW_HOOK_MS) return [];
  return [
    colors.dim(`  slowest: ${toOneLine(slowest.hook)}, ${formatDuration(slowest.durationMs)}`),
  ];
}

function formatTrustHint({ skipped }: Verdict): string[] {
  return skipped.some(isAwaitingTrust) ? ['  review them: `hookline trust`'] : [];
}
