import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { systemClock } from '../../../base/clock.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { findUnreportedFailure } from '../../../dialects/index.ts';
import { isAwaitingTrust, type Verdict } from '../../../hooks/decision.ts';
import { callObserver as notify } from '../../../hooks/dispatch-record.ts';
import type { PluginIssue } from '../../../plugins/diagnostic.ts';
import type { AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import { type AgentEvent, toAgentEvents, type CoreSessionEvent } from '../core-events.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from '../start-input.ts';

export interface SessionEventOptions {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  readonly emit: (event: CoreSessionEvent) => void;
}

/** Converts what happens in a session for subscribers and the log. */
export interface SessionEvents {
  readonly convert: (event: RuntimeEvent) => void;
  readonly onNews: (event: AgentRuntimeEvent) => void;
  readonly onIssue: (issue: PluginIssue) => void;
  readonly onNotice: (text: string) => void;
}

export function createSessionEvents({
  id: sessionId,
  core,
  input,
  emit,
}: SessionEventOptions): SessionEvents {
  const logger = input.config.logger ?? core.logger;
  const send = (event: AgentEvent): void => {
    emit({ type: 'agent_event', payload: { sessionId, event } });
    const ts = systemClock.now();
    emit({
      type: 'chunk',
      payload: { sessionId, stream: 'agent', chunk: serializeEvent(event), ts },
    });
  };
  const log = (text: string): void => notify(() => logger?.log(text, { sessionId }), text);
  const notice = (message: string): void => send({ type: 'notice', noticeType: 'status', message });
  const reported = new Set<string>();
  const reportOnce = (text: string): void => {
    if (!reported.has(text)) notice(text);
    reported.add(text);
  };
  let iteration = 0;
  return {
    onNotice(text) {
      log(text);
      notice(text);
    },
    onNews(news) {
      // Events of sub-agents go to plugins only: their text would look like the agent's own.
      if (news.snapshot.parentAgentId !== null) return;
      ({ iteration } = news.snapshot);
      toAgentEvents(news).forEach(send);
    },
    onIssue({ plugin, message, level }) {
      const text = `plugin ${plugin}: ${message}`;
      log(text);
      if (level === 'warning') notice(text);
      else send({ type: 'error', error: new PluginProblem(text), recoverable: true, iteration });
    },
    convert(event) {
      const { agentId } = event;
      const sendHook = (hookEventName: 'tool_call' | 'tool_result', toolName: string): void =>
        emit({ type: 'hook', payload: { sessionId, agentId, hookEventName, toolName } });
      if (event.type === 'tool-start') sendHook('tool_call', event.tool);
      if (event.type === 'tool-end') sendHook('tool_result', event.tool);
      if (event.type === 'hook') listHookProblems(event.verdict).forEach(reportOnce);
    },
  };
}

/** Withheld and failed hooks, for the user; plugins report their own failures. */
function listHookProblems({ event, outcomes, skipped }: Verdict): readonly string[] {
  const withheld = skipped
    .filter(isAwaitingTrust)
    .map(({ hook, why }) => `the hook ${hook} of ${event} does not run: ${why}`);
  const failed = outcomes.flatMap((outcome) => {
    const failure = findUnreportedFailure(outcome);
    return failure === null
      ? []
      : [`the hook ${outcome.hook} of ${event} failed: ${failure.message}`];
  });
  return [...withheld, ...failed];
}

/** Something is wrong with a plugin, and the session goes on. */
class PluginProblem extends Error {
  override readonly name = 'PluginProblem';
}

/** What a tool says of how far it is may be anything. */
function serializeEvent(event: AgentEvent): string {
  try {
    return JSON.stringify(event, serializeError);
  } catch (error) {
    return JSON.stringify({ type: event.type, problem: getErrorMessage(error) });
  }
}

function serializeError(_key: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: getErrorMessage(value) };
  return typeof value === 'bigint' ? value.toString() : value;
}
