import { isRecord } from '../../../base/json.ts';
import { findClosestName } from '../../../base/did-you-mean.ts';
import type { BrokenEntry, Entry, Source } from '../entry.ts';
import {
  CLAUDE_EVENT_NAMES,
  type ClaudeEvent,
  isClaudeEvent,
  isGate,
  CLAUDE_EVENTS,
  HANDLER_TYPES,
  type HandlerType,
} from '../events.ts';
import {
  describePart,
  type Part,
  type Fault,
  FieldReader,
  TEXT,
  TEXT_RECORD,
  TEXTS,
} from '../../../base/located-json.ts';
import { formatEntryText } from './entry-text.ts';
import { readTimeout } from './time-limits.ts';

/** The handlers of a map of events to matcher groups. */
export interface ParsedEvents {
  readonly entries: readonly Entry[];
  readonly broken: readonly BrokenEntry[];
  readonly ignored: readonly IgnoredPart[];
}

/** A part of a file that nothing reads. */
export interface IgnoredPart extends Fault {
  /** Set when it may be a misspelt or overwritten gate; the allow rules of its file do not count then. */
  readonly mayHideGate?: true;
  /** Set when it cannot have been meant as a hook or a rule. */
  readonly isHarmless?: true;
}

export const NO_EVENTS: ParsedEvents = { entries: [], broken: [], ignored: [] };

/**
 * Reads `{"<Event>": [{"matcher": …, "hooks": [handler, …]}]}`. A broken handler does not invalidate
 * the others. Hooks of a sub-agent's front matter have its `agentType`, for which alone they fire.
 */
export function parseEvents(events: Part, source: Source, agentType?: string): ParsedEvents {
  return new EventsParser(source, agentType).parse(events);
}

/** Collects the handlers and faults of all events, in the order in which they are written. */
class EventsParser {
  readonly #source: Source;
  readonly #agentType: string | undefined;
  readonly #entries: Entry[] = [];
  readonly #broken: BrokenEntry[] = [];
  readonly #ignored: IgnoredPart[] = [];

  constructor(source: Source, agentType: string | undefined) {
    this.#source = source;
    this.#agentType = agentType;
  }

  parse(events: Part): ParsedEvents {
    this.#parseEvents(events);
    return { entries: this.#entries, broken: this.#broken, ignored: this.#ignored };
  }

  #parseEvents(events: Part): void {
    const { fields } = events;
    if (fields === null) {
      const why = `"hooks": expected an object of events, found ${describePart(events)}`;
      return this.#addBroken(events, null, why);
    }
    this.#ignored.push(...listRepeatedKeys(events));
    for (const [name, groups] of fields) {
      if (isClaudeEvent(name)) this.#parseGroups(name, groups);
      else this.#ignored.push(describeUnknownEvent(name, groups));
    }
  }

  #parseGroups(event: ClaudeEvent, groups: Part): void {
    if (groups.items === null) {
      const why = `"${event}": expected an array of matcher groups, found ${describePart(groups)}`;
      return this.#addBroken(groups, event, why);
    }
    for (const group of groups.items) this.#parseGroup(event, group);
  }

  #parseGroup(event: ClaudeEvent, group: Part): void {
    const { fields } = group;
    if (fields === null) {
      const why = `expected a matcher group with "hooks", found ${describePart(group)}`;
      return this.#addBroken(group, event, why);
    }
    const matcher = fields.get('matcher');
    if (matcher !== undefined && typeof matcher.value !== 'string') {
      const found = `"matcher": expected a string, found ${describePart(matcher)}`;
      return this.#addBroken(matcher, event, `${found}${suggestMatcher(matcher.value)}`);
    }
    const handlers = fields.get('hooks');
    if (handlers?.items === undefined || handlers.items === null) {
      const why = explainMissingHandlers(group, handlers);
      return this.#addBroken(handlers ?? group, event, why);
    }
    this.#ignored.push(...listRepeatedKeys(group));
    const handlerPlace = {
      event: resolveEvent(event, this.#agentType),
      matcher: typeof matcher?.value === 'string' ? matcher.value : undefined,
      source: this.#source,
      agentType: this.#agentType,
    };
    for (const handler of handlers.items) this.#parseHandler(handler, handlerPlace);
    this.#ignored.push(...listMisplacedFields(fields));
  }

  #parseHandler(handler: Part, place: HandlerPlace): void {
    const { event } = place;
    this.#ignored.push(...listRepeatedKeys(handler));
    const parsed = parseHandler(handler, place);
    if ('why' in parsed) this.#addBroken(parsed, event, parsed.why);
    else this.#entries.push(parsed);
  }

  #addBroken({ line }: Pick<Part, 'line'>, event: ClaudeEvent | null, why: string): void {
    this.#broken.push({ source: this.#source, line, event, why });
  }
}

export function listRepeatedKeys({ repeated, line, fields }: Part): IgnoredPart[] {
  return repeated.map((name) => ({
    line: fields?.get(name)?.line ?? line,
    why: `"${name}" appears more than once: only the last one counts; merge them`,
    mayHideGate: true,
  }));
}

