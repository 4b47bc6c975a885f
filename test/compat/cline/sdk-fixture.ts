import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { AgentPlugin, AgentExtensionApi } from '../../../src/plugins/contract/plugin.ts';
import type { AgentRuntimeHooks } from '../../../src/plugins/contract/runtime-hooks.ts';
import { ClineCore, type StartSessionResult } from '../../../src/compat/cline/cline-core.ts';
import type { AgentEvent } from '../../../src/compat/cline/agent-events.ts';
import type { CoreSessionEvent } from '../../../src/compat/cline/core-events.ts';
import type {
  ClineCoreOptions,
  ClineCoreStartInput,
  CoreSessionConfig,
} from '../../../src/compat/cline/start-input.ts';
import { type Service, type ServiceTurn, startService } from '../../e2e/service.ts';

export type { ServiceTurn };

/** A core with a home and a workspace of its own, and a service that answers with these turns. */
export interface SdkFixture {
  readonly core: ClineCore;
  readonly service: Service;
  readonly home: string;
  readonly workspace: string;
  readonly events: CoreSessionEvent[];
  config(more?: Partial<CoreSessionConfig>): CoreSessionConfig;
  start(
    config?: Partial<CoreSessionConfig>,
    more?: Partial<ClineCoreStartInput>,
  ): Promise<StartSessionResult>;
  /** The events of agents, in the older format. */
  agentEvents(): readonly AgentEvent[];
}

export async function createSdkFixture(
  turns: readonly ServiceTurn[],
  options: ClineCoreOptions = {},
): Promise<SdkFixture> {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookline-sdk-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const home = path.join(directory, 'home');
  const workspace = path.join(directory, 'workspace');
  mkdirSync(home);
  mkdirSync(workspace);
  vi.stubEnv('HOME', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const service = await startService(turns);
  const core = await ClineCore.create({ backendMode: 'local', ...options });
  onTestFinished(() => core.dispose());
  const events: CoreSessionEvent[] = [];
  core.subscribe((event) => events.push(event));
  const config: SdkFixture['config'] = (more = {}) => ({
    providerId: 'openai-compatible',
    modelId: 'gpt-4o',
    apiKey: 'k',
    baseUrl: service.url,
    systemPrompt: 'SYS',
    cwd: workspace,
    enableSpawnAgent: false,
    ...more,
  });
  return {
    core,
    service,
    home,
    workspace,
    events,
    config,
    start: (input, more) => core.start({ config: config(input), prompt: 'go', ...more }),
    agentEvents: () =>
      events.flatMap((event) => (event.type === 'agent_event' ? [event.payload.event] : [])),
  };
}

export function hooksOf(hooks: Partial<AgentRuntimeHooks>, name = 'watcher'): AgentPlugin {
  return { name, manifest: { capabilities: ['hooks'] }, hooks };
}

/** A plugin with one tool that returns what it is given to return. */
export function toolPlugin(
  name: string,
  execute: (input: Record<string, unknown>) => unknown,
  more: object = {},
): AgentPlugin {
  return {
    name: `${name}-plugin`,
    manifest: { capabilities: ['tools'] },
    setup(api) {
      api.registerTool({
        name,
        description: `the tool ${name}`,
        inputSchema: { type: 'object', properties: {} },
        execute,
        ...more,
      });
    },
  };
}

export function call(name: string, input: object = {}): ServiceTurn {
  return { tools: [{ name, input }] };
}

/** What the model was given for its calls in its last request. */
export function answers({ service }: SdkFixture): readonly string[] {
  const messages = service.requests().at(-1)?.messages ?? [];
  return messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
}

export const DONE: ServiceTurn = { text: 'Done.' };

/** The problems of plugins that subscribers receive as errors. */
export function errorsIn(fixture: SdkFixture): readonly string[] {
  return fixture
    .agentEvents()
    .flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
    .filter((message) => message.startsWith('plugin '));
}

export function noticesIn(fixture: SdkFixture): readonly string[] {
  return fixture.agentEvents().flatMap((event) => (event.type === 'notice' ? [event.message] : []));
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
export function sentIn(fixture: SdkFixture, index: number): string {
  const messages = fixture.service.requests().at(index)?.messages ?? [];
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
