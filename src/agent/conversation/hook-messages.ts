import { truncateText, isRecord } from '../../base/json.ts';
import {
  type Attributed,
  type ChangeField,
  isRefusal,
  joinContexts,
  type Outcome,
  type Verdict,
} from '../../hooks/decision.ts';
import { REMINDER_START } from '../../sessions/messages.ts';

/** A text that a hook causes, for the model or for the user. */
export type HookMessage =
  /** The error that the model gets for a call that a hook denied. */
  | { readonly kind: 'denied-call'; readonly tool: string; readonly cause: HookReason }
  /** The error for a call whose rewritten input the tool does not accept. */
  | { readonly kind: 'bad-rewrite'; readonly tool: string; readonly problem: string }
  /** Contexts of all hooks of one event, for the model. */
  | {
      readonly kind: 'context';
      readonly at: HookOrigin;
      readonly texts: readonly string[];
      /** Ids of the hooks that returned the texts. */
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
  /** An objection raised after a tool ran or before the agent stops, for the model. */
  | { readonly kind: 'objection'; readonly at: HookOrigin; readonly cause: HookReason }
  /** The message that makes the agent, a sub-agent or a task continue. */
  | { readonly kind: 'feedback'; readonly event: string; readonly reason: string }
  /** For the user; `prompt` is null when the hook suppressed it. */
  | {
      readonly kind: 'refused-prompt';
      readonly event: 'UserPromptSubmit' | 'UserPromptExpansion';
      readonly reason: string;
      readonly prompt: string | null;
    }
  | { readonly kind: 'stopped-prompt'; readonly reason: string }
  | { readonly kind: 'blocked-compaction'; readonly cause: HookReason }
  | { readonly kind: 'refused-model'; readonly reason: string }
  | { readonly kind: 'retry' }
  /** A hook's message to the user. */
  | { readonly kind: 'notice'; readonly at: HookOrigin; readonly text: string };

/**
 * A reason and the command of the hook that returned it. A reason taken from stderr starts with the
 * command.
 */
interface HookReason {
  readonly reason: string;
  readonly label: string;
}

interface HookOrigin {
  readonly event: string;
  /** The tool's name, or the source of a session; null for other events. */
  readonly subject: string | null;
}

/** Claude Code's wording, because models and hook authors know it. */
export function formatHookMessage(message: HookMessage): string {
  switch (message.kind) {
    case 'denied-call':
      return formatDeniedCall(message.tool, message.cause);
    case 'bad-rewrite':
      return `PreToolUse hook for ${message.tool} returned updatedInput that failed schema validation: ${message.problem}\nThe tool input from the model was valid; the hook's rewrite of it was not.`;
    case 'context':
      return formatReminder(
        `${formatContextName(message.at)} hook additional context: ${joinContexts(message.texts)}${formatHookList(message.from)}`,
      );
    case 'stdout':
      return formatReminder(
        `${formatHookName(message.at)} hook success: ${message.text}${formatHookList(message.from)}`,
      );
    case 'late':
      return formatReminder(`${message.text}${formatHookList(message.from)}`);
    case 'objection':
      return formatReminder(formatObjection(message.at, message.cause));
    case 'feedback':
      return `${getFeedbackEvent(message.event)} hook feedback:\n${escapeReminderTags(message.reason)}`;
    case 'refused-prompt':
      return formatRefusedPrompt(message.event, message.reason, message.prompt);
    case 'stopped-prompt':
      return `Operation stopped by hook: ${message.reason}`;
    case 'blocked-compaction':
      return `Compaction blocked by PreCompact hook: ${formatWithLabel(message.cause)}`;
    case 'refused-model':
      return `Model switch blocked by a PreModelSwitch hook: ${message.reason}`;
    case 'retry':
      return 'The PermissionDenied hook indicated you may retry this tool call.';
    case 'notice':
      return formatNotice(message.at, message.text);
  }
}

const FILE_TOOLS = ['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** Claude Code was observed to return the bare reason for file tools, unless it was taken from stderr. */
function formatDeniedCall(tool: string, cause: HookReason): string {
  if (FILE_TOOLS.includes(tool) && !hasLabel(cause)) return cause.reason;
  return `PreToolUse:${tool} hook error: ${cause.reason}`;
}

/** The hook ids are appended so that a reader of the transcript can see where a text came from. */
export function formatHookList(from: readonly string[] = []): string {
  return from.length === 0 ? '' : `\n(from ${[...new Set(from)].join(', ')})`;
}

function formatHookName({ event, subject }: HookOrigin): string {
  return subject === null ? event : `${event}:${subject}`;
}

/** Claude Code names the source of SessionStart only for plain stdout. */
function formatContextName(at: HookOrigin): string {
  return at.event === 'SessionStart' ? at.event : formatHookName(at);
}

function formatObjection(at: HookOrigin, { reason, label }: HookReason): string {
  return `${formatHookName(at)} hook blocking error from command: "${label}": ${reason}`;
}

/** Sub-agents get the wording of the main agent's Stop event. */
function getFeedbackEvent(event: string): string {
  return event === 'SubagentStop' ? 'Stop' : event;
}

function formatRefusedPrompt(event: string, reason: string, prompt: string | null): string {
  const refusal = `${event} operation blocked by hook:\n${reason}`;
  return prompt === null ? refusal : `${refusal}\n\nOriginal prompt: ${prompt}`;
}

function formatWithLabel(cause: HookReason): string {
  return hasLabel(cause) ? cause.reason : `[${cause.label}]: ${cause.reason}`;
}

function hasLabel({ reason, label }: HookReason): boolean {
  return reason.startsWith(`[${label}]: `);
}

function formatNotice(at: HookOrigin, text: string): string {
  const lines = text.split('\n').map((line) => `${formatHookName(at)} says: ${line}`);
  return lines.join('\n');
}

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
  let remaining = MAX_CONTEXT_CHARS;
  return contexts.map(({ hook, text }) => {
    const truncated = truncateText(text, remaining);
    remaining -= truncated.length;
    return { hook, text: truncated === text ? text : `${truncated}\n[cut: too much context]` };
  });
}

export function formatObjections(verdict: Verdict, at: HookOrigin): readonly string[] {
  return selectDecisiveReasons(verdict).map(({ hook, text }) =>
    formatHookMessage({ kind: 'objection', at, cause: { reason: text, label: hook } }),
  );
}

/** The reasons of the hooks that decided, one per line; empty only where no hook refused. */
export function joinReasons(verdict: Verdict): string {
  return [...new Set(selectDecisiveReasons(verdict).map(({ text }) => text))].join('\n');
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
  const reason = joinReasons(verdict);
  return formatHookMessage({
    kind: 'denied-call',
    tool,
    cause: { reason, label: parseLabel(reason) ?? '' },
  });
}

/**
 * The reason when it is the result of the denied call; null when a hook that denied the call, also by
 * its failure, has its reason reported as an error.
 */
export function findReasonAsResult(verdict: Verdict): string | null {
  const refusals = verdict.outcomes.filter(({ effect }) => isRefusal(effect));
  const isResult =
    refusals.length > 0 && refusals.every(({ decision }) => decision?.reasonAsResult === true);
  return isResult ? joinReasons(verdict) : null;
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

/** Text from Hookline or a hook, marked so that the model can distinguish it from the user's text. */
export function formatReminder(text: string): string {
  return `${REMINDER_START}\n${escapeReminderTags(text)}\n</system-reminder>`;
}

/**
 * Replaces the angle brackets of tags that only Hookline may write. The model follows their content, and
 * files, pages and programs could contain them, too.
 */
export function escapeReminderTags(text: string): string {
  return text.replaceAll(RESERVED_TAG, (_whole, tag: string, end: string | undefined) =>
    end === undefined ? `‹${tag}` : `‹${tag}${end.slice(0, -1)}›`,
  );
}

const RESERVED_TAG = /<([\s/]{0,9}(?:system[-_\s]?reminder|instructions\s{1,9}file))([^<>]*>)?/gi;
