import type { AgentExtensionApi, AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import type { SdkStage, ServiceTurn } from '../stage.ts';

/** The recoverable errors that subscribers receive. */
export function errorsIn(stage: SdkStage): readonly string[] {
  return stage.told().flatMap((event) => (event.type === 'error' ? [event.error.message] : []));
}

export function noticesIn(stage: SdkStage): readonly string[] {
  return stage.told().flatMap((event) => (event.type === 'notice' ? [event.message] : []));
}

/** A plugin that only registers; its manifest has the given capabilities. */
export function registering(
  name: string,
  capabilities: readonly string[],
  register: (api: AgentExtensionApi) => void,
): AgentPlugin {
  const manifest = { capabilities: [...capabilities] } as AgentPlugin['manifest'];
  return { name, manifest, setup: (api) => register(api) };
}

export function callsOf(...names: readonly string[]): ServiceTurn {
  return { tools: names.map((name) => ({ name, input: {} })) };
}

/** All that the model was sent in one request, as text. */
export function sentIn(stage: SdkStage, place: number): string {
  const messages = stage.service.requests().at(place)?.messages ?? [];
  return messages.map(({ text }) => text).join('\n');
}

export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
    return null;
  } catch (error) {
    return error;
  }
}

/** Keeps whole what is sent, also what is too long for the journal of the service. */
export function recordingFetch() {
  const bodies: { messages: { role: string; content: unknown }[] }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    bodies.push(JSON.parse(typeof init?.body === 'string' ? init.body : '{}'));
    return globalThis.fetch(input, init);
  };
  const texts = (role: string): readonly string[] =>
    (bodies.at(-1)?.messages ?? [])
      .filter((message) => message.role === role)
      .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
  return { fetch, texts };
}
