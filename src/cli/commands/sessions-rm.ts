import { resolveSessionId } from '../../sessions/session-id.ts';
import { confirm } from '../ask.ts';
import { type Command, refuseInsideSession } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { openStoredSessions } from '../state/stored-sessions.ts';
import { oneLine, plural } from '../words/print.ts';

export interface RemoveSessionsOptions {
  readonly ids: readonly string[];
  readonly yes?: boolean;
}

/** `hookline sessions rm ID…`: deletes transcripts and all that belongs to them, after asking. */
export const removeSessions: Command<RemoveSessionsOptions> = async (context, { ids, yes }) => {
  refuseInsideSession(context, 'sessions rm');
  const { store, stateDirectory } = openStoredSessions();
  const chosen = [...new Set(ids.map((id) => resolveSessionId(stateDirectory, id)))];
  const text = `Delete ${plural(chosen.length, 'session')} (${chosen.map(oneLine).join(', ')})?`;
  if (yes !== true && !(await confirm(context, { text, flag: '--yes' }))) {
    context.print.note('Nothing was deleted.');
    return EXIT.refused;
  }
  for (const id of chosen) store.remove(id);
  if (context.flags.json === true) context.print.json({ deleted: chosen });
  else context.print.out(`Deleted ${plural(chosen.length, 'session')}.`);
  return EXIT.fine;
};
