import { createHash } from 'node:crypto';
import { isRecord } from '../base/json.ts';
import { DIALECTS } from './index.ts';

/** Whose event a payload is. */
export interface Attribution {
  readonly agent: string;
  /** The id of the event where it may arrive more than once; null where each arrival is an event. */
  readonly id: string | null;
}

/**
 * Finds the agent that wrote a payload. Copilot and Cursor also run the hooks of Claude Code's settings, so that an event of
 * theirs arrives under Claude's name, too, when both are switched on: it is theirs, and has the same id both times.
 */
export function attributeEvent(agent: string, payload: unknown): Attribution {
  const author = DIALECTS.find(
    ({ name, alsoRuns }) =>
      alsoRuns !== undefined &&
      (name === agent ||
        (alsoRuns.agent === agent && isRecord(payload) && alsoRuns.isOwnPayload(payload))),
  );
  if (author?.alsoRuns === undefined || !isRecord(payload)) return { agent, id: null };
  const parts = author.alsoRuns.identify(payload);
  if (parts === null) return { agent: author.name, id: null };
  const text = JSON.stringify([author.name, ...parts]);
  return { agent: author.name, id: createHash('sha256').update(text).digest('hex').slice(0, 32) };
}
