import type { SessionState } from '../../../agent/session/session.ts';
import type { PermissionMode } from '../../../permissions/permissions.ts';
import { colors } from '../../output/colors.ts';
import { toOneLine } from '../../output/print.ts';

/** One line about the session: worktree, model, mode, how full its context is, what it has cost, and where to learn more. */
export function formatStatusLine(state: SessionState, worktree: string | null): string {
  const { model, permissionMode, costUsd } = state;
  const parts = [
    ...(worktree === null ? [] : [`worktree ${toOneLine(worktree)}`]),
    toOneLine(model.id),
    permissionMode === 'default' ? 'asks first' : MODE_LABELS[permissionMode],
    `${computeContextShare(state)}% context`,
    ...(costUsd === null ? [] : [formatDollars(costUsd)]),
    '/help',
  ];
  return colors.dim(parts.join(' · '));
}

const MODE_LABELS: Readonly<Record<PermissionMode, string>> = {
  default: 'asks first',
  acceptEdits: 'accepts edits',
  plan: 'plans only',
  bypassPermissions: 'asks nothing',
  dontAsk: 'denies what it would ask',
};

function computeContextShare({ contextTokens, contextLimit }: SessionState): number {
  return contextLimit === 0 ? 0 : Math.min(100, Math.round((100 * contextTokens) / contextLimit));
}

function formatDollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

/** What a session has used, in a few lines. */
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

/** The mode after this one, as one key goes through them. */
export function getNextMode(mode: PermissionMode): PermissionMode {
  const next = MODE_CYCLE[MODE_CYCLE.indexOf(mode) + 1];
  return next ?? 'default';
}

// The others switch questions off for good; whoever wants that says so when they start.
const MODE_CYCLE: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];
