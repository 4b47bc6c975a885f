import { findClosestName } from '../../../base/did-you-mean.ts';
import type { Entry, Source } from '../entry.ts';
import { CLAUDE_EVENTS, type ClaudeEvent, HANDLER_TYPES, type HandlerType } from '../names.ts';
import { entryText } from './entry-text.ts';
import {
  createFieldReader,
  type Fault,
  type FieldReader,
  FLAG,
  oneOf,
  RECORD,
  SECONDS,
  TEXT,
  TEXT_RECORD,
  TEXTS,
} from './field-reader.ts';
import { describePart, type Part } from './part.ts';
import { timeLimitOf } from './time-limits.ts';

/** Where a handler is configured. */
export interface HandlerPlace {
  readonly event: ClaudeEvent;
  readonly matcher: string | undefined;
  readonly source: Source;
  /** Of the front matter of a sub-agent only. */
  readonly agentType: string | undefined;
}

/** Reads one handler of a matcher group; a fault when it cannot run as it is written. */
export function parseHandler(part: Part, place: HandlerPlace): Entry | Fault {
  const type = typeOf(part, place.event);
  if (typeof type !== 'string') return type;
  const fields = createFieldReader(part);
  const entry = readEntry(fields, type, readFacts(fields, { part, place, type }));
  const [fault, ...others] = fields.faults;
  if (fault === undefined) return entry;
  return { line: fault.line, why: [fault, ...others].map(({ why }) => why).join('; ') };
}

const TYPE = oneOf(HANDLER_TYPES);
const ON_FAILURE = oneOf(['continue', 'block']);
const SHELL = oneOf(['bash', 'powershell']);

function typeOf(part: Part, event: ClaudeEvent): HandlerType | Fault {
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
  const taken = CLAUDE_EVENTS[event].types;
  if (taken.includes(type)) return type;
  return {
    line: written?.line ?? line,
    why: `"type": ${event} takes handlers of type ${taken.join(', ')} only, found "${type}"; write it as a command`,
  };
}

const EXAMPLE = '{"type": "command", "command": "…"}';

interface Written {
  readonly part: Part;
  readonly place: HandlerPlace;
  readonly type: HandlerType;
}

function readFacts(fields: FieldReader, { part, place, type }: Written) {
  const { event, matcher, source, agentType } = place;
  const limit = timeLimitOf(fields.find('timeout', SECONDS), {
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
    text: entryText({ event, matcher, agentType, handler: part.value }, source),
    notes: [
      ...(limit.note === null ? [] : [limit.note]),
      ...(once && source.kind !== 'skill'
        ? ['"once" counts only in the front matter of a skill; this runs every time']
        : []),
      ...unreadNotes(part),
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

/** Fields that somebody meant to be read. Others may be for other programs. */
function unreadNotes({ fields }: Part): readonly string[] {
  return [...(fields?.keys() ?? [])].flatMap((name) => {
    if (READ_FIELDS.includes(name)) return [];
    if (name === 'enabled' || name === 'disabled') {
      return [`"${name}" is not read: \`hookline hooks disable\` switches a hook off`];
    }
    // `id` is no misspelt `if`.
    const meant = name.length < 4 ? null : findClosestName(name, READ_FIELDS);
    return meant === null ? [] : [`"${name}" is not read; did you mean "${meant}"?`];
  });
}

type Facts = ReturnType<typeof readFacts>;

// The facts stand last: V8 makes such an object many times faster than one that grows after them.
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
