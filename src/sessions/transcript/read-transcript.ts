import { isRecord, parseJson } from '../../base/json.ts';
import { parseStoredLine, type StoredLine, type StoredMessage } from './stored-line.ts';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { HooklineError } from '../../base/errors.ts';
import type { AssistantMessage, Message, ToolUseBlock } from '../messages.ts';

/** Called with a message about a skipped line, with file and line number. */
type ReportProblem = (problem: string) => void;

/**
 * Reads a transcript line by line. Invalid lines are skipped and reported; lines that are not part of a
 * conversation and repeated lines are skipped. Throws when the file itself cannot be read.
 */
export function* readTranscript(
  file: string,
  report: ReportProblem,
  fromByte = 0,
): Generator<StoredLine> {
  const readUuids = new Set<string>();
  for (const textLine of readTextLines(file, fromByte)) {
    const location = `${file}:${textLine.number}`;
    const line = parseLine(textLine, (why) => report(`${location} ${why}`));
    if (line === null || (line.uuid !== null && readUuids.has(line.uuid))) continue;
    if (line.uuid !== null) readUuids.add(line.uuid);
    yield line;
  }
}

/** The text is null when the line is longer than a string can be. */
function parseLine(
  { text, isWhole }: { readonly text: string | null; readonly isWhole: boolean },
  report: ReportProblem,
): StoredLine | null {
  if (text === null) report('is too long and was skipped');
  if (text === null || text.trim() === '') return null;
  const parsed = parseJson(text);
  if (!parsed.ok) {
    report(isWhole ? 'is not JSON and was skipped' : 'is incomplete and was skipped');
    return null;
  }
  if (isRecord(parsed.value)) return parseRecord(parsed.value, report);
  report('is not a JSON object and was skipped');
  return null;
}

function parseRecord(record: Record<string, unknown>, report: ReportProblem): StoredLine | null {
  const line = parseStoredLine(record);
  if (line === null) {
    if (record['type'] === 'user' || record['type'] === 'assistant') {
      report('has no message and was skipped');
    }
    return null;
  }
  if (line.type !== 'message') return line;
  if (line.unknownBlocks.length > 0) {
    report(`has unknown blocks (${line.unknownBlocks.join(', ')}), which were skipped`);
  }
  return line.message.content.length === 0 ? null : line;
}

const MAX_PROBLEMS = 20;

/** Collects problems: of a broken file only the first ones and the number of the rest. */
export function createProblemList(): {
  readonly report: ReportProblem;
  readonly list: () => readonly string[];
} {
  const problems: string[] = [];
  let more = 0;
  return {
    report(problem) {
      if (problems.length < MAX_PROBLEMS) problems.push(problem);
      else more += 1;
    },
    list: () => (more === 0 ? problems : [...problems, `${more} more lines were skipped`]),
  };
}

const CHUNK_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;
// Opening a FIFO in blocking mode would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The lines of a file, numbered from 1; read in chunks, because the file may be longer than a string can
 * be. `isWhole`: a line break ends the line, unlike one that was cut off.
 */
function* readTextLines(file: string, fromByte = 0) {
  const handle = openSync(file, OPEN_FLAGS);
  try {
    if (!fstatSync(handle).isFile()) {
      throw new HooklineError('CONFIG_UNREADABLE', { message: 'it is not a regular file' });
    }
    let number = 0;
    let partialLine: Buffer[] = [];
    for (const chunk of readChunks(handle, fromByte)) {
      let start = 0;
      for (let end; (end = chunk.indexOf(LINE_BREAK, start)) !== -1; start = end + 1) {
        number += 1;
        const rest = chunk.subarray(start, end);
        yield { number, text: decodeText([...partialLine, rest]), isWhole: true };
        partialLine = [];
      }
      // The buffer is reused for the next chunk.
      if (start < chunk.length) partialLine.push(Buffer.from(chunk.subarray(start)));
    }
    if (partialLine.length > 0) {
      yield { number: number + 1, text: decodeText(partialLine), isWhole: false };
    }
  } finally {
    closeSync(handle);
  }
}

