/**
 * The errors that the model gets for calls that no hook and no rule denied. Displays get the same text and
 * show a shorter one, so what recognises a sentence stands beside what writes it.
 */

const USER_DENIAL = 'The user denied this call';
const NO_USER = 'No user is available to approve it, so the call is denied.';

export function formatUserDenial(reason: string | undefined): string {
  return reason === undefined ? `${USER_DENIAL}.` : `${USER_DENIAL}: ${reason}`;
}

/** The user's reason without the sentence around it; empty when there is none. */
export function removeUserDenial(text: string): string {
  return text.startsWith(USER_DENIAL)
    ? text.slice(USER_DENIAL.length).replace(/^[.:]?\s*/u, '')
    : text;
}

export function formatMissingUserDenial(reason: string): string {
  return `${reason} ${NO_USER}`;
}

/** Whether the text says that no user was there; the reason of a hook that asked does not. */
export function isMissingUserDenial(text: string): boolean {
  return text.endsWith(NO_USER);
}
