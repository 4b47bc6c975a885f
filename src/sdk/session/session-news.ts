import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { systemClock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { untoldFailure } from '../../dialects/cline-plugin/untold-failure.ts';
import { awaitsTrust, type Verdict } from '../../hooks/decision.ts';
import { tell as tellSafely } from '../../hooks/observers.ts';
import type { PluginIssue } from '../../plugins/issue.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import { type AgentEvent, agentEvents, type CoreSessionEvent } from '../core-events.ts';
import type { ClineCoreOptions, ClineCoreStartInput } from '../start-input.ts';

export interface NewsMeans {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  readonly emit: (event: CoreSessionEvent) => void;
}

/** What happens in a session, on its way to whoever subscribed and to the log. */
export interface SessionNews {
  readonly hear: (event: RuntimeEvent) => void;
  readonly onNews: (event: AgentRuntimeEvent) => void;
  readonly onIssue: (issue: PluginIssue) => void;
  readonly onNotice: (text: string) => void;
}

export function createSessionNews({ id: sessionId, core, input, emit }: NewsMeans): SessionNews {
  const logger = input.config.logger ?? core.logger;
  const tell = (event: AgentEvent): void => {
    emit({ type: 'agent_event', payload: { sessionId, event } });
    const ts = systemClock.now();
    emit({ type: 'chunk', payload: { sessionId, stream: 'agent', chunk: textOf(event), ts } });
  };
  const log = (text: string): void => tellSafely(() => logger?.log(text, { sessionId }), text);
  const notice = (message: string): void => tell({ type: 'notice', noticeType: 'status', message });
  const said = new Set<string>();
  const sayOnce = (text: string): void => {
    if (!said.has(text)) notice(text);
    said.add(text);
  };
  let iteration = 0;
  return {
    onNotice(text) {
      log(text);
      notice(text);
    },
    onNews(news) {
      // Sub-agents tell plugins only: their words would look like the agent's own.
      if (news.snapshot.parentAgentId !== null) return;
      ({ iteration } = news.snapshot);
      agentEvents(news).forEach(tell);
    },
    onIssue({ plugin, message, level }) {
      const text = `plugin ${plugin}: ${message}`;
      log(text);
      if (level === 'warning') notice(text);
      else tell({ type: 'error', error: new PluginProblem(text), recoverable: true, iteration });
    },
    hear(event) {
      const { agentId } = event;
      const tellHook = (hookEventName: 'tool_call' | 'tool_result', toolName: string): void =>
        emit({ type: 'hook', payload: { sessionId, agentId, hookEventName, toolName } });
      if (event.type === 'tool-start') tellHook('tool_call', event.tool);
      if (event.type === 'tool-end') tellHook('tool_result', event.tool);
      if (event.type === 'hook') troubleIn(event.verdict).forEach(sayOnce);
    },
  };
}

/** What a person should know of hooks that did not do their work; of plugins it is told elsewhere. */
function troubleIn({ event, outcomes, skipped }: Verdict): readonly string[] {
  const withheld = skipped
    .filter(awaitsTrust)
    .map(({ hook, why }) => `the hook ${hook} of ${event} does not run: ${why}`);
  const failed = outcomes.flatMap((outcome) => {
    const failure = untoldFailure(outcome);
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
function textOf(event: AgentEvent): string {
  try {
    return JSON.stringify(event, sayErrors);
  } catch (error) {
    return JSON.stringify({ type: event.type, problem: getErrorMessage(error) });
  }
}

function sayErrors(_key: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: getErrorMessage(value) };
  return typeof value === 'bigint' ? value.toString() : value;
}
