import { truncateText, isRecord } from '../../base/json.ts';
import {
  type Attributed,
  type ChangeField,
  isRefusal,
  type Outcome,
  type Verdict,
} from '../../hooks/decision.ts';
import { REMINDER_START } from '../../sessions/synthetic-message.ts';

/** Something that a hook brought about and that somebody must be told. */
export type HookMessage =
  /** The error that the model gets for a call that a hook denied. */
  | { readonly kind: 'denied-call'; readonly tool: string; readonly said: HookReason }
  /** The error for a call whose rewritten input the tool does not accept. */
  | { readonly kind: 'bad-rewrite'; readonly tool: string; readonly problem: string }
  /** Contexts of all hooks of one event, for the model. */
  | {
      readonly kind: 'context';
      readonly at: HookOrigin;
      readonly texts: readonly string[];
      /** The hooks that gave them. */
      readonly from?: readonly string[];
    }
  /** Plain stdout of a hook, for the model. */
  | {
      readonly kind: 'stdout';
      readonly at: HookOrigin;
      readonly text: string;
      readonly from?: readonly string[];
    }
  /** Text of a hook that ran in the background. */
  | { readonly kind: 'late'; readonly text: string; readonly from?: readonly string[] }
  /** What a hook objects to after a tool ran, or before the agent ends; for the model. */
  | { readonly kind: 'objection'; readonly at: HookOrigin; readonly said: HookReason }
  /** What makes the agent, a sub-agent or a task go on; a message to the model. */
  | { readonly kind: 'feedback'; readonly event: string; readonly reason: string }
  /** For the person, whose prompt is null when it shall not be repeated. */
  | {
      readonly kind: 'refused-prompt';
      readonly event: 'UserPromptSubmit' | 'UserPromptExpansion';
      readonly reason: string;
      readonly prompt: string | null;
    }
  | { readonly kind: 'stopped-prompt'; readonly reason: string }
  | { readonly kind: 'blocked-compaction'; readonly said: HookReason }
  | { readonly kind: 'refused-model'; readonly reason: string }
  | { readonly kind: 'retry' }
  /** A hook's message to the person. */
  | { readonly kind: 'notice'; readonly at: HookOrigin; readonly text: string };

/** A reason and the command of the hook that gave it; stderr carries the command in front. */
interface HookReason {
  readonly reason: string;
  readonly label: string;
}

interface HookOrigin {
  readonly event: string;
  /** The tool's name, or the source of a session; null for other events. */
  readonly subject: string | null;
}

/** Claude's wording, which models and people who know Claude's hooks are used to. */
export function formatHookMessage(situation: HookMessage): string {
  switch (situation.kind) {
    case 'denied-call':
      return formatDeniedCall(situation.tool, situation.said);
    case 'bad-rewrite':
      return `PreToolUse hook for ${situation.tool} returned updatedInput that failed schema validation: ${situation.problem}\nThe tool input from the model was valid; the hook's rewrite of it was not.`;
    case 'context':
      return formatReminder(
        `${formatContextName(situation.at)} hook additional context: ${situation.texts.join('\n')}${formatHookList(situation.from)}`,
      );
    case 'stdout':
      return formatReminder(
        `${formatHookName(situation.at)} hook success: ${situation.text}${formatHookList(situation.from)}`,
      );
    case 'late':
      return formatReminder(`${situation.text}${formatHookList(situation.from)}`);
    case 'objection':
      return formatReminder(formatObjection(situation.at, situation.said));
    case 'feedback':
      return `${getFeedbackEvent(situation.event)} hook feedback:\n${escapeReminderTags(situation.reason)}`;
    case 'refused-prompt':
      return formatRefusedPrompt(situation.event, situation.reason, situation.prompt);
    case 'stopped-prompt':
      return `Operation stopped by hook: ${situation.reason}`;
    case 'blocked-compaction':
      return `Compaction blocked by PreCompact hook: ${formatWithLabel(situation.said)}`;
    case 'refused-model':
      return `Model switch blocked by a PreModelSwitch hook: ${situation.reason}`;
    case 'retry':
      return 'The PermissionDenied hook indicated you may retry this tool call.';
    case 'notice':
      return formatNotice(situation.at, situation.text);
  }
}

const FILE_TOOLS = ['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

function formatDeniedCall(tool: string, said: HookReason): string {
  if (FILE_TOOLS.includes(tool) && !hasLabel(said)) return said.reason;
  return `PreToolUse:${tool} hook error: ${said.reason}`;
}

/** Whoever reads a conversation later must see which hook put something into it. */
function formatHookList(from: readonly string[] = []): string {
  return from.length === 0 ? '' : `\n(from ${[...new Set(from)].join(', ')})`;
}

function formatHookName({ event, subject }: HookOrigin): string {
  return subject === null ? event : `${event}:${subject}`;
}

/** Of a session's start Claude names the source for plain stdout only. */
function formatContextName(at: HookOrigin): string {
  return at.event === 'SessionStart' ? at.event : formatHookName(at);
}

function formatObjection(at: HookOrigin, { reason, label }: HookReason): string {
  return `${formatHookName(at)} hook blocking error from command: "${label}": ${reason}`;
}

/** A sub-agent is told in the same words as the agent. */
function getFeedbackEvent(event: string): string {
  return event === 'SubagentStop' ? 'Stop' : event;
}

function formatRefusedPrompt(event: string, reason: string, prompt: string | null): string {
  const refusal = `${event} operation blocked by hook:\n${reason}`;
  return prompt === null ? refusal : `${refusal}\n\nOriginal prompt: ${prompt}`;
}

function formatWithLabel(said: HookReason): string {
  return hasLabel(said) ? said.reason : `[${said.label}]: ${said.reason}`;
}

function hasLabel({ reason, label }: HookReason): boolean {
  return reason.startsWith(`[${label}]: `);
}

function formatNotice(at: HookOrigin, text: string): string {
  const lines = text.split('\n').map((line) => `${formatHookName(at)} says: ${line}`);
  return lines.join('\n');
}

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

/** What Hookline and hooks tell the model, told apart from what a person says. */
export function formatReminder(text: string): string {
  return `${REMINDER_START}\n${escapeReminderTags(text)}\n</system-reminder>`;
}

/**
 * The text with the tags that only Hookline writes made harmless, and still readable: the model follows
 * what stands in them, and files, pages and programs could write them, too.
 */
export function escapeReminderTags(text: string): string {
  return text.replaceAll(RESERVED_TAG, (_whole, tag: string, end: string | undefined) =>
    end === undefined ? `‹${tag}` : `‹${tag}${end.slice(0, -1)}›`,
  );
}

const RESERVED_TAG = /<([\s/]{0,9}(?:system[-_\s]?reminder|instructions\s{1,9}file))([^<>]*>)?/gi;