function* readChunks(handle: number, fromByte: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = fromByte;
  for (let length; (length = readSync(handle, buffer, 0, buffer.length, at)) > 0; at += length) {
    yield buffer.subarray(0, length);
  }
}

function decodeText(pieces: readonly Buffer[]): string | null {
  const [only, ...others] = pieces;
  try {
    const whole = only !== undefined && others.length === 0 ? only : Buffer.concat(pieces);
    return whole.toString('utf8');
  } catch {
    return null;
  }
}

/** The state that a resumed session starts from. */
export interface StoredConversation {
  /** Since the last compaction, its summary first. */
  readonly messages: readonly Message[];
  /** Of the whole transcript. */
  readonly messageCount: number;
  readonly cwd: string | null;
  readonly lastMessageAt: number | null;
  readonly deferred: ToolUseBlock | null;
  /** Tokens of the last request, as far as known. */
  readonly contextTokens: number;
  /** What was skipped, with file and line. */
  readonly problems: readonly string[];
}

/** Throws when the file itself cannot be read. */
export function readConversation(transcript: string): StoredConversation {
  const problems = createProblemList();
  const conversation = new ConversationBuilder();
  for (const line of readTranscript(transcript, problems.report)) conversation.add(line);
  return { ...conversation.build(), problems: problems.list() };
}

/** How many messages a transcript holds from a byte on; what cannot be read does not count. */
export function countMessages(transcript: string, fromByte: number): number {
  const conversation = new ConversationBuilder();
  for (const line of readTranscript(transcript, () => undefined, fromByte)) conversation.add(line);
  return conversation.build().messageCount;
}

/** Joins the lines of a transcript to the conversation since the last compaction. */
class ConversationBuilder {
  #messages: Message[] = [];
  #lastId: string | null = null;
  #messageCount = 0;
  #cwd: string | null = null;
  #lastMessageAt: number | null = null;
  #deferred: ToolUseBlock | null = null;
  #contextTokens = 0;

  add(line: StoredLine): void {
    // Older versions of Claude Code wrote messages of sub-agents into the same file.
    if (line.isSidechain) return;
    this.#cwd = line.cwd ?? this.#cwd;
    if (line.type === 'deferral') this.#deferred = line.call;
    if (line.type !== 'message') return;
    this.#addMessage(line);
    this.#deferred = null;
    this.#lastMessageAt = line.at ?? this.#lastMessageAt;
  }

  #addMessage({ message, messageId, isSummary, tokens }: StoredMessage): void {
    // Not at the boundary before it: a killed process may have written only the boundary.
    if (isSummary) this.#messages = [];
    const isSameAnswer = messageId !== null && messageId === this.#lastId;
    const merged = isSameAnswer ? appendBlocks(this.#messages.at(-1), message) : null;
    if (merged === null) {
      this.#messages.push(message);
      this.#messageCount += 1;
    } else this.#messages[this.#messages.length - 1] = merged;
    this.#lastId = messageId;
    this.#contextTokens = isSummary ? 0 : (tokens ?? this.#contextTokens);
  }

  build(): Omit<StoredConversation, 'problems'> {
    return {
      messages: this.#messages,
      messageCount: this.#messageCount,
      cwd: this.#cwd,
      lastMessageAt: this.#lastMessageAt,
      deferred: this.#deferred,
      contextTokens: this.#contextTokens,
    };
  }
}

/** Claude Code writes a line for each block of an answer. */
function appendBlocks(previous: Message | undefined, message: Message): AssistantMessage | null {
  if (previous?.role !== 'assistant' || message.role !== 'assistant') return null;
  return { role: 'assistant', content: [...previous.content, ...message.content] };
}
