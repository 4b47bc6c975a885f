import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../../base/clock.ts';
import { HooklineError } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';
import { readReason } from '../../../plugins/serialize/plain-value.ts';
import type {
  AgentExtensionAutomationEventType,
  AutomationEventEnvelope,
  PluginSetupContext,
} from '../../../plugins/contract/plugin.ts';
import type { OnIssue } from '../../../plugins/plugin-issue.ts';
import type { AutomationFor } from '../../../plugins/registry.ts';
import type { createJsonSchemaCheck as JsonSchemaCheck } from './json-schema.ts';

type AutomationPort = NonNullable<PluginSetupContext['automation']>;

/**
 * Creates the automation port of each plugin: events are normalized and validated with the schemas of
 * their type before the host's port gets them, and the plugin gets the port's result. An invalid event
 * throws at once; later failures are reported, also when the plugin does not await the result.
 */
export async function createAutomation(
  port: AutomationPort,
  onIssue: OnIssue,
): Promise<AutomationFor> {
  const { createJsonSchemaCheck: jsonSchemaCheck } = await import('./json-schema.ts');
  return (plugin, declared) =>
    new PluginAutomation({ port, onIssue, plugin, declared, jsonSchemaCheck });
}

interface AutomationOptions {
  /** Gets the events. */
  readonly port: AutomationPort;
  readonly onIssue: OnIssue;
  readonly plugin: string;
  readonly declared: () => readonly EventType[];
  readonly jsonSchemaCheck: typeof JsonSchemaCheck;
}

class PluginAutomation {
  readonly #options: AutomationOptions;
  readonly #undeclared = new Set<string>();
  readonly #checks = new WeakMap<object, readonly EnvelopeCheck[]>();

  constructor(options: AutomationOptions) {
    this.#options = options;
  }

  // An arrow function, because plugins may destructure the object.
  readonly ingestEvent = (event: unknown): unknown => {
    const envelope = readEnvelope(event, this.#options.plugin, systemClock.now());
    const type = this.#findType(envelope);
    return this.#watch(type === undefined ? this.#sendLater(envelope) : this.#send(envelope, type));
  };

  #findType({ eventType, source }: AutomationEventEnvelope): EventType | undefined {
    const fitting = this.#options.declared().filter((each) => each.eventType === eventType);
    return fitting.find((each) => each.source === source) ?? fitting[0];
  }

  /** Waits, because the type may be declared later in `setup`. */
  async #sendLater(envelope: AutomationEventEnvelope): Promise<unknown> {
    await nextTurn();
    const type = this.#findType(envelope);
    if (type !== undefined) return this.#send(envelope, type);
    const { eventType } = envelope;
    if (!this.#undeclared.has(eventType)) this.#report(describeUndeclared(eventType));
    this.#undeclared.add(eventType);
    return this.#options.port.ingestEvent(envelope);
  }

  #send(envelope: AutomationEventEnvelope, type: EventType): unknown {
    for (const check of this.#getChecks(type)) {
      const problem = check(envelope);
      if (problem !== null) throw findMisfit(this.#options.plugin, envelope, problem);
    }
    return this.#options.port.ingestEvent(envelope);
  }

  #getChecks(type: EventType): readonly EnvelopeCheck[] {
    const cached = this.#checks.get(type);
    if (cached !== undefined) return cached;
    const checks = PARTS.flatMap((part) => this.#createCheck(part, type));
    this.#checks.set(type, checks);
    return checks;
  }

  #createCheck(part: Part, type: EventType): readonly EnvelopeCheck[] {
    const schema = type[`${part}Schema`];
    if (!isRecord(schema)) return [];
    const report = (what: string): void =>
      this.#report(`the event type ${type.eventType}: ${what}`);
    const findProblem = this.#options.jsonSchemaCheck(schema, report, part);
    return [(envelope) => findProblem(envelope[part] ?? {})];
  }

  /** Reports a rejection, because the plugin may not await the result. */
  #watch(result: unknown): unknown {
    if (!isRecord(result) || typeof result['then'] !== 'function') return result;
    const waited = Promise.resolve(result);
    waited.catch((error: unknown) => this.#report(`an event was not taken: ${readReason(error)}`));
    return waited;
  }

  #report(message: string): void {
    const { plugin, onIssue } = this.#options;
    onIssue({ plugin, phase: 'automation', level: 'warning', message });
  }
}

type EventType = AgentExtensionAutomationEventType;
type EnvelopeCheck = (envelope: AutomationEventEnvelope) => string | null;

const PARTS = ['attributes', 'payload'] as const;
type Part = (typeof PARTS)[number];

function describeUndeclared(eventType: string): string {
  return `it sends events of the type "${eventType}", which it did not declare with registerAutomationEventType; they are handed on unchecked`;
}

function findMisfit(
  plugin: string,
  { eventType, eventId }: AutomationEventEnvelope,
  problem: string,
): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', {
    message: `the event ${eventId} of the plugin "${plugin}" does not fit what it declared of "${eventType}": ${problem}`,
    hint: 'Fix the event, or the schema that was passed to registerAutomationEventType.',
  });
}

/** Throws PAYLOAD_INVALID for an invalid event. */
function readEnvelope(event: unknown, plugin: string, now: number): AutomationEventEnvelope {
  const place = `ingestEvent of the plugin "${plugin}"`;
  if (!isRecord(event)) {
    throw createEventError(`${place} expects an object, found ${getTypeName(event)}`);
  }
  const readRequired = (key: string): string => {
    const text = readText(event, key);
    if (text !== null) return text;
    const value = event[key];
    const found = value === undefined ? 'nothing' : getTypeName(value);
    throw createEventError(
      `${place} expects "${key}" to be a text that is not empty, found ${found}`,
    );
  };
  const eventId = readRequired('eventId');
  const eventType = readRequired('eventType');
  const source = readRequired('source');
  const subject = readText(event, 'subject');
  const workspaceRoot = readText(event, 'workspaceRoot');
  const { payload, attributes } = event;
  return {
    eventId,
    eventType,
    source,
    occurredAt: readTime(event) ?? new Date(now).toISOString(),
    ...(subject === null ? {} : { subject }),
    ...(workspaceRoot === null ? {} : { workspaceRoot }),
    ...(isRecord(payload) ? { payload } : {}),
    ...(isRecord(attributes) ? { attributes } : {}),
    dedupeKey: readText(event, 'dedupeKey') ?? `${eventType}:${source}:${subject ?? eventId}`,
  };
}

function createEventError(message: string): HooklineError {
  const hint = 'An event has at least eventId, eventType and source.';
  return new HooklineError('PAYLOAD_INVALID', { message, hint });
}

function readText(event: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = event[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function readTime({ occurredAt }: Readonly<Record<string, unknown>>): string | null {
  if (typeof occurredAt !== 'string' && !(occurredAt instanceof Date)) return null;
  const time = new Date(occurredAt);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
