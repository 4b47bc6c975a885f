import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
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
import type { Command } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { openStoredSessions } from '../state/stored-sessions.ts';
import { colors } from '../words/colors.ts';
import { shownPlace } from '../words/place.ts';
import { oneLine, printable, table } from '../words/print.ts';
import { withoutSecrets } from '../../host/secrets/without-secrets.ts';
import { localTime } from '../words/time.ts';
import { paintPart, shownParts } from '../words/transcript.ts';

export interface ShowSessionOptions {
  readonly id: string;
}

/** `hookline sessions show ID`: what was said and done, from the first prompt on. */
export const showSession: Command<ShowSessionOptions> = async ({ flags, print }, { id }) => {
  const { stateDirectory } = openStoredSessions();
  const found = resolveSessionId(stateDirectory, id);
  const stored = readStored(path.join(getSessionsDirectory(stateDirectory), found));
  if (flags.json === true) {
    const { record, ...rest } = stored;
    print.json(await withoutSecrets({ ...record.facts, title: record.title, ...rest }, flags));
    return EXIT.fine;
  }
  const { title } = stored.record;
  const words = await withoutSecrets({ title, parts: shownParts(stored.lines) }, flags);
  print.out(headOf(stored, words.title));
  for (const part of words.parts) print.out(paintPart(part));
  if (stored.agents.length > 0) print.out(agentsOf(stored));
  for (const problem of stored.problems) print.note(`note: ${printable(problem)}`);
  return EXIT.fine;
};

interface Stored {
  readonly record: SessionRecord;
  readonly transcript: string;
  readonly lines: readonly StoredLine[];
  /** The transcripts of sub-agents. */
  readonly agents: readonly string[];
  readonly problems: readonly string[];
}

function readStored(directory: string): Stored {
  const { record, problem } = readRecord(directory);
  const transcript = getTranscriptPath(directory);
  const problems = createProblemList();
  if (problem !== null) problems.tell(problem);
  const lines = readLines(transcript, problems.tell);
  const agents = findAgents(path.join(directory, 'subagents'));
  return { record, transcript, lines, agents, problems: problems.list() };
}

function readLines(transcript: string, tell: (problem: string) => void): readonly StoredLine[] {
  try {
    return [...readTranscript(transcript, tell)];
  } catch (error) {
    if (isNotFoundError(error)) {
      tell(`${transcript} is missing`);
      return [];
    }
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `the transcript ${transcript} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check its rights.',
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

function headOf({ record: { facts }, lines, transcript }: Stored, title: string | null): string {
  const told = lines.findLast(({ at }) => at !== null)?.at ?? facts.createdAt;
  const { provider, id } = facts.model;
  return table([
    [colors.dim('session'), colors.bold(oneLine(facts.id))],
    ...(title === null ? [] : [[colors.dim('title'), oneLine(title)]]),
    [colors.dim('directory'), shownPlace(facts.startDirectory)],
    [colors.dim('model'), oneLine([provider, id].filter((word) => word !== '').join(' '))],
    [colors.dim('from'), `${localTime(facts.createdAt)} to ${localTime(told)}`],
    ...(facts.forkedFrom === undefined
      ? []
      : [[colors.dim('forked from'), oneLine(facts.forkedFrom)]]),
    [colors.dim('transcript'), shownPlace(transcript)],
  ]);
}

function agentsOf({ agents }: Stored): string {
  const files = agents.map((file) => `  ${shownPlace(file)}`);
  return ['', colors.dim('What sub-agents said is in'), ...files].join('\n');
}
