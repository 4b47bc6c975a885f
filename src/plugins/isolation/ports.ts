import { isRecord } from '../../base/json.ts';
import type { AgentExtensionAutomationEventType, PluginSetupContext } from '../contract/plugin.ts';
import { callMethod, serializeValue, type Packed, deserializeValue } from './wire/serialize.ts';
import type { OfferedPorts, PortCall, TelemetryForm, ToChild } from './wire/protocol.ts';

/** What a host lends to a plugin's `setup` besides data, used from another process. */
export interface Ports {
  /** From now on this is what is used; the plugin declares types of events with `declare`. */
  open(context: PluginSetupContext, declare: Declare): OfferedPorts;
  /** Nobody waits for what comes of it. */
  say(call: PortCall): void;
  ask(call: PortCall, id: number): Promise<void>;
}

type Declare = (type: AgentExtensionAutomationEventType) => void;

export interface PortsMeans {
  readonly name: () => string;
  readonly send: (message: ToChild) => void;
}

/** How many events of a plugin are kept that come before its setup. */
const MAX_EARLY = 100;

export function createPorts({ name, send }: PortsMeans): Ports {
  let context: PluginSetupContext | null = null;
  let declare: Declare = () => undefined;
  const early: PortCall[] = [];
  const use = (call: PortCall): unknown =>
    call.port === 'declared'
      ? declareType(call, declare)
      : callPort(context ?? {}, { ...call, port: call.port }, name());
  const say = (call: PortCall): void => {
    if (context === null) {
      if (early.length < MAX_EARLY) early.push(call);
      return;
    }
    // What the host's own functions throw is nothing that the plugin could mend.
    void settleSafely(() => use(call));
  };
  return {
    open(given, declareHere) {
      context = given;
      declare = declareHere;
      for (const call of early.splice(0)) say(call);
      return describePorts(given);
    },
    say,
    async ask(call, id) {
      send({ kind: 'reply', id, ...(await settleSafely(() => use(call))) });
    },
  };
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

/** Its own and those of its class. */
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

function declareType({ args }: PortCall, declare: Declare): void {
  const [type] = readArguments(args);
  if (isEventType(type)) declare(type);
}

/** The other side has checked it. */
function isEventType(type: unknown): type is AgentExtensionAutomationEventType {
  return isRecord(type);
}

interface ContextCall extends PortCall {
  readonly port: Exclude<PortCall['port'], 'declared'>;
}

function callPort(context: PluginSetupContext, call: ContextCall, plugin: string): unknown {
  const { logger, telemetry, automation } = context;
  const args = readArguments(call.args);
  switch (call.port) {
    case 'events':
      return context.emitEvent?.(String(args[0]), args[1]);
    case 'logger':
      return usePort(logger, call.method, [args[0], withPluginName(args[1], plugin)]);
    case 'telemetry':
      return usePort(telemetry, call.method, args);
    case 'automation':
      return usePort(automation, call.method, args);
  }
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
