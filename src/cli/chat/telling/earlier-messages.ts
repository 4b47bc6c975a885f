import { type Message, getMessageText } from '../../../sessions/messages.ts';
import { REMINDER_START } from '../../../sessions/nobodys-words.ts';
import { colors } from '../../words/colors.ts';
import { withoutSecrets } from '../../../host/secrets/without-secrets.ts';
import type { GlobalFlags } from '../../context.ts';
import { promptWords } from './prompt-words.ts';
import { foreign } from './shown-text.ts';
import type { ChatView } from '../view/view.ts';

const SHOWN_MESSAGES = 10;

/** Shows the end of what was said before the session was opened again. */
export async function showEarlier(
  view: ChatView,
  messages: readonly Message[],
  flags: Pick<GlobalFlags, 'raw'>,
): Promise<void> {
  const said = messages.map((message) => ({
    role: message.role,
    text: getMessageText(message).trim(),
  }));
  const told = said.filter(({ text }) => text !== '' && !text.startsWith(REMINDER_START));
  const left = told.length - SHOWN_MESSAGES;
  if (left > 0) view.say(colors.dim(`… ${left} earlier messages`));
  const { last } = await withoutSecrets({ last: told.slice(-SHOWN_MESSAGES) }, flags);
  for (const { role, text } of last) {
    if (role === 'user') view.say(promptWords(foreign(text)));
    else view.answer().end(foreign(text));
  }
}
