/** The variable in which a hook finds the session that runs it. */
export const CALLBACK_VARIABLE = 'HOOKLINE_CALLBACK';

/** What a hook may ask of its session. The first three change it, the others read it. */
export const HOOK_CALLS = ['send', 'steer', 'abort', 'state', 'messages'] as const;

export type HookCallName = (typeof HOOK_CALLS)[number];

export function isReadingCall(call: HookCallName): boolean {
  return call === 'state' || call === 'messages';
}

/** Where a session listens, and what proves which of its hooks calls. */
export interface CallbackAddress {
  readonly socket: string;
  readonly token: string;
}

/** Formats it as `TOKEN@SOCKET`, which a shell can split: `${HOOKLINE_CALLBACK#*@}` is the socket. */
export function formatCallbackAddress({ socket, token }: CallbackAddress): string {
  return `${token}@${socket}`;
}

/** Parses what `formatCallbackAddress` wrote; null for anything else. */
export function parseCallbackAddress(text: string): CallbackAddress | null {
  const at = text.indexOf('@');
  const [token, socket] = [text.slice(0, at), text.slice(at + 1)];
  return at < 1 || socket === '' ? null : { token, socket };
}
