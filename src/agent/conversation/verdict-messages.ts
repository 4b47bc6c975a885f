import { truncateText, isRecord } from '../../base/json.ts';
import {
  type Attributed,
  type ChangeField,
  isRefusal,
  type Outcome,
  type Verdict,
} from '../../hooks/decision.ts';
import { type HookOrigin, formatHookMessage } from './hook-messages.ts';

/** The limit for the context of all hooks of one event together. */
const MAX_CONTEXT_CHARS = 100_000;

/** The context that hooks returned for the model, truncated, with the id of each hook. */
export function formatContexts(verdict: Verdict, at: HookOrigin): readonly string[] {
  const isPlain = verdict.context.map((context) => isPlainOutput(verdict, context));
  const contexts = truncateContexts(verdict.context);
  const other = contexts.filter((_, index) => isPlain[index] !== true);
  const texts = contexts
    .filter((_, index) => isPlain[index] === true)
    .map(({ hook, text }) => formatHookMessage({ kind: 'stdout', at, text, from: [hook] }));
  if (other.length > 0) {
    const otherTexts = other.map(({ text }) => text);
    texts.push(
      formatHookMessage({
        kind: 'context',
        at,
        texts: otherTexts,
        from: other.map(({ hook }) => hook),
      }),
    );
  }
  return texts;
}

/** Claude Code words a hook's plain stdout differently from its `additionalContext`. */
function isPlainOutput({ outcomes }: Verdict, { hook, text }: Attributed): boolean {
  return outcomes.some(
    (outcome) => outcome.hook === hook && outcome.stdout?.trim() === text.trim(),
  );
}

/** Truncated before formatting, so that the hook id below the text survives. */
function truncateContexts(contexts: readonly Attributed[]): readonly Attributed[] {
  let left = MAX_CONTEXT_CHARS;
  return contexts.map(({ hook, text }) => {
    const truncated = truncateText(text, left);
    left -= truncated.length;
    return { hook, text: truncated === text ? text : `${truncated}\n[cut: too much context]` };
  });
}

export function formatObjections(verdict: Verdict, at: HookOrigin): readonly string[] {
  return selectDecisiveReasons(verdict).map(({ hook, text }) =>
    formatHookMessage({ kind: 'objection', at, cause: { reason: text, label: hook } }),
  );
}

/** The reasons of the hooks that decided, one per line. */
export function joinReasons(verdict: Verdict, otherwise: string): string {
  const texts = selectDecisiveReasons(verdict).map(({ text }) => text);
  return texts.length === 0 ? otherwise : [...new Set(texts)].join('\n');
}

/** A hook that allowed a call contributes no reason to its denial. */
function selectDecisiveReasons({ effect, reasons, outcomes }: Verdict): readonly Attributed[] {
  const isStrict = (each: Outcome['effect']): boolean =>
    isRefusal(effect) ? isRefusal(each) : each === effect;
  const deciding = outcomes.filter((outcome) => isStrict(outcome.effect)).map(({ hook }) => hook);
  const own = reasons.filter(({ hook }) => deciding.includes(hook));
  return own.length === 0 ? reasons : own;
}

/** The values that hooks returned for a field that keeps all of them, in declared order. */
export function collectValues({ changes }: Verdict, field: ChangeField): readonly unknown[] {
  const value = changes[field];
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.flatMap((each) => (isRecord(each) ? each['value'] : []));
}

/** The error that the model gets for a call that hooks denied. */
export function formatDenial(verdict: Verdict, tool: string): string {
  const reason = joinReasons(verdict, verdict.stop?.reason ?? 'Blocked by hook');
  return formatHookMessage({
    kind: 'denied-call',
    tool,
    cause: { reason, label: parseLabel(reason) ?? '' },
  });
}

/** The reason when only plugin hooks denied a call; null when other hooks did, too. */
export function findPluginDenial(verdict: Verdict): string | null {
  const deciding = verdict.outcomes.filter(({ effect }) => isRefusal(effect));
  // A failed hook gave no reason of its own.
  const isPluginReason = ({ dialect, status }: Outcome): boolean =>
    dialect === 'plugin' && status === 'decided';
  const isPluginDenial = deciding.length > 0 && deciding.every(isPluginReason);
  return isPluginDenial ? joinReasons(verdict, verdict.stop?.reason ?? 'Blocked by hook') : null;
}

/** Why a compaction was blocked, for the user; each reason starts with its hook. */
export function formatBlockedCompaction(verdict: Verdict): string {
  const texts = selectDecisiveReasons(verdict).map(({ hook, text: reason }) => {
    const cause = { reason, label: parseLabel(reason) ?? hook };
    return formatHookMessage({ kind: 'blocked-compaction', cause });
  });
  return texts.join('\n');
}

/** A reason taken from stderr starts with the hook's command in brackets. */
function parseLabel(reason: string): string | null {
  return /^\[([\s\S]*?)\]: /.exec(reason)?.[1] ?? null;
}
