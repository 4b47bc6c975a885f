import { isRecord } from '../../base/json.ts';
import type { AgentExtensionAutomationEventType, PluginSetupContext } from '../contract/plugin.ts';
import { callMethod, serializeValue, type Packed, deserializeValue } from './wire/serialize.ts';
import type { OfferedPorts, PortCall, TelemetryForm, ToChild } from './wire/protocol.ts';

type Declare = (type: AgentExtensionAutomationEventType) => void;

/** The largest number of a plugin's events that are queued before its setup. */
const MAX_EARLY = 100;

/** The ports in the context of a plugin's `setup`, called from the process of the plugin. */
export class Ports {
  readonly #getName: () => string;
  readonly #send: (message: ToChild) => void;
  readonly #early: PortCall[] = [];
  #context: PluginSetupContext | null = null;
  #declare: Declare = () => undefined;

  constructor(getName: () => string, send: (message: ToChild) => void) {
    this.#getName = getName;
    this.#send = send;
  }

  /** Sets the context that calls use from now on; the plugin declares types of events with `declare`. */
  open(context: PluginSetupContext, declare: Declare): OfferedPorts {
    this.#context = context;
    this.#declare = declare;
    for (const call of this.#early.splice(0)) this.notify(call);
    return describePorts(context);
  }

  /** Makes a call without a result. */
  notify(call: PortCall): void {
    if (this.#context === null) {
      if (this.#early.length < MAX_EARLY) this.#early.push(call);
      return;
    }
    // The plugin could not handle an error of the host's functions, so it is ignored.
    void settleSafely(() => this.#call(call));
  }

  async answer(call: PortCall, id: number): Promise<void> {
    this.#send({ kind: 'reply', id, ...(await settleSafely(() => this.#call(call))) });
  }

  #call({ port, method, args: packed }: PortCall): unknown {
    const { logger, telemetry, automation } = this.#context ?? {};
    const args = readArguments(packed);
    switch (port) {
      case 'declared':
        return isEventType(args[0]) ? this.#declare(args[0]) : undefined;
      case 'events':
        return this.#context?.emitEvent?.(String(args[0]), args[1]);
      case 'logger':
        return usePort(logger, method, [args[0], withPluginName(args[1], this.#getName())]);
      case 'telemetry':
        return usePort(telemetry, method, args);
      case 'automation':
        return usePort(automation, method, args);
    }
  }
}

async function settleSafely(
  work: () => unknown,
): Promise<{ readonly ok: boolean; readonly value: Packed }> {
  try {
    return { ok: true, value: serializeValue(await work()) };
  } catch (error) {
    return { ok: false, value: serializeValue(error) };
  }
}

function describePorts(context: PluginSetupContext): OfferedPorts {
  const { logger, telemetry, automation } = context;
  return {
    logger: isRecord(logger) ? listMethods(logger) : null,
    telemetry: isRecord(telemetry) ? serializeTelemetry(telemetry) : null,
    hasAutomation: automation !== undefined,
    hasEvents: 'emitEvent' in context,
  };
}

function serializeTelemetry(telemetry: object): TelemetryForm {
  const methods = listMethods(telemetry);
  const isEnabled =
    !methods.includes('isEnabled') || callMethod(telemetry, 'isEnabled', []) === true;
  return { methods, isEnabled };
}

/** The methods of the object and of its class. */
function listMethods(port: object): readonly string[] {
  const names = new Set<string>();
  let owner: unknown = port;
  while (typeof owner === 'object' && owner !== null && owner !== Object.prototype) {
    for (const key of Object.getOwnPropertyNames(owner)) {
      const isMethod = typeof Reflect.get(port, key) === 'function';
      if (isMethod && key !== 'constructor') names.add(key);
    }
    owner = Object.getPrototypeOf(owner);
  }
  return [...names];
}

/** The child process has validated it. */
function isEventType(type: unknown): type is AgentExtensionAutomationEventType {
  return isRecord(type);
}

function readArguments(packed: Packed): readonly unknown[] {
  const args = deserializeValue(packed);
  return Array.isArray(args) ? args : [];
}

function withPluginName(metadata: unknown, pluginName: string): unknown {
  return { pluginName, ...(isRecord(metadata) ? metadata : {}) };
}

function usePort(port: unknown, name: string, args: readonly unknown[]): unknown {
  return isRecord(port) ? callMethod(port, name, args) : undefined;
}
