import { truncateText } from '../../base/json.ts';
import type { SessionStore, SessionSummary } from '../../sessions/session-store.ts';
import { type Command, confirm, rejectInsideSession } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { openStoredSessions } from '../config-files/stored-sessions.ts';
import { colors } from '../output/colors.ts';
import {
  toOneLine,
  toPrintable,
  formatTable,
  formatLocalTime,
  formatCount,
} from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { formatPath } from '../../base/paths.ts';
import { readSurroundings } from '../../host/surroundings.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError } from '../../base/files.ts';
import { resolveSessionId, getSessionsDirectory } from '../../sessions/session-id.ts';
import {
  readRecord,
  type SessionRecord,
  getTranscriptPath,
} from '../../sessions/session-record.ts';
import { createProblemList, readTranscript } from '../../sessions/transcript/read-transcript.ts';
import type { StoredLine } from '../../sessions/transcript/stored-line.ts';
import { formatPart, listTranscriptParts } from '../output/format-transcript.ts';

/** `hookline sessions list`: stored sessions, most recently used first. */
export const listSessions: Command<object> = async ({ flags, print }) => {
  const sessions = await redactSessions(openStoredSessions().store.list(), flags);
  if (flags.json === true) print.json({ sessions });
  else print.out(sessions.length === 0 ? NO_SESSIONS : formatSessions(sessions));
  return EXIT.fine;
};

const NO_SESSIONS = 'No stored sessions.';

/** Redacts only user text: ids look like secrets, and checking them is slow. */
async function redactSessions(
  sessions: readonly SessionSummary[],
  flags: Parameters<typeof redactObject>[1],
): Promise<readonly SessionSummary[]> {
  const texts = sessions.map(({ title, firstPrompt }) => ({ title, firstPrompt }));
  const redacted = await redactObject(texts, flags);
  return sessions.map((session, at) => ({ ...session, ...redacted[at] }));
}

const TITLES = ['SESSION', 'LAST USED', 'DIRECTORY', 'MODEL', 'MESSAGES', 'PROMPT'];

function formatSessions(sessions: readonly SessionSummary[]): string {
  const shorten = createShortener(sessions.map(({ id }) => id));
  const rows = sessions.flatMap((session) => [
    [
      shorten(session.id),
      formatLocalTime(session.lastUsedAt),
      formatLocation(session.startDirectory),
      session.model === '' ? '?' : toOneLine(session.model),
      String(session.messageCount),
      formatPrompt(session),
    ],
    ...(session.problem === null ? [] : [[colors.yellow(`  ${toPrintable(session.problem)}`)]]),
  ]);
  return formatTable([TITLES.map((title) => colors.dim(title)), ...rows]);
}

const MIN_ID_LENGTH = 8;

/** Shortens ids to a unique prefix. */
function createShortener(ids: readonly string[]): (id: string) => string {
  let length = MIN_ID_LENGTH;
  const longest = Math.max(0, ...ids.map((id) => id.length));
  while (length < longest && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) {
    length += 1;
  }
  return (id) => id.slice(0, length);
}

/** Formats a path relative to the cwd or home; `?` when it is unknown. */
function formatLocation(file: string): string {
  return file === '' ? '?' : toOneLine(formatPath(file, readSurroundings()));
}

const PROMPT_WIDTH = 60;

function formatPrompt({ title, firstPrompt }: SessionSummary): string {
  const text = (title ?? firstPrompt).replaceAll(/\s+/gu, ' ').trim();
  return toPrintable(
    text.length <= PROMPT_WIDTH ? text : `${truncateText(text, PROMPT_WIDTH - 1)}…`,
  );
}

