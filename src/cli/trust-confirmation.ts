import { HooklineError } from '../base/errors.ts';
import { systemClock } from '../base/clock.ts';
import { readCommandLine } from '../process/process-table.ts';
import type { Host } from '../host/create-host.ts';
import type { Binding } from '../trust/bind-unit.ts';
import {
  createTrustToken,
  ensureKey,
  findTokenProblem,
  type TrustFiles,
} from '../trust/record-seal.ts';
import { type Confirmation, sealRecord } from '../trust/trust-record.ts';
import { canAsk, type CommandContext } from './context.ts';

/** How the user confirmed what is about to be trusted, for the record. */
export function createConfirmation(
  context: Pick<CommandContext, 'print' | 'confirm'>,
  how: Confirmation['how'],
): Confirmation {
  return { how, hasTerminal: canAsk(context), parent: readCommandLine(process.ppid) };
}

/** Throws when the user wants to be asked on a terminal, and there is none. */
export function requireTerminalOrToken(
  host: Pick<Host, 'config'>,
  context: Pick<CommandContext, 'print' | 'confirm'>,
): void {
  const problem = explainMissingTerminal(host, context);
  if (problem === null) return;
  throw new HooklineError('TRUST_NEEDS_TERMINAL', {
    message: problem,
    hint: 'Run `hookline trust --token` on a terminal, then pass `--yes --token TOKEN` within ten minutes.',
  });
}

/** Why nothing can be trusted without a terminal here; null when it can, or when there is one. */
export function explainMissingTerminal(
  { config: { settings, origins } }: Pick<Host, 'config'>,
  context: Pick<CommandContext, 'print' | 'confirm'>,
): string | null {
  if (!settings['trust.requireTerminal'] || canAsk(context)) return null;
  return `nothing can be trusted without a terminal: trust.requireTerminal is set in ${origins['trust.requireTerminal']}`;
}

/** A token for exactly these bytes. Creates the key when there is none yet. */
export async function issueTrustToken(
  files: TrustFiles,
  bindings: readonly Binding[],
  guardedRoots: readonly string[],
): Promise<string> {
  await sealRecord(files, guardedRoots);
  const digests = bindings.map(formatDigest);
  return createTrustToken(files, ensureKey(files), { digests, now: systemClock.now() });
}

/** Throws unless the token was printed for exactly these bytes, less than ten minutes ago. */
export function checkTrustToken(
  files: TrustFiles,
  token: string,
  bindings: readonly Binding[],
): void {
  const digests = bindings.map(formatDigest);
  const problem = findTokenProblem(files, token, { digests, now: systemClock.now() });
  if (problem === null) return;
  throw new HooklineError('TRUST_NEEDS_TERMINAL', {
    message: `the token does not confirm this: ${problem}`,
    hint: 'Run `hookline trust --token` on a terminal, with the same ids, and pass what it prints.',
  });
}

function formatDigest({ root, id, entry, digest }: Binding): string {
  return JSON.stringify([root, id, entry, digest]);
}
