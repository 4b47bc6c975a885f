import { invariant } from '../../src/base/errors.ts';
import type { Dialect, WrittenAnswer } from '../../src/dialects/dialect.ts';
import { DIALECTS } from '../../src/dialects/index.ts';
import type { Verdict } from '../../src/hooks/decision.ts';
import { getToolCall, type HookEvent } from '../../src/hooks/facts.ts';
import type { Answer, HandlerInput } from '../../src/hooks/handler.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { listToolViews } from '../../src/tool-vocabularies/tool-views.ts';
import { MOMENT } from '../hooks/handlers.ts';

/** A dialect that writes answers, with its own codec; loaded once for all cases. */
export interface Writer {
  readonly dialect: Dialect;
  write(event: HookEvent, verdict: Verdict): WrittenAnswer;
  /** Reads what was written as the agent of the dialect would. */
  read(event: HookEvent, written: WrittenAnswer): Answer;
}

async function loadWriter(dialect: Dialect): Promise<readonly Writer[]> {
  // The answers of agents whose hooks do not run here are read in agent-readers.ts.
  if (dialect.writeAnswer === undefined || dialect.decode === undefined) return [];
  const [write, decode] = await Promise.all([dialect.writeAnswer(), dialect.decode()]);
  const read: Writer['read'] = (event, written) => decode(inputOf(event, dialect), written);
  return [{ dialect, write, read }];
}

export const WRITERS = (await Promise.all(DIALECTS.map(loadWriter))).flat();

export function writerOf(name: string): Writer {
  const writer = WRITERS.find(({ dialect }) => dialect.name === name);
  invariant(writer !== undefined, `${name} writes answers`);
  return writer;
}

function inputOf(event: HookEvent, { vocabulary }: Dialect): HandlerInput {
  const call = getToolCall(event);
  const [tool] = call === null ? [] : listToolViews(call, vocabulary, { cwd: '/w', root: '/w' });
  return { event, tool: tool ?? null };
}

/** An example of an event that the dialect has under this name. */
export function eventOf({ events }: Dialect, name: string): HookEvent {
  const found = events.find(name);
  invariant(found !== null, `${name} is an event`);
  return { ...MOMENT, ...createSampleEvent(found.event, found.facts) };
}

/** The events that each agent cannot refuse, as its specification lists them. */
const UNREFUSABLE: Readonly<Record<string, readonly string[]>> = {
  claude: [
    'PermissionDenied',
    'Notification',
    'SessionStart',
    'StopFailure',
    'SubagentStart',
    'PostCompact',
    'PostModelSwitch',
    'SessionEnd',
    'Setup',
    'InstructionsLoaded',
    'WorktreeRemove',
    'CwdChanged',
    'FileChanged',
    'DirectoryAdded',
    'MessageDisplay',
  ],
  cline: ['TaskCancel', 'TaskComplete', 'TaskError', 'Notification', 'SessionShutdown'],
};

/** The loss that alone excuses a lost refusal; null when the agent can refuse the event. */
export function findLostRefusal({ name }: Dialect, event: string): string | null {
  if (UNREFUSABLE[name]?.includes(event) !== true) return null;
  return name === 'claude'
    ? `${event} cannot be refused in Claude Code`
    : `Cline ignores the answer of ${event}`;
}

/** The loss that alone excuses a lost stop; null when the agent can end the run, or refuse instead. */
export function findLostStop({ name }: Dialect, event: string): string | null {
  if (UNREFUSABLE[name]?.includes(event) !== true) return null;
  return name === 'claude'
    ? `${event} cannot end the run in Claude Code`
    : `Cline ignores the answer of ${event}`;
}
