import { truncateText, isRecord } from '../../base/json.ts';
import {
  type Attributed,
  type ChangeField,
  isRefusal,
  type Outcome,
  type Verdict,
} from '../../hooks/decision.ts';
import { type HookOrigin, formatHookMessage } from './hook-messages.ts';

/** How much all hooks of one event together may tell the model. */
const MAX_CONTEXT_CHARS = 100_000;

/** What hooks want the model to know, bounded, each with the hook that said it. */
export function formatContexts(verdict: Verdict, at: HookOrigin): readonly string[] {
  const isPlain = verdict.context.map((given) => isPlainOutput(verdict, given));
  const given = truncateContexts(verdict.context);
  const other = given.filter((_, index) => isPlain[index] !== true);
  const texts = given
    .filter((_, index) => isPlain[index] === true)
    .map(({ hook, text }) => formatHookMessage({ kind: 'stdout', at, text, from: [hook] }));
  if (other.length > 0) {
    const said = other.map(({ text }) => text);
    texts.push(
      formatHookMessage({ kind: 'context', at, texts: said, from: other.map(({ hook }) => hook) }),
    );
  }
  return texts;
}

/** Claude tells a model of a hook's plain output in other words than of a context that it names. */
function isPlainOutput({ outcomes }: Verdict, { hook, text }: Attributed): boolean {
  return outcomes.some(
    (outcome) => outcome.hook === hook && outcome.stdout?.trim() === text.trim(),
  );
}

/** Cut before they are put into words, so that who said it stands below what is left of it. */
function truncateContexts(given: readonly Attributed[]): readonly Attributed[] {
  let left = MAX_CONTEXT_CHARS;
  return given.map(({ hook, text }) => {
    const kept = truncateText(text, left);
    left -= kept.length;
    return { hook, text: kept === text ? text : `${kept}\n[cut: too much context]` };
  });
}

/** What hooks object to after the fact: each objection with its hook. */
export function formatObjections(verdict: Verdict, at: HookOrigin): readonly string[] {
  return selectDecisiveReasons(verdict).map(({ hook, text }) =>
    formatHookMessage({ kind: 'objection', at, said: { reason: text, label: hook } }),
  );
}

/** Every reason of those who decided, one below the other. */
export function joinReasons(verdict: Verdict, otherwise: string): string {
  const texts = selectDecisiveReasons(verdict).map(({ text }) => text);
  return texts.length === 0 ? otherwise : [...new Set(texts)].join('\n');
}

/** Whoever allowed a call has no part in its refusal. */
function selectDecisiveReasons({ effect, reasons, outcomes }: Verdict): readonly Attributed[] {
  const isStrict = (each: Outcome['effect']): boolean =>
    isRefusal(effect) ? isRefusal(each) : each === effect;
  const deciding = outcomes.filter((outcome) => isStrict(outcome.effect)).map(({ hook }) => hook);
  const own = reasons.filter(({ hook }) => deciding.includes(hook));
  return own.length === 0 ? reasons : own;
}

/** What hooks gave for a field whose values are all kept, in declared order. */
export function collectValues({ changes }: Verdict, field: ChangeField): readonly unknown[] {
  const given = changes[field];
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  return list.flatMap((each) => (isRecord(each) ? each['value'] : []));
}

/** The error that the model gets for a call that hooks denied. */
export function formatDenial(verdict: Verdict, tool: string): string {
  const reason = joinReasons(verdict, verdict.stop?.reason ?? 'Blocked by hook');
  return formatHookMessage({
    kind: 'denied-call',
    tool,
    said: { reason, label: parseLabel(reason) ?? '' },
  });
}

/** Why a call was denied that plugins alone denied; null when others did, too. */
export function findPluginDenial(verdict: Verdict): string | null {
  const deciding = verdict.outcomes.filter(({ effect }) => isRefusal(effect));
  // That one failed is nothing that it said.
  const isSaid = ({ dialect, status }: Outcome): boolean =>
    dialect === 'plugin' && status === 'decided';
  const isTheirs = deciding.length > 0 && deciding.every(isSaid);
  return isTheirs ? joinReasons(verdict, verdict.stop?.reason ?? 'Blocked by hook') : null;
}

/** Why there was no compaction, for the person; in front of each reason, who said so. */
export function formatBlockedCompaction(verdict: Verdict): string {
  const texts = selectDecisiveReasons(verdict).map(({ hook, text: reason }) => {
    const said = { reason, label: parseLabel(reason) ?? hook };
    return formatHookMessage({ kind: 'blocked-compaction', said });
  });
  return texts.join('\n');
}

/** What a hook wrote to stderr has its command in front. */
function parseLabel(reason: string): string | null {
  return /^\[([\s\S]*?)\]: /.exec(reason)?.[1] ?? null;
}
