import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { formatTime } from '../../../base/clock.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { appendPrivateFile } from '../../../base/files.ts';
import { listToolViews } from '../../../tool-vocabularies/tool-views.ts';
import type { CallFacts, HookEvent, Moment } from '../../../hooks/facts.ts';
import type { Fields } from './tool-fields.ts';
import path from 'node:path';

/**
 * Appends the messages of an event to the transcript. Never throws; the same event is written once.
 * Returns the session's transcript, also for events in a sub-agent, and why it could not be written.
 */
export type WriteTranscript = (event: HookEvent) => {
  readonly path: string;
  readonly note: string | null;
};

/**
 * Writes transcripts in Claude's format for hosts that keep none, from the prompts, tool calls and
 * answers in events.
 */
export function createTranscripts(directory: string): WriteTranscript {
  const knownEnds = new Map<string, KnownEnd>();
  return (event) => {
    const file = buildTranscriptPath(directory, event);
    const isInAgent = event.agent.parentId !== null || event.name === 'SubagentStop';
    try {
      if (isInAgent) {
        appendMessages(file, [], event, knownEnds);
        const agentFile = buildAgentTranscriptPath(file, event.agent.id);
        appendMessages(agentFile, listMessages(event), event, knownEnds);
      } else {
        appendMessages(file, listMessages(event), event, knownEnds);
      }
      return { path: file, note: null };
    } catch (error) {
      const note = `the transcript ${file} could not be written, so hooks that read it see less: ${getErrorMessage(error)}`;
      return { path: file, note };
    }
  };
}

interface Message {
  /** Identifies the message, so that it is written once. */
  readonly key: string;
  readonly type: 'user' | 'assistant';
  readonly content: unknown;
  readonly rest?: Fields;
}

function listMessages(event: HookEvent): readonly Message[] {
  switch (event.name) {
    case 'UserPromptSubmit':
      return [{ key: `prompt ${event.at}`, type: 'user', content: event.prompt }];
    case 'PreToolUse':
    case 'PermissionRequest':
      return [createToolUse(event.tool, event)];
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return [createToolUse(event.tool, event), createToolResult(event)];
    case 'Stop':
    case 'SubagentStop':
    case 'RunEnd':
      return createTextMessages(event.lastText ?? '', event);
    default:
      return [];
  }
}

function createToolUse(call: CallFacts, event: HookEvent): Message {
  const places = { cwd: event.cwd, root: event.workspaceRoots[0] ?? null };
  const content = listToolViews(call, 'claude', places).map(({ name, input }) => ({
    type: 'tool_use',
    id: call.callId,
    name,
    input: input ?? {},
  }));
  return { key: `call ${getCallKey(call, event)}`, type: 'assistant', content };
}

function createToolResult(event: HookEvent<'PostToolUse' | 'PostToolUseFailure'>): Message {
  const { tool, result } = event;
  const text = result.success ? result.text : (result.error ?? result.text);
  const block = { tool_use_id: tool.callId, type: 'tool_result', content: text };
  return {
    key: `result ${getCallKey(tool, event)}`,
    type: 'user',
    content: [result.success ? block : { ...block, is_error: true }],
    rest: { toolUseResult: result.response ?? text },
  };
}

function getCallKey({ callId }: CallFacts, event: HookEvent): string {
  return callId === '' ? String(event.at) : callId;
}

function createTextMessages(text: string, event: HookEvent): readonly Message[] {
  if (text === '') return [];
  return [{ key: `text ${event.at}`, type: 'assistant', content: [{ type: 'text', text }] }];
}

/** The last messages of a file, which is read again only after another process wrote to it. */
interface KnownEnd {
  readonly size: number;
  readonly uuids: readonly string[];
}

