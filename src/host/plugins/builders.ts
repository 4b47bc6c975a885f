import { safeMessages } from '../../agent/conversation/safe-messages.ts';
import { messageOf } from '../../base/errors.ts';
import {
  fromProviderMessages,
  toProviderMessages,
} from '../../dialects/cline-plugin/builder-messages.ts';
import { withinBounds } from '../../plugins/bounded.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { AgentExtensionMessageBuilder } from '../../plugins/contract/plugin.ts';
import type { ActivePlugin } from '../../plugins/registry.ts';
import type { Message } from '../../sessions/messages.ts';

export interface BuilderMeans {
  readonly plugins: readonly ActivePlugin[];
  readonly timeoutMs: number;
  readonly onIssue: OnIssue;
}

/**
 * Runs every message builder once, each on what the one before it made. One that fails or gives
 * nothing of use is passed over and told of. What they make is for this request only.
 */
export async function buildMessages(
  messages: readonly Message[],
  { plugins, timeoutMs, onIssue }: BuilderMeans,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const builders = plugins.flatMap(({ name: plugin, contributions }) =>
    contributions.messageBuilders.map((builder) => ({ plugin, builder })),
  );
  let built = messages;
  for (const { plugin, builder } of builders) {
    const given = toProviderMessages(built);
    const made = await madeBy(builder, () =>
      withinBounds(() => builder.build(given), { timeoutMs, signal }),
    );
    // Nobody asks the model any more.
    if (signal.aborted) return messages;
    if (typeof made !== 'string') built = made;
    else onIssue({ plugin, phase: 'builder', level: 'warning', message: made });
  }
  return built === messages ? messages : safeMessages(built);
}

async function madeBy(
  { name }: AgentExtensionMessageBuilder,
  build: () => Promise<unknown>,
): Promise<readonly Message[] | string> {
  const passedOver = (why: string): string => `the message builder ${name} is passed over: ${why}`;
  try {
    const made = fromProviderMessages(await build());
    return typeof made === 'string' ? passedOver(made) : made;
  } catch (error) {
    return passedOver(messageOf(error));
  }
}
