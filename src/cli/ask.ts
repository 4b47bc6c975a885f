import { stdin } from 'node:process';
import { HooklineError } from '../base/errors.ts';
import type { CommandContext } from './context.ts';

/** Asks a yes-or-no question on the terminal; without one it is an error that says how to answer. */
export async function confirm(
  { print, confirm: askOnScreen }: CommandContext,
  question: { readonly text: string; readonly flag: string },
): Promise<boolean> {
  if (askOnScreen !== undefined) return askOnScreen(question.text);
  if (!hasTerminal(print)) {
    throw new HooklineError('TRUST_NEEDS_TERMINAL', {
      message: `there is no terminal to ask on: ${question.text}`,
      hint: `Look at it yourself, then say ${question.flag}.`,
    });
  }
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message: question.text, initialValue: false });
  return answer === true;
}

/** Whether there is somebody to ask. */
export function canAsk({ print, confirm: askOnScreen }: CommandContext): boolean {
  return askOnScreen !== undefined || hasTerminal(print);
}

function hasTerminal({ isTerminal }: CommandContext['print']): boolean {
  return stdin.isTTY && isTerminal;
}
