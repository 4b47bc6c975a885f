import { AttachedSession } from '../../callback/attached-session.ts';
import { redactObject } from '../../host/redact-object.ts';
import type { Command, CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { toPrintable } from '../output/print.ts';

/** `hookline session send TEXT`: adds a prompt for when the run under way has ended. */
export const sendToSession: Command<{ readonly text: string }> = async (context, { text }) => {
  const queued = await attach(context).send(text);
  return queued
    ? report(context, { queued }, 'Queued.', EXIT.fine)
    : report(context, { queued }, 'The session is ending; the prompt will not run.', EXIT.refused);
};

/** `hookline session steer TEXT`: the agent reads it with its next request. */
export const sendSteering: Command<{ readonly text: string }> = async (context, { text }) => {
  const steered = await attach(context).steer(text);
  return steered
    ? report(context, { steered }, 'Sent to the agent.', EXIT.fine)
    : report(context, { steered }, 'The agent is idle; use `hookline session send`.', EXIT.refused);
};

/** `hookline session abort [REASON]`: ends the run under way. */
export const abortSession: Command<{ readonly reason?: string }> = async (context, { reason }) => {
  const aborted = await attach(context).abort(reason);
  return aborted
    ? report(context, { aborted }, 'Aborted.', EXIT.fine)
    : report(context, { aborted }, 'The agent is idle; there is nothing to abort.', EXIT.refused);
};

/** `hookline session state`: model, mode, tokens, whether the agent works. */
export const showSessionState: Command<object> = async (context) => {
  const state = await redactObject(await attach(context).state(), context.flags);
  if (context.flags.json === true) context.print.json(state);
  else context.print.out(formatFields(state));
  return EXIT.fine;
};

/** `hookline session messages`: the conversation as JSON. */
export const showSessionMessages: Command<object> = async (context) => {
  const messages = await redactObject(await attach(context).messages(), context.flags);
  context.print.json({ messages });
  return EXIT.fine;
};

function attach({ env }: CommandContext): AttachedSession {
  return AttachedSession.fromEnvironment(env);
}

function report({ flags, print }: CommandContext, answer: object, text: string, code: ExitCode) {
  if (flags.json === true) print.json(answer);
  else print.note(text);
  return code;
}

function formatFields(state: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(state).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return lines.map(toPrintable).join('\n');
}
