import type { PluginSetupContext, Telemetry } from '../../contract/plugin.ts';
import { serializeValue, type Packed, deserializeValue } from '../wire/serialize.ts';
import type { FromChild, OfferedPorts, PortCall, TelemetryForm } from '../wire/protocol.ts';

/** Ports without a result, so the caller does not wait. */
const UNANSWERED: readonly string[] = [
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

type Send = (port: PortCall['port'], method: string, args: readonly unknown[]) => void;
type SendRequest = (...call: Parameters<Send>) => Promise<unknown>;

/** The ports of the host, called from the plugin's process. */
export class HostPorts {
  readonly #post: (message: FromChild) => void;
  readonly #pending = new Map<
    number,
    { readonly settle: (value: unknown) => void; readonly fail: (error: unknown) => void }
  >();
  #lastId = 0;

  constructor(post: (message: FromChild) => void) {
    this.#post = post;
  }

  readonly emitEvent = (name: string, payload?: unknown): void =>
    this.#send('events', 'emit', [name, payload]);

  /** Declares a type of events to the host before the first event of that type. */
  declare(type: object): void {
    this.#send('declared', 'declare', [type]);
  }

  /** Creates the fields of the setup context that are no data. */
  createContext({
    logger,
    telemetry,
    hasAutomation,
    hasEvents,
  }: OfferedPorts): Pick<PluginSetupContext, 'logger' | 'automation' | 'telemetry' | 'emitEvent'> {
    return {
      logger: logger === null ? undefined : createLogger(logger, this.#send),
      telemetry:
        telemetry === null ? undefined : createTelemetry(telemetry, this.#send, this.#request),
      automation: hasAutomation
        ? { ingestEvent: (envelope) => this.#request('automation', 'ingestEvent', [envelope]) }
        : undefined,
      ...(hasEvents ? { emitEvent: this.emitEvent } : {}),
    };
  }

  /** Settles the call that the host has answered. */
  settle(id: number, ok: boolean, value: Packed): void {
    const { settle, fail } = this.#pending.get(id) ?? {};
    this.#pending.delete(id);
    if (ok) settle?.(deserializeValue(value));
    else fail?.(deserializeValue(value));
  }

  readonly #send: Send = (port, method, args) =>
    this.#post({ kind: 'notify', port, method, args: serializeValue(args) });

  readonly #request: SendRequest = (port, method, args) => {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((settle, fail) => {
      this.#pending.set(id, { settle, fail });
      this.#post({ kind: 'request', id, port, method, args: serializeValue(args) });
    });
  };
}

function createLogger(methods: readonly string[], send: Send): PluginSetupContext['logger'] {
  const log =
    (method: string) =>
    (...args: readonly unknown[]): void =>
      send('logger', method, args);
  const others = Object.fromEntries(methods.map((method) => [method, log(method)]));
  return { debug: log('debug'), log: log('log'), ...others };
}

function createTelemetry(
  { methods, isEnabled }: TelemetryForm,
  send: Send,
  request: SendRequest,
): Telemetry | undefined {
  const call = (method: string) => {
    if (method === 'isEnabled') return () => isEnabled;
    return (...args: readonly unknown[]): unknown =>
      UNANSWERED.includes(method)
        ? send('telemetry', method, args)
        : request('telemetry', method, args);
  };
  const telemetry: unknown = Object.fromEntries(methods.map((method) => [method, call(method)]));
  return isTelemetry(telemetry) ? telemetry : undefined;
}

/** It has the methods that the host's telemetry has. */
function isTelemetry(value: unknown): value is Telemetry {
  return typeof value === 'object' && value !== null;
}
