import { setImmediate as nextTurn } from 'node:timers/promises';
import { HooklineError } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';
import { readReason } from '../../../plugins/serialize/plain-value.ts';
import type {
  AgentExtensionAutomationEventType,
  AutomationEventEnvelope,
  PluginSetupContext,
} from '../../../plugins/contract/plugin.ts';
import type { OnIssue } from '../../../plugins/diagnostic.ts';
import type { AutomationFor } from '../../../plugins/registry.ts';
import type { createJsonSchemaCheck as JsonSchemaCheck } from './json-schema.ts';

export interface AutomationMeans {
  /** Whoever takes events. */
  readonly port: NonNullable<PluginSetupContext['automation']>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onIssue: OnIssue;
}

/**
 * What each plugin sends events through: they are put in order and checked with the schemas of their
 * type before the port gets them, and the plugin gets what the port says. An event that is none is
 * thrown back at once; whatever fails later is told of, also when the plugin does not wait for it.
 */
export async function createAutomation(means: AutomationMeans): Promise<AutomationFor> {
  const { createJsonSchemaCheck } = await import('./json-schema.ts');
  return (plugin, declared) =>
    new AutomationOfPlugin({ ...means, plugin, declared, jsonSchemaCheck: createJsonSchemaCheck });
}

interface PluginMeans extends AutomationMeans {
  readonly plugin: string;
  readonly declared: () => readonly EventType[];
  readonly jsonSchemaCheck: typeof JsonSchemaCheck;
}

class AutomationOfPlugin {
  readonly #means: PluginMeans;
  readonly #undeclared = new Set<string>();
  readonly #checks = new WeakMap<object, readonly EnvelopeCheck[]>();

  constructor(means: PluginMeans) {
    this.#means = means;
  }

  // Plugins may take it out of the object that they are given.
  readonly ingestEvent = (given: unknown): unknown => {
    const { plugin, now } = this.#means;
    const envelope = readEnvelope(given, plugin, now());
    const type = this.#typeOf(envelope);
    return this.#heard(type === undefined ? this.#sendLater(envelope) : this.#send(envelope, type));
  };

  #typeOf({ eventType, source }: AutomationEventEnvelope): EventType | undefined {
    const fitting = this.#means.declared().filter((each) => each.eventType === eventType);
    return fitting.find((each) => each.source === source) ?? fitting[0];
  }

  /** It may be declared further down in `setup`, so that nothing is said of it yet. */
  async #sendLater(envelope: AutomationEventEnvelope): Promise<unknown> {
    await nextTurn();
    const type = this.#typeOf(envelope);
    if (type !== undefined) return this.#send(envelope, type);
    const { eventType } = envelope;
    if (!this.#undeclared.has(eventType)) this.#tell(describeUndeclared(eventType));
    this.#undeclared.add(eventType);
    return this.#means.port.ingestEvent(envelope);
  }

  #send(envelope: AutomationEventEnvelope, type: EventType): unknown {
    for (const check of this.#checksOf(type)) {
      const problem = check(envelope);
      if (problem !== null) throw findMisfit(this.#means.plugin, envelope, problem);
    }
    return this.#means.port.ingestEvent(envelope);
  }

  #checksOf(type: EventType): readonly EnvelopeCheck[] {
    const known = this.#checks.get(type);
    if (known !== undefined) return known;
    const made = PARTS.flatMap((part) => this.#checkOf(part, type));
    this.#checks.set(type, made);
    return made;
  }

  #checkOf(part: Part, type: EventType): readonly EnvelopeCheck[] {
    const schema = type[`${part}Schema`];
    if (!isRecord(schema)) return [];
    const tell = (what: string): void => this.#tell(`the event type ${type.eventType}: ${what}`);
    const findProblem = this.#means.jsonSchemaCheck(schema, tell, part);
    return [(envelope) => findProblem(envelope[part] ?? {})];
  }

  /** Nobody need wait for it: what becomes of it is told all the same. */
  #heard(result: unknown): unknown {
    if (!isRecord(result) || typeof result['then'] !== 'function') return result;
    const waited = Promise.resolve(result);
    waited.catch((error: unknown) => this.#tell(`an event was not taken: ${readReason(error)}`));
    return waited;
  }

  #tell(message: string): void {
    const { plugin, onIssue } = this.#means;
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
    hint: 'Mend the event, or the schema that registerAutomationEventType was given.',
  });
}

/** Throws PAYLOAD_INVALID when it is no event. */
function readEnvelope(given: unknown, plugin: string, now: number): AutomationEventEnvelope {
  const place = `ingestEvent of the plugin "${plugin}"`;
  if (!isRecord(given)) {
    throw createEventError(`${place} expects an object, found ${getTypeName(given)}`);
  }
  const needed = (key: string): string => {
    const text = readText(given, key);
    if (text !== null) return text;
    const value = given[key];
    const found = value === undefined ? 'nothing' : getTypeName(value);
    throw createEventError(
      `${place} expects "${key}" to be a text that is not empty, found ${found}`,
    );
  };
  const eventId = needed('eventId');
  const eventType = needed('eventType');
  const source = needed('source');
  const subject = readText(given, 'subject');
  const workspaceRoot = readText(given, 'workspaceRoot');
  const { payload, attributes } = given;
  return {
    eventId,
    eventType,
    source,
    occurredAt: readTime(given) ?? new Date(now).toISOString(),
    ...(subject === null ? {} : { subject }),
    ...(workspaceRoot === null ? {} : { workspaceRoot }),
    ...(isRecord(payload) ? { payload } : {}),
    ...(isRecord(attributes) ? { attributes } : {}),
    dedupeKey: readText(given, 'dedupeKey') ?? `${eventType}:${source}:${subject ?? eventId}`,
  };
}

function createEventError(message: string): HooklineError {
  const hint = 'An event has at least eventId, eventType and source.';
  return new HooklineError('PAYLOAD_INVALID', { message, hint });
}

function readText(given: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = given[key];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function readTime({ occurredAt }: Readonly<Record<string, unknown>>): string | null {
  if (typeof occurredAt !== 'string' && !(occurredAt instanceof Date)) return null;
  const time = new Date(occurredAt);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
