/** The agents whose events the bridge takes without being configured; routes and files are named after them. */
export const AGENTS = [
  'claude',
  'cline',
  'codex',
  'gemini',
  'copilot',
  'cursor',
  'opencode',
  'droid',
  'qwen',
] as const;

/** A name that can stand in a route, a file name and a command. */
export const AGENT_NAME = /^[a-z][a-z0-9-]{0,63}$/;

export const DEFAULT_PORT = 3043;

/** Where bridges of other programs listen, in the order in which they are tried. */
export const KNOWN_PORTS = [3043, 3045, 3044] as const;

/** Made by the forwarder, so that an event that arrives twice is stored once. */
export const EVENT_ID_HEADER = 'X-Hookline-Event-Id';
/** Shows that a client can read the run file: its events count as verified. */
export const CLIENT_SECRET_HEADER = 'X-Hookline-Client-Secret';
/** Shows that a bridge wrote the run file: its answer counts. */
export const SERVER_SECRET_HEADER = 'X-Hookline-Server-Secret';

const EVENT_ID = /^[\w.:-]{1,128}$/;

export function isEventId(text: string): boolean {
  return EVENT_ID.test(text);
}

/** The id of one element of an array that has one id. */
export function formatElementId(id: string, index: number): string {
  return `${id}.${index}`;
}

/** The path of an agent's events, without the slash. */
export function formatRoute(agent: string): string {
  return `${agent}-hook`;
}
