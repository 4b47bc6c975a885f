import { truncateText } from '../../base/json.ts';
import type { SessionSummary } from '../../sessions/store.ts';
import type { Command } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { openStoredSessions } from '../state/stored-sessions.ts';
import { colors } from '../words/colors.ts';
import { shownPlace } from '../words/place.ts';
import { oneLine, printable, table } from '../words/print.ts';
import { withoutSecrets } from '../../host/secrets/without-secrets.ts';
import { localTime } from '../words/time.ts';

/** `hookline sessions list`: every stored session, the one used last first. */
export const listSessions: Command<object> = async ({ flags, print }) => {
  const sessions = await withCleanWords(openStoredSessions().store.list(), flags);
  if (flags.json === true) print.json({ sessions });
  else print.out(sessions.length === 0 ? NO_SESSIONS : sessionTable(sessions));
  return EXIT.fine;
};

const NO_SESSIONS = 'No sessions are stored.';

/** Only what people wrote is looked at: ids look like secrets, and telling that they are none takes long. */
async function withCleanWords(
  sessions: readonly SessionSummary[],
  flags: Parameters<typeof withoutSecrets>[1],
): Promise<readonly SessionSummary[]> {
  const words = sessions.map(({ title, firstPrompt }) => ({ title, firstPrompt }));
  const clean = await withoutSecrets(words, flags);
  return sessions.map((session, at) => ({ ...session, ...clean[at] }));
}

const TITLES = ['SESSION', 'LAST USED', 'DIRECTORY', 'MODEL', 'MESSAGES', 'PROMPT'];

function sessionTable(sessions: readonly SessionSummary[]): string {
  const shorten = createShortener(sessions.map(({ id }) => id));
  const rows = sessions.flatMap((session) => [
    [
      shorten(session.id),
      localTime(session.lastUsedAt),
      shownPlace(session.startDirectory),
      session.model === '' ? '?' : oneLine(session.model),
      String(session.messageCount),
      promptOf(session),
    ],
    ...(session.problem === null ? [] : [[colors.yellow(`  ${printable(session.problem)}`)]]),
  ]);
  return table([TITLES.map((title) => colors.dim(title)), ...rows]);
}

const SHORTEST_ID = 8;

/** The beginning of an id that no other has, so that it can be typed. */
function createShortener(ids: readonly string[]): (id: string) => string {
  let length = SHORTEST_ID;
  const longest = Math.max(0, ...ids.map((id) => id.length));
  while (length < longest && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) {
    length += 1;
  }
  return (id) => id.slice(0, length);
}

const PROMPT_WIDTH = 60;

function promptOf({ title, firstPrompt }: SessionSummary): string {
  const words = (title ?? firstPrompt).replaceAll(/\s+/gu, ' ').trim();
  return printable(
    words.length <= PROMPT_WIDTH ? words : `${truncateText(words, PROMPT_WIDTH - 1)}…`,
  );
}
