import path from 'node:path';
import { formatTime, systemClock } from '../base/clock.ts';
import { dropUndefined } from '../base/defined.ts';
import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import { appendPrivateFile, createPrivateDirectory, readTextIfPresent } from '../base/files.ts';
import { isRecord } from '../base/json.ts';
import { type ArrayFile, appendToArrayFile, isJson, writeNewArrayFile } from './array-file.ts';
import { runLocked } from './file-lock.ts';
import { scanArray } from './json-elements.ts';
import { formatElementId } from './protocol.ts';

const MIB = 1024 * 1024;
/** So that an import, which reads a file whole, needs little memory. */
const MOST_BYTES = 64 * MIB;
const MOST_ERROR_BYTES = MIB;
/** An agent waits for its hook; later on the event gets a file of its own. */
export const LOCK_WAIT_MS = 1000;

/** The directory that clients share; `--dir` names another one. */
export function getDefaultDirectory(home: string): string {
  return path.join(home, '.cline', 'hook-events');
}

export function getEventsFile(directory: string, agent: string): string {
  return path.join(directory, `${agent}-hook-events.json`);
}

export function getErrorsFile(directory: string, agent: string): string {
  return path.join(directory, `${agent}-hook-events-errors.json`);
}

/** Where events go when the agent's own directory cannot be written. */
export function getSpareDirectory(stateDirectory: string): string {
  return path.join(stateDirectory, 'hook-events');
}

/** Lists the directories that `--dir` has named, so that an import finds their files. */
export function listNamedDirectories(stateDirectory: string): readonly string[] {
  const text = readTextIfPresent(getDirectoryList(stateDirectory)) ?? '';
  return text.split('\n').filter((line) => path.isAbsolute(line));
}

export function rememberDirectory(stateDirectory: string, directory: string): void {
  if (directory.includes('\n') || listNamedDirectories(stateDirectory).includes(directory)) return;
  appendPrivateFile(getDirectoryList(stateDirectory), `${directory}\n`);
}

function getDirectoryList(stateDirectory: string): string {
  return path.join(stateDirectory, 'hook-directories');
}

/** Names a file that waits to be imported while new events go to another one; names sort by time. */
export function nameWaitingFile(file: string, distinction: string): string {
  const ending = `.part-${formatStamp()}-${distinction.replaceAll(/[^\w-]/g, '-')}.json`;
  return file.replace(/\.json$/, ending);
}

/** The time as a part of a file's name. */
export function formatStamp(): string {
  return formatTime(systemClock.now()).replaceAll(/[:.]/g, '-');
}

/** One posted body, as it is stored. */
export interface StoredPayload {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly text: string;
}

/**
 * Appends a payload to the agent's file, a JSON array of events. When that file cannot be used, because it is locked for
 * too long or no regular file, the payload gets a file of its own beside it, which is imported like the other. Throws when
 * nothing can be written there.
 */
export function storeEvents(directory: string, agent: string, payload: StoredPayload): void {
  createPrivateDirectory(directory);
  const file = getEventsFile(directory, agent);
  const elements = formatElements(payload);
  const target: ArrayFile = {
    file,
    mostBytes: MOST_BYTES,
    nameSetAside: () => nameWaitingFile(file, payload.id),
  };
  try {
    const appended = runLocked(file, LOCK_WAIT_MS, () => appendToArrayFile(target, elements));
    if (appended === null) writeNewArrayFile(nameWaitingFile(file, payload.id), elements);
    else if (appended.result !== null) storeTornEnd(directory, agent, appended.result.text);
  } catch (error) {
    storeFailure(directory, agent, { context: 'fallback_file_read_error', error });
    writeNewArrayFile(nameWaitingFile(file, payload.id), elements);
  }
}

