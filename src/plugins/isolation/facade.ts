import { isRecord } from '../../base/json.ts';
import { clampTimerDelay } from '../../base/time-limit.ts';
import type { AgentExtensionApi, PluginSetupContext } from '../contract/plugin.ts';
import { HOOK_NAMES, type HookName } from '../contract/runtime-hooks.ts';
import { type FacadeMeans, registerAll } from './contributed.ts';
import { changeRequest, resultOf } from './in-place.ts';
import type { News } from './news.ts';
import type { Ports } from './ports.ts';
import { pack, unpack } from './wire/portable.ts';
import type { HookForm, HooksForm, OfferedPorts, PluginForm, SetUpForm } from './wire/protocol.ts';

export interface PluginFacadeMeans extends FacadeMeans {
  readonly news: News;
  readonly ports: Ports;
  readonly setupTimeoutMs: number;
  readonly isStrict: boolean;
  readonly onWarning: (message: string) => void;
  /** It is set up, and used from now on. */
  readonly onActive: () => void;
  /** Ends the process, after what the plugin wants done before that; rejects with what failed of it. */
  readonly end: () => Promise<void>;
}

/** An object that is used like the plugin itself, which is in another process. */
export function facadeOf(
  { fields, hasSetup, hooks }: PluginForm,
  means: PluginFacadeMeans,
): object {
  const facade: Record<string, unknown> = { ...fields };
  if (hooks !== null) facade['hooks'] = hooksOf(hooks, means);
  // What is there instead of a function is told of when the manifest is read.
  const isSetUp = hasSetup || fields['setup'] === undefined;
  if (isSetUp) facade['setup'] = setUpThere;
  return facade;

  async function setUpThere(api: AgentExtensionApi, context: PluginSetupContext): Promise<void> {
    context.onDispose?.(means.end);
    try {
      // Known before the events that are sent while it is set up.
      const ports = means.ports.open(context, (type) => api.registerAutomationEventType(type));
      const made = await setUp(context, ports, means);
      registerAll(api, made, means);
      for (const id of made.handlers) means.onWarning(staysThere(id));
      facade['hooks'] = made.hooks === null ? undefined : hooksOf(made.hooks, means);
      means.onActive();
    } catch (error) {
      // A plugin that is not set up has nothing to do.
      means.end().catch(() => undefined);
      throw error;
    }
  }
}

function staysThere(id: string): string {
  return `the provider "${id}" serves nothing: its code is in a process of its own; describe it with api.registerProvider and metadata.baseUrl, or use it without plugins.isolation`;
}

async function setUp(
  context: PluginSetupContext,
  ports: OfferedPorts,
  { link, setupTimeoutMs, isStrict }: PluginFacadeMeans,
): Promise<SetUpForm> {
  const data = Object.fromEntries(Object.entries(context).filter(([key]) => !PORTS.includes(key)));
  const order = {
    type: 'setup',
    fields: pack(data),
    ports,
    isStrict,
  } as const;
  const limit = setTimeout(
    () => link.kill(`did not end its setup within ${setupTimeoutMs} ms and was ended`),
    clampTimerDelay(setupTimeoutMs),
  );
  try {
    const { value } = await link.ask(order);
    const made = unpack(value);
    return isSetUp(made) ? made : NOTHING;
  } finally {
    clearTimeout(limit);
  }
}

/** What of the context is no data. */
const PORTS: readonly string[] = ['automation', 'logger', 'telemetry', 'emitEvent', 'onDispose'];

/** The other side is ours. */
function isSetUp(made: unknown): made is SetUpForm {
  return isRecord(made) && Array.isArray(made['tools']);
}

const NOTHING: SetUpForm = {
  hooks: null,
  tools: [],
  commands: [],
  rules: [],
  messageBuilders: [],
  providers: [],
  handlers: [],
  mcpServers: [],
};

function hooksOf(
  hooks: NonNullable<HooksForm>,
  means: PluginFacadeMeans,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(hooks);
  return Object.fromEntries(entries.map(([name, form]) => [name, hookOf(name, form, means)]));
}

function hookOf(name: string, form: HookForm, means: PluginFacadeMeans): unknown {
  if (!form.isFunction) return form.value;
  const hook = isHookName(name) ? caller(name, means) : () => undefined;
  return form.failClosed ? Object.assign(hook, { failClosed: true }) : hook;
}

function isHookName(name: string): name is HookName {
  return HOOK_NAMES.some((each) => each === name);
}

function caller(hook: HookName, { link, forms, news, timeoutMs }: PluginFacadeMeans) {
  if (hook === 'onEvent') return (event: object) => news.tell(event);
  return async (context: object): Promise<unknown> => {
    const request: unknown = Reflect.get(context, 'request');
    const signal = isRecord(request) && request['signal'];
    const answer = await link.ask(
      { type: 'hook', hook, context: forms.of(context) },
      { timeoutMs, ...(signal instanceof AbortSignal ? { signal } : {}) },
    );
    const result = resultOf(answer, request);
    if (answer.request !== undefined && isRecord(request)) changeRequest(request, answer.request);
    return result;
  };
}
