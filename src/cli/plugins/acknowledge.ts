import { type CommandContext, withHost } from '../context.ts';
import { toPrintable } from '../output/print.ts';

/**
 * Remembers what was installed just now as known: whoever put it there need not be told of it at the
 * next run. Whatever else is new is said as always.
 */
export async function acknowledge(
  context: CommandContext,
  directories: readonly string[],
): Promise<void> {
  await withHost(context, () => undefined, {
    onNotice: () => undefined,
    onOwnHookNews(news) {
      const isOurs = directories.some((directory) => news.includes(directory));
      if (!isOurs) context.print.note(`note: ${toPrintable(news)}`);
    },
  });
}