/** One line for each event: the payload's text as it is, with our fields behind its own. */
function formatElements({ id, receivedAt, text }: StoredPayload): readonly string[] {
  // Without a byte order mark, which is white space to `trim`, but none to JSON.
  const json = text.trim();
  const objects = isJson(json) ? listObjects(json) : null;
  if (objects === null) {
    return [`{"__hook_raw":${JSON.stringify(text)},${formatOwnFields(id, receivedAt)}`];
  }
  return objects.map((object) => {
    const elementId = object.index === null ? id : formatElementId(id, object.index);
    const ownFields = formatOwnFields(elementId, receivedAt);
    const body = object.json.slice(0, -1);
    return body.trim() === '{' ? `${body}${ownFields}` : `${body},${ownFields}`;
  });
}

function formatOwnFields(id: string, receivedAt: number): string {
  const time = JSON.stringify(formatTime(receivedAt));
  return `"__hook_timestamp":${time},"__hook_received":${receivedAt},"__hook_id":${JSON.stringify(id)}}`;
}

const OWN_FIELDS =
  /,?"__hook_timestamp":"[^"]*","__hook_received":(\d+),"__hook_id":"([\w.:-]+)"\}$/;

/** The payload of an element as it came in, with its id; null for an element that another program wrote. */
export function parseOwnElement(json: string): StoredPayload | null {
  const match = OWN_FIELDS.exec(json);
  if (match === null) return null;
  const [, receivedAt, id = ''] = match;
  return { id, receivedAt: Number(receivedAt), text: `${json.slice(0, match.index)}}` };
}

/** The objects of valid JSON; null when there is anything else in it. */
function listObjects(
  json: string,
): readonly { readonly json: string; readonly index: number | null }[] | null {
  if (json.startsWith('{')) return [{ json, index: null }];
  const bytes = Buffer.from(json);
  const objects = (scanArray(bytes)?.elements ?? []).map(({ start, end }, index) => ({
    json: bytes.toString('utf8', start, end),
    index,
  }));
  return objects.length > 0 && objects.every((each) => each.json.startsWith('{')) ? objects : null;
}

/** One entry of the errors file, in the form that clients of it have always had. */
export interface ForwardFailure {
  readonly context:
    | 'http_send_failed'
    | 'json_parse_error'
    | 'fallback_file_read_error'
    | 'stdin_read_error'
    | 'hook_fatal_error';
  /** An error, an object with `message` and `code`, or the message itself. */
  readonly error: unknown;
  readonly additionalData?: Readonly<Record<string, unknown>>;
}

/** As much of a text as an error shows. */
export const PREVIEW_CHARACTERS = 200;

function storeTornEnd(directory: string, agent: string, text: string): void {
  storeFailure(directory, agent, {
    context: 'fallback_file_read_error',
    error: 'the last event of the file was written in part only, by a process that was killed',
    additionalData: { rawDataPreview: text.slice(0, PREVIEW_CHARACTERS) },
  });
}

/** Appends to the agent's errors file. Returns whether that worked: nobody is left who could be informed. */
export function storeFailure(directory: string, agent: string, failure: ForwardFailure): boolean {
  const file = getErrorsFile(directory, agent);
  const now = systemClock.now();
  const { context, error, additionalData } = failure;
  const entry = JSON.stringify({
    timestamp: formatTime(now),
    context,
    error: describeError(error),
    ...(additionalData === undefined ? {} : { additionalData }),
    __hook_error_logged: now,
  });
  const target: ArrayFile = {
    file,
    mostBytes: MOST_ERROR_BYTES,
    // Only the last one is of use.
    nameSetAside: () => file.replace(/\.json$/, '.previous.json'),
  };
  try {
    createPrivateDirectory(directory);
    return runLocked(file, LOCK_WAIT_MS, () => appendToArrayFile(target, [entry])) !== null;
  } catch {
    return false;
  }
}

function describeError(error: unknown): Readonly<Record<string, unknown>> {
  const stack = error instanceof Error ? error.stack : undefined;
  const message = isRecord(error) && !(error instanceof Error) ? error['message'] : undefined;
  return dropUndefined({
    message: message ?? getErrorMessage(error),
    stack,
    name: error instanceof Error ? error.name : 'Error',
    code: getErrorCode(error) ?? undefined,
  });
}
