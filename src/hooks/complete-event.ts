import type { FiredEvent, HookEvent, Moment } from './facts.ts';

type Unfinished = { -readonly [Field in keyof Moment]: Moment[Field] };

/**
 * A fired event with all of its moment: what it says itself counts first, then what whoever fires it
 * knows. Field by field, because V8 takes many times as long to copy an object and add to the copy.
 */
export function completeEvent(
  fired: FiredEvent,
  moment: Moment,
  known: Partial<Moment> = moment,
): HookEvent {
  const event: Unfinished = {
    sessionId: known.sessionId ?? moment.sessionId,
    taskId: known.taskId ?? moment.taskId,
    ulid: known.ulid ?? moment.ulid,
    at: known.at ?? moment.at,
    cwd: known.cwd ?? moment.cwd,
    workspaceRoots: known.workspaceRoots ?? moment.workspaceRoots,
    permissionMode: known.permissionMode ?? moment.permissionMode,
    model: known.model ?? moment.model,
    agent: known.agent ?? moment.agent,
    iteration: known.iteration ?? moment.iteration,
    userId: known.userId ?? moment.userId,
    version: known.version ?? moment.version,
    transcriptPath:
      known.transcriptPath === undefined ? moment.transcriptPath : known.transcriptPath,
    promptId: known.promptId === undefined ? moment.promptId : known.promptId,
  };
  const startDirectory = known.startDirectory ?? moment.startDirectory;
  if (startDirectory !== undefined) event.startDirectory = startDirectory;
  const effort = known.effort ?? moment.effort;
  if (effort !== undefined) event.effort = effort;
  const skills = known.skills ?? moment.skills;
  if (skills !== undefined) event.skills = skills;
  return Object.assign(event, fired);
}
