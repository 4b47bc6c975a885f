import { escapeReminderTags, formatReminder } from './reminder.ts';

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
export interface HookReason {
  readonly reason: string;
  readonly label: string;
}

export interface HookOrigin {
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
