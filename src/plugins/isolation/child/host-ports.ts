import type { PluginSetupContext, Telemetry } from '../../contract/plugin.ts';
import { serializeValue, type Packed, deserializeValue } from '../wire/serialize.ts';
import type { FromChild, OfferedPorts, PortCall, TelemetryForm } from '../wire/protocol.ts';

/** What the host lends, as it is used from here. */
export interface HostPorts {
  emitEvent(name: string, payload?: unknown): void;
  /** Lets the host know a type of events before the first of them. */
  declare(type: object): void;
  /** The parts of the context of `setup` that are no data. */
  context(
    offered: OfferedPorts,
  ): Pick<PluginSetupContext, 'logger' | 'automation' | 'telemetry' | 'emitEvent'>;
  /** What the host answered to something that was asked. */
  take(id: number, ok: boolean, value: Packed): void;
}

interface Asked {
  readonly settle: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** Those that answer nothing: whoever calls them does not wait. */
const TOLD: readonly string[] = [
  'capture',
  'captureRequired',
  'recordCounter',
  'recordHistogram',
  'recordGauge',
  'setDistinctId',
  'setMetadata',
  'updateMetadata',
  'setCommonProperties',
  'updateCommonProperties',
];

export function createHostPorts(send: (message: FromChild) => void): HostPorts {
  const asked = new Map<number, Asked>();
  let lastId = 0;
  const say = (port: PortCall['port'], method: string, args: readonly unknown[]): void =>
    send({ kind: 'say', port, method, args: serializeValue(args) });
  const ask = (
    port: PortCall['port'],
    method: string,
    args: readonly unknown[],
  ): Promise<unknown> => {
    lastId += 1;
    const id = lastId;
    return new Promise((settle, fail) => {
      asked.set(id, { settle, fail });
      send({ kind: 'ask', id, port, method, args: serializeValue(args) });
    });
  };
  const emitEvent = (name: string, payload?: unknown): void =>
    say('events', 'emit', [name, payload]);
  return {
    emitEvent,
    declare: (type) => say('declared', 'declare', [type]),
    context: ({ logger, telemetry, hasAutomation, hasEvents }) => ({
      logger: logger === null ? undefined : createLogger(logger, say),
      telemetry: telemetry === null ? undefined : createTelemetry(telemetry, { say, ask }),
      automation: hasAutomation
        ? { ingestEvent: (envelope) => ask('automation', 'ingestEvent', [envelope]) }
        : undefined,
      ...(hasEvents ? { emitEvent } : {}),
    }),
    take(id, ok, value) {
      const { settle, fail } = asked.get(id) ?? {};
      asked.delete(id);
      if (ok) settle?.(deserializeValue(value));
      else fail?.(deserializeValue(value));
    },
  };
}

type Say = (port: PortCall['port'], method: string, args: readonly unknown[]) => void;

function createLogger(methods: readonly string[], say: Say): PluginSetupContext['logger'] {
  const log =
    (method: string) =>
    (...args: readonly unknown[]): void =>
      say('logger', method, args);
  const others = Object.fromEntries(methods.map((method) => [method, log(method)]));
  return { debug: log('debug'), log: log('log'), ...others };
}

interface Speaking {
  readonly say: Say;
  readonly ask: (
    port: PortCall['port'],
    method: string,
    args: readonly unknown[],
  ) => Promise<unknown>;
}

function createTelemetry(
  { methods, isEnabled }: TelemetryForm,
  { say, ask }: Speaking,
): Telemetry | undefined {
  const call = (method: string) => {
    if (method === 'isEnabled') return () => isEnabled;
    return (...args: readonly unknown[]): unknown =>
      TOLD.includes(method) ? say('telemetry', method, args) : ask('telemetry', method, args);
  };
  const telemetry: unknown = Object.fromEntries(methods.map((method) => [method, call(method)]));
  return isTelemetry(telemetry) ? telemetry : undefined;
}

/** It has whatever the host's own has. */
function isTelemetry(value: unknown): value is Telemetry {
  return typeof value === 'object' && value !== null;
}
