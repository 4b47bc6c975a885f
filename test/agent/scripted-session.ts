import type { Model, ModelRequest } from '../../src/agent/models/model.ts';
import { createScriptedModel, type ScriptTurn } from '../../src/agent/models/scripted.ts';
import type { Decision } from '../../src/hooks/decision.ts';
import type { EventName, HookEvent } from '../../src/hooks/facts.ts';
import type { Answer, Handler, HandlerSource } from '../../src/hooks/handler.ts';
import { type Message, getMessageText, type ToolResultBlock } from '../../src/sessions/messages.ts';
import type { Reaction, AgentFixture } from './agent-fixture.ts';

/** A scripted model, and every request that it was sent. */
export interface ModelRecorder {
  readonly model: Model;
  readonly requests: ModelRequest[];
}

export function createModelRecorder(
  turns: readonly ScriptTurn[],
  options?: Partial<Pick<Model, 'id' | 'contextTokens' | 'prices'>>,
): ModelRecorder {
  const model = createScriptedModel(turns, options);
  const requests: ModelRequest[] = [];
  return {
    requests,
    model: {
      ...model,
      stream(request, signal) {
        requests.push(request);
        return model.stream(request, signal);
      },
    },
  };
}

/** A turn with these calls. */
export function calls(...wanted: readonly (readonly [string, unknown])[]): ScriptTurn {
  return { tools: wanted.map(([name, input]) => ({ name, input })) };
}

export function resultsIn(messages: readonly Message[]): readonly ToolResultBlock[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_result' ? [block] : [])),
  );
}

/** The result of each call that the model got, in the order of the calls, from the last request. */
export function answersIn({ requests }: ModelRecorder): readonly string[] {
  const numberOf = ({ tool_use_id: id }: ToolResultBlock): number => Number(id.split('_')[1]);
  return resultsIn(requests.at(-1)?.messages ?? [])
    .toSorted((one, other) => numberOf(one) - numberOf(other))
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}

/** The role and text of each message in a request, in order; calls and results left out. */
export function listTexts(request: ModelRequest | undefined): readonly string[] {
  return (request?.messages ?? []).map((message) => `${message.role}: ${getMessageText(message)}`);
}

type EventOf<Name extends EventName> = Extract<HookEvent, { readonly name: Name }>;

function isNamed<Name extends EventName>(event: HookEvent, name: Name): event is EventOf<Name> {
  return event.name === name;
}

/** Answers one event, or some of that name, with a decision. */
export function on<Name extends EventName>(
  name: Name,
  decide: Decision | ((event: EventOf<Name>) => Decision | undefined),
): Reaction {
  return (event) => {
    if (!isNamed(event, name)) return undefined;
    const decision = typeof decide === 'function' ? decide(event) : decide;
    return decision === undefined ? undefined : { decision };
  };
}

/** The first of these that has an answer. */
export function either(...reactions: readonly Reaction[]): Reaction {
  return (event) => {
    for (const react of reactions) {
      const answer = react(event);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
}

/** A source with one handler that may take its time. */
export function slowHook<Name extends EventName>(
  event: Name,
  run: (event: EventOf<Name>, signal: AbortSignal) => Promise<Answer | undefined>,
  more: Partial<Handler> = {},
): HandlerSource {
  const handler: Handler = {
    id: `slow:${event}`,
    dialect: 'inline',
    source: 'the test',
    event,
    vocabulary: 'claude',
    onFailure: 'open',
    run: (input, signal) => (isNamed(input.event, event) ? run(input.event, signal) : undefined),
    ...more,
  };
  return { handlers: () => [handler] };
}

export function named<Name extends EventName>(
  { fired }: Pick<AgentFixture, 'fired'>,
  name: Name,
): readonly EventOf<Name>[] {
  return fired.filter((event) => isNamed(event, name));
}

export function notices({
  runtimeEvents: news,
}: Pick<AgentFixture, 'runtimeEvents'>): readonly string[] {
  return news.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
}

/** A promise and the way to settle it, for whoever must wait for a moment. */
export function moment<Value = void>(): {
  readonly reached: Promise<Value>;
  reach(value: Value): void;
} {
  let reach: (value: Value) => void = () => undefined;
  const reached = new Promise<Value>((resolve) => {
    reach = resolve;
  });
  return { reached, reach: (value) => reach(value) };
}
