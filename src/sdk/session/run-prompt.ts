import type { Session } from '../../agent/session/session.ts';
import { messageOf } from '../../base/errors.ts';
import type { SaidPrompt } from '../pending-prompts.ts';
import type { AgentMode } from '../start-input.ts';
import {
  agentResult,
  type AgentResult,
  type CallLog,
  givenUpResult,
  replyResult,
} from './agent-result.ts';
import type { OpenedSession } from './open-session.ts';
import { permissionModeOf } from './permission-mode.ts';

export interface PromptRequest extends SaidPrompt {
  readonly sessionId: string;
  readonly calls: CallLog;
  readonly signal: AbortSignal;
}

/** Runs the command of a plugin that a prompt names, or the prompt itself. */
export async function runPrompt(
  { host, plugins }: OpenedSession,
  { sessionId, prompt, mode, calls, signal }: PromptRequest,
): Promise<AgentResult> {
  const session = host.session(sessionId);
  const unasked = () => ({ messages: session.messages(), model: session.state().model });
  // It throws only when it is aborted.
  const said = await plugins.command(prompt, signal).catch(() => null);
  if (signal.aborted) return givenUpResult(messageOf(signal.reason), unasked());
  if (said !== null && said.prompt === null) return replyResult(said.reply ?? '', unasked());
  const run = await inMode(session, mode, () => host.send(sessionId, said?.prompt ?? prompt));
  return agentResult({ run, calls: calls.calls(), ...unasked() });
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