function describeUnknownEvent(name: string, { line }: Part): IgnoredPart {
  const suggestion = findClosestName(name.trim(), CLAUDE_EVENT_NAMES);
  const why = `event "${name}" not found, so its entries never run${suggestEvent(name, suggestion)}`;
  const mayHideGate = name === 'hooks' || (suggestion !== null && isGate(suggestion));
  return { line, why, ...(mayHideGate ? { mayHideGate } : {}) };
}

function suggestEvent(name: string, suggestion: ClaudeEvent | null): string {
  if (name === 'hooks') return '; the events belong one level higher';
  return suggestion === null ? '' : `; did you mean ${suggestion}?`;
}

/** `["Bash", "Write"]` and `{"tools": ["Bash", "Write"]}` are meant as `"Bash|Write"`. */
function suggestMatcher(value: unknown): string {
  const tools = isRecord(value) ? (value['tools'] ?? value['tool'] ?? value['tool_name']) : value;
  const names: readonly unknown[] = Array.isArray(tools) ? tools : [tools];
  const isList = names.length > 0 && names.every((name) => typeof name === 'string');
  return isList ? `; write ${JSON.stringify(names.join('|'))}` : '';
}

const GROUP_FIELDS = ['matcher', 'hooks'];

/** All fields of handlers; true for those that get a warning when they are in the group instead. */
const HANDLER_FIELDS: ReadonlyMap<string, boolean> = new Map([
  ['type', false],
  ['if', true],
  ['timeout', true],
  ['statusMessage', false],
  ['once', true],
  ['onFailure', true],
  ['command', false],
  ['args', false],
  ['shell', true],
  ['async', true],
  ['asyncRewake', true],
  ['rewakeMessage', false],
  ['rewakeSummary', false],
  // Whether it runs in sessions of Anthropic's cloud; all sessions here are local.
  ['cloud', false],
  ['url', false],
  ['headers', false],
  ['allowedEnvVars', false],
  ['server', false],
  ['tool', false],
  ['input', false],
  ['prompt', false],
  ['model', false],
  ['continueOnBlock', false],
]);

/** Lists the fields of a group that nothing reads: misspelt ones, or fields of its handlers. */
function listMisplacedFields(group: NonNullable<Part['fields']>): readonly Fault[] {
  return [...group].flatMap(([name, { line }]) => {
    const why = explainUnreadField(name);
    return why === null ? [] : [{ line, why }];
  });
}

function explainUnreadField(name: string): string | null {
  if (GROUP_FIELDS.includes(name)) return null;
  if (HANDLER_FIELDS.get(name) === true) {
    return `"${name}" is not read here: it belongs in each handler of "hooks"`;
  }
  const suggestion = findClosestName(name, GROUP_FIELDS);
  return suggestion === null ? null : `"${name}" is not read; did you mean "${suggestion}"?`;
}

function explainMissingHandlers(group: Part, handlers: Part | undefined): string {
  const has = (name: string): boolean => group.fields?.has(name) === true;
  if (handlers !== undefined || !(has('type') || has('command'))) {
    return `"hooks": expected an array of handlers, found ${describePart(handlers)}`;
  }
  const type = has('type') ? '' : ' and give it "type": "command"';
  return `"hooks": expected an array of handlers, found a handler without a group around it; write {"hooks": [ … ]} around it${type}`;
}

/** Stop in the front matter of a sub-agent means SubagentStop. */
function resolveEvent(event: ClaudeEvent, agentType: string | undefined): ClaudeEvent {
  return event === 'Stop' && agentType !== undefined ? 'SubagentStop' : event;
}

interface HandlerPlace {
  readonly event: ClaudeEvent;
  readonly matcher: string | undefined;
  readonly source: Source;
  /** Set for the front matter of a sub-agent only. */
  readonly agentType: string | undefined;
}

/** Reads one handler of a matcher group; returns a fault when it is invalid. */
function parseHandler(part: Part, place: HandlerPlace): Entry | Fault {
  const type = readType(part, place.event);
  if (typeof type !== 'string') return type;
  const fields = new FieldReader(part);
  const entry = readEntry(fields, type, readFacts(fields, part, place));
  const [fault, ...others] = fields.faults;
  if (fault === undefined) return entry;
  return { line: fault.line, why: [fault, ...others].map(({ why }) => why).join('; ') };
}

const FLAG = {
  expected: 'true or false',
  fits: (value: unknown): value is boolean => typeof value === 'boolean',
};

const SECONDS = {
  expected: 'a number of seconds above 0',
  fits: (value: unknown): value is number => typeof value === 'number' && value > 0,
};

const RECORD = { expected: 'an object', fits: isRecord };

function createChoiceKind<Name extends string>(names: readonly Name[]) {
  return {
    expected: names.map((name) => `"${name}"`).join(' or '),
    fits: (value: unknown): value is Name => names.some((name) => name === value),
  };
}

const TYPE = createChoiceKind(HANDLER_TYPES);
const ON_FAILURE = createChoiceKind(['continue', 'block']);
const SHELL = createChoiceKind(['bash', 'powershell']);

