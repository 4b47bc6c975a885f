import { getErrorMessage, type HooklineError, isHooklineError } from '../../../base/errors.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, FORMER_EXIT, type ExitCode } from '../../exit-codes.ts';
import { toPrintable } from '../../output/print.ts';

/** Whose exit codes a command has: ours, or those of the package that had `cline-hook --enable`. */
export interface ExitCodeOptions {
  readonly as?: string;
}

/** Runs a command; with the exit codes of the former package, errors become codes here. */
export async function runWithExitCodes(
  context: CommandContext,
  { as }: ExitCodeOptions,
  run: () => Promise<ExitCode>,
): Promise<ExitCode> {
  if (as === undefined) return run();
  try {
    return toFormerCode(await run());
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    context.print.note(`hookline: ${toPrintable(getErrorMessage(error))}`);
    if (error.hint !== undefined) context.print.note(`  ${error.hint}`);
    return findFormerCode(error);
  }
}

function toFormerCode(code: ExitCode): ExitCode {
  return code === EXIT.fine ? FORMER_EXIT.fine : FORMER_EXIT.failed;
}

const CODES: Readonly<Partial<Record<HooklineError['code'], ExitCode>>> = {
  AGENT_UNKNOWN: FORMER_EXIT.unsupported,
  AGENT_MISSING: FORMER_EXIT.missing,
  CONFIG_INVALID: FORMER_EXIT.config,
  CONFIG_UNREADABLE: FORMER_EXIT.config,
  CONFIG_UNWRITABLE: FORMER_EXIT.denied,
};

function findFormerCode({ code }: HooklineError): ExitCode {
  return CODES[code] ?? FORMER_EXIT.failed;
}
