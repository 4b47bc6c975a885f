import type { Session } from '../../agent/session/session.ts';
import type { SentPrompt } from '../pending-prompts.ts';
import type { AgentMode } from '../start-input.ts';
import { agentResult, type AgentResult, type CallLog } from './agent-result.ts';
import type { OpenedSession } from './open-session.ts';
import { permissionModeOf } from './permission-mode.ts';

export interface PromptRequest extends SentPrompt {
  readonly calls: CallLog;
}

export async function runPrompt(
  { host, id }: OpenedSession,
  { prompt, mode, calls }: PromptRequest,
): Promise<AgentResult> {
  const session = host.session(id);
  const run = await inMode(session, mode, () => session.prompt(prompt));
  const { model } = session.state();
  return agentResult({ run, calls: calls.calls(), messages: session.messages(), model });
}

/** For this prompt only, unless a hook or the person sets another one meanwhile. */
async function inMode<Result>(
  session: Session,
  mode: AgentMode | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (mode === undefined) return work();
  const before = session.state().permissionMode;
  const wanted = permissionModeOf(mode);
  session.setPermissionMode(wanted);
  try {
    return await work();
  } finally {
    if (session.state().permissionMode === wanted) session.setPermissionMode(before);
  }
}
