import { isRecord } from '../../../base/json.ts';
import { findClosestName } from '../../../base/did-you-mean.ts';
import type { BrokenEntry, Entry, Source } from '../entry.ts';
import {
  CLAUDE_EVENT_NAMES,
  type ClaudeEvent,
  isClaudeEvent,
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
import { resolveTimeLimit } from './time-limits.ts';

/** The handlers of a map of events to matcher groups. */
export interface ParsedEvents {
  readonly entries: readonly Entry[];
  readonly broken: readonly BrokenEntry[];
  readonly ignored: readonly Fault[];
  /** The longest `timeout` that is written for SessionEnd, in milliseconds; 0 without one. */
  readonly longestSessionEndMs: number;
}

export const NO_EVENTS: ParsedEvents = {
  entries: [],
  broken: [],
  ignored: [],
  longestSessionEndMs: 0,
};

/**
 * Reads `{"<Event>": [{"matcher": …, "hooks": [handler, …]}]}`. A broken handler does not invalidate
 * the others. Hooks of a sub-agent's front matter have its `agentType`, for which alone they fire.
 */
export function parseEvents(events: Part, source: Source, agentType?: string): ParsedEvents {
  const { fields, line } = events;
  if (fields === null) {
    const why = `"hooks": expected an object of events, found ${describePart(events)}`;
    return { ...NO_EVENTS, broken: [{ source, line, event: null, why }] };
  }
  const parsed = [...fields].map(([name, groups]) =>
    isClaudeEvent(name)
      ? parseGroups(name, groups, source, agentType)
      : rejectUnknownEvent(name, groups),
  );
  return joinParsed(addRepeated(events, parsed));
}

function addRepeated(part: Part, parsed: readonly ParsedEvents[]): readonly ParsedEvents[] {
  if (part.repeated.length === 0) return parsed;
  return [{ ...NO_EVENTS, ignored: listRepeatedKeys(part) }, ...parsed];
}

export function joinParsed(parsed: readonly ParsedEvents[]): ParsedEvents {
  const [first] = parsed;
  if (first !== undefined && parsed.length === 1) return first;
  return {
    entries: parsed.flatMap((each) => each.entries),
    broken: parsed.flatMap((each) => each.broken),
    ignored: parsed.flatMap((each) => each.ignored),
    longestSessionEndMs: parsed.reduce(
      (longest, each) => Math.max(longest, each.longestSessionEndMs),
      0,
    ),
  };
}

export function listRepeatedKeys({ repeated, line, fields }: Part): Fault[] {
  return repeated.map((name) => ({
    line: fields?.get(name)?.line ?? line,
    why: `"${name}" is there more than once: only the last one counts; join them`,
  }));
}

function rejectUnknownEvent(name: string, { line }: Part): ParsedEvents {
  const why = `there is no event "${name}", so what stands under it never runs${suggestEvent(name)}`;
  return { ...NO_EVENTS, ignored: [{ line, why }] };
}

function suggestEvent(name: string): string {
  if (name === 'hooks') return '; the events belong one level higher';
  const suggestion = findClosestName(name, CLAUDE_EVENT_NAMES);
  return suggestion === null ? '' : `; did you mean ${suggestion}?`;
}

function parseGroups(
  event: ClaudeEvent,
  groups: Part,
  source: Source,
  agentType: string | undefined,
): ParsedEvents {
  if (groups.items === null) {
    const why = `"${event}": expected an array of matcher groups, found ${describePart(groups)}`;
    return { ...NO_EVENTS, broken: [{ source, line: groups.line, event, why }] };
  }
  return joinParsed(groups.items.map((group) => parseGroup(event, group, source, agentType)));
}

function parseGroup(
  event: ClaudeEvent,
  group: Part,
  source: Source,
  agentType: string | undefined,
): ParsedEvents {
  const createBroken = (part: Part, why: string): ParsedEvents => ({
    ...NO_EVENTS,
    broken: [{ source, line: part.line, event, why }],
  });
  const { fields } = group;
  if (fields === null) {
    return createBroken(
      group,
      `expected a matcher group with "hooks", found ${describePart(group)}`,
    );
  }
  const matcher = fields.get('matcher');
  if (matcher !== undefined && typeof matcher.value !== 'string') {
    const found = `"matcher": expected a string, found ${describePart(matcher)}`;
    return createBroken(matcher, `${found}${suggestMatcher(matcher.value)}`);
  }
  const handlers = fields.get('hooks');
  if (handlers?.items === undefined || handlers.items === null) {
    return createBroken(handlers ?? group, explainMissingHandlers(group, handlers));
  }
  const pattern = typeof matcher?.value === 'string' ? matcher.value : undefined;
  const place = { event: resolveEvent(event, agentType), matcher: pattern, source, agentType };
  const parsed = handlers.items.map((handler) => parseOne(handler, place));
  return joinParsed(addMisplaced(fields, addRepeated(group, parsed)));
}

/** `["Bash", "Write"]` and `{"tools": ["Bash", "Write"]}` are meant as `"Bash|Write"`. */
function suggestMatcher(value: unknown): string {
  const tools = isRecord(value) ? (value['tools'] ?? value['tool'] ?? value['tool_name']) : value;
  const names: readonly unknown[] = Array.isArray(tools) ? tools : [tools];
  const isList = names.length > 0 && names.every((name) => typeof name === 'string');
  return isList ? `; write ${JSON.stringify(names.join('|'))}` : '';
}

const GROUP_FIELDS = ['matcher', 'hooks'];
const HANDLER_FIELDS = ['if', 'timeout', 'async', 'asyncRewake', 'once', 'onFailure', 'shell'];

/** Adds the fields of a group that nothing reads: misspelt ones, or fields of its handlers. */
function addMisplaced(
  group: NonNullable<Part['fields']>,
  parsed: readonly ParsedEvents[],
): readonly ParsedEvents[] {
  const ignored = [...group].flatMap(([name, { line }]) => {
    const why = explainUnreadField(name);
    return why === null ? [] : [{ line, why }];
  });
  return ignored.length === 0 ? parsed : [...parsed, { ...NO_EVENTS, ignored }];
}

function explainUnreadField(name: string): string | null {
  if (GROUP_FIELDS.includes(name)) return null;
  if (HANDLER_FIELDS.includes(name)) {
    return `"${name}" is not read here: it belongs into each handler of "hooks"`;
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

function parseOne(handler: Part, place: HandlerPlace): ParsedEvents {
  const ignored = listRepeatedKeys(handler);
  const parsed = parseHandler(handler, place);
  const { source, event } = place;
  if ('why' in parsed) {
    return {
      ...NO_EVENTS,
      broken: [{ source, line: parsed.line, event, why: parsed.why }],
      ignored,
    };
  }
  const isTimed = event === 'SessionEnd' && handler.fields?.has('timeout') === true;
  const longestSessionEndMs = isTimed ? parsed.timeoutMs : 0;
  return { entries: [parsed], broken: [], ignored, longestSessionEndMs };
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
  const entry = readEntry(fields, type, readFacts(fields, part, place, type));
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
  const written = fields.get('type');
  const type = written?.value;
  if (!TYPE.fits(type)) {
    const why = `"type": expected ${TYPE.expected}, found ${describePart(written)}`;
    return { line: written?.line ?? line, why };
  }
  const allowedTypes = CLAUDE_EVENTS[event].types;
  if (allowedTypes.includes(type)) return type;
  return {
    line: written?.line ?? line,
    why: `"type": ${event} takes handlers of type ${allowedTypes.join(', ')} only, found "${type}"; write it as a command`,
  };
}

const EXAMPLE = '{"type": "command", "command": "…"}';

function readFacts(fields: FieldReader, part: Part, place: HandlerPlace, type: HandlerType) {
  const { event, matcher, source, agentType } = place;
  const limit = resolveTimeLimit(fields.find('timeout', SECONDS), {
    event,
    type,
    isAsync: type === 'command' && part.fields?.get('async')?.value === true,
  });
  const once = fields.find('once', FLAG) === true;
  const condition = fields.find('if', TEXT);
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
        ? ['"once" counts only in the front matter of a skill; this runs every time']
        : []),
      ...listUnreadNotes(part),
    ],
  };
  return agentType === undefined ? facts : { agentType, ...facts };
}

const READ_FIELDS = [
  'type',
  'if',
  'timeout',
  'statusMessage',
  'once',
  'onFailure',
  'command',
  'args',
  'shell',
  'async',
  'asyncRewake',
  'url',
  'headers',
  'allowedEnvVars',
  'server',
  'tool',
  'input',
  'prompt',
  'model',
  'continueOnBlock',
];

/** Lists warnings about unknown fields that look misspelt. Other unknown fields may be for other programs. */
function listUnreadNotes({ fields }: Part): readonly string[] {
  return [...(fields?.keys() ?? [])].flatMap((name) => {
    if (READ_FIELDS.includes(name)) return [];
    if (name === 'enabled' || name === 'disabled') {
      return [`"${name}" is not read: \`hookline hooks disable\` switches a hook off`];
    }
    // `id` is no misspelt `if`.
    const suggestion = name.length < 4 ? null : findClosestName(name, READ_FIELDS);
    return suggestion === null ? [] : [`"${name}" is not read; did you mean "${suggestion}"?`];
  });
}

type Facts = ReturnType<typeof readFacts>;

// The spread of `facts` stands last, because V8 creates such an object much faster.
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
