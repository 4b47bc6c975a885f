import { quoteShellWord } from '../../base/text.ts';
import type { Host } from '../../host/create-host.ts';
import { canAsk, type CommandContext, withHost } from '../context.ts';
import { trustHooksIn } from '../commands/trust.ts';
import type { ListedPlugin } from './select-plugins.ts';
import { toPrintable } from '../output/print.ts';

/** Those that are not loaded until a user has reviewed them. */
export function filterUntrusted(plugins: readonly ListedPlugin[]): readonly ListedPlugin[] {
  return plugins.filter(({ status }) => status.trustedBy === null);
}

/** Asks the user to trust plugins; without a terminal, prints the command for it. */
export async function askForTrust(
  context: CommandContext,
  host: Host,
  waiting: readonly ListedPlugin[],
): Promise<void> {
  if (waiting.length === 0 || context.flags.json === true) return;
  const ids = waiting.map(({ status }) => status.hook.id);
  if (canAsk(context)) {
    await trustHooksIn(host, context, ids);
    return;
  }
  const command = formatTrustCommand(context, host, ids);
  context.print.note(`It needs review before it is loaded: ${command}`);
}

/** The command with which a user reviews and trusts these. */
export function formatTrustCommand(
  { isDirectoryNamed }: CommandContext,
  { startDirectory }: Pick<Host, 'startDirectory'>,
  ids: readonly string[],
): string {
  const where = isDirectoryNamed === true ? ['--cwd', startDirectory] : [];
  return ['hookline', ...where, 'trust', ...ids].map(quoteShellWord).join(' ');
}

/**
 * Records what was installed just now as known, so that the next run does not report it as new. Other
 * changes are printed as usual.
 */
export async function markAsKnown(
  context: CommandContext,
  directories: readonly string[],
): Promise<void> {
  await withHost(context, () => undefined, {
    onNotice: () => undefined,
    onOwnHookNews(change) {
      const isOurs = directories.some((directory) => change.includes(directory));
      if (!isOurs) context.print.note(`note: ${toPrintable(change)}`);
    },
  });
}
