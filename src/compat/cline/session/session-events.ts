import type { RuntimeEvent } from '../../../agent/runtime-event.ts';
import { systemClock } from '../../../base/clock.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { findUnreportedFailure } from '../../../dialects/index.ts';
import { isAwaitingTrust, type Verdict } from '../../../hooks/decision.ts';
import { callObserver } from '../../../base/callbacks.ts';
import { formatIssue, type PluginIssue } from '../../../plugins/plugin-issue.ts';
import type { BasicLogger } from '../../../plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import { type AgentEvent, AgentEventConverter } from '../agent-events.ts';
import type { CoreSessionEvent } from '../core-events.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from '../start-input.ts';

/** Converts what happens in a session for subscribers and the log. */
export class SessionEvents {
  readonly #sessionId: string;
  readonly #logger: BasicLogger | undefined;
  readonly #emit: (event: CoreSessionEvent) => void;
  readonly #reported = new Set<string>();
  readonly #converter = new AgentEventConverter();
  #iteration = 0;

  constructor(
    sessionId: string,
    core: ClineCoreOptions,
    input: ClineCoreStartInput,
    emit: (event: CoreSessionEvent) => void,
  ) {
    this.#sessionId = sessionId;
    this.#logger = input.config.logger ?? core.logger;
    this.#emit = emit;
  }

  sendNotice(text: string): void {
    this.#log(text);
    this.#notify(text);
  }

  sendEvent(event: AgentRuntimeEvent): void {
    const { parentAgentId = null, iteration } = event.snapshot;
    if (parentAgentId === null) this.#iteration = iteration;
    for (const each of this.#converter.convert(event)) this.#send(each);
  }

  sendIssue(issue: PluginIssue): void {
    if (issue.isMissingGuard === true) return;
    const text = formatIssue(issue);
    this.#log(text);
    if (issue.level === 'warning') return this.#notify(text);
    const error = new PluginProblem(text);
    return this.#send({ type: 'error', error, recoverable: true, iteration: this.#iteration });
  }

  convert(event: RuntimeEvent): void {
    if (event.type === 'tool-start') this.#sendHook(event.agentId, 'tool_call', event.tool);
    if (event.type === 'tool-end') this.#sendHook(event.agentId, 'tool_result', event.tool);
    if (event.type !== 'hook') return;
    for (const text of listHookProblems(event.verdict)) {
      if (!this.#reported.has(text)) this.#notify(text);
      this.#reported.add(text);
    }
  }

  #sendHook(agentId: string, hookEventName: 'tool_call' | 'tool_result', toolName: string): void {
    const sessionId = this.#sessionId;
    this.#emit({ type: 'hook', payload: { sessionId, agentId, hookEventName, toolName } });
  }

  #send(event: AgentEvent): void {
    const sessionId = this.#sessionId;
    this.#emit({ type: 'agent_event', payload: { sessionId, event, teamRole: 'lead' } });
    const ts = systemClock.now();
    const chunk = serializeEvent(event);
    this.#emit({ type: 'chunk', payload: { sessionId, stream: 'agent', chunk, ts } });
  }

  #notify(message: string): void {
    this.#send({ type: 'notice', noticeType: 'status', displayRole: 'status', message });
  }

  #log(text: string): void {
    callObserver(
      'the logger',
      (logged) => this.#logger?.log(logged, { sessionId: this.#sessionId }),
      text,
    );
  }
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

/** A problem of a plugin that does not end the session. */
class PluginProblem extends Error {
  override readonly name = 'PluginProblem';
}

/** The progress of a tool may be any value, also one without a JSON form. */
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
