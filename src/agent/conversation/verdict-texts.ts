import { cutText, isRecord } from '../../base/json.ts';
import {
  type Attributed,
  type ChangeField,
  isRefusal,
  type Outcome,
  type Verdict,
} from '../../hooks/decision.ts';
import { type HookPlace, modelText } from './hook-texts.ts';

/** How much all hooks of one event together may tell the model. */
const MAX_CONTEXT_CHARS = 100_000;

/** What hooks want the model to know, bounded, each with the hook that said it. */
export function contextTexts(verdict: Verdict, at: HookPlace): readonly string[] {
  const isPlain = verdict.context.map((given) => isPlainOutput(verdict, given));
  const given = bounded(verdict.context);
  const other = given.filter((_, index) => isPlain[index] !== true);
  const texts = given
    .filter((_, index) => isPlain[index] === true)
    .map(({ hook, text }) => modelText({ kind: 'stdout', at, text, from: [hook] }));
  if (other.length > 0) {
    const said = other.map(({ text }) => text);
    texts.push(
      modelText({ kind: 'context', at, texts: said, from: other.map(({ hook }) => hook) }),
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
function bounded(given: readonly Attributed[]): readonly Attributed[] {
  let left = MAX_CONTEXT_CHARS;
  return given.map(({ hook, text }) => {
    const kept = cutText(text, left);
    left -= kept.length;
    return { hook, text: kept === text ? text : `${kept}\n[cut: too much context]` };
  });
}

/** What hooks object to after the fact: each objection with its hook. */
export function objectionTexts(verdict: Verdict, at: HookPlace): readonly string[] {
  return decisiveReasons(verdict).map(({ hook, text }) =>
    modelText({ kind: 'objection', at, said: { reason: text, label: hook } }),
  );
}

/** Every reason of those who decided, one below the other. */
export function reasonsText(verdict: Verdict, otherwise: string): string {
  const texts = decisiveReasons(verdict).map(({ text }) => text);
  return texts.length === 0 ? otherwise : [...new Set(texts)].join('\n');
}

/** Whoever allowed a call has no part in its refusal. */
function decisiveReasons({ effect, reasons, outcomes }: Verdict): readonly Attributed[] {
  const isStrict = (each: Outcome['effect']): boolean =>
    isRefusal(effect) ? isRefusal(each) : each === effect;
  const deciding = outcomes.filter((outcome) => isStrict(outcome.effect)).map(({ hook }) => hook);
  const own = reasons.filter(({ hook }) => deciding.includes(hook));
  return own.length === 0 ? reasons : own;
}

/** What hooks gave for a field whose values are all kept, in declared order. */
export function joinedValues({ changes }: Verdict, field: ChangeField): readonly unknown[] {
  const given = changes[field];
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  return list.flatMap((each) => (isRecord(each) ? each['value'] : []));
}

/** The error that the model gets for a call that hooks denied. */
export function deniedText(verdict: Verdict, tool: string): string {
  const reason = reasonsText(verdict, verdict.stop?.reason ?? 'Blocked by hook');
  return modelText({ kind: 'denied-call', tool, said: { reason, label: labelIn(reason) ?? '' } });
}

/** Why a call was denied that plugins alone denied; null when others did, too. */
export function saidByPlugins(verdict: Verdict): string | null {
  const deciding = verdict.outcomes.filter(({ effect }) => isRefusal(effect));
  // That one failed is nothing that it said.
  const isSaid = ({ dialect, status }: Outcome): boolean =>
    dialect === 'plugin' && status === 'decided';
  const isTheirs = deciding.length > 0 && deciding.every(isSaid);
  return isTheirs ? reasonsText(verdict, verdict.stop?.reason ?? 'Blocked by hook') : null;
}

/** Why there was no compaction, for the person; in front of each reason, who said so. */
export function blockedText(verdict: Verdict): string {
  const texts = decisiveReasons(verdict).map(({ hook, text: reason }) => {
    const said = { reason, label: labelIn(reason) ?? hook };
    return modelText({ kind: 'blocked-compaction', said });
  });
  return texts.join('\n');
}

/** What a hook wrote to stderr has its command in front. */
function labelIn(reason: string): string | null {
  return /^\[([\s\S]*?)\]: /.exec(reason)?.[1] ?? null;
}
