import { decodeOutput, type OutputRequest } from '../../../../src/dialects/claude/output/decide.ts';
import type { ClaudeEvent } from '../../../../src/dialects/claude/events.ts';
import type { Verdict } from '../../../../src/hooks/decision.ts';
import type { FiredEvent } from '../../../../src/hooks/facts.ts';
import type { Answer, HandlerInput } from '../../../../src/hooks/handler.ts';
import { bash, engineOf, handler, MOMENT } from '../../../hooks/handlers.ts';

export const LABEL = 'node case.mjs c';

/** How a hook is written in the vectors: an object is printed as JSON. */
export interface Hook {
  readonly out?: unknown;
  readonly err?: string;
  readonly exit?: number | null;
}

export function specific(event: ClaudeEvent, fields: Readonly<Record<string, unknown>>): object {
  return { hookSpecificOutput: { hookEventName: event, ...fields } };
}

export function inputOf(fired: FiredEvent, name?: string): HandlerInput {
  const event = { ...MOMENT, ...fired };
  const tool = 'tool' in event ? event.tool : null;
  return {
    event,
    tool: tool === null ? null : { name: name ?? tool.name, input: tool.input, part: null },
  };
}

export const BASH_RESPONSE = {
  stdout: 'hi',
  stderr: '',
  interrupted: false,
  isImage: false,
  noOutputExpected: false,
};

export function afterTool(name: string, response: unknown): FiredEvent {
  return {
    name: 'PostToolUse',
    tool: { callId: 'c', name, input: {} },
    result: { response, text: 'hi', success: true },
    durationMs: 1,
  };
}

const FIRED: Partial<Record<ClaudeEvent, FiredEvent>> = {
  PostToolUse: afterTool('Bash', BASH_RESPONSE),
  UserPromptSubmit: { name: 'UserPromptSubmit', prompt: 'p' },
  SessionStart: { name: 'SessionStart', source: 'startup' },
  Stop: { name: 'Stop', lastText: '', again: false },
};

/** A finished hook; other fields have harmless defaults. */
export function request(
  event: ClaudeEvent,
  hook: Hook,
  wanted: Partial<OutputRequest> = {},
): OutputRequest {
  return {
    event,
    input: inputOf(FIRED[event] ?? bash('ls')),
    label: LABEL,
    onFailure: 'continue',
    exitCode: hook.exit === undefined ? 0 : hook.exit,
    signal: hook.exit === null ? 'SIGKILL' : null,
    stdout: printed(hook.out),
    stderr: hook.err ?? '',
    isTruncated: false,
    spill: () => null,
    ...wanted,
  };
}

export function decode(
  event: ClaudeEvent,
  hook: Hook,
  wanted: Partial<OutputRequest> = {},
): Answer {
  return decodeOutput(request(event, hook, wanted));
}

/** The verdict over several hooks of a call, each decoded from what it printed, in declared order. */
export function verdictOf(hooks: readonly Hook[]): Promise<Verdict> {
  const handlers = hooks.map((hook, index) =>
    handler(`h${index}`, () => decode('PreToolUse', hook)),
  );
  return engineOf(handlers).dispatch(bash('ls'));
}

function printed(out: unknown): string {
  if (out === undefined) return '';
  return typeof out === 'string' ? out : JSON.stringify(out);
}
