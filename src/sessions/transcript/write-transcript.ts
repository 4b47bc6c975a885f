import { randomUUID } from 'node:crypto';
import { getToolCalls, type Message } from '../messages.ts';
import type { TranscriptEntry } from '../session-store.ts';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { formatTime } from '../../base/clock.ts';
import { appendPrivateFile } from '../../base/files.ts';

/** Appends to a transcript. */
export class TranscriptFile {
  readonly #file: string;
  #knownEnd: { readonly lastUuid: string | null; readonly isInLine: boolean } | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Appends lines that refer to the last line's uuid; returns the uuid of the new last line. They are
   * written when it returns. Throws when they cannot be written.
   */
  append(entry: TranscriptEntry, frame: LineFrame): string {
    const { lastUuid: parentUuid, isInLine } = this.#knownEnd ?? readEnd(this.#file);
    const { text, lastUuid } = formatEntryLines(entry, frame, parentUuid);
    // A full disk may take a part of a line; then the end must be read again.
    this.#knownEnd = null;
    appendPrivateFile(this.#file, isInLine ? `\n${text}` : text);
    this.#knownEnd = { lastUuid, isInLine: false };
    return lastUuid;
  }
}

const END_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

/** `isInLine`: the last line has no line break, because its writer was killed. */
function readEnd(file: string) {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return { lastUuid: null, isInLine: false };
  const handle = openSync(file, 'r');
  try {
    const end = Buffer.alloc(Math.min(size, END_BYTES));
    const length = readSync(handle, end, 0, end.length, size - end.length);
    const uuids = [...end.toString('latin1', 0, length).matchAll(/,"uuid":"([\w-]{1,64})"/gu)];
    return { lastUuid: uuids.at(-1)?.[1] ?? null, isInLine: end[length - 1] !== LINE_BREAK };
  } finally {
    closeSync(handle);
  }
}

/** The fields that every line of a transcript has. */
interface LineFrame {
  readonly sessionId: string;
  readonly version: string;
  readonly gitBranch: string;
  /** For answers without a model of their own. */
  readonly modelId: string;
}

/** Formats an entry as whole lines in Claude's format. A compaction has two, written at once. */
function formatEntryLines(entry: TranscriptEntry, frame: LineFrame, parentUuid: string | null) {
  const [first, second] = createBodies(entry, frame.modelId, parentUuid);
  const uuid = randomUUID();
  const text = formatLine(first, entry, frame, uuid, parentUuid);
  if (second === undefined) return { text, lastUuid: uuid };
  const lastUuid = randomUUID();
  const secondLine = formatLine(second, entry, frame, lastUuid, uuid);
  return { text: text + secondLine, lastUuid };
}

type Fields = Readonly<Record<string, unknown>>;

function createBodies(
  entry: TranscriptEntry,
  modelId: string,
  parentUuid: string | null,
): readonly [Fields, Fields?] {
  switch (entry.type) {
    case 'message':
      return [createMessageBody(entry, modelId)];
    case 'compaction':
      return [createBoundaryBody(entry, parentUuid), createSummaryBody(entry.summary)];
    case 'deferral':
      return [createDeferralBody(entry)];
    default:
      return [createNoteBody(entry)];
  }
}

function createMessageBody(entry: Entry<'message'>, modelId: string): Fields {
  const { message, isMeta, toolUseResult, usage } = entry;
  if (message.role === 'assistant') {
    const id = `msg_${randomUUID().replaceAll('-', '')}`;
    const model = entry.model ?? modelId;
    const response = { id, type: 'message', role: 'assistant', model, content: message.content };
    const stop = { stop_reason: getStopReason(message), stop_sequence: null };
    return {
      type: 'assistant',
      message: { ...response, ...stop, usage },
    };
  }
  return {
    type: 'user',
    message: { role: 'user', content: toUserContent(message) },
    isMeta: isMeta === true ? true : undefined,
    toolUseResult,
  };
}

type Entry<Type extends TranscriptEntry['type']> = Extract<TranscriptEntry, { type: Type }>;

function getStopReason(message: Message): string {
  return getToolCalls(message).length > 0 ? 'tool_use' : 'end_turn';
}

/** Claude Code writes a typed prompt as a string, and hooks read it from there. */
function toUserContent({ content }: Message): unknown {
  const [first, ...rest] = content;
  return first?.type === 'text' && rest.length === 0 ? first.text : content;
}

function createBoundaryBody(entry: Entry<'compaction'>, before: string | null): Fields {
  const { trigger, tokensBefore: preTokens } = entry;
  return {
    ...createSystemBody('compact_boundary', 'info', 'Conversation compacted'),
    // The conversation starts again here, so the boundary has no parent.
    parentUuid: null,
    logicalParentUuid: before,
    compactMetadata: { trigger, preTokens },
  };
}

function createSummaryBody(summary: Message): Fields {
  return {
    type: 'user',
    message: { role: 'user', content: toUserContent(summary) },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
  };
}

function createDeferralBody({ call }: Entry<'deferral'>): Fields {
  const text = `${call.name} was deferred; resuming decides about it`;
  return { ...createSystemBody('tool_deferred', 'info', text), toolUse: call };
}

function createNoteBody({ level, text }: Entry<'note'>): Fields {
  return createSystemBody('informational', level, text);
}

function createSystemBody(subtype: string, level: string, content: string): Fields {
  return { type: 'system', subtype, content, isMeta: false, level };
}

/** `uuid` comes after the message, so that the end of the file contains it however long the message is. */
function formatLine(
  body: Fields,
  entry: TranscriptEntry,
  frame: LineFrame,
  uuid: string,
  parentUuid: string | null,
): string {
  const { cwd, agentId, promptId, at } = entry;
  const line = {
    parentUuid,
    isSidechain: agentId !== undefined,
    userType: 'external',
    cwd,
    sessionId: frame.sessionId,
    version: frame.version,
    gitBranch: frame.gitBranch,
    agentId,
    ...body,
    promptId: promptId ?? undefined,
    uuid,
    timestamp: formatTime(at),
  };
  // JSON.stringify drops undefined fields.
  return `${JSON.stringify(line)}\n`;
}
