import { truncateText } from '../../base/json.ts';
import type { SessionSummary } from '../../sessions/store.ts';
import { openStoredSessions } from '../state/stored-sessions.ts';
import { plural, printable } from '../words/print.ts';
import { withoutSecrets } from '../../host/secrets/without-secrets.ts';
import { localTime } from '../words/time.ts';
import type { CommandPlace } from './command-place.ts';

const MOST_OFFERED = 9;
const PROMPT_WIDTH = 40;

/** Has the person choose a stored session of this directory; null when there is none to choose. */
export async function pickSession(place: CommandPlace): Promise<string | null> {
  const { host, view, context, sessionId, signal, say } = place;
  const stored = openStoredSessions()
    .store.list()
    .filter(({ id, startDirectory }) => startDirectory === host.startDirectory && id !== sessionId)
    .filter(({ messageCount }) => messageCount > 0)
    .slice(0, MOST_OFFERED);
  if (stored.length === 0) {
    say('No other session is stored for this directory.');
    return null;
  }
  const { names } = await withoutSecrets({ names: stored.map(nameOf) }, context.flags);
  const options = stored.map(({ id, lastUsedAt, messageCount }, at) => ({
    value: id,
    label: names[at] ?? id,
    key: String(at + 1),
    about: `${localTime(lastUsedAt)}, ${plural(messageCount, 'message')}`,
  }));
  return view.choose({ title: 'Go on with which session?', lines: [], options }, signal);
}

function nameOf({ title, firstPrompt }: SessionSummary): string {
  const words = (title ?? firstPrompt).replaceAll(/\s+/gu, ' ').trim();
  return printable(
    words.length <= PROMPT_WIDTH ? words : `${truncateText(words, PROMPT_WIDTH - 1)}…`,
  );
}
