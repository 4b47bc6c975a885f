import type { SessionState } from '../../../agent/session/session.ts';
import type { PermissionMode } from '../../../permissions/permissions.ts';
import { colors } from '../../output/colors.ts';
import { toOneLine } from '../../output/print.ts';

/** The status line: worktree, model, permission mode, context usage and cost. */
export function formatStatusLine(state: SessionState, worktree: string | null): string {
  const { model, permissionMode, costUsd } = state;
  const parts = [
    ...(worktree === null ? [] : [`worktree ${toOneLine(worktree)}`]),
    toOneLine(model.id),
    permissionMode === 'default' ? 'ask first' : MODE_LABELS[permissionMode],
    `${computeContextShare(state)}% context`,
    ...(costUsd === null ? [] : [formatDollars(costUsd)]),
    '/help',
  ];
  return colors.dim(parts.join(' · '));
}

const MODE_LABELS: Readonly<Record<PermissionMode, string>> = {
  default: 'ask first',
  acceptEdits: 'accept edits',
  plan: 'plan mode',
  bypassPermissions: 'bypass permissions',
  dontAsk: 'deny instead of asking',
};

function computeContextShare({ contextTokens, contextLimit }: SessionState): number {
  return contextLimit === 0 ? 0 : Math.min(100, Math.round((100 * contextTokens) / contextLimit));
}

function formatDollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

/** Token usage and cost of a session. */
export function formatCost({ usage, costUsd, contextTokens, contextLimit }: SessionState): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const number = (count: number): string => count.toLocaleString('en-US');
  return [
    `cost     ${costUsd === null ? 'not known for this model' : formatDollars(costUsd)}`,
    `tokens   ${number(inputTokens)} in, ${number(outputTokens)} out`,
    `cache    ${number(cacheReadTokens)} read, ${number(cacheWriteTokens)} written`,
    `context  ${number(contextTokens)} of ${number(contextLimit)}`,
  ].join('\n');
}

/** The next permission mode in the cycle of Shift-Tab. */
export function getNextMode(mode: PermissionMode): PermissionMode {
  const next = MODE_CYCLE[MODE_CYCLE.indexOf(mode) + 1];
  return next ?? 'default';
}

// The other modes disable questions and can only be chosen at start.
const MODE_CYCLE: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];