/** `hookline sessions show [ID]`: prints the transcript of a session. */
export const showSession: Command<{
  readonly id?: string;
}> = async ({ flags, print }, { id }) => {
  const { stateDirectory, store } = openStoredSessions();
  const found = id === undefined ? findLastSession(store) : resolveSessionId(stateDirectory, id);
  const stored = readStored(path.join(getSessionsDirectory(stateDirectory), found));
  if (flags.json === true) {
    const { record, ...rest } = stored;
    print.json(await redactObject({ ...record.facts, title: record.title, ...rest }, flags));
    return EXIT.fine;
  }
  const { title } = stored.record;
  const redacted = await redactObject({ title, parts: listTranscriptParts(stored.lines) }, flags);
  print.out(formatHead(stored.record, redacted.title, stored.transcript, stored.lines));
  for (const part of redacted.parts) print.out(formatPart(part));
  if (stored.agents.length > 0) print.out(formatAgents(stored.agents));
  for (const problem of stored.problems) print.note(`note: ${toPrintable(problem)}`);
  return EXIT.fine;
};

/** The last session of this directory, else of all. */
function findLastSession(store: SessionStore): string {
  const last = store.findLatest(readSurroundings().cwd) ?? store.list()[0]?.id;
  if (last !== undefined) return last;
  throw new HooklineError('SESSION_UNKNOWN', {
    message: 'no session is stored yet',
    hint: 'Run one first: hookline run "…"',
  });
}

/** Reads the record and the transcript of a session, and finds the transcripts of its sub-agents. */
function readStored(directory: string) {
  const { record, problem } = readRecord(directory);
  const transcript = getTranscriptPath(directory);
  const problems = createProblemList();
  if (problem !== null) problems.report(problem);
  const lines = readLines(transcript, problems.report);
  const agents = findAgents(path.join(directory, 'subagents'));
  return { record, transcript, lines, agents, problems: problems.list() };
}

function readLines(transcript: string, report: (problem: string) => void): readonly StoredLine[] {
  try {
    return [...readTranscript(transcript, report)];
  } catch (error) {
    if (isNotFoundError(error)) {
      report(`${transcript} is missing`);
      return [];
    }
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `the transcript ${transcript} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check its permissions.',
      cause: error,
    });
  }
}

function findAgents(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => path.join(directory, name));
}

function formatHead(
  { facts }: SessionRecord,
  title: string | null,
  transcript: string,
  lines: readonly StoredLine[],
): string {
  const lastAt = lines.findLast(({ at }) => at !== null)?.at ?? facts.createdAt;
  const { provider, id } = facts.model;
  return formatTable([
    [colors.dim('session'), colors.bold(toOneLine(facts.id))],
    ...(title === null ? [] : [[colors.dim('title'), toOneLine(title)]]),
    [colors.dim('directory'), formatLocation(facts.startDirectory)],
    [colors.dim('model'), toOneLine([provider, id].filter((word) => word !== '').join(' '))],
    [colors.dim('from'), `${formatLocalTime(facts.createdAt)} to ${formatLocalTime(lastAt)}`],
    ...(facts.forkedFrom === undefined
      ? []
      : [[colors.dim('forked from'), toOneLine(facts.forkedFrom)]]),
    [colors.dim('transcript'), formatLocation(transcript)],
  ]);
}

function formatAgents(agents: readonly string[]): string {
  const files = agents.map((file) => `  ${formatLocation(file)}`);
  return ['', colors.dim('Sub-agent transcripts:'), ...files].join('\n');
}

/** `hookline sessions rm ID…`: deletes sessions after confirmation. */
export const removeSessions: Command<{
  readonly ids: readonly string[];
  readonly yes?: boolean;
}> = async (context, { ids, yes }) => {
  rejectInsideSession(context, 'sessions rm');
  const { store, stateDirectory } = openStoredSessions();
  const chosen = [...new Set(ids.map((id) => resolveSessionId(stateDirectory, id)))];
  const text = `Delete ${formatCount(chosen.length, 'session')} (${chosen.map(toOneLine).join(', ')})?`;
  if (yes !== true && !(await confirm(context, { text, flag: '--yes' }))) {
    context.print.note('Nothing was deleted.');
    return EXIT.refused;
  }
  for (const id of chosen) store.remove(id);
  if (context.flags.json === true) context.print.json({ deleted: chosen });
  else context.print.out(`Deleted ${formatCount(chosen.length, 'session')}.`);
  return EXIT.fine;
};
