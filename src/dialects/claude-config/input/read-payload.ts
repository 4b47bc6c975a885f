import { findClosestName } from '../../../base/did-you-mean.ts';
import type { FiredEvent, Moment } from '../../../hooks/facts.ts';
import { CLAUDE_EVENT_NAMES, isClaudeEvent, type ClaudeEvent } from '../names.ts';
import { given } from './given.ts';
import { invalid, type PayloadReader, readerOf } from './payload-reader.ts';
import { readEvent } from './read-event.ts';

/** Reads a payload that Claude Code wrote as the event it tells of. */
export function readClaudePayload(payload: unknown): FiredEvent {
  const reader = readerOf(payload);
  return { ...readMoment(reader), ...readEvent(readName(reader), reader) };
}

function readName(payload: PayloadReader): ClaudeEvent {
  const name = payload.text('hook_event_name');
  if (isClaudeEvent(name)) return name;
  const meant = findClosestName(name, CLAUDE_EVENT_NAMES);
  const advice = meant === null ? '' : `; did you mean ${meant}?`;
  throw invalid(`"hook_event_name" should name an event of Claude, found "${name}"${advice}`);
}

function readMoment(payload: PayloadReader): Partial<Moment> {
  return given({
    sessionId: payload.findText('session_id'),
    transcriptPath: payload.findText('transcript_path'),
    cwd: payload.findText('cwd'),
    promptId: payload.findText('prompt_id'),
    permissionMode: payload.findText('permission_mode'),
    effort: payload.find('effort')?.findText('level'),
    agent: readAgent(payload),
  });
}

/** Only sub-agents have an id of their own; the main one may have a type. */
function readAgent(payload: PayloadReader): Moment['agent'] | undefined {
  const id = payload.findText('agent_id');
  const type = payload.findText('agent_type');
  const sessionId = payload.textOr('session_id', 'main');
  if (id !== undefined) return { id, parentId: sessionId, type: type ?? null };
  return type === undefined ? undefined : { id: sessionId, parentId: null, type };
}
