import { formatTime } from '../base/clock.ts';
import type { StoredEvent } from './stored-event.ts';

/**
 * An event as it is exported, served and shown: the attributes of CloudEvents 1.0, and extension attributes
 * of our own, which may have lower-case letters and digits only.
 */
export interface HooklineEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  /** The session. */
  readonly subject: string | null;
  readonly datacontenttype: 'application/json' | 'text/plain' | 'application/octet-stream';
  readonly sequence: number;
  readonly agent: string;
  readonly event: string | null;
  readonly foreignevent: string | null;
  readonly sessionid: string | null;
  readonly workspace: string | null;
  readonly tool: string | null;
  readonly paths: readonly string[];
  readonly effect: string | null;
  readonly hooks: readonly string[];
  readonly failed: boolean;
  readonly verified: boolean;
  readonly origin: string;
  readonly receivedtime: string;
  readonly hash: string;
  /** The payload as a JSON value; as text when it is no JSON, and in base64 when it is no text. */
  readonly data: unknown;
}

/** Describes a stored event for others. Secrets in it are not redacted. */
export function toCloudEvent(stored: StoredEvent): HooklineEvent {
  const { agent, event, foreignEvent, sessionId } = stored;
  return {
    specversion: '1.0',
    id: stored.id,
    source: `/agents/${encodeURIComponent(agent)}`,
    type: `hookline.event.${event ?? foreignEvent ?? 'unknown'}`,
    time: formatTime(stored.at),
    subject: sessionId,
    ...readData(stored.payload),
    sequence: stored.sequence,
    agent,
    event,
    foreignevent: foreignEvent,
    sessionid: sessionId,
    workspace: stored.workspace,
    tool: stored.tool,
    paths: stored.paths,
    effect: stored.effect,
    hooks: stored.hooks,
    failed: stored.hasFailed,
    verified: stored.isVerified,
    origin: stored.origin,
    receivedtime: formatTime(stored.receivedAt),
    hash: stored.hash,
  };
}

function readData(payload: Uint8Array): Pick<HooklineEvent, 'datacontenttype' | 'data'> {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const text = bytes.toString('utf8');
  try {
    return { datacontenttype: 'application/json', data: JSON.parse(text) };
  } catch {
    const isText = Buffer.from(text, 'utf8').equals(bytes);
    if (isText) return { datacontenttype: 'text/plain', data: text };
    return { datacontenttype: 'application/octet-stream', data: bytes.toString('base64') };
  }
}