function readType(part: Part, event: ClaudeEvent): HandlerType | Fault {
  const { line, fields } = part;
  if (fields === null) {
    return { line, why: `expected a handler such as ${EXAMPLE}, found ${describePart(part)}` };
  }
  const typePart = fields.get('type');
  const type = typePart?.value;
  if (!TYPE.fits(type)) {
    const why = `"type": expected ${TYPE.expected}, found ${describePart(typePart)}`;
    return { line: typePart?.line ?? line, why };
  }
  const allowedTypes = CLAUDE_EVENTS[event].types;
  if (allowedTypes.includes(type)) return type;
  return {
    line: typePart?.line ?? line,
    why: `"type": ${event} takes handlers of type ${allowedTypes.join(', ')} only, found "${type}"; write it as a command`,
  };
}

const EXAMPLE = '{"type": "command", "command": "…"}';

function readFacts(fields: FieldReader, part: Part, place: HandlerPlace) {
  const { event, matcher, source, agentType } = place;
  const limit = readTimeout(fields.find('timeout', SECONDS));
  const once = fields.find('once', FLAG) === true;
  const condition = fields.find('if', TEXT);
  const unread = listUnreadFields(part);
  const facts = {
    event,
    matcher,
    condition: condition === '' ? undefined : condition,
    timeoutMs: limit.timeoutMs,
    statusMessage: fields.find('statusMessage', TEXT) ?? null,
    once: once && source.kind === 'skill',
    onFailure: fields.find('onFailure', ON_FAILURE) ?? 'continue',
    source,
    line: part.line,
    text: formatEntryText({ event, matcher, agentType, handler: part.value }, source),
    notes: [
      ...(limit.note === null ? [] : [limit.note]),
      ...(once && source.kind !== 'skill'
        ? ['"once" applies only in the front matter of a skill; this runs every time']
        : []),
      ...unread.filter(({ mayGuard }) => !mayGuard).map(({ why }) => why),
    ],
    mistakes: unread.filter(({ mayGuard }) => mayGuard).map(({ why }) => why),
  };
  return agentType === undefined ? facts : { agentType, ...facts };
}

interface UnreadField {
  readonly why: string;
  /** Whether the hook may guard less without it. */
  readonly mayGuard: boolean;
}

/** Fields that decide what a hook guards; a misspelt `statusMessage` only shows less. */
const GUARDING_FIELDS: readonly string[] = [
  'if',
  'onFailure',
  'async',
  'asyncRewake',
  'args',
  'shell',
];

/** Lists unknown fields that look misspelt or misplaced. Others may be for other programs. */
function listUnreadFields({ fields }: Part): readonly UnreadField[] {
  return [...(fields?.keys() ?? [])].flatMap((name) => {
    if (HANDLER_FIELDS.has(name)) return [];
    if (name === 'enabled' || name === 'disabled') {
      const why = `"${name}" is not read: disable a hook with \`hookline hooks disable\``;
      return [{ why, mayGuard: false }];
    }
    if (name === 'matcher') {
      const why = '"matcher" is not read here: it belongs beside "hooks", in the group';
      return [{ why, mayGuard: true }];
    }
    // `id` is not a misspelt `if`.
    const suggestion = name.length < 4 ? null : findClosestName(name, [...HANDLER_FIELDS.keys()]);
    if (suggestion === null) return [];
    const why = `"${name}" is not read; did you mean "${suggestion}"?`;
    return [{ why, mayGuard: GUARDING_FIELDS.includes(suggestion) }];
  });
}

type Facts = ReturnType<typeof readFacts>;

// The spread of `facts` comes last, because V8 creates such an object much faster.
function readEntry(fields: FieldReader, type: HandlerType, facts: Facts): Entry {
  switch (type) {
    case 'command':
      return {
        type,
        command: fields.require('command', TEXT, ''),
        args: fields.find('args', TEXTS) ?? null,
        shell: fields.find('shell', SHELL) ?? null,
        async: fields.find('async', FLAG) ?? false,
        asyncRewake: fields.find('asyncRewake', FLAG) ?? false,
        rewakeMessage: fields.find('rewakeMessage', TEXT) ?? null,
        rewakeSummary: fields.find('rewakeSummary', TEXT) ?? null,
        ...facts,
      };
    case 'http':
      return {
        type,
        url: fields.require('url', TEXT, ''),
        headers: fields.find('headers', TEXT_RECORD) ?? {},
        allowedEnvVars: fields.find('allowedEnvVars', TEXTS) ?? [],
        ...facts,
      };
    case 'mcp_tool':
      return {
        type,
        server: fields.require('server', TEXT, ''),
        tool: fields.require('tool', TEXT, ''),
        input: fields.find('input', RECORD) ?? {},
        ...facts,
      };
    case 'prompt':
    case 'agent':
      return {
        type,
        prompt: fields.require('prompt', TEXT, ''),
        model: fields.find('model', TEXT) ?? null,
        continueOnBlock: fields.find('continueOnBlock', FLAG) ?? false,
        ...facts,
      };
  }
}