function appendMessages(
  file: string,
  messages: readonly Message[],
  event: HookEvent,
  knownEnds: Map<string, KnownEnd>,
): void {
  const end = findEnd(file, knownEnds.get(file));
  const writtenUuids = new Set(end?.uuids);
  const identified = messages.map((message) => ({ message, uuid: computeUuid(message, event) }));
  // The last message decides, because after a long one the earlier ones are no longer in the part
  // that is read.
  const isWritten = writtenUuids.has(identified.at(-1)?.uuid ?? '');
  const fresh = isWritten ? [] : identified.filter(({ uuid }) => !writtenUuids.has(uuid));
  let parentUuid = end?.uuids.at(-1) ?? null;
  let lines = '';
  for (const { message, uuid } of fresh) {
    lines += `${JSON.stringify(createLine(message, event, uuid, parentUuid))}\n`;
    parentUuid = uuid;
  }
  if (end === null || lines !== '') appendPrivateFile(file, lines);
  const uuids = [...(end?.uuids ?? []), ...fresh.map(({ uuid }) => uuid)].slice(-MOST_UUIDS);
  knownEnds.set(file, { size: (end?.size ?? 0) + Buffer.byteLength(lines), uuids });
}

const END_BYTES = 256 * 1024;
const MOST_UUIDS = 500;

/** Reads the last messages of a file; null when it does not exist. */
function findEnd(file: string, lastEnd: KnownEnd | undefined): KnownEnd | null {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return null;
  if (lastEnd?.size === size) return lastEnd;
  const uuids = [...readEnd(file).matchAll(/,"uuid":"([0-9a-f-]{36})"/gu)];
  return { size, uuids: uuids.map(([, uuid = '']) => uuid) };
}

function readEnd(file: string): string {
  const handle = openSync(file, 'r');
  try {
    const { size } = fstatSync(handle);
    const end = Buffer.alloc(Math.min(size, END_BYTES));
    const length = readSync(handle, end, 0, end.length, size - end.length);
    return end.toString('utf8', 0, length);
  } finally {
    closeSync(handle);
  }
}

/** Computes the same UUID for the same message, so that a repeated write can be detected. */
function computeUuid({ key }: Message, { sessionId, agent }: HookEvent): string {
  const hash = createHash('sha256').update(JSON.stringify([sessionId, agent.id, key]));
  const hex = hash.digest('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(12, 15)}`];
  return [...groups, `8${hex.slice(15, 18)}`, hex.slice(18, 30)].join('-');
}

/** `uuid` follows the message, so that the end of the file contains it however long the message is. */
function createLine(
  message: Message,
  event: HookEvent,
  uuid: string,
  parentUuid: string | null,
): Fields {
  const { type, content, rest } = message;
  const isAssistant = type === 'assistant';
  const isSidechain = event.agent.parentId !== null || event.name === 'SubagentStop';
  return {
    parentUuid,
    isSidechain,
    userType: 'external',
    cwd: event.cwd,
    sessionId: event.sessionId,
    version: event.version,
    gitBranch: '',
    ...(isSidechain ? { agentId: event.agent.id } : {}),
    type,
    message: isAssistant
      ? { id: `msg_${uuid}`, type: 'message', role: type, model: event.model.id, content }
      : { role: type, content },
    ...rest,
    uuid,
    timestamp: formatTime(event.at),
  };
}

const LONGEST_NAME = 200;

/** Builds `<start directory>/<session>.jsonl` below a directory. */
export function buildTranscriptPath(directory: string, moment: Moment): string {
  const start = moment.startDirectory ?? moment.workspaceRoots[0] ?? moment.cwd;
  return path.join(directory, toFileName(start), `${toFileName(moment.sessionId)}.jsonl`);
}

/** Builds the path of a sub-agent's transcript, beside that of its session. */
export function buildAgentTranscriptPath(sessionTranscript: string, agentId: string): string {
  const session = sessionTranscript.replace(/\.jsonl$/u, '');
  return path.join(session, 'subagents', `agent-${toFileName(agentId)}.jsonl`);
}

/** Converts a text to a file name that is valid everywhere and has no separators. */
function toFileName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]/gu, '-');
  if (name.length <= LONGEST_NAME) return name === '' ? '-' : name;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${name.slice(0, LONGEST_NAME)}-${digest}`;
}
